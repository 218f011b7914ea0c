import { ignoreApiError } from '../service/errors.ts';
import type { Pass } from './pass.ts';
import {
  beginsLike,
  furthestEnd,
  gapsIn,
  overlapsAt,
  repeatsFirst,
  type Segment,
} from './segments.ts';
import { commonSizes, pageSize } from './service-pages.ts';

/**
 * Requests a page and adds it to the pass.
 * @param ifRefused `nothing`: beyond the end, where a refusal counts as an empty page
 */
export type Ask = (from: number, size: number, ifRefused?: 'fail' | 'nothing') => Promise<Segment>;

export interface End {
  /** False if the first page is all that can be read, so that another pass would return the same. */
  readonly isPaged: boolean;
  /** Whether nothing follows the last record. */
  readonly sawEnd: boolean;
  /** Whether all records came whatever size was asked for. */
  readonly ignoresSize?: true;
}

export const maxParallel = 6;
/** Records that are requested where there is no offset. */
const maxSize = 1_000;

/**
 * Reads a list from its first page to its end: with a total the other pages in parallel, then what short pages left out;
 * without one page by page. Without an offset that works, the longest page is all that can be read.
 * @throws what `ask` throws
 */
export async function readPages(ask: Ask, pass: Pass): Promise<End> {
  const first = await ask(0, pageSize);
  if (pass.route.isTree) return { isPaged: false, sawEnd: true };
  if (first.keys.length === 0 || pass.hasAll) return { isPaged: true, sawEnd: true };
  const mayBePage = pass.count !== undefined || commonSizes.includes(first.keys.length);
  if (pass.route.ignoresSize && !mayBePage)
    return { isPaged: false, sawEnd: true, ignoresSize: true };
  if (!pass.route.canPage) return readWithoutOffset(ask, pass, first);
  if (pass.count !== undefined) {
    if (!(await readCounted(ask, pass, first, pass.count)))
      return readWithoutOffset(ask, pass, first);
    await fillGaps(ask, pass);
    if (pass.countIsLimit && pass.hasAll) {
      // A refusal, or the last page again, may be the end of what the service counts.
      const beyond = await ask(furthestEnd(pass.segments), 1).catch(ignoreApiError('refused'));
      pass.countIsLimit = beyond?.keys.length !== 0;
      return { isPaged: true, sawEnd: true };
    }
  }
  return (await readOn(ask, pass, first)) ?? readWithoutOffset(ask, pass, first);
}

/**
 * Stops at a page beyond the others without a new record: it is the end of the list, even if the total is higher. When a
 * request fails, those in flight are awaited, because the service counts them.
 * @returns whether the offset has an effect
 */
async function readCounted(ask: Ask, pass: Pass, first: Segment, total: number): Promise<boolean> {
  const offsets = offsetsFor(first.keys.length, total);
  let isIgnored = false;
  const work = async () => {
    // Who leaves the loop, also by an error, ends it for all.
    for (const from of offsets) {
      const segment = await ask(from, pageSize);
      isIgnored ||= repeatsFirst(first, segment);
      if (segment.fresh === 0 && from >= furthestEnd(pass.segments)) return;
    }
  };
  const workers = Array.from({ length: maxParallel }, work);
  await Promise.allSettled(workers);
  await Promise.all(workers);
  return !isIgnored;
}

/**
 * Where the pages after the first one begin. Each begins with the last record of the page before: if they disagree on
 * it, records moved. Full pages do not overlap if that needs additional requests; smaller ones end beyond the total.
 */
function* offsetsFor(length: number, total: number): Generator<number, undefined> {
  const isFull = length >= pageSize;
  const isFree = Math.ceil((total - 1) / (length - 1)) === Math.ceil(total / length);
  const step = Math.max(1, isFree || !isFull ? length - 1 : length);
  const end = isFull ? total + step - length : total;
  for (let from = step; from < end; from += step) yield from;
}

/** A page that is shorter than requested leaves a gap. */
async function fillGaps(ask: Ask, pass: Pass): Promise<void> {
  const total = pass.count ?? 0;
  for (const [start, until] of gapsIn(pass.segments, total)) {
    let reached = start;
    while (reached <= Math.min(until, total - 1)) {
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
async function readOn(ask: Ask, pass: Pass, first: Segment): Promise<End | undefined> {
  while (!pass.hasAll) {
    const end = furthestEnd(pass.segments);
    let joined: boolean | undefined;
    if (pass.count === undefined && end > 1) {
      if ((await ask(end - 1, pageSize, 'nothing')).fresh > 0) continue;
      joined = overlapsAt(pass.segments, end - 1);
    }
    const beyond = await ask(end, pageSize, 'nothing');
    if (beyond.fresh > 0) continue;
    // Beyond the end, services return nothing, a refusal, or the last page again.
    const isIgnored = repeatsFirst(first, beyond) && joined !== true;
    return isIgnored ? undefined : { isPaged: true, sawEnd: joined ?? true };
  }
  return { isPaged: true, sawEnd: true };
}

/** If the offset is ignored, a larger page may contain all records; a service that does not page returns them for any size. */
async function readWithoutOffset(ask: Ask, pass: Pass, first: Segment): Promise<End> {
  const shown = first.keys.length;
  const { count } = pass;
  const end = (sawEnd: boolean): End => ({ isPaged: false, sawEnd });
  if (pass.withoutSize && count === undefined) return end(!commonSizes.includes(shown));
  if (count === undefined && shown > 1) {
    const smaller = await ask(0, Math.ceil(shown / 2));
    if (smaller.keys.length === shown && beginsLike(first, smaller))
      return { ...end(true), ignoresSize: true };
  }
  const size = Math.min(count ?? maxSize, maxSize);
  if (size > shown) await ask(0, size, 'nothing');
  // Without a total, the list is complete only if it always consists of one record.
  return end(count === undefined && pass.found.size === 1);
}
