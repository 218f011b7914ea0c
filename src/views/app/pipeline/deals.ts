/** Pure functions of the board: deals in columns, and their sums. */
import type { OpenDeal } from '../../../briefs/pipeline-deals.ts';
import type { Amounts } from '../shell/format.ts';

const columnsBy = ['stage', 'owner', 'month'] as const;
export type ColumnsBy = (typeof columnsBy)[number];
/** `value`: total contract value. */
export type Revenue = 'value' | 'oneTime' | 'monthly';

export interface Measure {
  revenue: Revenue;
  /** Amount × probability. */
  weighted: boolean;
}

export interface Filter {
  owner: string;
  text: string;
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
}

const nameless: Readonly<Record<ColumnsBy, string>> = {
  stage: 'no stage',
  owner: 'no owner',
  month: 'no close date',
};
export const noOwner = nameless.owner;

export function amountOf(deal: OpenDeal, { revenue, weighted }: Measure): number | undefined {
  const amount = deal[revenue];
  if (amount === undefined || !weighted) return amount;
  return deal.probability === undefined ? undefined : amount * deal.probability;
}

function sumOf(deals: readonly OpenDeal[], measure: Measure): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const deal of deals) {
    const amount = amountOf(deal, measure);
    if (amount === undefined || deal.currency === undefined) continue;
    sums[deal.currency] = (sums[deal.currency] ?? 0) + amount;
  }
  return sums;
}

export function matchingDeals(deals: readonly OpenDeal[], { owner, text }: Filter): OpenDeal[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return deals.filter((deal) => {
    if (owner !== '' && (deal.owner ?? noOwner) !== owner) return false;
    const haystack = [deal.name, deal.company, deal.owner, deal.stage].join('\n').toLowerCase();
    return words.every((word) => haystack.includes(word));
  });
}

const nameOf = (deal: OpenDeal, by: ColumnsBy): string => {
  const name = by === 'month' ? deal.closes?.slice(0, 'YYYY-MM'.length) : deal[by];
  return name ?? nameless[by];
};

/** Columns shown; the smallest beyond that are merged into one. */
const maxColumns = 12;

/**
 * Stages by rising probability, owners by value, months in calendar order. Deals without one come last.
 */
export function columnsOf(deals: readonly OpenDeal[], by: ColumnsBy, measure: Measure): Column[] {
  const groups = Map.groupBy(deals, (deal) => nameOf(deal, by));
  const columns = [...groups].map(([name, group]) => columnOf(name, group, measure));
  const last = (column: Column): number => Number(column.name === nameless[by]);
  columns.sort((a, b) => last(a) - last(b) || orders[by](a, b));
  if (columns.length <= maxColumns) return columns;
  const others = columns.slice(maxColumns);
  const rest = columnOf(
    `${others.length} others`,
    others.flatMap((column) => column.deals),
    measure,
  );
  return [...columns.slice(0, maxColumns), rest];
}

function columnOf(name: string, deals: OpenDeal[], measure: Measure): Column {
  const known = deals.flatMap(({ probability }) => probability ?? []);
  const chance =
    known.length > 0 ? known.reduce((sum, one) => sum + one, 0) / known.length : undefined;
  return { key: name, name, deals, count: deals.length, sum: sumOf(deals, measure), chance };
}

const worth = ({ deals }: Column): number => deals.reduce((sum, { value = 0 }) => sum + value, 0);

const orders: Readonly<Record<ColumnsBy, (a: Column, b: Column) => number>> = {
  stage: (a, b) => (a.chance ?? 2) - (b.chance ?? 2) || b.count - a.count,
  owner: (a, b) => worth(b) - worth(a),
  month: (a, b) => (a.name < b.name ? -1 : 1),
};

/** The currency of most deals. */
export function currenciesOf(deals: readonly OpenDeal[]): string[] {
  const groups = Map.groupBy(
    deals.filter(({ currency }) => currency !== undefined),
    ({ currency }) => currency ?? '',
  );
  return [...groups].toSorted(([, a], [, b]) => b.length - a.length).map(([currency]) => currency);
}

export interface Bar {
  key: string;
  name: string;
  count: number;
  amount: number;
  tone?: 'danger';
}

export const amountIn = (amounts: Amounts, currency: string): number => amounts[currency] ?? 0;

const monthsShown = 12;

/** By close month: one bar for overdue deals, one per month of a year, one for the rest. */
export function monthBars(
  deals: readonly OpenDeal[],
  measure: Measure,
  currency: string,
  today: string,
): Bar[] {
  const own = deals.filter((deal) => deal.currency === currency);
  const months = monthsFrom(today);
  const bar = (key: string, name: string, monthDeals: OpenDeal[]): Bar => ({
    key,
    name,
    count: monthDeals.length,
    amount: amountIn(sumOf(monthDeals, measure), currency),
  });
  const late = own.filter(({ closes }) => closes !== undefined && closes < today);
  const later = own.filter(({ closes = '' }) => closes.slice(0, 7) > (months.at(-1) ?? ''));
  const undated = own.filter(({ closes }) => closes === undefined);
  const bars = [
    { ...bar('late', 'Overdue', late), tone: 'danger' as const },
    ...months.map((month) =>
      bar(
        month,
        month,
        own.filter(({ closes }) => closes?.startsWith(month) && closes >= today),
      ),
    ),
    bar('later', 'Later', later),
    bar('undated', 'No date', undated),
  ];
  const ends = bars.findLastIndex(({ key, count }) => /^\d/.test(key) && count > 0);
  return bars.filter(({ key, count }, at) => (/^\d/.test(key) ? at <= ends : count > 0));
}

function monthsFrom(today: string): string[] {
  const [year = 0, month = 1] = today.split('-').map(Number);
  return Array.from({ length: monthsShown }, (_, at) =>
    new Date(Date.UTC(year, month - 1 + at, 1)).toISOString().slice(0, 'YYYY-MM'.length),
  );
}
