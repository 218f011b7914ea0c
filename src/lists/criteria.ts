/** Parses `filters` and `sort` of a list, and translates them for the service where it supports them. */

import { dayOf } from '../figures/days.ts';
import type { Steps } from '../figures/steps.ts';
import { normalisePart } from '../names/part-numbers.ts';
import type { RecordOf, Resource } from '../service/records/records.ts';
import { InvalidArguments } from '../tenant/invalid-arguments.ts';
import { identifier, join, quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { isObject } from '../values.ts';
import { type Column, columnsOf, type Known } from './columns.ts';
import {
  fieldAt,
  filterParts,
  folded,
  readPart,
  readSort,
  sortBy,
  valuesOf,
} from './search-terms.ts';

const orders = ['<=', '>=', '<', '>'] as const;
type Order = (typeof orders)[number];

/** `is`: equal to a text. `order`: before or after a number or a date. `empty`: has no value, or has one. */
export type Test = { is: string } | { order: Order; than: string } | { empty: boolean };

export interface Key {
  /** The name as written in the argument. */
  name: string;
  /** Absent if `name` is a field of the service, with dots for nested ones. */
  column: Column<never> | undefined;
}

export interface Condition {
  key: Key;
  /** At least one must pass. */
  tests: readonly Test[];
}

interface SortColumn {
  key: Key;
  sign: 1 | -1;
}

export interface Criteria {
  conditions: readonly Condition[];
  sort: readonly SortColumn[];
}

/** What `none` and `any` are written as. */
const emptyWords: Readonly<Record<string, boolean>> = { '(none)': true, '(any)': false };
const dateShape = /^\d{4}-\d{2}(-\d{2})?$/;
const yearShape = /^\d{4}$/;
const numberShape = /^-?\d+(\.\d+)?$/;

/**
 * Reads `key:a|b,key2:<2027-01-01` and `-field,+field`: a comma is and, a pipe is or.
 * @throws InvalidArguments
 */
export const readCriteria = (resource: Resource, filters = '', sort = ''): Criteria => ({
  conditions: filterParts(filters).map((part) => readCondition(resource, part)),
  sort: readSort(sort).map(({ name, sign }) => ({ key: keyOf(resource, name), sign })),
});

/** What a reader of the rows wants to see: keys of the order, and of filters that more than one value can pass. */
export const keysToShow = ({ conditions, sort }: Criteria): string[] => [
  ...new Set(
    [...conditions.filter((each) => !isOneText(each)), ...sort].map(({ key }) => key.name),
  ),
];

function isOneText({ tests }: Condition): boolean {
  const [test] = tests;
  return tests.length === 1 && test !== undefined && 'is' in test && !isDate(test.is);
}

function readCondition(resource: Resource, part: string): Condition {
  const read = readPart(part);
  if (!read)
    throw new InvalidArguments(wording`filters is key:a|b,key2:c; ${quote(part)} has no key.`);
  const key = keyOf(resource, read.name);
  return { key, tests: read.values.map((value) => readTest(key.name, value)) };
}

function readTest(key: string, value: string): Test {
  const empty = emptyWords[value.toLowerCase()];
  if (empty !== undefined) return { empty };
  const order = orders.find((sign) => value.startsWith(sign));
  if (order === undefined) return { is: value };
  const than = value.slice(order.length).trim();
  if (!numberShape.test(than) && !isDate(than))
    throw new InvalidArguments(
      wording`${identifier(key)}: after ${order} comes a number or a date that exists, as YYYY-MM-DD, not ${quote(than)}.`,
    );
  return { order, than };
}

/** A column in any letter case, or a field of the service. */
function keyOf(resource: Resource, name: string): Key {
  const columns = columnsOf(resource);
  const known = Object.keys(columns).find((column) => column.toLowerCase() === name.toLowerCase());
  return { name: known ?? name, column: known === undefined ? undefined : columns[known] };
}

/** The criteria as parameters of the service; `undefined` if it does not support all of them. */
export function inServiceTerms({
  conditions,
  sort,
}: Criteria): { filters?: string; sort?: string } | undefined {
  const filters = conditions.map(conditionInServiceTerms);
  const order = sort.map(({ key, sign }) => {
    const field = key.column ? key.column.sort : key.name;
    return field && `${sign < 0 ? '-' : '+'}${field}`;
  });
  if ([...filters, ...order].includes(undefined)) return undefined;
  return {
    ...(filters.length > 0 && { filters: filters.join(',') }),
    ...(order.length > 0 && { sort: order.join(',') }),
  };
}

function conditionInServiceTerms({ key, tests }: Condition): string | undefined {
  const field = key.column ? key.column.filter : key.name;
  const values = tests.map((test) => ('is' in test && isPlain(test.is) ? test.is : undefined));
  return field === undefined || values.includes(undefined)
    ? undefined
    : `${field}:${values.join('|')}`;
}

/** A comma ends a filter of the service, and a day is not how it stores a time. */
const isPlain = (value: string): boolean =>
  value !== '' && !value.includes(',') && !dateShape.test(value);

/** The value of a key; for a nested record its name, or its id. */
export function valueUnderKey<R extends Resource>(
  record: RecordOf[R],
  { name, column }: Key,
  known: Known,
): unknown {
  const { compared, value } = (column ?? {}) as Partial<Column<RecordOf[R]>>;
  if (compared) return compared(record, known);
  const found = value ? value(record, known) : fieldAt(record, name);
  return isObject(found) ? (found.name ?? found.id) : found;
}

export function passes<R extends Resource>(
  record: RecordOf[R],
  { key, tests }: Condition,
  known: Known,
): boolean {
  const values = valuesOf(valueUnderKey(record, key, known));
  return tests.some((test) =>
    'empty' in test
      ? test.empty === (values.length === 0)
      : values.some((value) => passesTest(value, test)) || matchesAlternative(record, key, test),
  );
}

/** Whether the text is an alternative under this key, without regard to letter case and punctuation. */
export function matchesAlternative<R extends Resource>(
  record: RecordOf[R],
  { column }: Key,
  test: Test,
): boolean {
  const { alternatives } = (column ?? {}) as Partial<Column<RecordOf[R]>>;
  if (!alternatives || !('is' in test)) return false;
  const part = normalisePart(test.is);
  return part !== '' && alternatives(record).some((other) => normalisePart(other) === part);
}

function passesTest(value: unknown, test: Exclude<Test, { empty: boolean }>): boolean {
  if ('is' in test) return isEqual(value, test.is);
  const order = compareWithBound(value, test.than);
  if (order === undefined) return false;
  if (test.order === '<') return order < 0;
  if (test.order === '>') return order > 0;
  return test.order === '<=' ? order <= 0 : order >= 0;
}

/** A month or a year is equal to each of its days. */
export function isEqual(value: unknown, text: string): boolean {
  if (typeof value === 'number') return numberShape.test(text) && value === Number(text);
  const [one, other] = [folded(value), folded(text)];
  return one === other || (isDate(text) && isDate(one.slice(0, 10)) && one.startsWith(text));
}

/** Compares with a number or a date; a date as far as it is given, so that all of a month or a year is in it. */
function compareWithBound(value: unknown, than: string): number | undefined {
  if (typeof value === 'number') return numberShape.test(than) ? value - Number(than) : undefined;
  const date = typeof value === 'string' && isDate(than) ? value.slice(0, than.length) : '';
  if (!isDate(date)) return undefined;
  return date === than ? 0 : date < than ? -1 : 1;
}

/** Whether it is a day, a month or a year that exists. */
const isDate = (text: string): boolean =>
  (yearShape.test(text) || dateShape.test(text)) &&
  dayOf(`${text}-01-01`.slice(0, 10)) !== undefined;

export const sortedBy = <R extends Resource>(
  records: readonly RecordOf[R][],
  sort: readonly SortColumn[],
  known: Known,
): Steps<readonly RecordOf[R][]> =>
  sortBy(
    records,
    sort.map(({ key, sign }) => {
      const { ordered } = (key.column ?? {}) as Partial<Column<RecordOf[R]>>;
      return { read: ordered ?? ((record) => valueUnderKey(record, key, known)), sign };
    }),
  );

export const keyNames = (resource: Resource): Wording =>
  join(Object.keys(columnsOf(resource)).map(trusted), ', ');
