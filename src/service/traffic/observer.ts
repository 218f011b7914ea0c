import type { ApiErrorKind } from '../errors.ts';

/** Outcome of a request to the service: the kind of its error; `broken` for one that is no `ApiError`. */
export type RequestOutcome = 'ok' | ApiErrorKind | 'cancelled' | 'broken';

/** Values of one tenant that are read when metrics are collected. */
export interface Gauges {
  remainingBudget(): Promise<number>;
  /** The cached collections and when they were read, in milliseconds since the epoch. */
  cachedCollections(): Iterable<readonly [collection: string, asOf: number]>;
}

/** Observes the requests of one tenant. It receives no customer text. */
export interface Observer {
  /** A request has ended; without a duration if it was rejected locally. Each retry is a separate request. */
  onRequest(outcome: RequestOutcome, seconds?: number): void;
  /** @returns a function that unregisters the gauges */
  registerGauges(gauges: Gauges): () => void;
}
