import type { Coverage } from './coverage.ts';

/** A whole collection, or all results of a search, as it was at `asOf`. */
export interface Collection<R> {
  records: readonly R[];
  coverage: Coverage;
  asOf: Date;
}
