import type { ProbabilityScale } from '../figures/probability.ts';
import type { Coverage } from './coverage.ts';
import type { Basis } from './update.ts';

/** A whole collection, or all results of a search, as it was at `asOf`. */
export interface Collection<R> {
  records: readonly R[];
  coverage: Coverage;
  asOf: Date;
  /** Set if it has only the part that a question is about. */
  isPart?: true;
  /** Of a part of the opportunities: the scale of the tenant's probabilities, as others show it. */
  probability?: ProbabilityScale;
}

export interface CachedCollection extends Collection<Record<string, unknown>> {
  readAt: ReadTime;
  /** From which it can be brought up to date; absent where the records do not say when they changed. */
  basis?: Basis;
  /** It has changed since: it may be brought up to date, but not be returned as it is. */
  isOutdated?: boolean;
}

/**
 * When something was read. Its age is told by two clocks, of which the longer one holds: the time of day may be set back,
 * and the other clock stops while a machine sleeps.
 */
export class ReadTime {
  readonly #time: number;
  readonly #elapsed: number;

  /** @param ageMs how long ago it was read */
  constructor(ageMs = 0) {
    this.#time = Date.now() - ageMs;
    this.#elapsed = performance.now() - ageMs;
  }

  get ageMs(): number {
    return Math.max(Date.now() - this.#time, performance.now() - this.#elapsed);
  }

  /** The time of day, never in the future. */
  get date(): Date {
    return new Date(Math.min(this.#time, Date.now() - this.ageMs));
  }
}
