import type { ProbabilityScale } from '../figures/probability.ts';
import { type ApiError, type ApiErrorKind, isApiError } from '../service/errors.ts';
import type { FieldGap } from '../service/records/account.ts';
import type { Pass } from './pass.ts';
import type { End } from './read-pages.ts';
import { areConsistent, gapsIn } from './segments.ts';
import { pageSize } from './service-pages.ts';

/** How much of a collection was read. `complete` is true only if that is proven. */
export interface Coverage {
  complete: boolean;
  read: number;
  /** The service's total, or the number of records read if it reports none. */
  total: number;
  /** Why it is not complete, or why it is older than it should be. */
  reason?: string;
  /** The fields that figures rest on, and that could not be read in some records. */
  fields?: readonly FieldGap[];
}

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

/** Of all records, as many as were read. */
export const completeCoverage = (read: number): Coverage => ({ complete: true, read, total: read });

/**
 * True if the pass proves that it read the whole collection: as many different records as the total, or without one until
 * nothing followed.
 *
 * Several pages must also fit together. If each overlaps the one before, they do: as long as both have the same common
 * record, no record has moved past it. Full pages without overlaps are accepted if the total did not change and no
 * record was created since the start; only a deletion and an addition of a record without a time at the same moment
 * would go unnoticed.
 */
export function isProven(pass: Pass, { isPaged, sawEnd }: End): boolean {
  const { segments, count, found } = pass;
  if (pass.route.isTree) return true;
  if (pass.countIsLimit || !(count === undefined ? sawEnd : pass.hasAll)) return false;
  if (!isPaged) return true;
  if (!areConsistent(segments, found.size)) return false;
  if (gapsIn(segments, found.size, 1).length === 0) return true;
  const isFull = (segments[0]?.keys.length ?? 0) >= pageSize;
  return count !== undefined && isFull && !pass.countMoved && !pass.hasNewRecords;
}

/** Why it could not be read, and when it can. A time rather than a duration, because the reason is cached. */
export function stopReason(error: ApiError): string {
  const reason = stopReasons[error.kind] ?? notReadable;
  const seconds = isApiError(error, 'rate-limited', 'budget-spent') && error.facts.seconds;
  if (seconds === false || seconds === undefined) return reason;
  const moment = new Date(Date.now() + seconds * 1000).toISOString().slice(0, 19);
  return `${reason}; the rest can be read from ${moment}Z on`;
}

/** Coverage of `read` records of all passes. */
export function partialCoverage(pass: Pass, read: number, reason: string): Coverage {
  return { complete: false, read, total: Math.max(pass.highestCount ?? 0, read), reason };
}

/** Why the last pass did not prove that the records are complete. */
export function unprovenReason(pass: Pass, { isPaged }: End): string {
  const { found, segments } = pass;
  const { highestCount = found.size } = pass;
  if (pass.countIsLimit)
    return `the service counts or gives no more than ${highestCount}, and there may be more`;
  if (!isPaged)
    return 'only the first page can be read, because no offset parameter works (the setting page-param names it)';
  if (found.size < highestCount && !pass.hasNewRecords)
    return `the service counts ${highestCount} but gave ${found.size}`;
  return areConsistent(segments, found.size)
    ? 'records kept changing while they were read'
    : 'the pages that the service gave do not join up';
}

const budgetSpent = "the tenant's rate budget is used up for now";
const unanswered = 'the service stopped answering';
const notReadable = 'the service sent a response that cannot be read';

/** Of the other kinds: `notReadable`. */
const stopReasons: { readonly [K in ApiErrorKind]?: string } = {
  'key-refused': 'the service stopped accepting the key',
  'not-permitted': 'the service stopped permitting it',
  refused: 'the service refused a page',
  'rate-limited': budgetSpent,
  'budget-spent': budgetSpent,
  'server-error': unanswered,
  'connection-lost': unanswered,
  unreachable: unanswered,
  'circuit-open': unanswered,
  'timed-out': 'time ran out',
  'embedded-error': 'the service answered with an error',
  'too-large': 'a page of it is larger than this server accepts',
};
