/** Numbers, money and dates in the person's locale. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

export type Amounts = Readonly<Record<string, number>>;

export interface Formats {
  number(value: number): string;
  /** An amount to the cent. */
  exact(amount: number, currency: string): string;
  /** An amount in whole units. */
  money(amount: number, currency: string): string;
  /** A difference in whole units, with its sign. */
  change(amount: number, currency: string): string;
  /** A price per unit: up to four decimals. */
  unit(amount: number, currency: string): string;
  /** Amounts of several currencies, always in the same order. */
  amounts(amounts: Amounts | undefined): string[];
  /** The main currency first, then by code; amounts of unknown currency last. */
  byCurrency(a: string, b: string): number;
  /** The order of names. */
  compare(a: string, b: string): number;
  percent(percent: number): string;
  /** 2026-11-21 → Nov 21, 2026. */
  day(day: string): string;
  /** 2026-11 → Nov 2026. */
  month(month: string): string;
  time(iso: string): string;
}

const noValue = '–';
/** The briefs' group for amounts of unknown currency. */
const unknownCurrency = 'unknown currency';

export function formatsOf(
  locale: string | undefined,
  timeZone: string | undefined,
  mainCurrency?: string,
): Formats {
  const place = usable(locale);
  const byCurrency = currencyOrder(mainCurrency);
  const whole = moneyIn(place, { maximumFractionDigits: 0 });
  const number = new Intl.NumberFormat(place);
  const percent = new Intl.NumberFormat(place, { style: 'percent', maximumFractionDigits: 1 });
  const day = new Intl.DateTimeFormat(place, { dateStyle: 'medium', timeZone: 'UTC' });
  const month = new Intl.DateTimeFormat(place, {
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  });
  const time = timeIn(place, timeZone);
  return {
    number: (value) => number.format(value),
    exact: moneyIn(place, {}),
    money: whole,
    change: moneyIn(place, { maximumFractionDigits: 0, signDisplay: 'exceptZero' }),
    unit: moneyIn(place, { maximumFractionDigits: 4 }),
    amounts: (amounts) =>
      Object.entries(amounts ?? {})
        .toSorted(([a], [b]) => byCurrency(a, b))
        .map(([currency, amount]) => whole(amount, currency)),
    byCurrency,
    compare: new Intl.Collator(place, { numeric: true }).compare,
    percent: (value) => percent.format(value / 100),
    day: (text) => dated(text, (date) => day.format(date)),
    month: (text) => dated(`${text}-01`, (date) => month.format(date)),
    time: (text) => dated(text, (date) => time.format(date)),
  };
}

function currencyOrder(main: string | undefined): Formats['byCurrency'] {
  const rank = (currency: string) => (currency === main ? 0 : currency === unknownCurrency ? 2 : 1);
  return (a, b) => rank(a) - rank(b) || (a < b ? -1 : Number(a > b));
}

/**
 * The currency that most deals have; `undefined` where no currency is known. Amounts of several currencies cannot be
 * compared, so they do not decide.
 */
export const mainCurrencyOf = (counts: Readonly<Record<string, number>> = {}): string | undefined =>
  Object.entries(counts)
    .filter(([currency]) => currency !== unknownCurrency)
    .toSorted(([a, some], [b, others]) => others - some || (a < b ? -1 : 1))[0]?.[0];

/** A host may send a locale that this browser does not know. */
function usable(locale: string | undefined): string | undefined {
  try {
    return locale === undefined ? undefined : Intl.getCanonicalLocales(locale)[0];
  } catch {
    return undefined;
  }
}

function timeIn(place: string | undefined, timeZone: string | undefined): Intl.DateTimeFormat {
  const style = { dateStyle: 'medium', timeStyle: 'short' } as const;
  try {
    return new Intl.DateTimeFormat(place, { ...style, ...(timeZone ? { timeZone } : {}) });
  } catch {
    return new Intl.DateTimeFormat(place, style);
  }
}

function moneyIn(
  place: string | undefined,
  options: Intl.NumberFormatOptions,
): (amount: number, currency: string) => string {
  const formatter = new Map<string, Intl.NumberFormat>();
  const fallback = new Intl.NumberFormat(place, { maximumFractionDigits: 2, ...options });
  return (amount, currency) => {
    // A tenant may use text that is not a currency code; it is shown after the number, unchanged.
    if (currency === unknownCurrency) return `${fallback.format(amount)} (no currency)`;
    if (!/^[A-Z]{3}$/.test(currency)) return `${fallback.format(amount)} (${currency})`;
    const format =
      formatter.get(currency) ??
      new Intl.NumberFormat(place, { style: 'currency', currency, ...options });
    formatter.set(currency, format);
    return format.format(amount);
  };
}

function dated(text: string, format: (date: Date) => string): string {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? text || noValue : format(date);
}

export const FormatContext = createContext<Formats>(formatsOf(undefined, undefined));
export const useFormats = (): Formats => useContext(FormatContext);
