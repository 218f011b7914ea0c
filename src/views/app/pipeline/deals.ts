/** Pure functions of the board: deals in columns, their sums and their order. */

import type { OpenDeal } from '../../../briefs/pipeline/pipeline.ts';
import { groupBy } from '../../../figures/lists.ts';
import type { DealFacts } from '../records/entries.ts';
import { type Amounts, mainCurrencyOf, ownOf, unknownCurrency } from '../shell/format.ts';

export type ColumnsBy = 'stage' | 'owner' | 'month';
/** `value`: total contract value. */
export type Revenue = 'value' | 'oneTime' | 'monthly';

export interface Measure {
  revenue: Revenue;
  /** Amount × probability. */
  weighted: boolean;
}

/** Deals that need attention, as the figures at the top count them. */
export type Attention = 'overdue' | 'closing' | 'stalled';

/** Of the deals that are read; the owner is a filter of the answer itself. */
export interface Filter {
  text: string;
  /** Empty: every deal. */
  attention: Attention | '';
}

/** The days by which the answer tells overdue and stalled deals and those that close soon. */
export interface Deadlines {
  today: string;
  closingBy: string;
  stalledAfter: number;
}

export interface Column {
  key: string;
  /** The title; a month as YYYY-MM. */
  name: string;
  deals: OpenDeal[];
  count: number;
  sum: Record<string, number>;
  /** Mean probability (0–1) of the deals whose probability is known. */
  chance: number | undefined;
  /** On average; known of stages. */
  daysInStage?: number | undefined;
}

const missingNames: Readonly<Record<ColumnsBy, string>> = {
  stage: 'No stage',
  owner: 'No owner',
  month: 'No close date',
};
export function amountOf(deal: DealFacts, { revenue, weighted }: Measure): number | undefined {
  const amount = deal[revenue];
  if (amount === undefined || !weighted) return amount;
  return deal.probability === undefined ? undefined : amount * deal.probability;
}

export function sumOf(deals: readonly OpenDeal[], measure: Measure): Record<string, number> {
  // A currency is a text of a record, and may be called as what every object has.
  const sums: Record<string, number> = Object.create(null);
  for (const deal of deals) {
    const amount = amountOf(deal, measure);
    if (amount === undefined || deal.currency === undefined) continue;
    sums[deal.currency] = (sums[deal.currency] ?? 0) + amount;
  }
  return sums;
}

/** The figures of an answer, for the deals that a search in the view found. */
export function figuresOf(deals: readonly OpenDeal[], deadlines: Deadlines) {
  const about = (some: readonly OpenDeal[]) => ({
    count: some.length,
    value: sumOf(some, { revenue: 'value', weighted: false }),
  });
  const those = (attention: Attention) =>
    about(deals.filter((deal) => needs[attention](deal, deadlines)));
  return {
    open: {
      ...about(deals),
      weightedValue: sumOf(deals, { revenue: 'value', weighted: true }),
      withoutAmount: deals.filter(({ value }) => value === undefined).length,
    },
    overdue: those('overdue'),
    closing: those('closing'),
    stalled: those('stalled'),
  };
}

export const isLate = ({ closes }: DealFacts, { today }: Pick<Deadlines, 'today'>): boolean =>
  closes !== undefined && closes < today;

export const isStalled = (
  { idleDays }: DealFacts,
  { stalledAfter }: Pick<Deadlines, 'stalledAfter'>,
): boolean => idleDays !== undefined && idleDays >= stalledAfter;

export const needs: Readonly<Record<Attention, (deal: OpenDeal, deadlines: Deadlines) => boolean>> =
  {
    overdue: isLate,
    closing: ({ closes }, { today, closingBy }) =>
      closes !== undefined && closes >= today && closes <= closingBy,
    stalled: isStalled,
  };

export function matchingDeals(
  deals: readonly OpenDeal[],
  { text, attention }: Filter,
  deadlines: Deadlines,
): OpenDeal[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return deals.filter((deal) => {
    if (attention !== '' && !needs[attention](deal, deadlines)) return false;
    const haystack = [deal.name, deal.company, deal.owner, deal.stage].join('\n').toLowerCase();
    return words.every((word) => haystack.includes(word));
  });
}

/** Months that have a column of their own. */
const monthsShown = 12;
const overdue = 'Overdue';
const later = 'Later';

/** The column of a deal by its expected close date. */
function monthOf({ closes }: OpenDeal, today: string): string {
  if (closes === undefined) return missingNames.month;
  if (closes < today) return overdue;
  const month = closes.slice(0, 'YYYY-MM'.length);
  return month > lastMonth(today) ? later : month;
}

function lastMonth(today: string): string {
  const [year = 0, month = 1] = today.split('-').map(Number);
  return new Date(Date.UTC(year, month - 2 + monthsShown, 1))
    .toISOString()
    .slice(0, 'YYYY-MM'.length);
}

export const isMonth = (name: string): boolean => /^\d{4}-\d\d$/.test(name);
export const isOverdue = ({ name }: Column): boolean => name === overdue;

export interface Grouping {
  by: ColumnsBy;
  measure: Measure;
  today: string;
}

/** Columns shown; the last beyond that are merged into one. */
const maxColumns = 12;

/**
 * Stages by rising probability, owners by value in the currency of most deals, months in calendar order after what is
 * overdue. Deals without one come last.
 */
export function columnsOf(deals: readonly OpenDeal[], { by, measure, today }: Grouping): Column[] {
  const nameOf = (deal: OpenDeal): string =>
    by === 'month' ? monthOf(deal, today) : (deal[by] ?? missingNames[by]);
  const columns = [...groupBy(deals, nameOf)].map(([name, group]) =>
    columnOf(name, group, measure),
  );
  const last = (column: Column): number => Number(column.name === missingNames[by]);
  const currency = mainCurrencyOf(countsByCurrency(deals)) ?? '';
  columns.sort((a, b) => last(a) - last(b) || orders[by](a, b, currency));
  if (by === 'month' || columns.length <= maxColumns) return columns;
  const others = columns.slice(maxColumns);
  const name = `${others.length} others`;
  const merged = others.flatMap((column) => column.deals);
  return [...columns.slice(0, maxColumns), columnOf(name, merged, measure)];
}

function columnOf(name: string, deals: OpenDeal[], measure: Measure): Column {
  const known = deals.flatMap(({ probability }) => probability ?? []);
  const chance =
    known.length > 0 ? known.reduce((sum, one) => sum + one, 0) / known.length : undefined;
  return { key: name, name, deals, count: deals.length, sum: sumOf(deals, measure), chance };
}

export const countsByCurrency = (
  rows: readonly { currency?: string | undefined }[],
): Record<string, number> => {
  const groups = groupBy(rows, ({ currency = unknownCurrency }) => currency);
  return Object.fromEntries([...groups].map(([code, its]) => [code, its.length]));
};

const worth = ({ deals }: Column, currency: string): number =>
  amountIn(sumOf(deals, { revenue: 'value', weighted: false }), currency);
const monthRank = ({ name }: Column): string =>
  name === overdue ? '' : name === later ? 'later' : name;

const orders: Readonly<Record<ColumnsBy, (a: Column, b: Column, currency: string) => number>> = {
  stage: (a, b) => (a.chance ?? 2) - (b.chance ?? 2) || b.count - a.count,
  owner: (a, b, currency) => worth(b, currency) - worth(a, currency) || b.count - a.count,
  month: (a, b) => (monthRank(a) < monthRank(b) ? -1 : 1),
};

/** Every currency of the deals. */
export const currenciesOf = (deals: readonly OpenDeal[]): string[] => [
  ...new Set(deals.flatMap(({ currency }) => currency ?? [])),
];

export const amountIn = (amounts: Amounts, currency: string): number =>
  ownOf(amounts, currency) ?? 0;

/** The largest amount in each currency: bars compare within one currency only. */
export function maxAmounts(deals: readonly OpenDeal[], measure: Measure): Amounts {
  const largest: Record<string, number> = Object.create(null);
  for (const deal of deals) {
    const { currency = '' } = deal;
    largest[currency] = Math.max(largest[currency] ?? 0, amountOf(deal, measure) ?? 0);
  }
  return largest;
}

/** What every card needs to know. */
export interface BoardSettings extends Pick<Deadlines, 'today' | 'stalledAfter'> {
  by: ColumnsBy;
  order: CardOrder;
  measure: Measure;
}

export type CardOrder = 'value' | 'closes' | 'idle';

/** After every amount and every day. */
const last = Number.MAX_VALUE;

/** The cards of a column in an order; what is unknown comes last. */
export function inOrder(
  deals: readonly OpenDeal[],
  order: CardOrder,
  measure: Measure,
): OpenDeal[] {
  const rank: Record<CardOrder, (deal: OpenDeal) => number> = {
    value: (deal) => -(amountOf(deal, measure) ?? -last),
    closes: ({ closes }) => (closes ? Date.parse(closes) : last),
    idle: ({ idleDays = -1 }) => -idleDays,
  };
  const rankOf = rank[order];
  return deals.toSorted((a, b) => rankOf(a) - rankOf(b));
}
