import type { Pass } from './pass.ts';
import type { RouteProfile } from './profile.ts';
import {
  beginsLike,
  furthestEnd,
  type Gap,
  gapsIn,
  maxSegmentLength,
  overlapsAt,
  repeatsFirst,
  type Segment,
} from './segments.ts';

export interface PageRequest {
  /** 0-based offset of the first record. */
  readonly from: number;
  readonly size: number;
  /** Behind the end a refusal means that nothing is there. */
  readonly ifRefused: 'fail' | 'nothing';
}

/**
 * How a pass goes on. It starts with the first page, and then depends on what came back:
 *
 * - counted: the other pages in `parallel`, then the `gaps` that short ones left, then what is `behind` the
 *   last record;
 * - not counted: one page after the other, each `overlapping` the one before by a record;
 * - the offset is ignored, or there is none: a `smaller` page shows whether the list comes whole whatever
 *   is asked for, and a `larger` one may bring the rest.
 */
export type ReadingPlan =
  | { readonly mode: 'one-answer' }
  | { readonly mode: 'first' }
  | {
      readonly mode: 'parallel';
      /** Of the page asked for last. */
      readonly lastFrom: number;
      /** So many of the pages to come share a record with the one before. */
      readonly overlapsLeft: number;
      /** The offset up to which is read. */
      readonly until: number;
    }
  | { readonly mode: 'gaps'; readonly gaps: readonly [Gap, ...Gap[]] }
  | { readonly mode: 'overlapping'; readonly end: number }
  | {
      readonly mode: 'behind';
      readonly end: number;
      /** Whether the page before began with the last record that was known; absent where none was asked for. */
      readonly joined?: boolean;
    }
  | { readonly mode: 'smaller'; readonly size: number }
  | { readonly mode: 'larger'; readonly size: number; readonly counted: boolean }
  | Done;

export interface Done {
  readonly mode: 'done';
  /** `first-page`: the offset did not help, so that a repetition would bring the same. */
  readonly by: 'one-answer' | 'pages' | 'first-page';
  /** Whether nothing comes after the last record. */
  readonly sawEnd: boolean;
}

type PlanOf<M extends ReadingPlan['mode']> = Extract<ReadingPlan, { mode: M }>;
type AnyPass = Pass<unknown>;

export interface Step {
  readonly plan: ReadingPlan;
  /** Absent where the answers to earlier requests have to come first, or the pass is done. */
  readonly request?: PageRequest;
}

/** Further requests that seeing records move may cost where pages are small, and a reading cheap. */
const maxExtraRequests = 2;

export const firstPlan = ({ answers }: RouteProfile): ReadingPlan =>
  answers === 'one-answer' ? { mode: 'one-answer' } : { mode: 'first' };

/** What to ask next, while `underWay` requests of this plan are not answered yet. */
export function nextStep(plan: ReadingPlan, pass: AnyPass, underWay: number): Step {
  if (plan.mode === 'parallel') return nextInParallel(plan, pass, underWay);
  if (plan.mode === 'done' || underWay > 0) return { plan };
  return { plan, request: requestOf(plan, pass.profile.pageSize) };
}

/** Each page begins as far on as the longest page yet reaches. */
function nextInParallel(plan: PlanOf<'parallel'>, pass: AnyPass, underWay: number): Step {
  const covered = plan.lastFrom + maxSegmentLength(pass.segments);
  if (covered >= plan.until) return underWay > 0 ? { plan } : nextStep(fillGaps(pass), pass, 0);
  const from = covered - (plan.overlapsLeft > 0 ? 1 : 0);
  return {
    plan: { ...plan, lastFrom: from, overlapsLeft: plan.overlapsLeft - 1 },
    request: { from, size: pass.profile.pageSize, ifRefused: 'fail' },
  };
}

function requestOf(
  plan: Exclude<ReadingPlan, Done | PlanOf<'parallel'>>,
  pageSize: number,
): PageRequest {
  switch (plan.mode) {
    case 'one-answer':
    case 'first':
      return { from: 0, size: pageSize, ifRefused: 'fail' };
    case 'gaps': {
      const [[from, until]] = plan.gaps;
      const start = Math.max(0, from - 1);
      return { from: start, size: Math.min(pageSize, until + 1 - start), ifRefused: 'fail' };
    }
    case 'overlapping':
      return { from: plan.end - 1, size: pageSize, ifRefused: 'nothing' };
    case 'behind':
      return { from: plan.end, size: pageSize, ifRefused: 'nothing' };
    case 'smaller':
      return { from: 0, size: plan.size, ifRefused: 'fail' };
    case 'larger':
      return { from: 0, size: plan.size, ifRefused: 'nothing' };
  }
}

/** How the pass goes on after the answer to a request of this plan, which the pass has taken in. */
export function afterAnswer(plan: ReadingPlan, segment: Segment, pass: AnyPass): ReadingPlan {
  switch (plan.mode) {
    case 'one-answer':
      return { mode: 'done', by: 'one-answer', sawEnd: true };
    case 'first':
      return afterFirst(segment, pass);
    case 'parallel':
      if (repeatsFirst(pass.first, segment)) return withoutOffset(pass);
      // Behind the end, whatever the count says.
      return segment.fresh === 0 ? fillGaps(pass) : plan;
    case 'gaps':
      return afterGap(plan, segment, pass);
    case 'overlapping':
      if (segment.fresh > 0) return readOn(pass);
      return { ...plan, mode: 'behind', joined: overlapsAt(pass.segments, plan.end - 1) };
    case 'behind':
      return afterBeyondEnd(plan, segment, pass);
    case 'smaller':
      return afterSmaller(segment, pass);
    case 'larger':
      return firstPageOnly(plan.counted, pass);
    case 'done':
      return plan;
  }
}

function afterFirst({ keys }: Segment, pass: AnyPass): ReadingPlan {
  if (keys.length === 0) return donePaging(true);
  if (pass.hasAll && !pass.distrustsCount) return donePaging(false);
  if (pass.profile.offset === 'none') return withoutOffset(pass);
  return pass.count === undefined ? readOn(pass) : inParallel(pass, pass.count);
}

/**
 * Neighbouring pages overlap by one record: if it is not the same one in both, records moved while we
 * read. And the last page reaches one place behind the count, in case it is too low. Both as far as they
 * cost no request more; pages smaller than we ask for make a reading that is worth a few more.
 */
function inParallel(pass: AnyPass, total: number): ReadingPlan {
  const step = maxSegmentLength(pass.segments);
  const pages = Math.ceil(total / step);
  if (pass.profile.offset === 'pages')
    return { mode: 'parallel', lastFrom: 0, overlapsLeft: 0, until: pages * step };
  const plan = { mode: 'parallel', lastFrom: 0 } as const;
  if (step > 1) {
    const extra = 1 + Math.ceil((total + 1 - step) / (step - 1)) - pages;
    const isSmall = step < pass.profile.pageSize;
    if (extra === 0 || (isSmall && (!pass.hasAllDates || extra <= maxExtraRequests))) {
      return { ...plan, overlapsLeft: Number.POSITIVE_INFINITY, until: total + 1 };
    }
  }
  return { ...plan, overlapsLeft: step > 1 ? pages * step - total : 0, until: total };
}

/** A page that came back shorter than asked left a stretch unread, or hides records that do not show. */
const fillGaps = (pass: AnyPass): ReadingPlan =>
  withGaps(gapsIn(pass.segments, pass.count ?? 0), pass);

function withGaps(gaps: readonly Gap[], pass: AnyPass): ReadingPlan {
  const [gap, ...others] = gaps;
  return gap ? { mode: 'gaps', gaps: [gap, ...others] } : readOn(pass);
}

function afterGap(
  { gaps }: PlanOf<'gaps'>,
  { from, keys, fresh }: Segment,
  pass: AnyPass,
): ReadingPlan {
  const [[, until], ...others] = gaps;
  const reached = from + keys.length;
  const isClosed = fresh === 0 || reached >= until;
  return withGaps(isClosed ? others : [[reached, until], ...others], pass);
}

/**
 * On from the furthest record until all that are counted are there, or nothing new comes. Where nothing
 * is counted each page begins with the last record of the page before: if it does not, records moved, or
 * the offset means something else.
 */
function readOn(pass: AnyPass): ReadingPlan {
  if (pass.hasAll && !pass.distrustsCount) return donePaging(false);
  const end = furthestEnd(pass.segments);
  const overlaps = pass.count === undefined && end > 1;
  return { mode: overlaps ? 'overlapping' : 'behind', end };
}

/** A page may be shorter than asked although more follows. */
function afterBeyondEnd(
  { joined }: PlanOf<'behind'>,
  segment: Segment,
  pass: AnyPass,
): ReadingPlan {
  if (segment.fresh > 0) return readOn(pass);
  // Behind the end there is nothing, a refusal, or the last page once more.
  const isIgnored = repeatsFirst(pass.first, segment) && joined !== true;
  return isIgnored ? withoutOffset(pass) : donePaging(joined ?? true);
}

/** Where the offset is ignored, one large page may still bring all. */
function withoutOffset(pass: AnyPass): ReadingPlan {
  const shown = firstPageLength(pass);
  if (pass.count !== undefined || shown <= 1) return askForMore(pass.count, pass);
  return { mode: 'smaller', size: Math.ceil(shown / 2) };
}

/** A list that comes whole, whatever size was asked for, is not paged at all. */
function afterSmaller(segment: Segment, pass: AnyPass): ReadingPlan {
  const isWhole = segment.keys.length === firstPageLength(pass) && beginsLike(pass.first, segment);
  return isWhole ? { mode: 'done', by: 'first-page', sawEnd: true } : askForMore(undefined, pass);
}

function askForMore(total: number | undefined, pass: AnyPass): ReadingPlan {
  const { maxSize } = pass.profile;
  const size = Math.min(total ?? maxSize, maxSize);
  const counted = total !== undefined;
  return size > firstPageLength(pass)
    ? { mode: 'larger', size, counted }
    : firstPageOnly(counted, pass);
}

const firstPageLength = ({ first }: AnyPass): number => first?.keys.length ?? 0;

/** One record that comes whatever is asked for is all there is. */
const firstPageOnly = (counted: boolean, { found }: AnyPass): Done => ({
  mode: 'done',
  by: 'first-page',
  sawEnd: !counted && found.size === 1,
});

const donePaging = (sawEnd: boolean): Done => ({ mode: 'done', by: 'pages', sawEnd });
