/** Reads `filters` and `sort` of a list, applies them to records, and translates them for the service. */

import { dayOf } from '../figures/days.ts';
import { flatMapSteps, type Steps, sortSteps } from '../figures/steps.ts';
import { normalisePart } from '../names/part-numbers.ts';
import { type ApiRecord, fieldsOf, type Resource } from '../service/records/records.ts';
import { InvalidArguments } from '../tenant/invalid-arguments.ts';
import { identifier, join, quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { isKeyOf, isObject, longId, valueAt } from '../values.ts';
import { type Column, type Known, listColumns, nothingKnown } from './columns.ts';

const orders = ['<=', '>=', '<', '>'] as const;

/** `is`: equal to a text. `has`: contains it. `order`: before or after a number or a date. `empty`: has no value, or has one. */
export type Test =
  | { is: string }
  | { has: string }
  | { order: (typeof orders)[number]; than: string }
  | { empty: boolean };

export interface Key {
  /** The name as written in the argument. */
  name: string;
  column: Column<ApiRecord>;
}

export interface Condition {
  key: Key;
  /** Of the ids of what the key names: what has an id is not none, even if its name is unknown. */
  ids?: Key | undefined;
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
const emptyWords: Readonly<Record<string, boolean>> = {
  none: true,
  '(none)': true,
  '(any)': false,
};
/** What `deleted:true` and `deleted:false` mean, for a column that only deleted records have. */
const markWords: Readonly<Record<string, boolean>> = { true: false, false: true };
/** Values of all filters of a list together. */
const maxValues = 100;
const dateShape = /^\d{4}-\d{2}(-\d{2})?$/;
const yearShape = /^\d{4}$/;
const numberShape = /^-?\d+(\.\d+)?$/;

/** Reads `key:a|b,key2:<2027-01-01` and `-field,+field`: a comma is and, a pipe is or. @throws InvalidArguments */
export function readCriteria(resource: Resource, filters = '', sort = ''): Criteria {
  const values = filters.split('|').length + filters.split(',').length - 1;
  if (values > maxValues)
    throw new InvalidArguments(
      wording`filters may have ${maxValues} values in all, not ${values}: split them over several calls.`,
    );
  return {
    conditions: filterParts(filters).map((part) => readCondition(resource, part)),
    sort: sort
      .split(',')
      .map((part) => part.trim())
      .filter((part) => !/^[-+]?$/.test(part))
      .map((part) => ({
        key: keyOf(resource, part.replace(/^[-+]/, '').trim()),
        sign: part.startsWith('-') ? -1 : 1,
      })),
  };
}

/** The parts of `key:a|b,key2:c`. A part without a colon belongs to the value before it: names contain commas. */
function filterParts(filters: string): string[] {
  const parts: string[] = [];
  for (const part of filters.split(',')) {
    const isValue = part.indexOf(':') < 1 && parts.length > 0;
    if (isValue) parts.push(`${parts.pop()},${part}`);
    else parts.push(part);
  }
  return parts.filter((part) => part.trim() !== '');
}

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
  const colon = part.indexOf(':');
  if (colon < 1)
    throw new InvalidArguments(wording`filters is key:a|b,key2:c; ${quote(part)} has no key.`);
  const named = keyOf(resource, part.slice(0, colon).trim());
  const values = part
    .slice(colon + 1)
    .split('|')
    .map((value) => value.trim());
  // Whoever has the id of a company filters by it, also under the key of names.
  const { ids } = named.column;
  const ofIds = keyOf(resource, ids ?? `${named.name}Id`);
  const hasIds = ids !== undefined || !ofIds.column.isField;
  const isOfIds = hasIds && values.every((value) => longId.test(value));
  const key = isOfIds ? ofIds : named;
  return { key, ids: hasIds ? ofIds : undefined, tests: values.map((it) => readTest(key, it)) };
}

function readTest({ name, column }: Key, value: string): Test {
  const word = value.toLowerCase();
  const empty = emptyWords[word] ?? (column.isMark ? markWords[word] : undefined);
  if (empty !== undefined) return { empty };
  if (value.startsWith('~')) return { has: word.slice(1).trim() };
  const order = orders.find((sign) => value.startsWith(sign));
  if (order === undefined) return { is: value };
  const than = value.slice(order.length).trim();
  if (!isNumber(than) && !isDate(than))
    throw new InvalidArguments(
      wording`${identifier(name)}: after ${order} comes a number or a date that exists, as YYYY-MM-DD, not ${quote(than)}.`,
    );
  return { order, than };
}

/** Whether a filter takes this text for more than a value: `none`, `~part`, `>3`, `a|b`. */
export const hasMeaning = (text: string): boolean =>
  /^[<>~]|[,|:]/.test(text.trim()) || Object.hasOwn(emptyWords, text.trim().toLowerCase());

/** A column in any letter case, or a field of the service, with dots for nested ones. */
export function keyOf(resource: Resource, name: string): Key {
  const columns = Object.entries(listColumns[resource].all);
  const found = columns.find(([column]) => column.toLowerCase() === name.toLowerCase());
  const [known, column] = found ?? [name, fieldColumn(name)];
  return { name: known, column };
}

const fieldColumn = (path: string): Column<ApiRecord> => ({
  value: (record) => fieldAt(record, path),
  filter: path,
  sort: path,
  isField: true,
});

/** The criteria as parameters of the service; `undefined` if it does not support all of them. */
export function inServiceTerms({
  conditions,
  sort,
}: Criteria): { filters?: string; sort?: string } | undefined {
  const filters = conditions.map(conditionInServiceTerms);
  const order = sort.map(
    ({ key, sign }) => key.column.sort && `${sign < 0 ? '-' : '+'}${key.column.sort}`,
  );
  if ([...filters, ...order].includes(undefined)) return undefined;
  return {
    ...(filters.length > 0 && { filters: filters.join(',') }),
    ...(order.length > 0 && { sort: order.join(',') }),
  };
}

function conditionInServiceTerms({ key, tests }: Condition): string | undefined {
  const field = key.column.filter;
  const values = tests.flatMap((test) =>
    'is' in test ? (key.column.spellings?.(test.is) ?? test.is) : '',
  );
  return field !== undefined && values.every(isPlain) ? `${field}:${values.join('|')}` : undefined;
}

/** A comma ends a filter of the service, and a day is not how it stores a time. */
const isPlain = (value: string): boolean =>
  value !== '' && !value.includes(',') && !dateShape.test(value);

/** The value of a key; of a nested record its name, or its id, or itself where it is only parts. */
export function valueUnderKey(record: ApiRecord, { column }: Key, known: Known): unknown {
  const found = (column.compared ?? column.value)(record, known);
  return isObject(found) ? (found.name ?? found.id ?? found) : found;
}

/** @throws InvalidArguments where what is filtered or sorted by is parts, of which one has to be named */
export function requireValues(records: readonly ApiRecord[], { conditions, sort }: Criteria): void {
  const compared = conditions.filter(({ tests }) => tests.some((test) => !('empty' in test)));
  // A column is a value.
  const fields = [...compared, ...sort].filter(({ key }) => key.column.isField);
  for (const { key } of fields)
    for (const record of records) {
      const value = valueUnderKey(record, key, nothingKnown);
      const parts = isObject(value) && isValue(value) ? Object.keys(value) : [];
      // That of another record may have a name.
      if (parts.length === 0 || parts.includes('name') || parts.includes('id')) continue;
      const named = parts.map((part) => identifier(`${key.name}.${part}`));
      throw new InvalidArguments(
        wording`${identifier(key.name)} has parts: filter and sort by ${join(named, ', ')}.`,
      );
    }
}

/** Whether a path begins with a field that records are known to have. */
export const isFieldOf = (resource: Resource, path: string): boolean =>
  isKeyOf(fieldsOf[resource], path.split('.')[0] ?? '');

/** The value under a path with dots; `company.id` and `companyId` are two names of the same field. */
function fieldAt(record: object, path: string): unknown {
  const nested = path.replace(/(\w)Id$/, '$1.id');
  return (
    valueAt(record, path) ?? valueAt(record, nested === path ? path.replace(/\.id$/, 'Id') : nested)
  );
}

/** The values of a field, which may be a list. A blank text is no value. */
export const valuesOf = (value: unknown): unknown[] =>
  (Array.isArray(value) ? value.flat() : [value]).filter(isValue);

const isValue = (value: unknown): boolean =>
  isObject(value)
    ? Object.values(value).some(isValue)
    : value !== undefined && value !== null && value !== '';

/** A value as it is compared: without regard to letter case. */
const folded = (value: unknown): string => String(value).trim().toLowerCase();

export function passes(record: ApiRecord, { key, ids, tests }: Condition, known: Known): boolean {
  const valuesAt = (from: Key) => valuesOf(valueUnderKey(record, from, known));
  const values = valuesAt(key);
  // Somebody may have written that there is none, as in an e-mail address that is required.
  const isNone = () =>
    [...values, ...(ids ? valuesAt(ids) : [])].every((value) => folded(value) === 'none');
  return tests.some((test) =>
    'empty' in test
      ? test.empty === isNone()
      : values.some((value) => passesTest(value, test)) || matchesAlternative(record, key, test),
  );
}

/** Whether the text is an alternative under this key, without regard to letter case and punctuation. */
export function matchesAlternative(record: ApiRecord, { column }: Key, test: Test): boolean {
  if (!column.alternatives || !('is' in test)) return false;
  const part = normalisePart(test.is);
  return part !== '' && column.alternatives(record).some((one) => normalisePart(one) === part);
}

function passesTest(value: unknown, test: Exclude<Test, { empty: boolean }>): boolean {
  if ('is' in test) return isEqual(value, test.is);
  if ('has' in test) return typeof value === 'string' && folded(value).includes(test.has);
  const order = compareWithBound(value, test.than);
  if (order === undefined) return false;
  if (test.order === '<') return order < 0;
  if (test.order === '>') return order > 0;
  return test.order === '<=' ? order <= 0 : order >= 0;
}

/** A month or a year is equal to each of its days. */
export function isEqual(value: unknown, text: string): boolean {
  if (typeof value === 'number') return isNumber(text) && value === Number(text);
  const [one, other] = [folded(value), folded(text)];
  return one === other || (isDate(text) && isDate(one.slice(0, 10)) && one.startsWith(text));
}

/** Compares with a number or a date; a date as far as it is given, so that all of a month or a year is in it. */
function compareWithBound(value: unknown, than: string): number | undefined {
  if (typeof value === 'number') return isNumber(than) ? value - Number(than) : undefined;
  const date = typeof value === 'string' && isDate(than) ? value.slice(0, than.length) : '';
  if (!isDate(date)) return undefined;
  return date === than ? 0 : date < than ? -1 : 1;
}

export const isNumber = (text: string): boolean => numberShape.test(text);

/** Whether it is a day, a month or a year that exists. */
export const isDate = (text: string): boolean =>
  (yearShape.test(text) || dateShape.test(text)) &&
  dayOf(`${text}-01-01`.slice(0, 10)) !== undefined;

/** A value that need not be folded for each comparison. */
const comparable = (value: unknown): number | string | undefined =>
  value === undefined || typeof value === 'number' ? value : folded(value);

/** `undefined` comes last in either direction. */
export function compareValues(one: unknown, other: unknown, sign: 1 | -1): number {
  const [a, b] = [comparable(one), comparable(other)];
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
  const [first, second] = [String(a), String(b)];
  return first === second ? 0 : first < second ? -sign : sign;
}

/** What a record is sorted by: the first value of the key, found without a list of them. */
function orderedValue(record: ApiRecord, key: Key, known: Known): unknown {
  const { ordered } = key.column;
  const value = ordered ? ordered(record) : valueUnderKey(record, key, known);
  if (Array.isArray(value)) return valuesOf(value)[0];
  return isValue(value) ? value : undefined;
}

/** Equal records keep their order. */
export function* sortedBy<R extends ApiRecord>(
  records: readonly R[],
  sort: readonly SortColumn[],
  known: Known,
): Steps<readonly R[]> {
  if (sort.length === 0) return records;
  const rows = yield* flatMapSteps(records, (record) => [
    { record, values: sort.map(({ key }) => comparable(orderedValue(record, key, known))) },
  ]);
  const sorted = yield* sortSteps(rows, ({ values }, other) => {
    for (const [at, { sign }] of sort.entries()) {
      const order = compareValues(values[at], other.values[at], sign);
      if (order !== 0) return order;
    }
    return 0;
  });
  return sorted.map(({ record }) => record);
}

/** Whether the values of the record contain every word of the text. */
export function mentions(record: ApiRecord, text: string): boolean {
  const values = (_: string, it: unknown) => (isObject(it) ? Object.values(it) : it);
  const written = folded(JSON.stringify(record, values));
  return folded(text)
    .split(/\s+/)
    .every((word) => written.includes(JSON.stringify(word).slice(1, -1)));
}

/** Whether the rows of a page can be what the criteria and the text ask for, by parameter of the service. */
export const judgeOf = ({ conditions, sort }: Criteria, text = '') => ({
  filters: (rows: readonly ApiRecord[]) =>
    rows.every((row) => conditions.every((condition) => passes(row, condition, nothingKnown))),
  query: (rows: readonly ApiRecord[]) => rows.every((row) => mentions(row, text)),
  sort: (rows: readonly ApiRecord[]) => isSorted(rows, sort),
});

/** Whether the records that have a value of the first key are in that order. */
function isSorted(records: readonly ApiRecord[], [first]: readonly SortColumn[]): boolean {
  if (!first) return true;
  const values = records
    .map((record) => orderedValue(record, first.key, nothingKnown))
    .filter((value) => value !== undefined);
  return values.every(
    (value, at) => at === 0 || compareValues(values[at - 1], value, first.sign) <= 0,
  );
}

export const keyNames = (resource: Resource): Wording =>
  join(Object.keys(listColumns[resource].all).map(trusted), ', ');
