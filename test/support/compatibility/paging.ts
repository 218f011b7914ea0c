import type { Row } from '../hosts.ts';
import { searchRoutes } from '../upstream/paging.ts';
import type { Reply } from './reply.ts';
import type { ListPath } from './stored-data.ts';
import type { Switches } from './switches.ts';

export const refusal = (status: number, ...message: string[]): Reply => ({
  status,
  body: { message, error: status === 400 ? 'Bad Request' : 'Error', statusCode: status },
});

export const isReply = (value: unknown): value is Reply =>
  typeof value === 'object' && value !== null && 'status' in value && 'body' in value;

const defaultSize = 20;
/** The result windows of search engines: records beyond are neither counted nor returned. */
const windows: Readonly<Partial<Record<Switches['counts'], number>>> = {
  'at most 1,000': 1_000,
  'at most 10,000': 10_000,
};

const isSearch = (path: ListPath): boolean => searchRoutes.has(path);

/** The parameter that the service refuses by name. */
export function refusedParameter(
  path: ListPath,
  query: URLSearchParams,
  on: Switches,
): Reply | undefined {
  const { name, otherwise } = on.offset;
  const unknown = [
    takesSize(path, on) ? [] : ['size'],
    takesOffset(path, on) ? [] : ['from', 'offset', 'skip', 'page'],
    (['filters', 'query', 'sort'] as const).filter((it) => on[it] === 'refused'),
    name !== 'from' && otherwise === 'refused' ? ['from'] : [],
  ].flat();
  const [found] = unknown.filter((it) => query.has(it));
  return found === undefined ? undefined : refusal(400, `property ${found} should not exist`);
}

const takesSize = (path: ListPath, on: Switches): boolean =>
  on.sizeOn === 'every route' || (on.sizeOn === 'search routes' && isSearch(path));

const takesOffset = (path: ListPath, on: Switches): boolean =>
  on.sizeOn !== 'search routes' || isSearch(path);

interface Slice {
  start: number;
  size: number;
}

function sizeOf(path: ListPath, query: URLSearchParams, on: Switches): number | Reply {
  const unpaged = !isSearch(path) && (!on.openPages || !takesOffset(path, on));
  if (unpaged) return Number.MAX_SAFE_INTEGER;
  const asked = Number(query.get('size') ?? defaultSize);
  const { rows, over } = on.maxSize;
  if (asked <= rows) return asked;
  if (over === 'clamped') return rows;
  return refusal(over, over === 400 ? `size must not be greater than ${rows}` : 'Internal error');
}

function startOf(query: URLSearchParams, size: number, on: Switches): number {
  if (on.fromHandling === 'ignored') return 0;
  const { name, counts } = on.offset;
  const first = counts.endsWith('from 1') ? 1 : 0;
  const place = Math.max(0, Number(query.get(name) ?? first) - first);
  return counts.startsWith('pages') ? place * size : place;
}

function sliceOf(path: ListPath, query: URLSearchParams, on: Switches): Slice | Reply {
  const size = sizeOf(path, query, on);
  if (isReply(size)) return size;
  const start = startOf(query, size, on);
  const window = windows[on.counts];
  if (window !== undefined && start + size > window && isSearch(path)) {
    return refusal(400, `from + size must be less than or equal to ${window}`);
  }
  return { start, size };
}

const isShort = ({ start, size }: Slice): boolean => size > 3 && Math.floor(start / size) % 3 === 1;

/** The rows of one page, and the number of all. */
export function pageOf<T>(
  path: ListPath,
  rows: readonly T[],
  query: URLSearchParams,
  on: Switches,
): T[] | Reply {
  const slice = sliceOf(path, query, on);
  if (isReply(slice)) return slice;
  const { start, size } = slice;
  const less = on.shortPages && isShort(slice) ? 2 : 0;
  return rows.slice(start, start + size - less);
}

function countIn(all: number, shown: number, counts: Switches['counts']): Row {
  switch (counts) {
    case 'total':
      return { total: all };
    case 'total as text':
      return { total: String(all) };
    case 'meta.total':
      return { meta: { total: all } };
    case 'totalCount':
      return { totalCount: all };
    case 'count':
      return { count: all };
    case 'total.value':
      return { total: { value: all, relation: 'eq' } };
    case 'none':
      return {};
    case 'rows of the page':
      return { total: shown };
    case 'at most 1,000':
    case 'at most 10,000':
      return { total: Math.min(all, windows[counts] ?? all) };
  }
}

/** The rows of a page in the envelope of the route, with the count. */
export function wrapped(path: ListPath, rows: readonly Row[], all: number, on: Switches): unknown {
  const form = isSearch(path) ? on.envelope : on.openEnvelope;
  return form === 'array' ? rows : { [form]: rows, ...countIn(all, rows.length, on.counts) };
}
