import type { Row } from '../hosts.ts';
import type { Active, Behaviour, EnvelopeName, Total, UpstreamRequest } from './behaviour.ts';
import { hash, type Random } from './random.ts';
import type { ResourcePath } from './records.ts';
import { type SearchParameter, search } from './search.ts';
import { sentRecord } from './view.ts';

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

const isSearch = (path: ResourcePath): boolean => searchRoutes.has(path);

const searchParameters = ['filters', 'query', 'sort'] as const;

function parametersOf(path: ResourcePath): readonly SearchParameter[] {
  if (isSearch(path)) return searchParameters;
  return path === '/contract/items' ? ['query'] : [];
}

/** A query that is refused with this message. */
export class RejectedQuery extends Error {
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

const takesSize = (path: ResourcePath, { sizeOn }: Active): boolean =>
  sizeOn === undefined || (sizeOn === 'search routes' && isSearch(path));

const takesOffset = (path: ResourcePath, { sizeOn }: Active): boolean =>
  sizeOn !== 'search routes' || isSearch(path);

function refuseParameters(path: ResourcePath, query: URLSearchParams, on: Active): void {
  const refused = [
    takesSize(path, on) ? [] : ['size'],
    takesOffset(path, on) ? [] : ['from', 'offset', 'skip', 'page'],
    searchParameters.filter((name) => on[name] === 'refused'),
    on.offset?.refusesFrom ? ['from'] : [],
  ].flat();
  const found = refused.find((name) => query.has(name));
  if (found !== undefined) throw new RejectedQuery(`property ${found} should not exist`);
}

function wholeNumber(query: URLSearchParams, name: string, least: number): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const number = /^\d+$/.test(text) ? Number(text) : -1;
  if (number < least) throw new RejectedQuery(`${name} must not be less than ${least}`);
  return number;
}

interface Slice {
  start: number;
  size: number;
}

function sizeOf(query: URLSearchParams, { fixedSize, maxSize }: Active): number {
  const asked = wholeNumber(query, 'size', 1) ?? defaultSize;
  if (fixedSize !== undefined) return fixedSize;
  if (typeof maxSize !== 'object') return Math.min(asked, maxSize ?? asked);
  const { rows, over } = maxSize;
  if (asked <= rows) return asked;
  throw new RejectedQuery(
    over === 400 ? `size must not be greater than ${rows}` : 'Internal server error',
    over,
  );
}

function startOf(query: URLSearchParams, on: Active, size: number): number {
  const { name = 'from', counts = 'records' } = on.offset ?? {};
  const asked = wholeNumber(query, name, 0);
  if (on.ignoreFrom || asked === undefined) return 0;
  const place = counts.endsWith('from 1') ? Math.max(0, asked - 1) : asked;
  return counts.startsWith('pages') ? place * size : place;
}

function isWhole(path: ResourcePath, on: Active): boolean {
  if (isSearch(path)) return on.everything === true;
  return on.everything !== undefined || !takesOffset(path, on);
}

const windowOf = (path: ResourcePath, { total }: Active): number =>
  typeof total === 'object' && 'window' in total && isSearch(path)
    ? total.window
    : Number.POSITIVE_INFINITY;

function sliceOf(path: ResourcePath, query: URLSearchParams, length: number, on: Active): Slice {
  if (isWhole(path, on)) return { start: 0, size: Number.MAX_SAFE_INTEGER };
  const size = sizeOf(query, on);
  const start = startOf(query, on, size);
  const window = windowOf(path, on);
  if (start + size > window)
    throw new RejectedQuery(`from + size must be less than or equal to ${window}`);
  if (start < length || start === 0) return { start, size };
  if (on.beyondEnd === 'refused') throw new RejectedQuery('from is beyond the last record');
  if (on.beyondEnd !== 'last page') return { start, size };
  return { start: Math.max(0, Math.ceil(length / size) - 1) * size, size };
}

function shortened({ start, size }: Slice, { shortReads }: Active, random: Random): number {
  switch (shortReads) {
    case 'half':
      return Math.ceil(size / 2);
    case 'random':
      return 1 + random.below(size);
    case 'every third page':
      return size > 3 && Math.floor(start / size) % 3 === 1 ? size - 2 : size;
    default:
      return size;
  }
}

const isHidden = (row: Row, oneIn: number): boolean =>
  hash(String(row.id ?? JSON.stringify(row))) % oneIn === 0;

/** The records that a client can read under this behaviour. */
export function visible(rows: readonly Row[], { hidden }: Behaviour): Row[] {
  if (hidden && !('oneIn' in hidden)) throw new TypeError('hidden is set for some requests only');
  return rows.filter((row) => hidden === undefined || !isHidden(row, hidden.oneIn));
}

/** A list that is answered: how many records match and are in the page, and the number of the request. */
interface Counted {
  all: number;
  shown: number;
  n: number;
}

function totalField(total: Total | undefined, { all, shown, n }: Counted): Row {
  switch (total) {
    case undefined:
      return { total: all };
    case 'absent':
      return {};
    case 'text':
      return { total: String(all) };
    case 'meta.total':
      return { meta: { total: all } };
    case 'totalCount':
    case 'count':
      return { [total]: all };
    case 'total.value':
      return { total: { value: all, relation: 'eq' } };
    case 'rows of the page':
      return { total: shown };
  }
  if ('is' in total) return { total: total.is };
  if ('window' in total) return { total: Math.min(all, total.window) };
  const change = 'off' in total ? total.off : ([0, total.moves, -total.moves][n % 3] ?? 0);
  return { total: Math.max(0, all + change) };
}

function wrapped(path: ResourcePath, rows: readonly Row[], extra: Row, on: Active): unknown {
  const documented: EnvelopeName = isSearch(path) ? 'results' : 'array';
  const envelope = (isSearch(path) && on.searchEnvelope) || (on.envelope ?? documented);
  if (envelope === 'array') return rows;
  return envelope === 'null' ? { results: null, ...extra } : { [envelope]: rows, ...extra };
}

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

function page(
  path: ResourcePath,
  all: readonly Row[],
  { query, n }: UpstreamRequest,
  on: Active,
  random: Random,
): unknown {
  const visibleOf = (rows: readonly Row[]) =>
    rows.filter((row) => !on.hidden || !isHidden(row, on.hidden.oneIn));
  const sent = (rows: readonly Row[]) => rows.map((row) => sentRecord(path, row, 'row', on));
  refuseParameters(path, query, on);
  if (path === '/category/tree') return wrapped(path, sent(visibleOf(all)), {}, on);
  const ordered = on.unstableOrder ? random.shuffled(all) : all;
  const found = search(ordered, query, parametersOf(path), on);
  const slice = sliceOf(path, query, found.length, on);
  const end = slice.start + shortened(slice, on, random);
  const rows = visibleOf(found.slice(slice.start, end));
  const counted = on.hidden?.counted === false ? visibleOf(found) : found;
  const total = totalField(on.total, { all: counted.length, shown: rows.length, n });
  const extra = path === '/product' ? facets(counted) : {};
  return wrapped(path, sent(rows), { ...total, ...extra }, on);
}

/** The answer of a list route: a page in its envelope, the tree as a whole, or what refuses the query. */
export function list(...parts: Parameters<typeof page>): unknown {
  try {
    return page(...parts);
  } catch (error) {
    if (error instanceof RejectedQuery) return error;
    throw error;
  }
}
