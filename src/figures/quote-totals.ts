/**
 * The totals of a quote, summed from its items by term: the service sends no totals.
 * Definitions: docs/definitions.md, "Quote".
 */
import type { Quote, QuoteItem } from '../service/records/records.ts';
import { compact, nonZero } from './fields.ts';
import { type Decimal, decimal, lessPercent, zero } from './money.ts';
import { overYear, type TermTotals, termKey, totalsByTerm } from './terms.ts';

/**
 * One line, in the quote's currency: price per unit after the line's own discount, quantity × this price, and quantity ×
 * cost, without setup. A missing quantity counts as 1; without a discount or quantity that is there, but not understood, the
 * price is unknown.
 */
export function lineAmounts(item: QuoteItem) {
  const { unreadable = {} } = item;
  const isKnown = unreadable.discount === undefined && unreadable.quantity === undefined;
  const price = isKnown ? decimal(item.price) : undefined;
  const cost = decimal(item.cost);
  const discount = decimal(item.discount);
  const times = decimal(item.quantity) ?? zero.plus(1);
  const unitPrice = price && discount ? lessPercent(price, discount) : price;
  return { unitPrice, total: unitPrice?.times(times), cost: cost?.times(times) };
}

/** The sum of the prices, and of the lines and setups of which both price and cost are known. */
export interface TermSums {
  price?: Decimal | undefined;
  /** Over the lines and setups with a price and a cost, so that a profit can be calculated. */
  comparablePrice?: Decimal | undefined;
  comparableCost?: Decimal | undefined;
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
  setup: { price?: Decimal | undefined; cost?: Decimal | undefined };
}

/** A quantity that cannot be read is none that is missing: the line is in no total. */
export const isWithoutQuantity = ({ quantity, unreadable }: QuoteItem): boolean =>
  decimal(quantity) === undefined && unreadable?.quantity === undefined;

/** Adds up the items before the discount of the quote. */
export function sumItems(items: readonly QuoteItem[]): QuoteSums {
  const sums: QuoteSums = {
    items: items.length,
    terms: new Map(),
    unknownPrices: 0,
    assumedQuantities: items.filter(isWithoutQuantity).length,
    setup: {},
  };
  for (const item of items) {
    const { total, cost } = lineAmounts(item);
    addCharge(sums, termKey(item), total, cost);
    addSetup(sums, item);
  }
  return sums;
}

/** `undefined` where no amount is known. */
const sumOfKnown = (amounts: readonly (Decimal | undefined)[]): Decimal | undefined =>
  amounts.reduce((sum, amount) => (sum && amount ? sum.plus(amount) : (sum ?? amount)), undefined);

/** @param comparable the price to compare with the cost */
function addCharge(
  sums: QuoteSums,
  key: string,
  price: Decimal | undefined,
  cost: Decimal | undefined,
  comparable = price,
): void {
  const term = sums.terms.get(key) ?? {};
  sums.terms.set(key, term);
  if (!price) sums.unknownPrices += 1;
  term.price = sumOfKnown([term.price, price]);
  if (comparable && cost) {
    term.comparablePrice = sumOfKnown([term.comparablePrice, comparable]);
    term.comparableCost = sumOfKnown([term.comparableCost, cost]);
  } else term.withoutPriceOrCost = (term.withoutPriceOrCost ?? 0) + 1;
}

/**
 * Setup is charged once, regardless of quantity. Price and cost of 0 count as no setup. A setup that has a cost and no
 * price is not charged, so its profit is the negative cost.
 */
function addSetup(sums: QuoteSums, item: QuoteItem): void {
  const isUnread = (field: string) => item.unreadable?.[field] !== undefined;
  const isPriceUnread = isUnread('setupPrice');
  if (!item.setupPrice && !item.setupCost && !isPriceUnread && !isUnread('setupCost')) return;
  const [price, cost] = [decimal(item.setupPrice), decimal(item.setupCost)];
  sums.setup.price = sumOfKnown([sums.setup.price, price]);
  sums.setup.cost = sumOfKnown([sums.setup.cost, cost]);
  addCharge(sums, 'one-time', price, cost, isPriceUnread ? undefined : (price ?? zero));
}

/** The discount of a whole quote: percent of every term, or an amount taken off once. */
export type QuoteDiscount =
  | { kind: 'percent'; percent: Decimal }
  | { kind: 'amount'; amount: Decimal }
  | { kind: 'unreadable' };

const percentTypes = new Set(['percent', 'percentage', 'pct', '%']);
const amountTypes = new Set(['amount', 'fixed', 'absolute', 'value', 'money']);

/** `undefined` when there is no discount or it is 0; `unreadable` when its type says neither, or it has another form. */
export function quoteDiscount(quote: Quote): QuoteDiscount | undefined {
  if (quote.unreadable?.discount !== undefined) return { kind: 'unreadable' };
  const { amount: given, type: _, ...others } = quote.discount ?? {};
  const amount = decimal(given);
  if (!amount && Object.keys(others).length > 0) return { kind: 'unreadable' };
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
    terms.set('one-time', amountOff(discount.amount, sums.terms.get('one-time')));
  }
  return { ...sums, terms };
}

const hasKnownPrice = (sums: QuoteSums): boolean =>
  [...sums.terms.values()].some((term) => term.price !== undefined);

function percentOff(sums: QuoteSums, percent: Decimal): Map<string, TermSums> {
  const less = (amount: Decimal | undefined) => amount && lessPercent(amount, percent);
  const reduced = (term: TermSums): TermSums => ({
    ...term,
    price: less(term.price),
    comparablePrice: less(term.comparablePrice),
  });
  return new Map([...sums.terms].map(([key, term]) => [key, reduced(term)]));
}

/** Without one-time lines the amount is a credit, which costs nothing. */
const amountOff = (
  amount: Decimal,
  term: TermSums = { comparablePrice: zero, comparableCost: zero },
): TermSums => ({
  ...term,
  price: (term.price ?? zero).minus(amount),
  comparablePrice: term.comparablePrice?.minus(amount),
});

/** A quote with these lines only, and without an amount off the whole of it, which cannot be split by line. */
export function quoteOfLines(quote: Quote, items: readonly QuoteItem[]): Quote {
  const { discount: _, ...others } = quote;
  return { ...(quoteDiscount(quote)?.kind === 'amount' ? others : quote), items };
}

/** What an amount takes off a whole quote, as the sums of a quote; `undefined` if none does. */
export function amountTakenOff(quote: Quote): QuoteSums | undefined {
  const discount = quoteDiscount(quote);
  if (discount?.kind !== 'amount' || !hasKnownPrice(sumItems(quote.items ?? []))) return undefined;
  return { ...sumItems([]), terms: new Map([['one-time', amountOff(discount.amount)]]) };
}

/** Sums of a quote after all discounts, unrounded. */
export const sumQuote = (quote: Quote): QuoteSums =>
  applyDiscount(sumItems(quote.items ?? []), quoteDiscount(quote));

/** Whether the quote may have items that could not be read, so that nothing is known of its totals. */
export const hasUnknownItems = ({ items, unreadable }: Quote): boolean =>
  items === undefined && unreadable?.items !== undefined;

export type QuoteTotals = Partial<ReturnType<typeof knownTotals>>;

/**
 * The totals of one quote after line and quote discounts, in the quote's currency, rounded to 2 decimals; none where the
 * items could not be read. A total is present if the price of at least one of its lines is known. Formula:
 * docs/definitions.md, "Quote totals".
 */
export const quoteTotals = (quote: Quote): QuoteTotals =>
  hasUnknownItems(quote) ? {} : knownTotals(quote);

function knownTotals(quote: Quote) {
  const sums = sumQuote(quote);
  const isUnapplied = quoteDiscount(quote)?.kind === 'unreadable';
  return compact({
    items: sums.items,
    ...termTotals([sums]),
    // Lines and setups without a price: not in the totals.
    unknownPrices: nonZero(sums.unknownPrices),
    // Lines without a quantity: counted as 1.
    assumedQuantities: nonZero(sums.assumedQuantities),
    // Its type says neither percent nor amount.
    discountNotApplied: isUnapplied ? (true as const) : undefined,
  });
}

/** The totals of one quote, or of several. */
export const termTotals = (sums: readonly QuoteSums[]): TermTotals =>
  totalsByTerm(sums.flatMap(({ terms }) => [...terms].map(([key, { price }]) => [key, price])));

/** The totals of several quotes after discounts; all must have the same currency. `firstYear`: of those that have one. */
export function sumQuotes(quotes: readonly Quote[]) {
  const sums = quotes.map(sumQuote);
  return {
    totals: termTotals(sums),
    firstYear: sumOfKnown(sums.map(firstYearValue)),
    unknownPrices: sums.reduce((count, { unknownPrices }) => count + unknownPrices, 0),
    unknownItems: quotes.filter(hasUnknownItems).length,
  };
}

/**
 * The first-year value of a quote: one-time + 12 × monthly + yearly, after discounts, without other terms.
 * `undefined` when none of these prices is known.
 */
export function firstYearValue(sums: QuoteSums): Decimal | undefined {
  return sumOfKnown([...sums.terms].map(([term, { price }]) => overYear(price, term)));
}
