import type { ReadTime } from './age.ts';
import type { Coverage } from './coverage.ts';

/** A whole collection, or all results of a search, as it was at `asOf`. */
export interface Collection<R> {
  records: readonly R[];
  coverage: Coverage;
  asOf: Date;
}

export interface CachedCollection extends Collection<Record<string, unknown>> {
  readAt: ReadTime;
}
