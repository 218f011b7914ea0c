import { poll } from './delay.ts';
import { KeyedMutex } from './keyed-mutex.ts';
import { type State, StateUnavailable } from './port.ts';

/** A lock of all processes, which this one has. */
export interface Lock {
  /** Renews it; false if another process has got it meanwhile. */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

const maxWaitMs = 30_000;

/**
 * Runs works as `State.runExclusive`. Calls of this process wait for each other here, so that only one of them polls.
 * @param tryLock `undefined` if another process has the lock
 */
export function exclusiveRunner(
  tryLock: (name: string) => Promise<Lock | undefined>,
): State['runExclusive'] {
  const mutex = new KeyedMutex();
  return (name, work) =>
    mutex.runExclusive(name, async () => {
      const timeout = AbortSignal.timeout(maxWaitMs);
      const lock = await poll(() => tryLock(name), timeout).catch((error: unknown) => {
        if (!timeout.aborted) throw error;
        throw new StateUnavailable('another process holds the lock for too long');
      });
      try {
        return await work(lock.isHeld);
      } finally {
        await lock.release();
      }
    });
}
