/**
 * Money arithmetic of the briefs: decimal, one sum per currency and term, rounded once at the end. The exact
 * definitions are in docs/definitions.md.
 */
import { Big } from 'big.js';
import { currencyCode } from '../service/records/normalise.ts';
import type { Company, Ref } from '../service/records/records.ts';
import { trusted, type Wording } from '../text/untrusted-text.ts';
import { fieldOf } from '../values.ts';
import { nonBlank } from './fields.ts';

/** An exact decimal number: sums of binary numbers are off by parts of a cent, and cannot be rounded. */
export type Decimal = Big;

export const zero = new Big(0);
export const hundred = new Big(100);
const cent = new Big('0.01');

/** A known number as a decimal; `undefined` for a missing one, which is unknown and never 0. */
export const decimal = (value: number | undefined): Decimal | undefined =>
  value === undefined || !Number.isFinite(value) ? undefined : new Big(value);

/** An amount for the reader: 2 decimals, half away from zero. */
export const rounded = (amount: Decimal): number => finite(amount.round(2));

/** A price or cost per unit for the reader: 4 decimals; below a cent 4 significant digits. */
export const perUnit = (amount: Decimal): number =>
  finite(amount.abs().lt(cent) ? amount.prec(4) : amount.round(4));

/** A percentage for the reader: 1 decimal, half away from zero. */
export const roundedPercent = (percent: Decimal): number => finite(percent.round(1));

/** A percentage as given: rounded, it would not match the totals. */
export const givenPercent = (percent: Decimal): number => finite(percent);

/** JSON has neither -0 nor Infinity. */
function finite(value: Decimal): number {
  const number = value.toNumber() + 0;
  return Number.isFinite(number) ? number : Math.sign(number) * Number.MAX_VALUE;
}

/** `part` of `whole` in percent, to 1 decimal; `undefined` when the whole is 0. */
export const percentOf = (part: Decimal, whole: Decimal): number | undefined =>
  whole.eq(0) ? undefined : roundedPercent(part.times(hundred).div(whole));

export const percentOfCounts = (part: number, whole: number): number | undefined =>
  percentOf(zero.plus(part), zero.plus(whole));

/**
 * Margin in percent of the price: (price − cost) / price × 100. `undefined` when either is unknown or the
 * price is not above 0: with a negative price, a loss would read as a margin of more than 100 %.
 */
export function margin(price: Decimal | undefined, cost: Decimal | undefined): number | undefined {
  return price?.gt(0) && cost ? percentOf(price.minus(cost), price) : undefined;
}

/** The amount after a discount in percent: amount × (1 − discount / 100). */
export function lessPercent(amount: Decimal, discount: Decimal): Decimal {
  return amount.times(hundred.minus(discount)).div(hundred);
}

export const unknownCurrency = 'unknown currency';

/** Company id → currency code, upper case. */
export type CurrencyOf = ReadonlyMap<string, string>;

export function currenciesOf(companies: readonly Company[]): CurrencyOf {
  const currencies = new Map<string, string>();
  for (const { id, currency } of companies) {
    const code = currencyCode(currency);
    if (id !== undefined && code) currencies.set(id, code);
  }
  return currencies;
}

/** Whether a text has the form of an ISO 4217 code: three letters. */
export const isCurrencyCode = (text: string): boolean => /^[A-Z]{3}$/.test(text);

/** An amount as text: "12,500 EUR", "12,345.67 USD"; a unit price may have more decimals. */
export function formatAmount(amount: number, currency: string): Wording {
  const isKnown = currency !== unknownCurrency && isCurrencyCode(currency);
  return trusted(`${formatNumber(amount)} ${isKnown ? currency : '(currency unknown)'}`);
}

/** An amount whose currency is said elsewhere. */
export function formatNumber(amount: number): Wording {
  if (!Number.isSafeInteger(amount))
    return trusted((Math.abs(amount) < 0.01 ? belowCent : withCents).format(amount));
  // As `Intl` writes it, in a tenth of the time: a list has dozens of amounts.
  const digits = String(Math.abs(amount));
  let text = digits.slice(-3);
  for (let at = digits.length - 3; at > 0; at -= 3)
    text = `${digits.slice(Math.max(0, at - 3), at)},${text}`;
  return trusted(amount < 0 ? `-${text}` : text);
}

const withCents = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
});
const belowCent = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 });

/**
 * The currency of a record: its own, else its company's, else `unknown currency`. One of its own that is not understood, as
 * a symbol, is unknown.
 */
export function currencyOfRecord(
  record: { company?: Ref; [field: string]: unknown },
  currencyOf: Pick<CurrencyOf, 'get'>,
): string {
  const { company, companyId } = record;
  const own = currencyGiven(record.currency);
  if (typeof own === 'string' && own.trim() !== '') return currencyCode(own) ?? unknownCurrency;
  const id = nonBlank(company?.id) ?? nonBlank(companyId) ?? '';
  return currencyCode(company?.currency) ?? currencyOf.get(id) ?? unknownCurrency;
}

/** What a record has as its currency: a text, or an object with a code. */
export const currencyGiven = (value: unknown): unknown => fieldOf(value, 'code') ?? value;

/** Amounts by currency, rounded to 2 decimals. Only currencies with a known amount are included. */
export type Amounts = Record<string, number>;

/** Sums that never mix currencies. */
export class CurrencySums {
  readonly #sums = new Map<string, Decimal>();

  /** Ignores an unknown amount; the caller counts those. */
  add(currency: string, amount: Decimal | undefined): void {
    if (!amount) return;
    this.#sums.set(currency, (this.#sums.get(currency) ?? zero).plus(amount));
  }

  of(currency: string): Decimal | undefined {
    return this.#sums.get(currency);
  }

  /** The largest sum in any one currency: for ranking only, since currencies cannot be compared. */
  get largest(): number {
    let largest = 0;
    for (const sum of this.#sums.values()) largest = Math.max(largest, sum.toNumber());
    return largest;
  }

  /** What is known of each sum, currencies in alphabetical order; `undefined` when nothing is. Default: rounded sums. */
  toAmounts(
    amountOf: (sum: Decimal, currency: string) => number | undefined = rounded,
  ): Amounts | undefined {
    const amounts = [...this.#sums]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([currency, sum]) => {
        const amount = amountOf(sum, currency);
        return amount === undefined ? [] : [[currency, amount] as const];
      });
    return amounts.length > 0 ? Object.fromEntries(amounts) : undefined;
  }
}

/** Each sum in percent of that of the same currency in `wholes`, where this is above 0. */
export const percentagesOf = (parts: CurrencySums, wholes: CurrencySums): Amounts | undefined =>
  wholes.toAmounts((whole, currency) =>
    whole.gt(0) ? percentOf(parts.of(currency) ?? zero, whole) : undefined,
  );

/** The sum of one amount over several items, by currency. */
export function sumOf<Item extends { currency: string }>(
  items: readonly Item[],
  amountOf: (item: Item) => Decimal | undefined,
): CurrencySums {
  const sums = new CurrencySums();
  for (const item of items) sums.add(item.currency, amountOf(item));
  return sums;
}
