import { setTimeout as pause } from 'node:timers/promises';

/** @throws the signal's reason when it is aborted first */
export async function delay(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : error;
  });
}

const firstPollMs = 50;
const maxPollMs = 500;

/**
 * Calls `look` until it finds something, with pauses.
 * @throws the error of `look`; the signal's reason when it is aborted
 */
export async function poll<T>(look: () => Promise<T | undefined>, signal: AbortSignal): Promise<T> {
  for (let waitMs = firstPollMs; ; waitMs = Math.min(maxPollMs, waitMs * 1.5)) {
    signal.throwIfAborted();
    const found = await look();
    if (found !== undefined) return found;
    await delay(waitMs * (0.75 + Math.random() / 2), signal);
  }
}
