import type { Pass } from './pass.ts';
import { pageSize } from './profile.ts';
import {
  beginsLike,
  furthestEnd,
  gapsIn,
  maxSegmentLength,
  overlapsAt,
  repeatsFirst,
  type Segment,
} from './segments.ts';

/**
 * Requests a page and adds it to the pass.
 * @param ifRefused `nothing`: beyond the end, where a refusal counts as an empty page
 */
export type Ask = (from: number, size: number, ifRefused?: 'fail' | 'nothing') => Promise<Segment>;

/** How a pass ended. */
export interface End {
  /** `first-page`: there is no usable offset, so another pass would return the same. */
  readonly by: 'one-answer' | 'pages' | 'first-page';
  /** Whether the service returned nothing after the last record. */
  readonly sawEnd: boolean;
}

type AnyPass = Pass<unknown>;

/** Maximum number of requests in flight. */
const maxParallel = 6;
/** Maximum number of additional requests for overlapping pages, if pages are small. */
const maxExtraRequests = 2;
/** Records that are requested where there is no offset. */
const maxSize = 1_000;
/** Sizes that services cut their pages to: so many records may be a page of more. */
export const commonSizes: readonly number[] = [10, 20, 25, 30, 40, 50, 100];

/**
 * Reads a list from its first page to its end: with a total the other pages in parallel, then what short pages left out;
 * without one page by page. Without an offset that works, the longest page is all that can be read.
 * @throws what `ask` throws
 */
export async function readPages(ask: Ask, pass: AnyPass): Promise<End> {
  const first = await ask(0, pageSize);
  if (pass.profile.answers === 'one-answer') return { by: 'one-answer', sawEnd: true };
  if (first.keys.length === 0) return endOfPages(true);
  const { count } = pass;
  if (count !== undefined && isComplete(pass)) return endOfPages(false);
  const end =
    pass.profile.offset !== 'none' &&
    (count === undefined || (await readCounted(ask, pass, count))) &&
    (await readOn(ask, pass));
  return end || readWithoutOffset(ask, pass, first);
}

const endOfPages = (sawEnd: boolean): End => ({ by: 'pages', sawEnd });

const isComplete = ({ hasAll, distrustsCount }: AnyPass): boolean => hasAll && !distrustsCount;

/** @returns false if the offset is ignored */
async function readCounted(ask: Ask, pass: AnyPass, total: number): Promise<boolean> {
  const offsets = offsetsIn(pass, total);
  const underWay: Promise<Segment>[] = [];
  for (;;) {
    while (underWay.length < maxParallel) {
      const { value: from, done } = offsets.next();
      if (done) break;
      const running = ask(from, pageSize);
      running.catch(() => {}); // It is awaited later, unless an earlier request fails.
      underWay.push(running);
    }
    const segment = await underWay.shift();
    if (segment && repeatsFirst(pass.segments[0], segment)) return false;
    // Without a new record it is the end of the list, even if the total is higher.
    if (!segment || segment.fresh === 0) break;
  }
  await fillGaps(ask, pass);
  return true;
}

/** Where the pages after the first one begin: each after the longest page so far. */
function* offsetsIn(pass: AnyPass, total: number): Generator<number, undefined> {
  const { overlaps, until } = overlapsOf(pass, total);
  let from = 0;
  for (let remaining = overlaps; ; remaining--) {
    const next = from + maxSegmentLength(pass.segments);
    if (next >= until) return;
    from = next - (remaining > 0 ? 1 : 0);
    yield from;
  }
}

/**
 * Neighbouring pages overlap by one record: if they disagree on it, records moved during the reading. The last page
 * also requests one record beyond the total, in case the total is too low. Both are done only if they need no
 * additional request, or a few if the service returns smaller pages than requested.
 */
function overlapsOf(pass: AnyPass, total: number): { overlaps: number; until: number } {
  const step = maxSegmentLength(pass.segments);
  const pages = Math.ceil(total / step);
  if (pass.profile.offset === 'pages') return { overlaps: 0, until: pages * step };
  if (step === 1) return { overlaps: 0, until: total };
  const extra = 1 + Math.ceil((total + 1 - step) / (step - 1)) - pages;
  const isSmall = step < pageSize;
  return extra === 0 || (isSmall && (!pass.hasAllDates || extra <= maxExtraRequests))
    ? { overlaps: Number.POSITIVE_INFINITY, until: total + 1 }
    : { overlaps: pages * step - total, until: total };
}

/** A page that is shorter than requested leaves a gap. */
async function fillGaps(ask: Ask, pass: AnyPass): Promise<void> {
  for (const [start, until] of gapsIn(pass.segments, pass.count ?? 0)) {
    let reached = start;
    while (reached < until) {
      const from = Math.max(0, reached - 1);
      const { keys, fresh } = await ask(from, Math.min(pageSize, until + 1 - from));
      if (fresh === 0) break;
      reached = from + keys.length;
    }
  }
}

/**
 * Continues after the last record until the total is reached or nothing new is returned: a short page may be followed by
 * others. Without a total, each page begins with the last record of the page before: otherwise records moved, or the
 * offset means something else.
 * @returns `undefined` if the offset is ignored
 */
async function readOn(ask: Ask, pass: AnyPass): Promise<End | undefined> {
  while (!isComplete(pass)) {
    const end = furthestEnd(pass.segments);
    let joined: boolean | undefined;
    if (pass.count === undefined && end > 1) {
      if ((await ask(end - 1, pageSize, 'nothing')).fresh > 0) continue;
      joined = overlapsAt(pass.segments, end - 1);
    }
    const beyond = await ask(end, pageSize, 'nothing');
    if (beyond.fresh > 0) continue;
    // Beyond the end, services return nothing, a refusal, or the last page again.
    const isIgnored = repeatsFirst(pass.segments[0], beyond) && joined !== true;
    return isIgnored ? undefined : endOfPages(joined ?? true);
  }
  return endOfPages(false);
}

/** If the offset is ignored, a larger page may contain all records; a service that does not page returns them for any size. */
async function readWithoutOffset(ask: Ask, pass: AnyPass, first: Segment): Promise<End> {
  const shown = first.keys.length;
  const { count } = pass;
  if (pass.withoutSize && count === undefined) return endOfFirst(!commonSizes.includes(shown));
  if (count === undefined && shown > 1) {
    const smaller = await ask(0, Math.ceil(shown / 2));
    if (smaller.keys.length === shown && beginsLike(first, smaller)) return endOfFirst(true);
  }
  const size = Math.min(count ?? maxSize, maxSize);
  if (size > shown) await ask(0, size, 'nothing');
  // Without a total, the list is complete only if it always consists of one record.
  return endOfFirst(count === undefined && pass.found.size === 1);
}

const endOfFirst = (sawEnd: boolean): End => ({ by: 'first-page', sawEnd });
