import type { Row } from '../hosts.ts';
import type { Active } from './behaviour.ts';

/** What a list does with its parameters `filters`, `query` and `sort`. */

type ValueAt = (row: Row, path: string) => unknown;

/** Looks into nested records. */
const nestedAt: ValueAt = (row, path) =>
  path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null
          ? Object.getOwnPropertyDescriptor(value, key)?.value
          : undefined,
      row,
    );

/** Where references are not as documented, `companyId` is `company.id` under another name. */
function valueAt(row: Row, path: string): unknown {
  const [, name] = /^(\w+)Id$/.exec(path) ?? [];
  return nestedAt(row, path) ?? (name === undefined ? undefined : nestedAt(row, `${name}.id`));
}

/** In a service with flat rows a nested path is not a field. */
const flatAt: ValueAt = (row, path) => (path.includes('.') ? undefined : valueAt(row, path));

function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [String(a ?? ''), String(b ?? '')];
  return left < right ? -1 : Number(left > right);
}

/** `-updatedAt,+name`; equal records keep their order. */
function sorted(rows: readonly Row[], sort: string, at: ValueAt): Row[] {
  const keys = sort.split(',').map((key) => ({
    path: key.replace(/^[-+ ]/, ''),
    sign: key.startsWith('-') ? -1 : 1,
  }));
  return rows.toSorted((a, b) =>
    keys.reduce((order, { path, sign }) => order || sign * compare(at(a, path), at(b, path)), 0),
  );
}

/** `type:customer|prospect,company.id:…`: a comma is and, a pipe is or. */
const passes = (row: Row, filters: string, at: ValueAt): boolean =>
  filters.split(',').every((filter) => {
    const colon = filter.indexOf(':');
    const values = filter.slice(colon + 1).split('|');
    return values.includes(String(at(row, filter.slice(0, colon)) ?? ''));
  });

const mentions = (row: Row, text: string): boolean =>
  JSON.stringify(row).toLowerCase().includes(text.toLowerCase());

/** As a search engine does that analyses the values of a filter. */
const hasAnyWord = (row: Row, filters: string): boolean =>
  filters.split(/[,:|\s]+/).some((word, at) => at > 0 && mentions(row, word));

export type SearchParameter = 'filters' | 'query' | 'sort';

/** The records that match a request, as far as the service honours its parameters. @param known those of the route */
export function search(
  all: readonly Row[],
  query: URLSearchParams,
  known: readonly SearchParameter[],
  on: Active,
): readonly Row[] {
  const asked = (name: SearchParameter) =>
    known.includes(name) && on[name] !== 'ignored' ? query.get(name) : null;
  const [filters, text, sort] = [asked('filters'), asked('query'), asked('sort')];
  const fieldAt = on.references ? valueAt : nestedAt;
  const at = on.flatFilterKeys ? flatAt : fieldAt;
  let rows = all;
  if (text) rows = rows.filter((row) => mentions(row, text));
  if (filters) {
    const isAnyWord = on.filters === 'any word';
    rows = rows.filter((row) => (isAnyWord ? hasAnyWord(row, filters) : passes(row, filters, at)));
  }
  return sort ? sorted(rows, sort, fieldAt) : rows;
}
