import type { Row } from '../hosts.ts';
import type { Reply, Rewrite, UpstreamRequest } from '../upstream/behaviour.ts';
import { searchRoutes } from '../upstream/paging.ts';
import { isRow } from '../upstream/records.ts';
import type { ListPath } from './stored-data.ts';

const rowsIn = (body: unknown): Row[] | undefined => {
  const rows = isRow(body) ? body.results : body;
  return Array.isArray(rows) ? rows : undefined;
};

const isSearch = ({ endpoint, method }: UpstreamRequest): boolean =>
  method === 'GET' && searchRoutes.has(endpoint);

/** Changes every record of a route, in lists and by id. */
export const inRecords =
  (route: ListPath | 'item', change: (row: Row) => Row): (() => Rewrite) =>
  () =>
  (reply, { endpoint }) => {
    const isItem = route === 'item';
    const owner = isItem ? '/quote' : route;
    if (reply.status !== 200 || (endpoint !== owner && !endpoint.startsWith(`${owner}/`)))
      return reply;
    const changed = (row: Row): Row => {
      if (!isItem) return change(row);
      return Array.isArray(row.items) ? { ...row, items: row.items.map(change) } : row;
    };
    const rows = rowsIn(reply.body)?.map(changed);
    if (!rows) return { ...reply, body: changed(reply.body as Row) };
    return { ...reply, body: isRow(reply.body) ? { ...reply.body, results: rows } : rows };
  };

/** Replaces one field of every record of a route; what is undefined is left out. */
export const inField = <V = unknown>(
  route: ListPath | 'item',
  field: string,
  make: (value: V, row: Row) => Row,
): (() => Rewrite) =>
  inRecords(route, (row) => {
    const { [field]: value, ...rest } = row;
    return value === undefined ? row : { ...rest, ...make(value as V, row) };
  });

/** The same field with another value. */
export const as = <V = unknown>(
  route: ListPath | 'item',
  field: string,
  make: (value: V, row: Row) => unknown,
): (() => Rewrite) => inField<V>(route, field, (value, row) => ({ [field]: make(value, row) }));

export const renamed = (route: ListPath | 'item', field: string, name: string): (() => Rewrite) =>
  inField(route, field, (value) => ({ [name]: value }));

export const renamedAll = (name: (field: string) => string) => (row: Row) =>
  Object.fromEntries(Object.entries(row).map(([field, value]) => [name(field), value]));

/** Says by other fields than `deletedAt` whether a record is deleted. */
export const states = (
  route: ListPath,
  make: (isGone: boolean, row: Row) => Row,
): (() => Rewrite) =>
  inRecords(route, ({ deletedAt, ...row }) => ({ ...row, ...make(deletedAt !== undefined, row) }));

/** A page of a search, before its envelope. */
export interface SearchPage {
  rows: Row[];
  total: number;
  /** `opportunity`. */
  name: string;
  from: number;
  size: number;
}

/** The rows of a service that never returns more than the first ten. */
export const firstTen = ({ rows, from }: Pick<SearchPage, 'rows' | 'from'>): Row[] =>
  from === 0 ? rows.slice(0, 10) : [];

/** Makes the reply of every search anew. */
export const inSearches =
  (make: (page: SearchPage) => Partial<Reply>): (() => Rewrite) =>
  () =>
  (reply, request) => {
    const rows = rowsIn(reply.body);
    if (!rows || reply.status !== 200 || !isSearch(request)) return reply;
    const { total } = reply.body as { total: number };
    const number = (name: string, other: number) => Number(request.query.get(name) ?? other);
    const page = { rows, total, name: request.endpoint.slice(1), from: number('from', 0) };
    return { ...reply, ...make({ ...page, size: number('size', 20) }) };
  };

/** Replaces every reply of these routes, in lists and by id. */
export const onRoutes =
  (routes: readonly ListPath[], make: (reply: Reply, request: UpstreamRequest) => Partial<Reply>) =>
  (): Rewrite =>
  (reply, request) =>
    routes.some((route) => request.endpoint === route || request.endpoint.startsWith(`${route}/`))
      ? { ...reply, ...make(reply, request) }
      : reply;

/** Replaces replies by one record; 404s stay. */
export const byId =
  (make: (reply: Reply, request: UpstreamRequest) => Partial<Reply>) =>
  (): Rewrite =>
  (reply, request) =>
    /^\/[a-z-]+\/(ext\/)?[^/]+$/.test(request.endpoint) &&
    !['/category/tree', '/contract/items'].includes(request.endpoint)
      ? { ...reply, ...make(reply, request) }
      : reply;

const both =
  (one: () => Rewrite, other: () => Rewrite): (() => Rewrite) =>
  () => {
    const [first, second] = [one(), other()];
    return (reply, request) => second(first(reply, request), request);
  };

/** One after the other. */
export const all = (...changes: (() => Rewrite)[]): (() => Rewrite) => changes.reduce(both);
