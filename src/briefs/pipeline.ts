/** The pipeline: what is open and where it stands, what is late, what was won and lost, what stalled. */
import type { Opportunity } from '../api/records.ts';
import { join, quote, type Wording, wording } from '../outside-text.ts';
import { addDays, type Day, dayOf, requireDay, within } from './days.ts';
import {
  byValue,
  type Deal,
  type DealRow,
  dealRow,
  idleDays,
  lastChange,
  sumDeals,
  toDeal,
  type UnknownInDeals,
  unknownIn,
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
import {
  compact,
  compare,
  counted,
  filled,
  fold,
  isMeant,
  type Listed,
  plural,
  tally,
} from './naming.ts';
import { groupDeals, type PipelineBy, type PipelineGroup } from './pipeline-groups.ts';
import { type ProbabilityScale, probabilityScale } from './probability.ts';

export interface PipelineFilters {
  /** Owner, company, stage and category: an id exactly, or a name in any letter case. */
  owner?: string;
  company?: string;
  stage?: string;
  category?: string;
  /** First and last expected close date, both included. */
  closeFrom?: Day;
  closeTo?: Day;
  /** Least value (one-time + monthly × value months), in each deal's own currency. */
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
  /** Closing days that won and lost are counted over, both included. Default: today and the 90 days before. */
  periodFrom?: Day;
  periodTo?: Day;
  /** Groups shown before the rest is folded into one. Default: 8 stages, 5 of anything else. */
  maxGroups?: number;
  /** Deals named in each list. Default: 2. */
  maxRows?: number;
}

/** Deals by value, the largest first; `value` by currency over all of them, shown or not. */
export interface DealList extends Listed<PipelineRow> {
  value?: Amounts;
}

export interface PipelineRow extends DealRow {
  /** Expected close date. */
  closes?: Day;
  /** Days since the last change. */
  idleDays?: number;
}

export interface ClosedTotals {
  count: number;
  /** One-time + monthly × value months. */
  value?: Amounts;
}

export interface ClosedPeriod {
  from: Day;
  to: Day;
  won: ClosedTotals;
  lost: ClosedTotals;
  /** Closed in the period, but nothing says whether won or lost; in no win rate. */
  outcomeUnknown?: ClosedTotals;
  /** Won in percent of won and lost deals. */
  winRateByCount?: number;
  /** Won value in percent of won and lost value, a currency each. */
  winRateByValue?: Amounts;
}

/** Deals of which a figure could not be told, by the field that is missing. */
export type UnknownCounts = Partial<Record<UnknownField, number>>;

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
  groups: Listed<PipelineGroup>;
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

type Settled = PipelineOptions & Required<Omit<PipelineOptions, keyof PipelineFilters>>;

function settle(options: PipelineOptions): Settled {
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
export function briefPipeline(
  opportunities: readonly Opportunity[],
  options: PipelineOptions,
): PipelineBrief {
  const settled = settle(options);
  const probability = probabilityScale(opportunities);
  const deals = opportunities.map((record) =>
    toDeal(record, settled.currencyOf, probability.scale),
  );
  const meant = deals.filter((deal) => isOfInterest(deal, settled));
  const open = meant.filter((deal) => deal.outcome === 'open' && isInView(deal.record, settled));
  const closed = meant.filter(isClosed);
  return compact({
    today: settled.today,
    by: settled.by,
    open: openTotals(open),
    groups: groupDeals(open, settled.by, settled.today, settled.maxGroups),
    ...attention(open, settled),
    closed: closedPeriod(closed, settled),
    probability,
    unknown: tally(unknownCounts(open, closed)),
    deleted: counted(deals.filter(({ outcome }) => outcome === 'deleted').length),
    notes: notesOn(deals, settled, closed),
  });
}

/** Owner, company, category and least value: what narrows open and closed deals alike. */
export function isOfInterest(deal: Deal, filters: PipelineFilters): boolean {
  const { record, value } = deal;
  if (filters.owner !== undefined && !isMeant(record.owner, filters.owner)) return false;
  if (filters.company !== undefined && !isMeant(record.company, filters.company)) return false;
  if (filters.category !== undefined && !isMeant(record.category, filters.category)) return false;
  const least = decimal(filters.minValue);
  return !least || (value?.gte(least) ?? false);
}

/** Stage and close dates: they say something about open deals only. */
export function isInView(record: Opportunity, filters: PipelineFilters): boolean {
  const { stage, closeFrom, closeTo } = filters;
  if (stage !== undefined && !isMeant(record.pipelineStage, stage)) return false;
  if (closeFrom === undefined && closeTo === undefined) return true;
  const closes = dayOf(record.expectedCloseDate);
  return closes !== undefined && within(closes, closeFrom, closeTo);
}

const isClosed = ({ outcome }: Deal): boolean => outcome !== 'open' && outcome !== 'deleted';

function openTotals(open: readonly Deal[]): PipelineBrief['open'] {
  const sums = sumDeals(open);
  return { count: sums.count, ...sums.weighted() };
}

function attention(
  open: readonly Deal[],
  { today, closingWithinDays, stalledAfterDays, maxRows }: Settled,
): Pick<PipelineBrief, 'overdue' | 'closingSoon' | 'stalled'> {
  const until = addDays(today, closingWithinDays);
  const closes = (deal: Deal): Day | undefined => dayOf(deal.record.expectedCloseDate);
  const idle = (deal: Deal): number | undefined => idleDays(deal.record, today);
  const overdue = open.filter((deal) => (closes(deal) ?? today) < today);
  const soon = open.filter((deal) => isBetween(closes(deal), today, until));
  const stalled = open.filter((deal) => (idle(deal) ?? -1) >= stalledAfterDays);
  const closing = (deal: Deal): PipelineRow => compact({ ...dealRow(deal), closes: closes(deal) });
  const idling = (deal: Deal): PipelineRow => compact({ ...dealRow(deal), idleDays: idle(deal) });
  return {
    overdue: dealList(overdue, maxRows, closing),
    closingSoon: { until, ...dealList(soon, maxRows, closing) },
    stalled: { afterDays: stalledAfterDays, ...dealList(stalled, maxRows, idling) },
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
  { periodFrom: from, periodTo: to }: Settled,
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
    ...unknownIn(open),
    createdAt: count(({ record }) => !dayOf(record.createdAt)),
    stageUpdatedAt: count(({ record }) => !dayOf(record.stageUpdatedAt)),
    expectedCloseDate: count(({ record }) => !dayOf(record.expectedCloseDate)),
    lastChange: count(({ record }) => !lastChange(record)),
    closedAt: closed.filter(({ record }) => !dayOf(record.closedAt)).length,
  };
}

/** What the figures do not say by themselves; `undefined` when there is nothing to add. */
function notesOn(
  deals: readonly Deal[],
  filters: Settled,
  closed: readonly Deal[],
): Wording[] | undefined {
  const notes = [
    ...unmatchedFilters(deals, filters),
    ...filterNotes(deals, filters),
    ...undatedNote(closed),
  ];
  return notes.length > 0 ? notes : undefined;
}

function unmatchedFilters(deals: readonly Deal[], filters: PipelineFilters): Wording[] {
  const fields = {
    owner: 'owner',
    company: 'company',
    stage: 'pipelineStage',
    category: 'category',
  } as const;
  return Object.entries(fields).flatMap(([filter, field]) => {
    const wanted = filters[filter as keyof typeof fields];
    if (wanted === undefined || deals.some(({ record }) => isMeant(record[field], wanted)))
      return [];
    const like = namesLike(wanted, deals, field);
    const meant = like.length === 0 ? '' : wording` Some have: ${join(like, ', ')}.`;
    return [
      wording`No opportunity has the ${filter as keyof typeof fields} ${quote(wanted)}.${meant}`,
    ];
  });
}

/** A few names that hold this text, in case one of them is meant. */
function namesLike(
  wanted: string,
  deals: readonly Deal[],
  field: 'owner' | 'company' | 'pipelineStage' | 'category',
): Wording[] {
  if (fold(wanted) === '') return [];
  const names = deals.flatMap(({ record }) => filled(record[field]?.name) ?? []);
  const like = names.filter((name) => fold(name).includes(fold(wanted)));
  return [...new Set(like)]
    .sort(compare)
    .slice(0, mostLike)
    .map((name) => quote(name));
}

const mostLike = 5;

function filterNotes(deals: readonly Deal[], filters: PipelineFilters): Wording[] {
  const notes: Wording[] = [];
  const { minValue, stage, closeFrom, closeTo } = filters;
  if (stage !== undefined || closeFrom !== undefined || closeTo !== undefined) {
    notes.push(wording`Stage and close dates narrow the open deals only, not won and lost.`);
  }
  if (minValue !== undefined) {
    const unknown = deals.filter(({ value, outcome }) => !value && outcome !== 'deleted').length;
    notes.push(
      wording`The least value is measured in each deal's own currency; ${plural(unknown, 'deal')} of unknown value left out.`,
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
