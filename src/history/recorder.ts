import type { Collection } from '../reading/collection.ts';

/** Time that a call gets to answer before its reading is stored. */
const firstDelayMs = 1_000;
/** Minimum time between two snapshots, of which the later replaces the earlier. */
const intervalMs = 60_000;

interface SnapshotTarget<T> {
  save(records: readonly T[], takenAt: Date): Promise<unknown>;
}

/**
 * Makes a snapshot of each complete reading of a collection, after the call that caused it. Sends no requests of
 * its own.
 */
export class HistoryRecorder<T> {
  readonly #open: () => Promise<SnapshotTarget<T>>;
  readonly #onError: (error: unknown) => void;
  #pending: Collection<T> | undefined;
  #lastAsOf = 0;
  #failed = false;
  #savedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();

  /** @param open opens the history when there is something to store */
  constructor(open: () => Promise<SnapshotTarget<T>>, onError: (error: unknown) => void) {
    this.#open = open;
    this.#onError = onError;
  }

  /** Notes a reading, to be stored soon. An incomplete one is never stored. */
  note(reading: Collection<T>): void {
    const { coverage, asOf } = reading;
    if (!coverage.complete || asOf.getTime() <= this.#lastAsOf) return;
    this.#lastAsOf = asOf.getTime();
    this.#pending = reading;
    if (this.#timer !== undefined) return;
    const sinceLastMs = performance.now() - this.#savedAt;
    this.#timer = setTimeout(
      () => void this.flush(),
      Math.max(firstDelayMs, intervalMs - sinceLastMs),
    );
    this.#timer.unref();
  }

  /** Stores what is pending. Errors are reported, not thrown. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const reading = this.#pending;
    this.#pending = undefined;
    if (reading) this.#saving = this.#saving.then(() => this.#save(reading));
    return this.#saving;
  }

  async #save({ records, asOf }: Collection<T>): Promise<void> {
    try {
      const history = await this.#open();
      await history.save(records, asOf);
      this.#failed = false;
    } catch (error) {
      // Reported once until it succeeds again, not after every reading.
      if (!this.#failed) this.#onError(error);
      this.#failed = true;
    }
    this.#savedAt = performance.now();
  }
}
