/** Figures of several quotes, in total and by group. Definitions: docs/definitions.md, "Quotes over all customers". */
import { daysFromTo } from '../../figures/days.ts';
import {
  type CurrencySums,
  type Decimal,
  percentagesOf,
  percentOfCounts,
  sumOf,
  zero,
} from '../../figures/money.ts';
import { compact } from '../../figures/naming.ts';
import type { Acceptance } from '../../figures/quote-state.ts';
import type { QuoteSums, TermSums } from '../../figures/quote-totals.ts';
import { daySpread } from '../../figures/spread.ts';
import type { Quote } from '../../service/records/records.ts';

/** Figures on request only. */
export const quoteExtras = ['approval', 'days', 'discount'] as const;
export type QuoteExtra = (typeof quoteExtras)[number];

interface QuoteAmounts {
  quote: Quote;
  currency: string;
  acceptance: Acceptance;
  sums: QuoteSums;
  /** Before all discounts; only if they are asked for. */
  list: QuoteSums | undefined;
  firstYear: Decimal | undefined;
}

type Facts = readonly QuoteAmounts[];

/** Sums by currency, after discounts; amounts of unknown prices are in none. */
export function figuresOf(facts: Facts) {
  const ofTerm = (term: string) =>
    sumOf(facts, ({ sums }) => sums.terms.get(term)?.price).toAmounts();
  return compact({
    count: facts.length,
    oneTime: ofTerm('one-time'),
    monthly: ofTerm('monthly'),
    yearly: ofTerm('yearly'),
    firstYearValue: firstYearOf(facts).toAmounts(),
  });
}

export const firstYearOf = (facts: Facts): CurrencySums =>
  sumOf(facts, ({ firstYear }) => firstYear);

/** The figures that were asked for, in place of amounts. */
export const extraFigures = (facts: Facts, show: readonly QuoteExtra[]) => ({
  ...(show.includes('approval') && approvalOf(facts)),
  ...(show.includes('days') && daysOf(facts)),
  ...(show.includes('discount') && discountsOf(facts)),
});

function approvalOf(facts: Facts) {
  const count = (wanted: Acceptance) =>
    facts.filter(({ acceptance }) => acceptance === wanted).length;
  const [approved, declined] = [count('accepted'), count('declined')];
  return compact({
    approved,
    declined,
    expired: count('past expiry'),
    approvalRatePercent: percentOfCounts(approved, approved + declined),
  });
}

function daysOf(facts: Facts) {
  const spread = (from: 'createdAt' | 'sentAt', to: 'sentAt' | 'approvedAt') =>
    daySpread(facts.flatMap(({ quote }) => daysFromTo(quote[from], quote[to]) ?? []));
  return compact({
    daysToSend: spread('createdAt', 'sentAt'),
    daysToApprove: spread('sentAt', 'approvedAt'),
  });
}

const discountsOf = (facts: Facts) =>
  compact({
    ...discountOf(facts, 'one-time', 'oneTime'),
    ...discountOf(facts, 'monthly', 'monthly'),
    ...discountOf(facts, 'yearly', 'yearly'),
  });

function discountOf<const Name extends string>(facts: Facts, term: string, name: Name) {
  const sumOfTerm = (amountOf: (net: TermSums, list: TermSums) => Decimal | undefined) =>
    sumOf(facts, ({ sums, list }) =>
      amountOf(sums.terms.get(term) ?? {}, list?.terms.get(term) ?? {}),
    );
  const listed = sumOfTerm((_, list) => list.price);
  const discount = sumOfTerm(
    (net, list) => (net.price ?? list.price) && (list.price ?? zero).minus(net.price ?? zero),
  );
  const profit = sumOfTerm(
    ({ comparablePrice: price, comparableCost: cost }) => cost && price?.minus(cost),
  );
  const price = sumOfTerm(
    ({ comparablePrice, comparableCost }) => comparableCost && comparablePrice,
  );
  return {
    [`${name}List`]: listed.toAmounts(),
    [`${name}Discount`]: discount.toAmounts(),
    [`${name}DiscountPercent`]: percentagesOf(discount, listed),
    [`${name}MarginPercent`]: percentagesOf(profit, price),
  };
}
