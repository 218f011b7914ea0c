/** How the values that filters and sorts are about are compared. */

import { forEachStep, type Steps, sortSteps } from '../figures/steps.ts';
import { valueAt } from './concise.ts';

/** The value under a path with dots; `company.id` and `companyId` are two names of the same field. */
export function fieldAt(record: object, path: string): unknown {
  const nested = path.replace(/(\w)Id$/, '$1.id');
  return (
    valueAt(record, path) ?? valueAt(record, nested === path ? path.replace(/\.id$/, 'Id') : nested)
  );
}

/** The values of a field, which may be a list. A blank text is no value. */
export const valuesOf = (value: unknown): unknown[] =>
  (Array.isArray(value) ? value.flat() : [value]).filter(isValue);

const isValue = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** Without a list of the values: it is called for every record that is sorted. */
export function firstValue(value: unknown): unknown {
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
