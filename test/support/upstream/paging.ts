import type { Row } from '../hosts.ts';
import type { Active, Behaviour, EnvelopeName, Total, UpstreamRequest } from './behaviour.ts';
import { hash, type Random } from './random.ts';
import type { ResourcePath } from './records.ts';
import { mentions, passes, sorted } from './search.ts';

/** Undocumented; small, so that a client that sends no size soon notices. */
const defaultSize = 20;

/** The routes that are documented as searches. */
export const searchRoutes: ReadonlySet<string> = new Set<ResourcePath>([
  '/company',
  '/contact',
  '/opportunity',
  '/product',
  '/quote',
]);

/** A query that is refused with 400 and these messages. */
export class RejectedQuery {
  readonly messages: string[];

  constructor(...messages: string[]) {
    this.messages = messages;
  }
}

function search(all: readonly Row[], query: URLSearchParams, on: Active): readonly Row[] {
  const [text, filters, sort] = ['query', 'filters', 'sort'].map((name) => query.get(name));
  let rows = all;
  if (text) rows = rows.filter((row) => mentions(row, text));
  if (filters) rows = rows.filter((row) => passes(row, filters));
  return sort && !on.ignoreSort ? sorted(rows, sort) : rows;
}

function wholeNumber(
  query: URLSearchParams,
  name: string,
  least: number,
): number | undefined | RejectedQuery {
  const text = query.get(name);
  if (text === null) return undefined;
  const number = /^\d+$/.test(text) ? Number(text) : -1;
  return number >= least ? number : new RejectedQuery(`${name} must not be less than ${least}`);
}

interface Slice {
  start: number;
  size: number;
}

function startOf(query: URLSearchParams, on: Active, size: number): number | RejectedQuery {
  const { name = 'from', unit = 'record', base = 0 } = on.offset ?? {};
  const asked = wholeNumber(query, name, 0);
  if (asked instanceof RejectedQuery) return asked;
  if (on.ignoreFrom || asked === undefined) return 0;
  return Math.max(0, asked - base) * (unit === 'page' ? size : 1);
}

function sliceOf(query: URLSearchParams, on: Active): Slice | RejectedQuery {
  if (on.everything) return { start: 0, size: Number.MAX_SAFE_INTEGER };
  const asked = wholeNumber(query, 'size', 1);
  if (asked instanceof RejectedQuery) return asked;
  const wanted = asked ?? defaultSize;
  const size = on.fixedSize ?? Math.min(wanted, on.maxSize ?? wanted);
  const start = startOf(query, on, size);
  return start instanceof RejectedQuery ? start : { start, size };
}

function within({ start, size }: Slice, length: number, on: Active): Slice | RejectedQuery {
  if (start < length || start === 0) return { start, size };
  if (on.beyondEnd === 'refused') return new RejectedQuery('from is beyond the last record');
  if (on.beyondEnd !== 'last page') return { start, size };
  return { start: Math.max(0, Math.ceil(length / size) - 1) * size, size };
}

const shortened = (size: number, on: Active, random: Random): number => {
  if (on.shortReads === 'half') return Math.ceil(size / 2);
  return on.shortReads === 'random' ? 1 + random.below(size) : size;
};

const isHidden = (row: Row, oneIn: number): boolean =>
  hash(String(row.id ?? JSON.stringify(row))) % oneIn === 0;

/** The records that a client can read under this behaviour. */
export function visible(rows: readonly Row[], { hidden }: Behaviour): Row[] {
  if (hidden && !('oneIn' in hidden)) throw new TypeError('hidden is set for some requests only');
  return rows.filter((row) => hidden === undefined || !isHidden(row, hidden.oneIn));
}

function totalField(total: Total | undefined, count: number, n: number): Row {
  if (total === 'absent') return {};
  if (total === 'string') return { total: String(count) };
  if (total === undefined) return { total: count };
  if ('is' in total) return { total: total.is };
  const change = 'off' in total ? total.off : ([0, total.moves, -total.moves][n % 3] ?? 0);
  return { total: Math.max(0, count + change) };
}

const envelopes: Record<EnvelopeName, (rows: Row[], total: Row) => unknown> = {
  results: (results, total) => ({ results, ...total }),
  data: (data, total) => ({ data, ...total }),
  items: (items, total) => ({ items, ...total }),
  array: (rows) => rows,
  null: (_, total) => ({ results: null, ...total }),
};

/** Facets: counts of the products found. */
function facets(rows: readonly Row[]): Row {
  const types = [...new Set(rows.map((row) => String(row.productType)))];
  const amount = (type: string) => rows.filter((row) => row.productType === type).length;
  return {
    filters: [
      { key: 'productType', values: types.map((value) => ({ value, amount: amount(value) })) },
    ],
  };
}

/** The answer of a list route: a page in its envelope, or the tree as a whole. */
export function list(
  path: ResourcePath,
  all: readonly Row[],
  { query, n }: UpstreamRequest,
  on: Active,
  random: Random,
): unknown {
  const searches = searchRoutes.has(path);
  const wrap = envelopes[on.envelope ?? (searches ? 'results' : 'array')];
  const shown = (rows: readonly Row[]) =>
    rows.filter((row) => !on.hidden || !isHidden(row, on.hidden.oneIn));
  if (path === '/category/tree') return wrap(shown(all), {});
  const ordered = on.unstableOrder ? random.shuffled(all) : all;
  const found = searches ? search(ordered, query, on) : ordered;
  const asked = sliceOf(query, on);
  const slice = asked instanceof RejectedQuery ? asked : within(asked, found.length, on);
  if (slice instanceof RejectedQuery) return slice;
  const end = slice.start + shortened(slice.size, on, random);
  const counted = on.hidden?.counted === false ? shown(found) : found;
  const extra = path === '/product' ? facets(counted) : {};
  const total = { ...totalField(on.total, counted.length, n), ...extra };
  return wrap(shown(found.slice(slice.start, end)), total);
}
