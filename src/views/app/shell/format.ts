/** Numbers, money and dates in the person's locale. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

export type Amounts = Readonly<Record<string, number>>;

export interface Formats {
  number(value: number): string;
  /** 1 day, 2 days. */
  counted(value: number, noun: string): string;
  /** The number that a person typed; `undefined` where it is none as the locale writes it. */
  parse(text: string): number | undefined;
  /** An amount to the cent. */
  exact(amount: number, currency: string): string;
  /** An amount in whole units. */
  money(amount: number, currency: string): string;
  /** A difference in whole units, with its sign. */
  change(amount: number, currency: string): string;
  /** A price per unit: up to six decimals, as in texts. */
  unit(amount: number, currency: string): string;
  /** Amounts of several currencies, always in the same order. */
  amounts(amounts: Amounts | undefined): string[];
  /** The same, naming the amounts that have no currency; for totals, which rows without the words follow. */
  totals(amounts: Amounts | undefined): string[];
  /** Differences, each with its sign, in the same way. */
  changes(amounts: Amounts | undefined): string[];
  /** The main currency first, then by code; amounts of unknown currency last. */
  byCurrency(a: string, b: string): number;
  /** The order of names. */
  compare(a: string, b: string): number;
  percent(percent: number): string;
  /** A share in a column: with one decimal in every row. */
  share(percent: number): string;
  /** 2026-11-21 → Nov 21, 2026; every day of a text that has one before and one after. */
  day(text: string): string;
  /** 2026-11 → Nov 2026. */
  month(month: string): string;
  time(iso: string): string;
}

const noValue = '–';
/** Languages that are written from right to left. */
export const rightToLeft = /^(?:ar|ckb|dv|fa|he|ps|sd|ug|ur|yi)\b/i;
/** The briefs' group for amounts of unknown currency. */
export const unknownCurrency = 'unknown currency';

export function formatsOf(
  locale: string | undefined,
  timeZone: string | undefined,
  mainCurrency?: string,
): Formats {
  const place = usable(locale);
  const byCurrency = currencyOrder(mainCurrency);
  const whole = moneyIn(place, { maximumFractionDigits: 0 });
  const change = moneyIn(place, { maximumFractionDigits: 0, signDisplay: 'exceptZero' });
  const named = (format: typeof whole) => (amount: number, currency: string) =>
    `${format(amount, currency)}${currency === unknownCurrency ? ' (no currency)' : ''}`;
  const number = new Intl.NumberFormat(place);
  const percent = new Intl.NumberFormat(place, { style: 'percent', maximumFractionDigits: 1 });
  const share = new Intl.NumberFormat(place, {
    style: 'percent',
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  });
  // The words are English: a month's name that runs from right to left would tear a sentence apart.
  const isTurned = rightToLeft.test(place ?? '');
  const month = isTurned ? '2-digit' : 'short';
  const [dayFormat, monthFormat] = [{ day: 'numeric' } as const, {}].map(
    (more) => new Intl.DateTimeFormat(place, { ...more, month, year: 'numeric', timeZone: 'UTC' }),
  );
  const time = timeIn(place, timeZone, isTurned);
  const isolated = (text: string) => (isTurned ? `\u2068${text}\u2069` : text);
  const amountsAs = (format: (amount: number, currency: string) => string) => (all?: Amounts) =>
    Object.entries(all ?? {})
      .toSorted(([a], [b]) => byCurrency(a, b))
      .map(([currency, amount]) => format(amount, currency));
  return {
    number: (value) => number.format(value),
    counted: (value, noun) => `${number.format(value)} ${noun}${value === 1 ? '' : 's'}`,
    parse: (text) => parsed(text, number),
    exact: moneyIn(place, {}, { minimumFractionDigits: 2 }),
    money: whole,
    change,
    unit: moneyIn(place, { maximumFractionDigits: 6 }),
    amounts: amountsAs(whole),
    totals: amountsAs(named(whole)),
    changes: amountsAs(named(change)),
    byCurrency,
    compare: new Intl.Collator(place, { numeric: true }).compare,
    percent: (value) => percent.format(value / 100),
    share: (value) => share.format(value / 100),
    day: (text) =>
      text.replace(/\b\d{4}-\d\d-\d\d\b/g, (one) =>
        dated(one, (date) => isolated(dayFormat?.format(date) ?? one)),
      ),
    month: (text) => dated(`${text}-01`, (date) => isolated(monthFormat?.format(date) ?? text)),
    time: (text) => dated(text, (date) => isolated(time.format(date))),
  };
}

/** Spaces and apostrophes are between groups of digits everywhere; a point or comma is what it is in the locale. */
function parsed(text: string, format: Intl.NumberFormat): number | undefined {
  const [group, decimal] = (['group', 'decimal'] as const).map(
    (kind) => format.formatToParts(-1_234_567.8).find(({ type }) => type === kind)?.value,
  );
  const { locale } = format.resolvedOptions();
  const digits = new Intl.NumberFormat(locale, { useGrouping: false }).format(9_876_543_210);
  const plainOf = (it: string): string => {
    if (it === group) return ',';
    if (it === decimal) return '.';
    const digit = digits.indexOf(it);
    return digit < 0 ? it.replace(/[.,]/, '?') : String(9 - digit);
  };
  const plain = [...text.replace(/[\s'’]/g, '')].map(plainOf).join('');
  return /^(?:\d+|\d{1,3}(?:,\d{2,3})*,\d{3})(?:\.\d+)?$/.test(plain)
    ? Number(plain.replaceAll(',', ''))
    : undefined;
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

function timeIn(
  place: string | undefined,
  timeZone: string | undefined,
  isTurned: boolean,
): Intl.DateTimeFormat {
  const style = { dateStyle: isTurned ? 'short' : 'medium', timeStyle: 'short' } as const;
  try {
    return new Intl.DateTimeFormat(place, { ...style, ...(timeZone ? { timeZone } : {}) });
  } catch {
    return new Intl.DateTimeFormat(place, style);
  }
}

function moneyIn(
  place: string | undefined,
  options: Intl.NumberFormatOptions,
  ofUnknown: Intl.NumberFormatOptions = {},
): (amount: number, currency: string) => string {
  const formatter = new Map<string, Intl.NumberFormat>();
  const fallback = new Intl.NumberFormat(place, {
    maximumFractionDigits: 2,
    ...options,
    ...ofUnknown,
  });
  return (amount, currency) => {
    if (currency === unknownCurrency || currency === '') return fallback.format(amount);
    // A tenant may use text that is not a currency code; it is shown after the number, unchanged.
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

/** The value of a key that a record may have chosen, such as `constructor`. */
export const ownOf = <Value>(
  all: Readonly<Record<string, Value>>,
  key: string,
): Value | undefined => (Object.hasOwn(all, key) ? all[key] : undefined);

export const FormatContext = createContext<Formats>(formatsOf(undefined, undefined));
export const useFormats = (): Formats => useContext(FormatContext);
