import type { ProbabilityScale } from '../figures/probability.ts';
import type { Coverage } from './coverage.ts';

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
