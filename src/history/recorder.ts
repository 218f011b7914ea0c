import type { Collection } from '../reading/coverage.ts';

/** Time that a call gets to answer before its reading is stored. */
const firstDelayMs = 1_000;
/** Minimum time between two snapshots, of which the later replaces the earlier. */
const intervalMs = 60_000;

/**
 * Makes a snapshot of each complete reading of a collection, after the call that caused it. Sends no requests of
 * its own.
 * @param open opens the history when there is something to store
 */
export function historyRecorder<T>(
  open: () => Promise<{ save(records: readonly T[], takenAt: Date): Promise<unknown> }>,
  onError: (error: unknown) => void,
) {
  let pending: Collection<T> | undefined;
  let lastAsOf = 0;
  let failed = false;
  let savedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let saving: Promise<void> = Promise.resolve();

  async function save({ records, asOf }: Collection<T>): Promise<void> {
    try {
      await (await open()).save(records, asOf);
      failed = false;
    } catch (error) {
      // Reported once until it succeeds again, not after every reading.
      if (!failed) onError(error);
      failed = true;
    }
    savedAt = performance.now();
  }

  /** Stores what is pending. Errors are reported, not thrown. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const reading = pending;
    pending = undefined;
    if (reading) saving = saving.then(() => save(reading));
    return saving;
  }

  return {
    /** Notes a reading, to be stored soon. An incomplete one is never stored, nor an empty one, which may be a fault. */
    note(reading: Collection<T>): void {
      const { coverage, records, asOf } = reading;
      if (!coverage.complete || records.length === 0 || asOf.getTime() <= lastAsOf) return;
      lastAsOf = asOf.getTime();
      pending = reading;
      if (timer !== undefined) return;
      const waitMs = intervalMs - (performance.now() - savedAt);
      timer = setTimeout(() => void flush(), Math.max(firstDelayMs, waitMs)).unref();
    },
    flush,
  };
}
