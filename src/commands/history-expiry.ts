import { factsOf, type Log } from '../log.ts';
import type { State } from '../state/port.ts';

/** After the start, when calls are waiting for their first answer. */
const firstDelayMs = 60_000;
const intervalMs = 86_400_000;
/** Slightly less than the interval, so that the next run of the same process is not refused. */
const claimMs = intervalMs - 3_600_000;

/**
 * Deletes the expired snapshots of every tenant of the state once a day, in one of the processes that share it.
 * @returns a function that ends this
 */
export function startHistoryExpiry(
  state: Pick<State, 'claim' | 'snapshots' | 'snapshotTenants'>,
  log: Pick<Log, 'warn'>,
): () => void {
  let stopped = false;
  const run = async () => {
    try {
      await deleteExpired(state);
    } catch (error) {
      if (!stopped) log.warn('expired history not deleted', factsOf(error));
    }
    if (!stopped) schedule(intervalMs);
  };
  let timer: NodeJS.Timeout | undefined;
  const schedule = (delayMs: number) => {
    timer = setTimeout(() => void run(), delayMs);
    timer.unref();
  };
  schedule(firstDelayMs);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

async function deleteExpired(
  state: Pick<State, 'claim' | 'snapshots' | 'snapshotTenants'>,
): Promise<void> {
  if (!(await state.claim('expiry of histories', Date.now() + claimMs))) return;
  // Loaded here, because a start does not need it.
  const { deleteExpiredSnapshots } = await import('../history/history.ts');
  await deleteExpiredSnapshots(state, new Date());
}
