import type { Pass } from './pass.ts';
import { commonSizes, type RouteProfile } from './profile.ts';
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

export interface PlannedPage {
  /** 0-based offset of the first record. */
  readonly from: number;
  readonly size: number;
  /** `nothing`: beyond the end, a refusal counts as an empty page. */
  readonly ifRefused: 'fail' | 'nothing';
}

/**
 * The state of a pass. It starts with the first page; the next steps depend on the responses:
 *
 * - with a total: the other pages in `parallel`, then the `gaps` left by short pages, then the page `beyond` the last
 *   record;
 * - without a total: page by page, each `overlapping` the one before by one record;
 * - without an offset, or with one that is ignored: a `smaller` page shows whether the service always returns the
 *   whole list, and a `larger` page may return the rest.
 */
export type ReadingPlan =
  | { readonly mode: 'one-answer' }
  | { readonly mode: 'first' }
  | {
      readonly mode: 'parallel';
      /** Offset of the last requested page. */
      readonly lastFrom: number;
      /** Number of further pages that overlap the page before by one record. */
      readonly overlapsRemaining: number;
      /** The offset at which to stop. */
      readonly until: number;
    }
  | { readonly mode: 'gaps'; readonly gaps: readonly [Gap, ...Gap[]] }
  | { readonly mode: 'overlapping'; readonly end: number }
  | {
      readonly mode: 'beyond';
      readonly end: number;
      /** Whether the page before overlapped the known records; absent if no overlap was requested. */
      readonly joined?: boolean;
    }
  | { readonly mode: 'smaller'; readonly size: number }
  | { readonly mode: 'larger'; readonly size: number; readonly counted: boolean }
  | Done;

export interface Done {
  readonly mode: 'done';
  /** `first-page`: there is no usable offset, so another pass would return the same. */
  readonly by: 'one-answer' | 'pages' | 'first-page';
  /** Whether the service returned nothing after the last record. */
  readonly sawEnd: boolean;
}

type PlanOf<M extends ReadingPlan['mode']> = Extract<ReadingPlan, { mode: M }>;
type AnyPass = Pass<unknown>;

export interface PlanStep {
  readonly plan: ReadingPlan;
  /** Absent if earlier requests must be answered first, or the pass is done. */
  readonly request?: PlannedPage;
}

/** Maximum number of additional requests for overlapping pages, if pages are small. */
const maxExtraRequests = 2;

export const firstPlan = ({ answers }: RouteProfile): ReadingPlan =>
  answers === 'one-answer' ? { mode: 'one-answer' } : { mode: 'first' };

/** The next request, while `underWay` requests of this plan are unanswered. */
export function nextStep(plan: ReadingPlan, pass: AnyPass, underWay: number): PlanStep {
  if (plan.mode === 'parallel') return nextInParallel(plan, pass, underWay);
  if (plan.mode === 'done' || underWay > 0) return { plan };
  return { plan, request: requestOf(plan, pass.profile.pageSize) };
}

/** Advances by the length of the longest page so far. */
function nextInParallel(plan: PlanOf<'parallel'>, pass: AnyPass, underWay: number): PlanStep {
  const covered = plan.lastFrom + maxSegmentLength(pass.segments);
  if (covered >= plan.until) return underWay > 0 ? { plan } : nextStep(fillGaps(pass), pass, 0);
  const from = covered - (plan.overlapsRemaining > 0 ? 1 : 0);
  return {
    plan: { ...plan, lastFrom: from, overlapsRemaining: plan.overlapsRemaining - 1 },
    request: { from, size: pass.profile.pageSize, ifRefused: 'fail' },
  };
}

function requestOf(
  plan: Exclude<ReadingPlan, Done | PlanOf<'parallel'>>,
  pageSize: number,
): PlannedPage {
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
    case 'beyond':
      return { from: plan.end, size: pageSize, ifRefused: 'nothing' };
    case 'smaller':
      return { from: 0, size: plan.size, ifRefused: 'fail' };
    case 'larger':
      return { from: 0, size: plan.size, ifRefused: 'nothing' };
  }
}

/** The plan after a response, which was already added to the pass. */
export function afterAnswer(plan: ReadingPlan, segment: Segment, pass: AnyPass): ReadingPlan {
  switch (plan.mode) {
    case 'one-answer':
      return { mode: 'done', by: 'one-answer', sawEnd: true };
    case 'first':
      return afterFirst(segment, pass);
    case 'parallel':
      if (repeatsFirst(pass.first, segment)) return withoutOffset(pass);
      // The end of the list, even if the total is higher.
      return segment.fresh === 0 ? fillGaps(pass) : plan;
    case 'gaps':
      return afterGap(plan, segment, pass);
    case 'overlapping':
      if (segment.fresh > 0) return readOn(pass);
      return { ...plan, mode: 'beyond', joined: overlapsAt(pass.segments, plan.end - 1) };
    case 'beyond':
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
 * Neighbouring pages overlap by one record: if they disagree on it, records moved during the reading. The last page
 * also requests one record beyond the total, in case the total is too low. Both are done only if they need no
 * additional request, or a few if the service returns smaller pages than requested.
 */
function inParallel(pass: AnyPass, total: number): ReadingPlan {
  const step = maxSegmentLength(pass.segments);
  const pages = Math.ceil(total / step);
  if (pass.profile.offset === 'pages')
    return { mode: 'parallel', lastFrom: 0, overlapsRemaining: 0, until: pages * step };
  const plan = { mode: 'parallel', lastFrom: 0 } as const;
  if (step > 1) {
    const extra = 1 + Math.ceil((total + 1 - step) / (step - 1)) - pages;
    const isSmall = step < pass.profile.pageSize;
    if (extra === 0 || (isSmall && (!pass.hasAllDates || extra <= maxExtraRequests))) {
      return { ...plan, overlapsRemaining: Number.POSITIVE_INFINITY, until: total + 1 };
    }
  }
  return { ...plan, overlapsRemaining: step > 1 ? pages * step - total : 0, until: total };
}

/** A page that is shorter than requested leaves a gap. */
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
 * Continues after the last record until the total is reached or nothing new is returned. Without a total, each page
 * begins with the last record of the page before: otherwise records moved, or the offset means something else.
 */
function readOn(pass: AnyPass): ReadingPlan {
  if (pass.hasAll && !pass.distrustsCount) return donePaging(false);
  const end = furthestEnd(pass.segments);
  const overlaps = pass.count === undefined && end > 1;
  return { mode: overlaps ? 'overlapping' : 'beyond', end };
}

/** Only a page without new records is the end: a short page may be followed by others. */
function afterBeyondEnd(
  { joined }: PlanOf<'beyond'>,
  segment: Segment,
  pass: AnyPass,
): ReadingPlan {
  if (segment.fresh > 0) return readOn(pass);
  // Beyond the end, services return nothing, a refusal, or the last page again.
  const isIgnored = repeatsFirst(pass.first, segment) && joined !== true;
  return isIgnored ? withoutOffset(pass) : donePaging(joined ?? true);
}

/** If the offset is ignored, one large page may still contain all records. */
function withoutOffset(pass: AnyPass): ReadingPlan {
  const shown = firstPageLength(pass);
  if (pass.withoutSize && pass.count === undefined) {
    return { mode: 'done', by: 'first-page', sawEnd: !commonSizes.includes(shown) };
  }
  if (pass.count !== undefined || shown <= 1) return askForMore(pass.count, pass);
  return { mode: 'smaller', size: Math.ceil(shown / 2) };
}

/** A service that returns the whole list for any size does not page at all. */
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

/** Without a total, the list is complete only if it always consists of one record. */
const firstPageOnly = (counted: boolean, { found }: AnyPass): Done => ({
  mode: 'done',
  by: 'first-page',
  sawEnd: !counted && found.size === 1,
});

const donePaging = (sawEnd: boolean): Done => ({ mode: 'done', by: 'pages', sawEnd });
