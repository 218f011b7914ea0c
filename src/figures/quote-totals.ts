/**
 * The totals of a quote, summed from its items by term: the service sends no totals.
 * Definitions: docs/definitions.md, "Quote".
 */
import type { Quote, QuoteItem } from '../service/records/records.ts';
import { type Decimal, decimal, lessPercent, zero } from './money.ts';
import { addToTerm, overYear, type TermTotals, termKey, totalsByTerm } from './terms.ts';

/**
 * One line, in the quote's currency: price per unit after the line's own discount, quantity × this price, and quantity ×
 * cost, without setup. A missing quantity counts as 1.
 */
export function lineAmounts(item: QuoteItem) {
  const quantity = decimal(item.quantity);
  const price = decimal(item.price);
  const cost = decimal(item.cost);
  const discount = decimal(item.discount);
  const times = quantity ?? zero.plus(1);
  const unitPrice = price && discount ? lessPercent(price, discount) : price;
  return {
    quantityAssumed: !quantity,
    ...(unitPrice && { unitPrice, total: times.times(unitPrice) }),
    ...(cost && { cost: times.times(cost) }),
  };
}

/** The sum of the prices, and of the lines and setups of which both price and cost are known. */
export interface TermSums {
  price?: Decimal;
  /** Over the lines and setups with a price and a cost, so that a profit can be calculated. */
  comparablePrice?: Decimal;
  comparableCost?: Decimal;
  /** Lines and setups that lack a price or a cost. */
  withoutPriceOrCost?: number;
}

/** The sums of a quote, unrounded. */
export interface QuoteSums {
  items: number;
  terms: Map<string, TermSums>;
  unknownPrices: number;
  assumedQuantities: number;
  /** The part of `one-time` that is setup, before discounts. */
  setup: SetupSums;
}

export interface SetupSums {
  price?: Decimal;
  cost?: Decimal;
}

/** Adds up the items before the discount of the quote. */
export function sumItems(items: readonly QuoteItem[]): QuoteSums {
  const sums: QuoteSums = {
    items: items.length,
    terms: new Map(),
    unknownPrices: 0,
    assumedQuantities: 0,
    setup: {},
  };
  for (const item of items) addItem(sums, item);
  return sums;
}

function addItem(sums: QuoteSums, item: QuoteItem): void {
  const line = lineAmounts(item);
  if (line.quantityAssumed) sums.assumedQuantities += 1;
  if (!line.total) sums.unknownPrices += 1;
  addPart(termSums(sums, termKey(item)), line.total, line.cost);
  addSetup(sums, item);
}

/** A setup that has a cost and no price is not charged, so its profit is the negative cost. */
function addSetup(sums: QuoteSums, item: QuoteItem): void {
  const { price, cost } = setupOf(item);
  if (!price && !cost) return;
  const { setup } = sums;
  if (!price) sums.unknownPrices += 1;
  if (price) setup.price = (setup.price ?? zero).plus(price);
  if (cost) setup.cost = (setup.cost ?? zero).plus(cost);
  const term = termSums(sums, 'one-time');
  if (!price && cost) addComparable(term, zero, cost);
  else addPart(term, price, cost);
}

/** Setup is charged once, regardless of quantity. Price and cost of 0 count as no setup. */
function setupOf(item: QuoteItem): { price?: Decimal; cost?: Decimal } {
  if (!item.setupPrice && !item.setupCost) return {};
  const price = decimal(item.setupPrice);
  const cost = decimal(item.setupCost);
  return { ...(price && { price }), ...(cost && { cost }) };
}

function termSums(sums: QuoteSums, key: string): TermSums {
  const found = sums.terms.get(key);
  if (found) return found;
  const fresh: TermSums = {};
  sums.terms.set(key, fresh);
  return fresh;
}

function addPart(term: TermSums, price: Decimal | undefined, cost: Decimal | undefined): void {
  if (price) term.price = (term.price ?? zero).plus(price);
  if (price && cost) addComparable(term, price, cost);
  else term.withoutPriceOrCost = (term.withoutPriceOrCost ?? 0) + 1;
}

function addComparable(term: TermSums, price: Decimal, cost: Decimal): void {
  term.comparablePrice = (term.comparablePrice ?? zero).plus(price);
  term.comparableCost = (term.comparableCost ?? zero).plus(cost);
}

/** The discount of a whole quote: percent of every term, or an amount taken off once. */
export type QuoteDiscount =
  | { kind: 'percent'; percent: Decimal }
  | { kind: 'amount'; amount: Decimal }
  | { kind: 'unreadable' };

const percentTypes = new Set(['percent', 'percentage', 'pct', '%']);
const amountTypes = new Set(['amount', 'fixed', 'absolute', 'value', 'money']);

/** `undefined` when there is no discount or it is 0; `unreadable` when its type says neither. */
export function quoteDiscount(quote: Quote): QuoteDiscount | undefined {
  const amount = decimal(quote.discount?.amount);
  if (!amount || amount.eq(0)) return undefined;
  const type = (quote.discount?.type ?? '').trim().toLowerCase();
  if (percentTypes.has(type)) return { kind: 'percent', percent: amount };
  return amountTypes.has(type) ? { kind: 'amount', amount } : { kind: 'unreadable' };
}

/** The sums after the discount of the quote; costs and unknown counts do not change. */
export function applyDiscount(sums: QuoteSums, discount: QuoteDiscount | undefined): QuoteSums {
  if (!discount || discount.kind === 'unreadable') return sums;
  const terms =
    discount.kind === 'percent' ? percentOff(sums, discount.percent) : new Map(sums.terms);
  if (discount.kind === 'amount' && hasKnownPrice(sums)) {
    terms.set('one-time', amountOff(sums.terms.get('one-time'), discount.amount));
  }
  return { ...sums, terms };
}

const hasKnownPrice = (sums: QuoteSums): boolean =>
  [...sums.terms.values()].some((term) => term.price !== undefined);

function percentOff(sums: QuoteSums, percent: Decimal): Map<string, TermSums> {
  const less = (amount: Decimal): Decimal => lessPercent(amount, percent);
  return new Map(
    [...sums.terms].map(([key, term]): [string, TermSums] => [
      key,
      {
        ...term,
        ...(term.price && { price: less(term.price) }),
        ...(term.comparablePrice && { comparablePrice: less(term.comparablePrice) }),
      },
    ]),
  );
}

/** Without one-time lines the amount is a credit, which costs nothing. */
function amountOff(term: TermSums | undefined, amount: Decimal): TermSums {
  if (!term) {
    const credit = zero.minus(amount);
    return { price: credit, comparablePrice: credit, comparableCost: zero };
  }
  return {
    ...term,
    price: (term.price ?? zero).minus(amount),
    ...(term.comparablePrice && { comparablePrice: term.comparablePrice.minus(amount) }),
  };
}

/** Sums of a quote after all discounts, unrounded. */
export const sumQuote = (quote: Quote): QuoteSums =>
  applyDiscount(sumItems(quote.items ?? []), quoteDiscount(quote));

/**
 * The totals of one quote after line and quote discounts, in the quote's currency, rounded to 2 decimals.
 * A total is present if the price of at least one of its lines is known.
 */
export interface QuoteTotals extends TermTotals {
  /** Absent where the items could not be read: then there are no totals either. */
  items?: number;
  /** Lines and setups without a price: not in the totals. */
  unknownPrices?: number;
  /** Lines without a quantity: counted as 1. */
  assumedQuantities?: number;
  /** The quote has a discount whose type says neither percent nor amount. */
  discountNotApplied?: true;
}

/** Whether the quote may have items that could not be read, so that nothing is known of its totals. */
export const hasUnknownItems = ({ items, unreadable }: Quote): boolean =>
  items === undefined && unreadable?.items !== undefined;

/** Formula: docs/definitions.md, "Quote totals". */
export function quoteTotals(quote: Quote): QuoteTotals {
  if (hasUnknownItems(quote)) return {};
  const sums = sumQuote(quote);
  return {
    items: sums.items,
    ...termTotals(sums),
    ...(sums.unknownPrices > 0 && { unknownPrices: sums.unknownPrices }),
    ...(sums.assumedQuantities > 0 && { assumedQuantities: sums.assumedQuantities }),
    ...(quoteDiscount(quote)?.kind === 'unreadable' && { discountNotApplied: true as const }),
  };
}

/** The totals of these sums, rounded. */
export const termTotals = (sums: QuoteSums): TermTotals => totalsByTerm(pricesByTerm(sums));

function pricesByTerm(sums: QuoteSums): Map<string, Decimal> {
  const prices = new Map<string, Decimal>();
  for (const [key, { price }] of sums.terms) addToTerm(prices, key, price);
  return prices;
}

/** The totals of several quotes after discounts. All must have the same currency. */
export function sumQuotes(quotes: readonly Quote[]): {
  totals: TermTotals;
  unknownPrices: number;
  unknownItems: number;
} {
  const prices = new Map<string, Decimal>();
  let unknownPrices = 0;
  for (const quote of quotes) {
    const sums = sumQuote(quote);
    unknownPrices += sums.unknownPrices;
    for (const [key, { price }] of sums.terms) addToTerm(prices, key, price);
  }
  const unknownItems = quotes.filter(hasUnknownItems).length;
  return { totals: totalsByTerm(prices), unknownPrices, unknownItems };
}

/**
 * The first-year value of a quote: one-time + 12 × monthly + yearly, after discounts, without other terms.
 * `undefined` when none of these prices is known.
 */
export function firstYearValue(sums: QuoteSums): Decimal | undefined {
  const years = [...sums.terms].flatMap(([term, { price }]) => overYear(price, term) ?? []);
  return years.length > 0 ? years.reduce((sum, amount) => sum.plus(amount)) : undefined;
}
