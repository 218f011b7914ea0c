/** The pipeline: open deals by group, overdue, closing soon and stalled deals, won and lost deals. */

import type { Opportunity } from '../records/records.ts';
import { type Wording, wording } from '../text/untrusted-text.ts';
import { addDays, type Day, dayOf, requireDay, within } from './days.ts';
import {
  byValue,
  countUnknown,
  type Deal,
  type DealRow,
  dealRow,
  idleDays,
  lastChange,
  sumDeals,
  toDeal,
  type UnknownInDeals,
  type WeightedAmounts,
} from './deals.ts';
import {
  type Amounts,
  type CurrencyOf,
  decimal,
  percentOf,
  roundedPercent,
  zero,
} from './money.ts';
import { refersTo } from './name-filters.ts';
import { compact, type LimitedList, type Named, nonZero, nonZeroCounts, plural } from './naming.ts';
import { groupDeals, type PipelineBy, type PipelineGroup } from './pipeline-groups.ts';
import { type ProbabilityScale, probabilityScale } from './probability.ts';

export interface PipelineFilters {
  /** What `resolveFilters` found for the texts that were given. */
  owner?: Named;
  company?: Named;
  stage?: Named;
  category?: Named;
  source?: Named;
  /** First and last expected close date, both included. */
  closeFrom?: Day;
  closeTo?: Day;
  /** Minimum value (one-time + monthly × value months), in each deal's own currency. */
  minValue?: number;
}

export interface PipelineOptions extends PipelineFilters {
  today: Day;
  currencyOf: CurrencyOf;
  /** Default: stage. */
  by?: PipelineBy;
  /** Default: 30 days without a change. */
  stalledAfterDays?: number;
  /** Default: the next 30 days. */
  closingWithinDays?: number;
  /** First and last closing day of won and lost deals, both included. Default: today and the 90 days before. */
  periodFrom?: Day;
  periodTo?: Day;
  /** Groups shown before the rest is merged into one. Default: 8 stages, 5 otherwise. */
  maxGroups?: number;
  /** Deals named in each list. Default: 2. */
  maxRows?: number;
}

/** Deals by value, the largest first; `value` by currency over all of them, shown or not. */
interface DealList extends LimitedList<PipelineRow> {
  value?: Amounts;
}

interface PipelineRow extends DealRow {
  /** Expected close date. */
  closes?: Day;
  /** Days since the last change. */
  idleDays?: number;
}

interface ClosedTotals {
  count: number;
  /** One-time + monthly × value months. */
  value?: Amounts;
}

interface ClosedPeriod {
  from: Day;
  to: Day;
  won: ClosedTotals;
  lost: ClosedTotals;
  /** Closed in the period with unknown outcome; in no win rate. */
  outcomeUnknown?: ClosedTotals;
  /** Won in percent of won and lost deals. */
  winRateByCount?: number;
  /** Won value in percent of won and lost value, by currency. */
  winRateByValue?: Amounts;
}

/** Numbers of deals with an unknown figure, by missing field. */
type UnknownCounts = Partial<Record<UnknownField, number>>;

type UnknownField =
  | keyof UnknownInDeals
  | 'createdAt'
  | 'stageUpdatedAt'
  | 'expectedCloseDate'
  | 'lastChange'
  | 'closedAt';

export interface PipelineBrief {
  today: Day;
  by: PipelineBy;
  /** Everything open that passes the filters. */
  open: { count: number } & WeightedAmounts;
  groups: LimitedList<PipelineGroup>;
  overdue: DealList;
  closingSoon: DealList & { until: Day };
  stalled: DealList & { afterDays: number };
  closed: ClosedPeriod;
  probability: ProbabilityScale;
  unknown?: UnknownCounts;
  /** Soft-deleted opportunities, in no figure. */
  deleted?: number;
  notes?: Wording[];
}

const defaults = {
  by: 'stage',
  stalledAfterDays: 30,
  closingWithinDays: 30,
  maxRows: 2,
} as const;
const periodDays = 90;

type ResolvedOptions = PipelineOptions & Required<Omit<PipelineOptions, keyof PipelineFilters>>;

function resolveOptions(options: PipelineOptions): ResolvedOptions {
  const today = requireDay(options.today, 'today');
  const periodTo = requireDay(options.periodTo ?? today, 'periodTo');
  const periodFrom = requireDay(options.periodFrom ?? addDays(periodTo, -periodDays), 'periodFrom');
  for (const end of ['closeFrom', 'closeTo'] as const) {
    if (options[end] !== undefined) requireDay(options[end], end);
  }
  const maxGroups = (options.by ?? defaults.by) === 'stage' ? 8 : 5;
  return { ...defaults, maxGroups, ...compact(options), today, periodFrom, periodTo };
}

/**
 * Briefs the pipeline over every opportunity of a tenant. Definitions: docs/definitions.md, "Pipeline".
 *
 * @throws RangeError if `today` or an end of a period is not a day.
 */
export function pipelineBrief(
  opportunities: readonly Opportunity[],
  options: PipelineOptions,
): PipelineBrief {
  const resolved = resolveOptions(options);
  const probability = probabilityScale(opportunities);
  const deals = opportunities.map((record) =>
    toDeal(record, resolved.currencyOf, probability.scale),
  );
  const matching = deals.filter((deal) => passesFilters(deal, resolved));
  const open = matching.filter(
    (deal) => deal.outcome === 'open' && passesOpenFilters(deal.record, resolved),
  );
  const closed = matching.filter(isClosed);
  return compact({
    today: resolved.today,
    by: resolved.by,
    open: openTotals(open),
    groups: groupDeals(open, resolved.by, resolved.today, resolved.maxGroups),
    ...attentionLists(open, resolved),
    closed: closedPeriod(closed, resolved),
    probability,
    unknown: nonZeroCounts(unknownCounts(open, closed)),
    deleted: nonZero(deals.filter(({ outcome }) => outcome === 'deleted').length),
    notes: pipelineNotes(deals, resolved, closed),
  });
}

const everyDeal = ['owner', 'company', 'category', 'source'] as const;

/** Filters of open and closed deals: owner, company, category, source and minimum value. */
export function passesFilters({ record, value }: Deal, filters: PipelineFilters): boolean {
  for (const field of everyDeal) {
    const filter = filters[field];
    if (filter && !refersTo(record[field], filter)) return false;
  }
  const minValue = decimal(filters.minValue);
  return !minValue || (value?.gte(minValue) ?? false);
}

/** Filters of open deals only: stage and close dates. */
export function passesOpenFilters(record: Opportunity, filters: PipelineFilters): boolean {
  const { stage, closeFrom, closeTo } = filters;
  if (stage && !refersTo(record.pipelineStage, stage)) return false;
  if (closeFrom === undefined && closeTo === undefined) return true;
  const closes = dayOf(record.expectedCloseDate);
  return closes !== undefined && within(closes, closeFrom, closeTo);
}

const isClosed = ({ outcome }: Deal): boolean => outcome !== 'open' && outcome !== 'deleted';

function openTotals(open: readonly Deal[]): PipelineBrief['open'] {
  const sums = sumDeals(open);
  return { count: sums.count, ...sums.weighted() };
}

function attentionLists(
  open: readonly Deal[],
  { today, closingWithinDays, stalledAfterDays, maxRows }: ResolvedOptions,
): Pick<PipelineBrief, 'overdue' | 'closingSoon' | 'stalled'> {
  const until = addDays(today, closingWithinDays);
  const closes = (deal: Deal): Day | undefined => dayOf(deal.record.expectedCloseDate);
  const idle = (deal: Deal): number | undefined => idleDays(deal.record, today);
  const overdue = open.filter((deal) => (closes(deal) ?? today) < today);
  const closingSoon = open.filter((deal) => isBetween(closes(deal), today, until));
  const stalled = open.filter((deal) => (idle(deal) ?? -1) >= stalledAfterDays);
  const closingRow = (deal: Deal): PipelineRow =>
    compact({ ...dealRow(deal), closes: closes(deal) });
  const stalledRow = (deal: Deal): PipelineRow =>
    compact({ ...dealRow(deal), idleDays: idle(deal) });
  return {
    overdue: dealList(overdue, maxRows, closingRow),
    closingSoon: { until, ...dealList(closingSoon, maxRows, closingRow) },
    stalled: { afterDays: stalledAfterDays, ...dealList(stalled, maxRows, stalledRow) },
  };
}

const isBetween = (day: Day | undefined, from: Day, to: Day): boolean =>
  day !== undefined && from <= day && day <= to;

function dealList(
  deals: readonly Deal[],
  limit: number,
  toRow: (deal: Deal) => PipelineRow,
): DealList {
  const rows = deals.toSorted(byValue).slice(0, limit).map(toRow);
  const value = sumDeals(deals).value.toAmounts();
  return compact({ total: deals.length, value, shown: rows.length, rows });
}

function closedPeriod(
  closed: readonly Deal[],
  { periodFrom: from, periodTo: to }: ResolvedOptions,
): ClosedPeriod {
  const inPeriod = closed.filter((deal) => isBetween(dayOf(deal.record.closedAt), from, to));
  const of = (outcome: Deal['outcome']): Deal[] =>
    inPeriod.filter((deal) => deal.outcome === outcome);
  const [won, lost, unknown] = [of('won'), of('lost'), of('closed_unknown')];
  return compact({
    from,
    to,
    won: closedTotals(won),
    lost: closedTotals(lost),
    outcomeUnknown: unknown.length > 0 ? closedTotals(unknown) : undefined,
    winRateByCount: winRate(won.length, lost.length),
    winRateByValue: winRateByValue(won, lost),
  });
}

function closedTotals(deals: readonly Deal[]): ClosedTotals {
  const sums = sumDeals(deals);
  return compact({ count: sums.count, value: sums.value.toAmounts() });
}

/** won / (won + lost) × 100. */
function winRate(won: number, lost: number): number | undefined {
  const share = percentOf(zero.plus(won), zero.plus(won + lost));
  return share && roundedPercent(share);
}

function winRateByValue(won: readonly Deal[], lost: readonly Deal[]): Amounts | undefined {
  const wonValue = sumDeals(won).value;
  const all = sumDeals([...won, ...lost]).value;
  const rates = all.currencies.flatMap((currency): [string, number][] => {
    const whole = all.of(currency) ?? zero;
    const share = whole.gt(0) ? percentOf(wonValue.of(currency) ?? zero, whole) : undefined;
    return share ? [[currency, roundedPercent(share)]] : [];
  });
  return rates.length > 0 ? Object.fromEntries(rates) : undefined;
}

function unknownCounts(
  open: readonly Deal[],
  closed: readonly Deal[],
): Record<UnknownField, number> {
  const count = (isUnknown: (deal: Deal) => boolean): number => open.filter(isUnknown).length;
  return {
    ...countUnknown(open),
    createdAt: count(({ record }) => !dayOf(record.createdAt)),
    stageUpdatedAt: count(({ record }) => !dayOf(record.stageUpdatedAt)),
    expectedCloseDate: count(({ record }) => !dayOf(record.expectedCloseDate)),
    lastChange: count(({ record }) => !lastChange(record)),
    closedAt: closed.filter(({ record }) => !dayOf(record.closedAt)).length,
  };
}

/** Caveats about the figures; `undefined` when there are none. */
function pipelineNotes(
  deals: readonly Deal[],
  filters: ResolvedOptions,
  closed: readonly Deal[],
): Wording[] | undefined {
  const notes = [...filterNotes(deals, filters), ...undatedNote(closed)];
  return notes.length > 0 ? notes : undefined;
}

function filterNotes(deals: readonly Deal[], filters: PipelineFilters): Wording[] {
  const notes: Wording[] = [];
  const { minValue, stage, closeFrom, closeTo } = filters;
  if (stage !== undefined || closeFrom !== undefined || closeTo !== undefined) {
    notes.push(wording`Stage and close dates narrow the open deals only, not won and lost.`);
  }
  if (minValue !== undefined) {
    const unknown = deals.filter(({ value, outcome }) => !value && outcome !== 'deleted').length;
    notes.push(
      wording`The minimum value applies in each deal's own currency; ${plural(unknown, 'deal')} of unknown value omitted.`,
    );
  }
  return notes;
}

function undatedNote(closed: readonly Deal[]): Wording[] {
  const undated = closed.filter(({ record }) => !dayOf(record.closedAt)).length;
  if (undated === 0) return [];
  return [
    wording`${plural(undated, 'closed deal')} without a closing day: not open, and in no period.`,
  ];
}
