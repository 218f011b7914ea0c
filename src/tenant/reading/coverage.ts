import { type ApiError, type ApiErrorKind, isApiError } from '../../api/errors.ts';
import type { Pass } from './pass.ts';
import type { Done } from './plan.ts';
import { areConsistent, isChained, maxSegmentLength } from './segments.ts';

/** How far a reading got. `complete` is claimed only where it was seen. */
export interface Coverage {
  complete: boolean;
  read: number;
  /** What the service counts, or what was read where it does not count. */
  total: number;
  /** Why it is not complete. */
  reason?: string;
  /** When the rest can be had, in milliseconds since the epoch, where that is known; in the reason too. */
  resumesAt?: number;
}

/** A pass that was not cut short, and how it ended. */
export interface FinishedPass<R> {
  readonly pass: Pass<R>;
  readonly end: Done;
}

/** True if the pass proves that it read the whole collection, alone or together with the previous pass. */
export const isProven = <R>(finished: FinishedPass<R>, previous: Pass<R> | undefined): boolean =>
  isClean(finished) || (previous !== undefined && confirmsPrevious(finished, previous));

/**
 * True if the pass proves by itself that it read the whole collection.
 *
 * Where the service counts, and dates its records: it counted the same each time, as many different
 * records came, and none of them was made since the start. So as many came as there were at the start,
 * and each was there then: they are all.
 *
 * Where every page overlaps the one before, neither is needed: as long as the common record is the same
 * in both, what came before it is in the one page or before, and what came after it in the other or
 * behind.
 *
 * Whole pages of records without a date that leave no room for overlaps are taken at the count's word:
 * only a record that was deleted while another was added would not show.
 */
function isClean<R>({ pass, end }: FinishedPass<R>): boolean {
  if (end.by === 'one-answer') return true;
  if (pass.countIsLimit) return false;
  if (!matchesCount(pass, end) || pass.countMoved || pass.hasNewRecords) return false;
  return end.by === 'first-page' || isContiguous(pass);
}

/**
 * Nothing but what the pass before had brought, and as much as the service counted all along. What was
 * added after this start cannot be among it, so it all was there then, and was all there was. So records
 * that were added a moment before the reading do not keep it from being trusted.
 */
function confirmsPrevious<R>({ pass, end }: FinishedPass<R>, previous: Pass<R>): boolean {
  if (pass.countIsLimit || pass.countMoved || !matchesCount(pass, end) || !pass.isWithin(previous))
    return false;
  return pass.count !== undefined || isContiguous(pass);
}

const matchesCount = <R>(pass: Pass<R>, { sawEnd }: Done): boolean =>
  pass.count === undefined ? sawEnd : pass.hasAll;

function isContiguous({
  segments,
  found,
  hasAllDates: allAreDated,
  count,
  profile,
}: Pass<unknown>): boolean {
  if (!areConsistent(segments, found.size)) return false;
  const showsMoves = allAreDated || maxSegmentLength(segments) >= profile.pageSize;
  return (count !== undefined && showsMoves) || isChained(segments);
}

export const completeCoverage = (read: number): Coverage => ({ complete: true, read, total: read });

/** Of `read` records, all passes together, after the last pass proved nothing. */
export const unprovenCoverage = (finished: FinishedPass<unknown>, read: number): Coverage =>
  partialCoverage(finished.pass, read, unprovenReason(finished));

/** Of `read` records, all passes together, when the last pass was cut short. */
export function stoppedCoverage(pass: Pass<unknown>, read: number, error: ApiError): Coverage {
  const coverage = partialCoverage(pass, read, stopReasons[error.kind]);
  const seconds = isApiError(error, 'rate-limited', 'budget-spent') && error.facts.seconds;
  if (seconds === false || seconds === undefined) return coverage;
  const resumesAt = Date.now() + seconds * 1000;
  // A moment rather than a time to wait, because it is told for a while.
  const moment = new Date(resumesAt).toISOString().slice(0, 19);
  const reason = `${coverage.reason}; the rest can be had from ${moment}Z on`;
  return { ...coverage, reason, resumesAt };
}

function partialCoverage(
  { highestCount = 0 }: Pass<unknown>,
  read: number,
  reason: string,
): Coverage {
  return { complete: false, read, total: Math.max(highestCount, read), reason };
}

function unprovenReason({ pass, end }: FinishedPass<unknown>): string {
  if (pass.countIsLimit) {
    return `the service counts and shows no more than ${pass.highestCount}, and there are more`;
  }
  if (end.by === 'first-page') {
    return 'the service does not page on, so only its first page can be read (the setting page-param names its offset parameter)';
  }
  const { size } = pass.found;
  const { highestCount = 0 } = pass;
  if (size < highestCount && !pass.hasNewRecords) {
    return `the service counts ${highestCount} but gave ${size}`;
  }
  return areConsistent(pass.segments, size)
    ? 'records kept changing while they were read'
    : 'the pages that the service gave do not join up';
}

const budgetSpent = "the tenant's rate budget is used up for now";
const unanswered = 'the service stopped answering';
const notReadable = 'the service sent something that cannot be read';

const stopReasons: Record<ApiErrorKind, string> = {
  'key-refused': 'the service stopped accepting the key',
  'not-permitted': 'the service stopped permitting it',
  'not-found': notReadable,
  'no-route': notReadable,
  'web-page': notReadable,
  redirect: notReadable,
  refused: 'the service refused to go on',
  'rate-limited': budgetSpent,
  'budget-spent': budgetSpent,
  'server-error': unanswered,
  'connection-lost': unanswered,
  unreachable: unanswered,
  'circuit-open': unanswered,
  'timed-out': 'time ran out',
  malformed: notReadable,
  'embedded-error': 'the service answered with an error',
  unexpected: notReadable,
  unfamiliar: notReadable,
  'too-large': 'a page of it is larger than this server accepts',
};
