/** How the values that filters and sorts are about are compared. */

import { flatMapSteps, type Steps, sortSteps } from '../figures/steps.ts';
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

/** A value that need not be folded for each comparison. */
type Comparable = number | string | undefined;

const comparable = (value: unknown): Comparable =>
  value === undefined || typeof value === 'number' ? value : folded(value);

/** `undefined` comes last in either direction. */
export function compareValues(one: unknown, other: unknown, sign: 1 | -1): number {
  const [a, b] = [comparable(one), comparable(other)];
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
  const [first, second] = [String(a), String(b)];
  return first === second ? 0 : first < second ? -sign : sign;
}

interface SortKey<R> {
  read(record: R): unknown;
  sign: 1 | -1;
}

/** Sorts by the first value of each key. Equal records keep their order. */
export function* sortBy<R>(
  records: readonly R[],
  keys: readonly SortKey<R>[],
): Steps<readonly R[]> {
  if (keys.length === 0) return records;
  const rows = yield* flatMapSteps(records, (record) => [
    { record, values: keys.map(({ read }) => comparable(firstValue(read(record)))) },
  ]);
  const sorted = yield* sortSteps(rows, ({ values }, other) => {
    for (const [at, { sign }] of keys.entries()) {
      const order = compareValues(values[at], other.values[at], sign);
      if (order !== 0) return order;
    }
    return 0;
  });
  return sorted.map(({ record }) => record);
}
