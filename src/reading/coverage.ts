import { type ApiError, type ApiErrorKind, isApiError } from '../service/errors.ts';
import type { Pass } from './pass.ts';
import { pageSize } from './profile.ts';
import type { End } from './read-pages.ts';
import { areConsistent, isChained, maxSegmentLength } from './segments.ts';

/** How much of a collection was read. `complete` is true only if that is proven. */
export interface Coverage {
  complete: boolean;
  read: number;
  /** The service's total, or the number of records read if it reports none. */
  total: number;
  /** Why it is not complete. */
  reason?: string;
}

/** A pass that was not cut short, and how it ended. */
export interface FinishedPass<R> {
  readonly pass: Pass<R>;
  readonly end: End;
}

/** True if the pass proves that it read the whole collection, alone or together with the previous pass. */
export const isProven = <R>(finished: FinishedPass<R>, previous: Pass<R> | undefined): boolean =>
  isClean(finished) || (previous !== undefined && confirmsPrevious(finished, previous));

/**
 * True if the pass proves by itself that it read the whole collection.
 *
 * With a total and creation times: the total did not change, that many different records were read, and none was
 * created since the start. So the records read are exactly those that existed at the start.
 *
 * If every page overlaps the one before, neither is needed: as long as both pages have the same common record, no
 * record has moved past it.
 *
 * Full pages without creation times and without overlaps are accepted if their number matches the total. Only a
 * deletion and an addition at the same time would go unnoticed.
 */
function isClean<R>({ pass, end }: FinishedPass<R>): boolean {
  if (end.by === 'one-answer') return true;
  if (pass.countIsLimit) return false;
  if (!matchesCount(pass, end) || pass.countMoved || pass.hasNewRecords) return false;
  return end.by === 'first-page' || isContiguous(pass);
}

/**
 * True if the pass found only records of the previous pass, and as many as the unchanged total. They all existed when
 * this pass began, so they are complete. This accepts collections whose newest records were added just before the
 * first pass.
 */
function confirmsPrevious<R>({ pass, end }: FinishedPass<R>, previous: Pass<R>): boolean {
  if (pass.countIsLimit || pass.countMoved || !matchesCount(pass, end) || !pass.isWithin(previous))
    return false;
  return pass.count !== undefined || isContiguous(pass);
}

const matchesCount = <R>(pass: Pass<R>, { sawEnd }: End): boolean =>
  pass.count === undefined ? sawEnd : pass.hasAll;

function isContiguous({ segments, found, hasAllDates, count }: Pass<unknown>): boolean {
  if (!areConsistent(segments, found.size)) return false;
  const showsMoves = hasAllDates || maxSegmentLength(segments) >= pageSize;
  return (count !== undefined && showsMoves) || isChained(segments);
}

export const completeCoverage = (read: number): Coverage => ({ complete: true, read, total: read });

/** Coverage of `read` records of all passes, if the last pass did not prove that they are complete. */
export const unprovenCoverage = (finished: FinishedPass<unknown>, read: number): Coverage =>
  partialCoverage(finished.pass, read, unprovenReason(finished));

/** Coverage of `read` records of all passes, if the last pass failed with this error. */
export function stoppedCoverage(pass: Pass<unknown>, read: number, error: ApiError): Coverage {
  const coverage = partialCoverage(pass, read, stopReasons[error.kind] ?? notReadable);
  const seconds = isApiError(error, 'rate-limited', 'budget-spent') && error.facts.seconds;
  if (seconds === false || seconds === undefined) return coverage;
  // A time rather than a duration, because the reason is cached.
  const moment = new Date(Date.now() + seconds * 1000).toISOString().slice(0, 19);
  return { ...coverage, reason: `${coverage.reason}; the rest can be read from ${moment}Z on` };
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
    return 'only the first page can be read, because no offset parameter works (the setting page-param names it)';
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
