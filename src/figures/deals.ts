/** An opportunity as every brief counts it: its outcome, currency, value and probability. */
import type { Opportunity } from '../service/records/records.ts';
import { type Day, dayOf, daysFromTo, latestDay } from './days.ts';
import { compact, nonBlank, nonZero } from './fields.ts';
import { countsBy } from './lists.ts';
import {
  type CurrencyOf,
  type CurrencySums,
  currencyOfRecord,
  type Decimal,
  decimal,
  rounded,
  sumOf,
  unknownCurrency,
  zero,
} from './money.ts';
import { byName } from './naming.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import {
  type ProbabilityScale,
  probabilityScale,
  probabilityShare,
  type Scale,
  weighted,
} from './probability.ts';
import { forEachStep, type Steps } from './steps.ts';

/** Months of monthly revenue in a value, if the opportunity does not say. */
const assumedMonths = 12;

/** Amounts in `currency`; a missing one is unknown. */
export interface Deal {
  record: Opportunity;
  outcome: Outcome;
  currency: string;
  oneTime: Decimal | undefined;
  monthly: Decimal | undefined;
  /** one-time + monthly × months; unknown when neither is known. */
  value: Decimal | undefined;
  /** The value as a number for sorting; lowest if unknown. */
  rank: number;
  /** 0–1. */
  chance: Decimal | undefined;
  /** By which amounts were converted to another currency. */
  rate?: Decimal;
  /** Only if asked for: one-time profit + monthly profit × months; unknown when neither is known. */
  profit?: Decimal | undefined;
  /** Only if asked for: the description on one line. */
  ask?: string | undefined;
}

export function toDeal(record: Opportunity, currencyOf: CurrencyOf, scale: Scale): Deal {
  const oneTime = decimal(record.onetimeRevenue);
  const monthly = decimal(record.monthlyRevenue);
  const value = valueOver(oneTime, monthly, record);
  return {
    record,
    outcome: outcomeOf(record),
    currency: currencyOfRecord(record, currencyOf),
    oneTime,
    monthly,
    value,
    rank: value?.toNumber() ?? -Number.MAX_VALUE,
    chance: probabilityShare(record.probability, scale),
  };
}

export type ReadDeal = (record: Opportunity) => Deal;

/** What one unit of a currency is worth in another, as a person said. */
export type Rates = ReadonlyMap<string, { to: string; rate: Decimal }>;

/** The deal in the currency that its own is to be converted to. */
export function convertDeal(deal: Deal, rates: Rates): Deal {
  const { to, rate } = rates.get(deal.currency) ?? {};
  if (to === undefined || !rate) return deal;
  return { ...scaleDeal(deal, (amount) => amount.times(rate)), currency: to, rate };
}

export function scaleDeal(deal: Deal, scaled: (amount: Decimal) => Decimal): Deal {
  const of = (amount: Decimal | undefined) => amount && scaled(amount);
  const { oneTime, monthly, profit } = deal;
  const value = of(deal.value);
  const rank = value?.toNumber() ?? deal.rank;
  return { ...deal, oneTime: of(oneTime), monthly: of(monthly), profit: of(profit), value, rank };
}

/** Every opportunity of a tenant as a deal, with the scale of its probabilities. */
export interface TenantDeals {
  all: readonly Deal[];
  probability: ProbabilityScale;
}

export function* tenantDeals(
  opportunities: readonly Opportunity[],
  currencyOf: CurrencyOf,
): Steps<TenantDeals> {
  const probability = probabilityScale(opportunities);
  const all: Deal[] = [];
  yield* forEachStep(opportunities, (record) =>
    all.push(toDeal(record, currencyOf, probability.scale)),
  );
  return { all, probability };
}

/** 0 months and less count as missing. */
const hasMonths = ({ valueMonths = 0 }: Opportunity): boolean => valueMonths > 0;

/** one-time + monthly × value months (12 where missing); `undefined` when neither amount is known. */
function valueOver(
  oneTime: Decimal | undefined,
  monthly: Decimal | undefined,
  record: Opportunity,
): Decimal | undefined {
  if (!monthly) return oneTime;
  const months = hasMonths(record) ? record.valueMonths : undefined;
  return (oneTime ?? zero).plus(monthly.times(months ?? assumedMonths));
}

export const dealValue = (record: Opportunity): Decimal | undefined =>
  valueOver(decimal(record.onetimeRevenue), decimal(record.monthlyRevenue), record);

/** The day of the last known change: stage change or update, else creation. */
export const lastChange = (record: Opportunity): Day | undefined =>
  latestDay(record.stageUpdatedAt, record.updatedAt) ?? dayOf(record.createdAt);

/** Days since the last change; `undefined` when no day can be read. */
export const idleDays = (record: Opportunity, today: Day): number | undefined =>
  daysFromTo(lastChange(record), today);

/** The highest value first, unknown values last, then by name and id. */
export const byValue = (a: Deal, b: Deal): number => b.rank - a.rank || byName(a.record, b.record);

/** Columns that rows and sums have on request only: the customer's ask, the profit. */
export const dealExtras = ['ask', 'profit'] as const;
export type DealExtra = (typeof dealExtras)[number];

export function withExtras(deal: Deal, show: readonly string[]): Deal {
  if (show.length === 0) return deal;
  const { record, rate } = deal;
  const [oneTime, monthly] = [decimal(record.oneTimeProfit), decimal(record.monthlyProfit)];
  const profit = show.includes('profit') ? valueOver(oneTime, monthly, record) : undefined;
  return {
    ...deal,
    profit: rate ? profit?.times(rate) : profit,
    ask: show.includes('ask') ? askOf(record) : undefined,
  };
}

/** One deal in a list; `value` and `profit` in `currency`. */
export function dealRow({ record, value, currency, profit, ask }: Deal) {
  return compact({
    id: nonBlank(record.id),
    name: nonBlank(record.name),
    company: nonBlank(record.company?.name),
    value: value && rounded(value),
    currency: value || profit ? currency : undefined,
    profit: profit && rounded(profit),
    ask,
  });
}

const maxAsk = 240;

function askOf({ description }: Opportunity): string | undefined {
  const line = nonBlank(description?.replace(/\s+/g, ' '));
  if (line === undefined || line.length <= maxAsk) return line;
  const cut = line.slice(0, maxAsk).toWellFormed();
  // A tag of HTML is not cut in two.
  return `${cut.replace(/<[^<>]*$/, '')}…`;
}

export const totalValue = (deals: readonly Deal[]): CurrencySums =>
  sumOf(deals, ({ value }) => value);

/** Total contract value of several deals by currency; unknown amounts are absent. */
export function valueAmounts(deals: readonly Deal[]) {
  return compact({
    value: totalValue(deals).toAmounts(),
    weightedValue: sumOf(deals, ({ value, chance }) => weighted(value, chance)).toAmounts(),
    ...profitOf(deals),
  });
}

/** The known profits, and of how many deals it is not known; neither where it was not asked for. */
export function profitOf(deals: readonly Deal[]) {
  const profit = sumOf(deals, (deal) => deal.profit).toAmounts();
  const unknown = deals.filter((deal) => !deal.profit).length;
  return { profit, withoutProfit: profit && nonZero(unknown) };
}

export const dealAmounts = (deals: readonly Deal[]) =>
  compact({
    ...valueAmounts(deals),
    oneTime: sumOf(deals, ({ oneTime }) => oneTime).toAmounts(),
    monthly: sumOf(deals, ({ monthly }) => monthly).toAmounts(),
  });

/** Numbers of deals by currency, `unknown currency` included; `undefined` where there are not several currencies. */
export function countByCurrency(deals: readonly Deal[]): Record<string, number> | undefined {
  const counts = countsBy(deals, ({ currency }) => currency);
  return Object.keys(counts).length < 2 ? undefined : counts;
}

export function countUnknown(deals: readonly Deal[]) {
  const count = (isUnknown: (deal: Deal) => boolean): number => deals.filter(isUnknown).length;
  return {
    // In no sum.
    revenue: count(({ value }) => !value),
    // In no weighted sum.
    probability: count(({ chance }) => !chance),
    // 12 are assumed.
    valueMonths: count(({ record }) => Boolean(record.monthlyRevenue) && !hasMonths(record)),
    currency: count(({ currency }) => currency === unknownCurrency),
  };
}
