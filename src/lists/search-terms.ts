/** The syntax of `filters` and `sort`, and how the values that they are about are compared. */

import { forEachStep, type Steps, sortSteps } from '../figures/steps.ts';
import { valueAt } from './concise.ts';

/** The parts of `key:a|b,key2:c`. A part without a colon belongs to the value before it: names contain commas. */
export function filterParts(filters: string): string[] {
  const parts: string[] = [];
  for (const part of filters.split(',')) {
    const isValue = part.indexOf(':') < 1 && parts.length > 0;
    if (isValue) parts.push(`${parts.pop()},${part}`);
    else parts.push(part);
  }
  return parts.filter((part) => part.trim() !== '');
}

/** The key and the values of `key:a|b`; `undefined` without a key. */
export function readPart(part: string): { name: string; values: string[] } | undefined {
  const colon = part.indexOf(':');
  if (colon < 1) return undefined;
  const values = part.slice(colon + 1).split('|');
  return { name: part.slice(0, colon).trim(), values: values.map((value) => value.trim()) };
}

interface SortTerm {
  name: string;
  sign: 1 | -1;
}

/** The keys of `-field,+field`. */
export const readSort = (sort: string): SortTerm[] =>
  sort
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => ({
      name: part.replace(/^[-+]/, '').trim(),
      sign: part.startsWith('-') ? -1 : 1,
    }));

/** `companyId` for `company.id`, as services without nested records name it. */
export const flatPath = (path: string): string => path.replace(/\.id$/, 'Id');

/** The value under a path with dots; `company.id` and `companyId` are two names of the same field. */
export function fieldAt(record: object, path: string): unknown {
  const nested = path.replace(/(\w)Id$/, '$1.id');
  return valueAt(record, path) ?? valueAt(record, nested === path ? flatPath(path) : nested);
}

/** The values of a field, which may be a list. A blank text is no value. */
export const valuesOf = (value: unknown): unknown[] =>
  (Array.isArray(value) ? value.flat() : [value]).filter(isValue);

const isValue = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** Without a list of the values: it is called for every record that is sorted. */
function firstValue(value: unknown): unknown {
  if (Array.isArray(value)) return valuesOf(value)[0];
  return isValue(value) ? value : undefined;
}

/** A value as it is compared: without regard to letter case. */
export const folded = (value: unknown): string => String(value).trim().toLowerCase();

/** `undefined` comes last in either direction. */
export const compareValues = (one: unknown, other: unknown, sign: 1 | -1): number =>
  compareComparable(comparable(one), comparable(other), sign);

/** A value that need not be folded for each comparison. */
type Comparable = number | string | undefined;

const comparable = (value: unknown): Comparable =>
  value === undefined || typeof value === 'number' ? value : folded(value);

function compareComparable(one: Comparable, other: Comparable, sign: 1 | -1): number {
  if (one === undefined || other === undefined)
    return Number(one === undefined) - Number(other === undefined);
  if (typeof one === 'number' && typeof other === 'number') return sign * (one - other);
  const [a, b] = [String(one), String(other)];
  return a === b ? 0 : a < b ? -sign : sign;
}

interface SortKey<R> {
  read(record: R): unknown;
  sign: 1 | -1;
}

const valuesInStep = 50;

/**
 * Sorts by the first value of each key. Equal records keep their order. Records with the same value are put together
 * first: an outcome or a stage has few values, which are quickly sorted.
 */
export function* sortBy<R>(
  records: readonly R[],
  [key, ...others]: readonly SortKey<R>[],
): Steps<readonly R[]> {
  if (!key || records.length < 2) return records;
  const groups = new Map<Comparable, R[]>();
  yield* forEachStep(records, (record) => {
    const value = comparable(firstValue(key.read(record)));
    const group = groups.get(value);
    if (group) group.push(record);
    else groups.set(value, [record]);
  });
  const values = yield* sortSteps([...groups.keys()], (a, b) => compareComparable(a, b, key.sign));
  const result: R[] = [];
  for (const [at, value] of values.entries()) {
    for (const record of yield* sortBy(groups.get(value) ?? [], others)) result.push(record);
    if (at % valuesInStep === 0) yield;
  }
  return result;
}
