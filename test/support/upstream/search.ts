import type { Row } from '../hosts.ts';

/** What a list does with its parameters `filters`, `query` and `sort`. */

type ValueAt = (row: Row, path: string) => unknown;

/** Looks into nested records. */
export const valueAt: ValueAt = (row, path) =>
  path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null
          ? Object.getOwnPropertyDescriptor(value, key)?.value
          : undefined,
      row,
    );

function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [String(a ?? ''), String(b ?? '')];
  return left < right ? -1 : Number(left > right);
}

/** `-updatedAt,+name`; equal records keep their order. */
export function sorted<T extends Row>(rows: readonly T[], sort: string, at = valueAt): T[] {
  const keys = sort.split(',').map((key) => ({
    path: key.replace(/^[-+ ]/, ''),
    sign: key.startsWith('-') ? -1 : 1,
  }));
  return rows.toSorted((a, b) =>
    keys.reduce((order, { path, sign }) => order || sign * compare(at(a, path), at(b, path)), 0),
  );
}

/** `type:customer|prospect,company.id:…`: a comma is and, a pipe is or. */
export const passes = (row: Row, filters: string, at = valueAt): boolean =>
  filters.split(',').every((filter) => {
    const colon = filter.indexOf(':');
    const values = filter.slice(colon + 1).split('|');
    return values.includes(String(at(row, filter.slice(0, colon)) ?? ''));
  });

export const mentions = (row: Row, text: string): boolean =>
  JSON.stringify(row).toLowerCase().includes(text.toLowerCase());
