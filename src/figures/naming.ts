import type { Contact, Quote, Ref } from '../service/records/records.ts';
import { type Piece, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { type Steps, sortSteps } from './steps.ts';

export interface Named {
  id?: string;
  name?: string;
}

/** Makes fields that may be `undefined` optional. */
export type Compact<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Removes every field that is `undefined`. */
export function compact<T extends object>(fields: T): Compact<T> {
  const kept: Record<string, unknown> = {};
  for (const name in fields) if (fields[name] !== undefined) kept[name] = fields[name];
  return kept as Compact<T>;
}

/** A text without the space around it; `undefined` when it is blank, or no text. */
export const nonBlank = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.trim() || undefined : undefined;

/** A count, or `undefined` when it is 0, because zero counts are omitted. */
export const nonZero = (count: number): number | undefined => count || undefined;

/** Counts by reason without zeros; `undefined` when none remain. */
export function nonZeroCounts<K extends string>(
  counts: Readonly<Record<K, number>>,
): Partial<Record<K, number>> | undefined {
  const kept = Object.entries<number>(counts).filter(([, count]) => count > 0);
  return nonEmpty(Object.fromEntries(kept) as Partial<Record<K, number>>);
}

export const nonEmpty = <T extends object>(fields: T): T | undefined =>
  Object.keys(fields).length > 0 ? fields : undefined;

export function named(record: Ref | undefined): Named {
  return compact({ id: nonBlank(record?.id), name: nonBlank(record?.name) });
}

export const nameOrId = (ref: Ref | undefined): string | undefined =>
  nonBlank(ref?.name) ?? nonBlank(ref?.id);

export function contactName(contact: Contact): string | undefined {
  const name = nonBlank(contact.name);
  if (name) return name;
  const { firstName, middleName, lastName } = contact;
  return nonBlank([firstName, middleName, lastName].map(nonBlank).filter(Boolean).join(' '));
}

export const quoteName = (quote: Quote): string | undefined =>
  quoteTitle(quote) ?? nonBlank(quote.number);

export const quoteTitle = (quote: Quote): string | undefined =>
  nonBlank(quote.title) ?? nonBlank(quote.name);

export const namedQuote = (quote: Quote): Named =>
  compact({ id: nonBlank(quote.id), name: quoteName(quote) });

/** What a row says first of a quote. */
export const quoteIdentity = (quote: Quote) =>
  compact({ id: nonBlank(quote.id), number: nonBlank(quote.number), name: quoteTitle(quote) });

export const normaliseName = (name: string | undefined): string =>
  (name ?? '').trim().toLowerCase();

/** Letters that Unicode does not take apart into a letter and an accent. */
const letters: Readonly<Record<string, string>> = {
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ŧ: 't',
  þ: 'th',
  æ: 'ae',
  œ: 'oe',
  ß: 'ss',
};

/** A text in lower case without its accents: "björn" and "bjørn" are "bjorn". */
export const withoutAccents = (text: string): string =>
  isAscii(text)
    ? text
    : text
        .normalize('NFKD')
        .replace(/\p{M}/gu, '')
        .replace(/[øłđðħıŧþæœß]/g, (letter) => letters[letter] ?? letter);

/** A name by which others are found, whatever their letter case, accents and spaces around them. */
export const foldedName = (name: string): string => withoutAccents(normaliseName(name));

/** Most names are: what has no accents need not be searched for them. */
export const isAscii = (text: string): boolean => !/[\u0080-\uffff]/.test(text);

/** By name (ignoring case), then by id; records without either come last. */
export function byName(a: Named, b: Named): number {
  return (
    Number(!a.name) - Number(!b.name) ||
    compare(normaliseName(a.name), normaliseName(b.name)) ||
    compare(a.name ?? '', b.name ?? '') ||
    compare(a.id ?? '', b.id ?? '')
  );
}

/** In the order of `byName`. */
export const sortedNames = (names: Iterable<string>): string[] =>
  [...names].sort((a, b) => byName({ name: a }, { name: b }));

/** By code unit, which is independent of the locale. */
export function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export interface LimitedList<Row> {
  shown: number;
  total: number;
  rows: Row[];
}

export function limitList<Row>(items: readonly Row[], limit = items.length): LimitedList<Row> {
  const rows = items.slice(0, limit);
  return { shown: rows.length, total: items.length, rows };
}

/** The first rows of a list in this order, from a position on. Equal items keep their order. */
export function* limitSorted<Item, Row>(
  items: readonly Item[],
  order: (a: Item, b: Item) => number,
  limit: number,
  toRow: (item: Item) => Row,
  from = 0,
): Steps<LimitedList<Row>> {
  const sorted = yield* sortSteps(items, order);
  const rows = sorted.slice(from, from + limit).map(toRow);
  return { shown: rows.length, total: items.length, rows };
}

/** Groups records by key, in their original order. */
export function groupBy<Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => string,
): Map<string, [Item, ...Item[]]> {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) addTo(groups, keyOf(item), item);
  return groups;
}

/** Numbers of items by key, the highest first. */
export function countsBy<Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => string,
): Record<string, number> {
  const groups = [...groupBy(items, keyOf)];
  groups.sort(([a, some], [b, others]) => others.length - some.length || compare(a, b));
  return Object.fromEntries(groups.map(([key, { length }]) => [key, length]));
}

export function addTo<Item>(
  groups: Map<string, Item[]> | Map<string, [Item, ...Item[]]>,
  key: string,
  item: Item,
): void {
  const group = groups.get(key);
  if (group) group.push(item);
  else groups.set(key, [item]);
}

/** "today", "in 1 day", "in 2 days". */
export const inDays = (days: number): Wording =>
  days === 0 ? wording`today` : wording`in ${plural(days, 'day')}`;

/** "1 quote", "2 quotes", "3 companies". */
export function plural<const N extends string>(count: number, noun: Piece<N>): Wording {
  return count === 1 ? trusted(`1 ${noun}`) : trusted(`${count} ${pluralOf(noun)}`);
}

export const pluralOf = (noun: string): string =>
  /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
