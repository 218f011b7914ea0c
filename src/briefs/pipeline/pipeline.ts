/** The pipeline: open deals by group, overdue, closing soon and stalled deals, won and lost deals. */

import { addDays, type Day, dayOf, within } from '../../figures/days.ts';
import {
  byValue,
  convertDeal,
  countByCurrency,
  countUnknown,
  type Deal,
  dealAmounts,
  dealExtras,
  dealRow,
  idleDays,
  lastChange,
  type Rates,
  type TenantDeals,
  valueAmounts,
  withExtras,
} from '../../figures/deals.ts';
import { compact, nonZero, nonZeroCounts } from '../../figures/fields.ts';
import { limitSorted } from '../../figures/lists.ts';
import { type Amounts, type Decimal, rounded, sumOf } from '../../figures/money.ts';
import { nameOrId, plural } from '../../figures/naming.ts';
import { weighted } from '../../figures/probability.ts';
import { filterSteps, forEachStep, type ResultOf, sortSteps } from '../../figures/steps.ts';
import { type NameFilter, refersTo } from '../../names/name-filters.ts';
import { applying, quote, type Wording, wording } from '../../text/untrusted-text.ts';
import { type GroupOptions, groupClosed, groupOpen, isOfLines } from './pipeline-groups.ts';
import { closedPeriod, type DealOutcome, hasOutcome, salesFigures } from './won-and-lost.ts';

type DealFilter = 'owner' | 'company' | 'stage' | 'category' | 'source' | 'currency';

/** Filters as `resolveFilters` resolved them; a currency is its code, or `unknown currency`. */
export interface PipelineFilters extends Partial<Record<DealFilter, NameFilter>> {
  /** First and last expected close date, both included. */
  closeFrom?: Day;
  closeTo?: Day;
  /** Minimum value (one-time + monthly × value months), in each deal's own currency. */
  minValue?: number;
}

export interface PipelineOptions extends PipelineFilters, GroupOptions {
  /** Additional columns of rows and sums. */
  show: readonly PipelineExtra[];
  /** What is to be won, in the currency of the filter, else in that of most open deals. */
  target?: number | undefined;
  /** Currencies that are converted, at rates that the caller gave. */
  rates: Rates;
  /** Without a change. */
  stalledAfterDays: number;
  /** First and last closing day of won and lost deals, both included. */
  periodFrom: Day;
  periodTo: Day;
  /** Deals named in each list; their owner and probability only where these are more than `fewRows`. */
  maxRows: number;
}

export const fewRows = 2;

/** Columns that rows and sums have on request only; `velocity` adds mean values, and the value won a day. */
export const pipelineExtras = [...dealExtras, 'velocity'] as const;
type PipelineExtra = (typeof pipelineExtras)[number];

export type PipelineBrief = ResultOf<typeof pipelineBrief>;
export type ClosedBrief = ResultOf<typeof closedBrief>;

const closingWithinDays = 30;

/**
 * The deals that pass the filters: open ones, those closed at any time, and in the period; and how many the minimum
 * value leaves out because their value is unknown.
 */
function* select({ all }: TenantDeals, options: PipelineOptions) {
  const { minValue, periodFrom, periodTo, show, rates, ...others } = options;
  const found: Record<'open' | 'closed' | 'inPeriod', Deal[]> = {
    open: [],
    closed: [],
    inPeriod: [],
  };
  const unknownValue = { open: 0, inPeriod: 0 };
  let withoutCloseDate = 0;
  let deleted = 0;
  yield* forEachStep(all, (read) => {
    const deal = convertDeal(read, rates);
    if (!passesFilters(deal, others)) return;
    const isOpen = deal.outcome === 'open' && passesOpenFilters(deal, options);
    const isClosed = hasOutcome(deal, 'closed');
    const isIn = isClosed && within(dayOf(deal.record.closedAt), periodFrom, periodTo);
    if (!deal.value) {
      unknownValue.open += Number(isOpen);
      unknownValue.inPeriod += Number(isIn);
    }
    if (!isWorth(deal, minValue)) return;
    const shown = withExtras(deal, show);
    withoutCloseDate += Number(lacksCloseDate(deal, options));
    deleted += Number(deal.outcome === 'deleted');
    if (isOpen) found.open.push(shown);
    if (isClosed) found.closed.push(shown);
    if (isIn) found.inPeriod.push(shown);
  });
  yield;
  return { ...found, unknownValue, withoutCloseDate, deleted: nonZero(deleted) };
}

/** Briefs the open pipeline. Definitions: docs/definitions.md, "Pipeline". */
export function* pipelineBrief(deals: TenantDeals, options: PipelineOptions) {
  const found = yield* select(deals, options);
  const { open, closed, inPeriod, unknownValue } = found;
  const { today, by } = options;
  const totals = yield* openTotals(open);
  yield;
  const groups = yield* groupOpen(open, options);
  yield;
  const lists = yield* attentionLists(open, options);
  yield;
  const period = closedPeriod(inPeriod, options);
  yield;
  const unknown = unknownCounts(open, closed);
  yield;
  return compact({
    today,
    by,
    open: totals,
    groups,
    ...lists,
    closed: period,
    ...salesFigures(open, inPeriod, options),
    probability: deals.probability,
    unknown: nonZeroCounts(unknown),
    deleted: found.deleted,
    notes: pipelineNotes(
      options,
      closed,
      unknownValue.open + unknownValue.inPeriod,
      found.withoutCloseDate,
    ),
  });
}

/** Briefs the deals that were won, lost or closed over the period of the options. */
export function* closedBrief(deals: TenantDeals, outcome: DealOutcome, options: PipelineOptions) {
  const { open, closed, inPeriod, unknownValue, deleted } = yield* select(deals, options);
  const { today, by } = options;
  const { revenue, valueMonths, currency } = countUnknown(inPeriod);
  const unknown = { revenue, valueMonths, currency, closedAt: closed.filter(isUndated).length };
  yield;
  const period = closedPeriod(inPeriod, options);
  yield;
  const groups = yield* groupClosed(inPeriod, outcome, options);
  yield;
  return compact({
    today,
    outcome,
    by,
    closed: period,
    groups,
    ...salesFigures(open, inPeriod, options),
    unknown: nonZeroCounts(unknown),
    deleted,
    notes: pipelineNotes(options, closed, unknownValue.inPeriod),
  });
}

/** The deals that a brief on this outcome is about, the highest value first. */
export function* dealsAbout(deals: TenantDeals, outcome: DealOutcome, options: PipelineOptions) {
  const { open, inPeriod } = yield* select(deals, options);
  const wanted = outcome === 'open' ? open : inPeriod.filter((deal) => hasOutcome(deal, outcome));
  return yield* sortSteps(wanted, byValue);
}

export type OpenDeal = ReturnType<typeof openDealRow>;

/** Amounts in `currency`; unknown ones are absent. */
export function openDealRow(deal: Deal, today: Day) {
  const { record, oneTime, monthly, chance } = deal;
  const { ask, ...row } = dealRow(deal);
  return compact({
    ...row,
    stage: nameOrId(record.pipelineStage),
    owner: nameOrId(record.owner),
    closes: dayOf(record.expectedCloseDate),
    idleDays: idleDays(record, today),
    oneTime: oneTime && rounded(oneTime),
    monthly: monthly && rounded(monthly),
    probability: chance?.toNumber(),
    ask,
  });
}

/** Filters of open and closed deals: owner, company, category, source, currency and minimum value. */
export function passesFilters(deal: Deal, filters: PipelineFilters): boolean {
  const { record, currency } = deal;
  if (filters.currency && currency !== filters.currency.name) return false;
  for (const field of ['owner', 'company', 'category', 'source'] as const) {
    const filter = filters[field];
    if (filter && !refersTo(record[field], filter)) return false;
  }
  return isWorth(deal, filters.minValue);
}

const isWorth = ({ value }: Deal, minValue: number | undefined): boolean =>
  minValue === undefined || (value !== undefined && !value.lt(minValue));

/** Whether the filters leave out open deals without a close date. */
export const hasClosePeriod = ({ closeFrom, closeTo }: PipelineFilters): boolean =>
  (closeFrom ?? closeTo) !== undefined;

/** All filters of open deals. */
export const passesAll = (deal: Deal, filters: PipelineFilters): boolean =>
  passesFilters(deal, filters) && passesOpenFilters(deal, filters);

const passesOpenFilters = (deal: Deal, filters: PipelineFilters): boolean =>
  passesStage(deal, filters) &&
  (!hasClosePeriod(filters) ||
    within(dayOf(deal.record.expectedCloseDate), filters.closeFrom, filters.closeTo));

export const passesStage = ({ record }: Deal, { stage }: PipelineFilters): boolean =>
  !stage || refersTo(record.pipelineStage, stage);

/** Said of the open deals that only a period of close dates leaves out. */
export const withoutCloseDateNote = (count: number): Wording | false =>
  count > 0 &&
  wording`${plural(count, 'open deal')} without a close date: not in the period of close dates.`;

/** Whether only the period of close dates leaves an open deal out, because it has none. */
export const lacksCloseDate = (deal: Deal, filters: PipelineFilters): boolean =>
  deal.outcome === 'open' &&
  hasClosePeriod(filters) &&
  !dayOf(deal.record.expectedCloseDate) &&
  passesStage(deal, filters);

function* openTotals(open: readonly Deal[]) {
  const weightedOf = (amountOf: (deal: Deal) => Decimal | undefined): Amounts | undefined =>
    sumOf(open, (deal) => weighted(amountOf(deal), deal.chance)).toAmounts();
  const amounts = dealAmounts(open);
  yield;
  const weightedOneTime = weightedOf(({ oneTime }) => oneTime);
  yield;
  const weightedMonthly = weightedOf(({ monthly }) => monthly);
  yield;
  const counts = { count: open.length, countByCurrency: countByCurrency(open) };
  return compact({ ...counts, ...amounts, weightedOneTime, weightedMonthly });
}

function* attentionLists(open: readonly Deal[], options: PipelineOptions) {
  const { today, stalledAfterDays, maxRows } = options;
  const to = addDays(today, closingWithinDays);
  const closes = (deal: Deal): Day | undefined => dayOf(deal.record.expectedCloseDate);
  const idle = (deal: Deal): number | undefined => idleDays(deal.record, today);
  const overdue = yield* filterSteps(open, (deal) => (closes(deal) ?? today) < today);
  const closingSoon = yield* filterSteps(open, (deal) => within(closes(deal), today, to));
  const stalled = yield* filterSteps(open, (deal) => (idle(deal) ?? -1) >= stalledAfterDays);
  const isDetailed = maxRows > fewRows;
  const rowOf = (deal: Deal) =>
    compact({ ...dealRow(deal), owner: isDetailed ? nameOrId(deal.record.owner) : undefined });
  const closingRow = (deal: Deal) =>
    compact({ ...rowOf(deal), closes: closes(deal), ...(isDetailed && likelihood(deal)) });
  const stalledRow = (deal: Deal) => compact({ ...rowOf(deal), idleDays: idle(deal) });
  return {
    overdue: yield* dealList(overdue, maxRows, closingRow),
    closingSoon: { from: today, to, ...(yield* dealList(closingSoon, maxRows, closingRow)) },
    stalled: { afterDays: stalledAfterDays, ...(yield* dealList(stalled, maxRows, stalledRow)) },
  };
}

/** The weighted value of a deal, and its probability from 0 to 1. */
function likelihood({ value, chance }: Deal) {
  const likely = weighted(value, chance);
  return { weightedValue: likely && rounded(likely), probability: chance?.toNumber() };
}

/** Deals by value, the largest first; the amounts are over all of them, shown or not. */
function* dealList<Row>(deals: readonly Deal[], maxRows: number, toRow: (deal: Deal) => Row) {
  const rows = yield* limitSorted(deals, byValue, maxRows, toRow);
  return { total: rows.total, ...valueAmounts(deals), shown: rows.shown, rows: rows.rows };
}

function unknownCounts(open: readonly Deal[], closed: readonly Deal[]) {
  const count = (isUnknown: (deal: Deal) => boolean): number => open.filter(isUnknown).length;
  return {
    ...countUnknown(open),
    createdAt: count(({ record }) => !dayOf(record.createdAt)),
    stageUpdatedAt: count(({ record }) => !dayOf(record.stageUpdatedAt)),
    expectedCloseDate: count(({ record }) => !dayOf(record.expectedCloseDate)),
    lastChange: count(({ record }) => !lastChange(record)),
    closedAt: closed.filter(isUndated).length,
  };
}

const isUndated = ({ record }: Deal): boolean => !dayOf(record.closedAt);

/** Caveats about the figures; `undefined` when there are none. */
function pipelineNotes(
  { by, stage, closeFrom, closeTo, minValue, show, target, rates }: PipelineOptions,
  closed: readonly Deal[],
  unknownValue: number,
  withoutCloseDate = 0,
): Wording[] | undefined {
  const undated = closed.filter(isUndated).length;
  const converted = [...rates].map(
    ([code, { to, rate }]) =>
      wording`Amounts in ${quote(code)} are converted at ${rate.toNumber()} ${quote(to)}, the rate given by the caller.`,
  );
  const notes = applying([
    ...converted,
    by === 'label' && wording`A deal counts in the group of each label that it or its company has.`,
    isOfLines(by) &&
      wording`The amounts of a deal are divided among the lines of its last quote (an accepted one before others, then the newest) by their first-year value; a deal counts in each of its groups.`,
    show.includes('velocity') &&
      wording`Velocity: open deals × mean value won × win rate ÷ mean days to win, a day, each of its currency; means of deals of known value.`,
    target !== undefined &&
      wording`Target: gap = target − won in the period; coverage = value of the open deals ÷ gap.`,
    (stage ?? closeFrom ?? closeTo) !== undefined &&
      wording`The filters by stage and close date apply to open deals only, not to won and lost ones.`,
    withoutCloseDateNote(withoutCloseDate),
    minValue !== undefined &&
      wording`The minimum value applies in each deal's own currency; ${plural(unknownValue, 'deal')} of unknown value omitted.`,
    undated > 0 && wording`${plural(undated, 'closed deal')} without a closing date: in no period.`,
  ]);
  return notes.length > 0 ? notes : undefined;
}
