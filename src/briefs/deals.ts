/** An opportunity as every brief counts it: its outcome, currency, value and probability. */
import type { Opportunity } from '../records/records.ts';
import { type Day, dayOf, daysSince, latestDay } from './days.ts';
import {
  type Amounts,
  type CurrencyOf,
  CurrencySums,
  currencyOfRecord,
  type Decimal,
  decimal,
  rounded,
  unknownCurrency,
  zero,
} from './money.ts';
import { byName, compact, nonBlank } from './naming.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import { probabilityShare, type Scale, weighted } from './probability.ts';

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
  /** The opportunity has monthly revenue but no months: 12 are assumed. */
  monthsAssumed: boolean;
  /** 0–1. */
  chance: Decimal | undefined;
}

export function toDeal(record: Opportunity, currencyOf: CurrencyOf, scale: Scale): Deal {
  const oneTime = decimal(record.onetimeRevenue);
  const monthly = decimal(record.monthlyRevenue);
  const value = dealWorth(oneTime, monthly, monthsOf(record));
  return {
    record,
    outcome: outcomeOf(record),
    currency: currencyOfRecord(record, currencyOf),
    oneTime,
    monthly,
    value,
    rank: value?.toNumber() ?? -Number.MAX_VALUE,
    monthsAssumed: Boolean(record.monthlyRevenue) && monthsOf(record) === undefined,
    chance: probabilityShare(record.probability, scale),
  };
}

/** The value months of an opportunity; 0 and less count as missing. */
function monthsOf({ valueMonths }: Opportunity): number | undefined {
  return valueMonths !== undefined && valueMonths > 0 ? valueMonths : undefined;
}

function dealWorth(
  oneTime: Decimal | undefined,
  monthly: Decimal | undefined,
  months: number | undefined,
): Decimal | undefined {
  if (!monthly) return oneTime;
  return (oneTime ?? zero).plus(monthly.times(months ?? assumedMonths));
}

/** one-time + monthly × value months (12 where missing); `undefined` when neither revenue is known. */
export const dealValue = (record: Opportunity): Decimal | undefined =>
  dealWorth(decimal(record.onetimeRevenue), decimal(record.monthlyRevenue), monthsOf(record));

/** The day of the last known change: stage change or update, else creation. */
export const lastChange = (record: Opportunity): Day | undefined =>
  latestDay(record.stageUpdatedAt, record.updatedAt) ?? dayOf(record.createdAt);

/** Days since the last change; `undefined` when no day can be read. */
export function idleDays(record: Opportunity, today: Day): number | undefined {
  const day = lastChange(record);
  return day === undefined ? undefined : daysSince(day, today);
}

/** The highest value first, unknown values last, then by name and id. */
export const byValue = (a: Deal, b: Deal): number => b.rank - a.rank || byName(a.record, b.record);

/** One deal in a list; `value` in `currency`. */
export interface DealRow {
  id?: string;
  name?: string;
  company?: string;
  value?: number;
  currency?: string;
}

export function dealRow({ record, value, currency }: Deal): DealRow {
  return compact({
    id: nonBlank(record.id),
    name: nonBlank(record.name),
    company: nonBlank(record.company?.name),
    value: value && rounded(value),
    currency: value && currency,
  });
}

/** Amounts of several deals by currency; unknown amounts are absent. */
export interface DealAmounts {
  oneTime?: Amounts;
  monthly?: Amounts;
}

export interface WeightedAmounts extends DealAmounts {
  /** One-time revenue × probability. */
  weightedOneTime?: Amounts;
  /** Monthly revenue × probability. */
  weightedMonthly?: Amounts;
}

/** Sums over deals, currency by currency. */
export class DealSums {
  count = 0;
  readonly oneTime = new CurrencySums();
  readonly monthly = new CurrencySums();
  readonly weightedOneTime = new CurrencySums();
  readonly weightedMonthly = new CurrencySums();
  readonly value = new CurrencySums();

  add(deal: Deal): void {
    const { currency, chance } = deal;
    this.count += 1;
    this.oneTime.add(currency, deal.oneTime);
    this.monthly.add(currency, deal.monthly);
    this.weightedOneTime.add(currency, weighted(deal.oneTime, chance));
    this.weightedMonthly.add(currency, weighted(deal.monthly, chance));
    this.value.add(currency, deal.value);
  }

  merge(other: DealSums): void {
    this.count += other.count;
    this.oneTime.addAll(other.oneTime);
    this.monthly.addAll(other.monthly);
    this.weightedOneTime.addAll(other.weightedOneTime);
    this.weightedMonthly.addAll(other.weightedMonthly);
    this.value.addAll(other.value);
  }

  amounts(): DealAmounts {
    return compact({ oneTime: this.oneTime.toAmounts(), monthly: this.monthly.toAmounts() });
  }

  weighted(): WeightedAmounts {
    return compact({
      ...this.amounts(),
      weightedOneTime: this.weightedOneTime.toAmounts(),
      weightedMonthly: this.weightedMonthly.toAmounts(),
    });
  }
}

export function sumDeals(deals: readonly Deal[]): DealSums {
  const sums = new DealSums();
  for (const deal of deals) sums.add(deal);
  return sums;
}

/** Numbers of deals with an unknown or assumed figure. */
export interface UnknownInDeals {
  /** Neither one-time nor monthly revenue: in no sum. */
  revenue: number;
  /** No probability, or one outside its scale: in no weighted sum. */
  probability: number;
  /** Monthly revenue without months: 12 were taken for the value. */
  valueMonths: number;
  /** Summed under "unknown currency". */
  currency: number;
}

export function countUnknown(deals: readonly Deal[]): UnknownInDeals {
  const count = (isUnknown: (deal: Deal) => boolean): number => deals.filter(isUnknown).length;
  return {
    revenue: count(({ value }) => !value),
    probability: count(({ chance }) => !chance),
    valueMonths: count(({ monthsAssumed }) => monthsAssumed),
    currency: count(({ currency }) => currency === unknownCurrency),
  };
}
