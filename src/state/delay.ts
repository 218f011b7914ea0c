import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits.
 * @throws the signal's reason when it is aborted first
 */
export async function delay(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : error;
  });
}
