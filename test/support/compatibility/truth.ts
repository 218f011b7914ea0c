/**
 * The true figures of a tenant, computed only from what it stores. Written independently of the server, so that
 * both cannot share a mistake. Amounts are whole numbers, so sums are exact.
 */
import type { Row } from '../hosts.ts';
import { mentions, valueAt } from './search.ts';
import type { Item, ListPath, Named, Opportunity, Quote, StoredData } from './stored-data.ts';

export type Sums = Record<string, number>;
export type Fact = number | string | Sums | undefined;
export type Facts = Record<string, Fact>;

const isOpen = ({ closedAt, deletedAt }: Opportunity): boolean => !closedAt && !deletedAt;

/** The currency of a company. */
function currencyOf(storedData: StoredData, company: Named | undefined): string {
  const found = storedData['/company'].find(({ id }) => id === company?.id);
  return found?.currency ?? 'unknown currency';
}

/** Sums by key, without sums of 0. */
export function sumsBy<T>(
  rows: readonly T[],
  keyOf: (row: T) => string,
  amountOf: (row: T) => number,
): Sums {
  const sums: Sums = {};
  for (const row of rows) sums[keyOf(row)] = (sums[keyOf(row)] ?? 0) + amountOf(row);
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0));
}

export interface PipelineFilter {
  owner?: Named;
  company?: Named;
}

const dealsOf = (storedData: StoredData, { owner, company }: PipelineFilter): Opportunity[] =>
  storedData['/opportunity'].filter(
    (deal) =>
      (!owner || deal.owner?.id === owner.id) && (!company || deal.company?.id === company.id),
  );

export function openPipeline(storedData: StoredData, filter: PipelineFilter = {}): Facts {
  const open = dealsOf(storedData, filter).filter(isOpen);
  const sum = (amount: (deal: Opportunity) => number | undefined) =>
    sumsBy(
      open,
      ({ company }) => currencyOf(storedData, company),
      (deal) => amount(deal) ?? 0,
    );
  return {
    count: open.length,
    oneTime: sum((deal) => deal.onetimeRevenue),
    monthly: sum((deal) => deal.monthlyRevenue),
    weightedOneTime: sum((deal) => (deal.onetimeRevenue ?? 0) * (deal.probability ?? 0)),
    byStage: sumsBy(
      open,
      ({ pipelineStage }) => pipelineStage?.name ?? 'no stage',
      () => 1,
    ),
    overdue: open.filter(({ expectedCloseDate }) => (expectedCloseDate ?? '9') < today()).length,
  };
}

const today = (): string => new Date().toISOString().slice(0, 10);

/** Deals by outcome. All were closed in the period of the question. */
export function outcomes(storedData: StoredData): Facts {
  const closed = storedData['/opportunity'].filter(
    ({ closedAt, deletedAt }) => closedAt && !deletedAt,
  );
  const count = (status: string) => closed.filter(({ statusId }) => statusId === status).length;
  const [won, lost] = [count('won'), count('lost')];
  return { won, lost, untold: closed.length - won - lost };
}

const termOf = ({ term }: Item): 'oneTime' | 'monthly' | 'yearly' =>
  term === undefined ? 'oneTime' : ({ month: 'monthly', year: 'yearly' } as const)[term];

export function quoteTotals({ items }: Quote): Facts {
  const sums = sumsBy(items, termOf, ({ quantity, price }) => quantity * price);
  return { items: items.length, ...sums };
}

function firstYear(quote: Quote): number {
  const { oneTime = 0, monthly = 0, yearly = 0 } = quoteTotals(quote) as Sums;
  return oneTime + 12 * monthly + yearly;
}

export function company(storedData: StoredData, { id }: Named): Facts {
  const open = dealsOf(storedData, { company: { id, name: '' } }).filter(isOpen);
  const quotes = storedData['/quote'].filter(
    (quote) => quote.company.id === id && !quote.deletedAt,
  );
  return {
    contacts: storedData['/contact'].filter(
      ({ companyId, deleted }) => companyId === id && !deleted,
    ).length,
    open: open.length,
    openOneTime: sumsBy(
      open,
      (deal) => currencyOf(storedData, deal.company),
      (deal) => deal.onetimeRevenue ?? 0,
    ),
    quotes: quotes.length,
    quotesOneTime: sumsBy(
      quotes,
      (quote) => currencyOf(storedData, quote.company),
      (quote) => Number(quoteTotals(quote).oneTime ?? 0),
    ),
  };
}

export function belowCost(storedData: StoredData): Facts {
  const listed = storedData['/product'].filter((product) => product.listed);
  return {
    examined: listed.length,
    total: listed.filter(({ price, cost }) => price < cost).length,
  };
}

const staleDays = 14;

export function staleQuotes(storedData: StoredData): Facts {
  const sent = storedData['/quote'].filter(
    ({ status, deletedAt }) => status === 'sent' && !deletedAt,
  );
  const latest = new Date(Date.now() - staleDays * 86_400_000).toISOString().slice(0, 10);
  const stale = sent.filter(({ sentAt }) => (sentAt ?? '9').slice(0, 10) <= latest);
  return {
    examined: sent.length,
    total: stale.length,
    valueAtStake: sumsBy(stale, (quote) => currencyOf(storedData, quote.company), firstYear),
  };
}

/** All records of a list, or those that match a filter or a text. */
export function listed(
  storedData: StoredData,
  path: ListPath,
  search: Record<string, string> = {},
): Row[] {
  const { filters = '', query = '' } = search;
  const [key = '', value = ''] = filters.split(':');
  const records = storedData[path] as unknown as Row[];
  return records
    .filter((record) => filters === '' || String(valueAt(record, key)) === value)
    .filter((record) => query === '' || mentions(record, query));
}
