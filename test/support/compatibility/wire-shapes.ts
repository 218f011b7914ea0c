import type { Row } from '../hosts.ts';
import type { Reply, Rewrite, UpstreamRequest } from '../upstream/behaviour.ts';
import { searchRoutes } from '../upstream/paging.ts';
import { beside, bodies, type Changes, rewritten } from './changes.ts';
import {
  all,
  as,
  byId,
  firstTen,
  inRecords,
  inSearches,
  onRoutes,
  type SearchPage,
} from './rewrite.ts';
import type { Choices } from './service.ts';
import type { ListPath, Named } from './stored-data.ts';

/** How replies may differ in shape and transport: envelopes, counts, statuses, headers, ids. */

const plural = (name: string): string =>
  name === 'company' ? 'companies' : name === 'opportunity' ? 'opportunities' : `${name}s`;

/** A record that is found by its id, in another form. */
const found = (make: (body: unknown, request: UpstreamRequest) => unknown): (() => Rewrite) =>
  byId(({ body, status }, request) => (status === 200 ? { body: make(body, request) } : {}));

const notFound = (reply: Partial<Reply>): (() => Rewrite) =>
  byId(({ status }) => (status === 404 ? reply : {}));

const attributes = ({ id, ...rest }: Row): Row => ({ id, type: 'record', attributes: rest });

export const envelopes: Changes = {
  ...bodies({
    '{success, data: {results}}': ({ rows, total }) => ({
      success: true,
      data: { results: rows, total },
    }),
    'data.data': ({ rows, total }) => ({ data: { data: rows, total } }),
    'data.items': ({ rows, total }) => ({ data: { items: rows, total } }),
    'data.records': ({ rows, total }) => ({ data: { records: rows, totalCount: total } }),
    'results.items': ({ rows, total }) => ({ results: { items: rows, total } }),
    'results.data, total outside': ({ rows, total }) => ({ results: { data: rows }, total }),
    'by name': ({ rows, total, name }) => ({ [plural(name)]: rows, total }),
    'by name in data': ({ rows, total, name }) => ({ data: { [plural(name)]: rows, total } }),
    'by its singular': ({ rows, total, name }) => ({ [name]: rows, total }),
    HAL: ({ rows, total, name, size }) => ({
      _links: { self: { href: `/${name}` } },
      _embedded: { [plural(name)]: rows },
      page: { size, totalElements: total },
    }),
    'response.results': ({ rows, total }) => ({ response: { results: rows, total } }),
    'payload.results': ({ rows, total }) => ({ payload: { results: rows, total } }),
    records: ({ rows, total }) => ({ records: rows, total }),
    docs: ({ rows, total }) => ({ docs: rows, total }),
    rows: ({ rows, total }) => ({ rows, total }),
    list: ({ rows, total }) => ({ list: rows, total }),
    content: ({ rows, total }) => ({ content: rows, totalElements: total }),
    value: ({ rows, total }) => ({ '@odata.count': total, value: rows }),
    entities: ({ rows, total }) => ({ entities: rows, total }),
    'beside other lists': ({ rows, total }) => ({
      warnings: [],
      facets: [{ key: 'a' }],
      results: rows,
      total,
    }),
    'with empty errors': ({ rows, total }) => ({ errors: [], error: null, results: rows, total }),
    'a list in a list': ({ rows, total }) => [{ results: rows, total }],
    'results by id': ({ rows, total }) => ({
      results: Object.fromEntries(rows.map((row) => [row.id, row])),
      total,
    }),
    'edges and nodes': ({ rows, total }) => ({
      edges: rows.map((node) => ({ node, cursor: 'x' })),
      totalCount: total,
    }),
    'a search engine’s hits': ({ rows, total }) => ({
      hits: { total: { value: total, relation: 'eq' }, hits: rows.map((it) => ({ _source: it })) },
    }),
    'JSON:API': ({ rows, total }) => ({ data: rows.map(attributes), meta: { total } }),
    'null instead of no rows': ({ rows, total }) => ({
      results: rows.length === 0 ? null : rows,
      total,
    }),
  }),
  ...rewritten({
    'a record in data': found((data) => ({ data })),
    'a record in {success, data}': found((data) => ({ success: true, data })),
    'a record in result': found((result) => ({ result })),
    'a record by its name': found((body, { endpoint }) => ({
      [endpoint.split('/')[1] ?? '']: body,
    })),
    'a record in a list': found((body) => [body]),
    'a record in results': found((body) => ({ results: [body], total: 1 })),
    'null where there is no record': notFound({ status: 200, body: null }),
    'no content where there is no record': notFound({ status: 204, text: '' }),
    'not found in a 200': notFound({ status: 200, body: { error: 'Not found', statusCode: 404 } }),
  }),
};

const header = (make: (page: SearchPage) => Record<string, string>): Choices => ({
  rewrite: inSearches((page) => ({ body: page.rows, headers: make(page) })),
});

/** How a service may say that an answer is not whole. */
const partialMarks: Readonly<Record<string, Row>> = {
  partial: { partial: true },
  isPartial: { isPartial: true },
  timed_out: { timed_out: true },
  '_shards.failed': { _shards: { total: 2, successful: 1, failed: 1 } },
  truncated: { truncated: true },
  terminated_early: { terminated_early: true },
  timedOut: { timedOut: true },
  'meta.partial': { meta: { partial: true } },
  'complete: false': { complete: false },
  'hasMore: true': { hasMore: true },
  next: { next: '/public-api/next?cursor=abc' },
  '_links.next': { _links: { next: { href: '/public-api/next' } } },
  errors: { errors: [{ message: 'a shard failed' }] },
};

/** How a service that repeats rows may count them. */
const repetitions: Readonly<Record<string, (total: number) => Row>> = {
  counted: (total) => ({ total }),
  'counted twice': (total) => ({ total: total + Math.ceil(total / 10) }),
  'not counted': () => ({}),
};

export const counts: Changes = {
  ...bodies({
    'total doubled': beside(({ total }) => ({ total: total * 2 })),
    'total of one more': beside(({ total }) => ({ total: total + 1 })),
    'total of one less': beside(({ total }) => ({ total: Math.max(0, total - 1) })),
    'pagination.total': beside(({ total }) => ({ pagination: { total } })),
    'pagination.totalCount': beside(({ rows, total }) => ({
      pagination: { totalCount: total, count: rows.length },
    })),
    'meta.pagination.total': beside(({ rows, total }) => ({
      meta: { pagination: { total, count: rows.length } },
    })),
    'meta.count': beside(({ total }) => ({ meta: { count: total } })),
    'meta.totalCount': beside(({ total }) => ({ meta: { totalCount: total } })),
    'paging.total': beside(({ total }) => ({ paging: { total } })),
    'page.totalElements': beside(({ total }) => ({ page: { totalElements: total } })),
    totalElements: beside(({ total }) => ({ totalElements: total })),
    total_count: beside(({ total }) => ({ total_count: total })),
    totalRecords: beside(({ total }) => ({ totalRecords: total })),
    totalResults: beside(({ total }) => ({ totalResults: total })),
    'count of the page, total beside': beside(({ rows, total }) => ({
      count: rows.length,
      pagination: { total },
    })),
    'total with a unit': beside(({ total }) => ({ total: `${total} records` })),
    'total −1': beside(() => ({ total: -1 })),
    'total null': beside(() => ({ total: null })),
    'total of pages': beside(({ total, size }) => ({ totalPages: Math.ceil(total / size) })),
    'total is a float': beside(({ total }) => ({ total: total + 0.5 })),
    hasMore: beside(({ rows, total, from }) => ({ hasMore: from + rows.length < total })),
    'relation gte': beside(({ total }) => ({
      total: { value: Math.min(total, 100), relation: 'gte' },
    })),
    'relation gte, exact total': beside(({ total }) => ({
      total: { value: total, relation: 'gte' },
    })),
    'partial: true': ({ rows, total }) => ({ partial: true, results: rows, total }),
    'timed_out: true': ({ rows, total }) => ({ timed_out: true, results: rows, total }),
    '_shards.failed': ({ rows, total }) => ({
      _shards: { total: 5, successful: 4, failed: 1 },
      results: rows,
      total,
    }),
    'exact: false at 100': beside(({ total }) => ({
      total: Math.min(total, 100),
      totalIsExact: false,
    })),
    'filtered beside all': beside(({ total }) => ({ meta: { total: 5000, filtered: total } })),
    ...Object.fromEntries(
      Object.entries(repetitions).map(([name, count]) => [
        `each tenth row twice, ${name}`,
        ({ rows, total }: SearchPage) => ({
          results: rows.flatMap((row, at) => (at % 10 === 3 ? [row, row] : [row])),
          ...count(total),
        }),
      ]),
    ),
    ...Object.fromEntries(
      [50, 100, 250].map((end) => [
        `ends at ${end}, not counted`,
        ({ rows, from }: SearchPage) => rows.slice(0, Math.max(0, end - from)),
      ]),
    ),
    'ends at 100, counts the page': ({ rows, from }) => {
      const results = rows.slice(0, Math.max(0, 100 - from));
      return { results, total: results.length };
    },
    'null among the rows': ({ rows, total }) => ({
      results: rows.map((row, at) => (at % 9 === 4 ? null : row)),
      total,
    }),
  }),
  ...Object.fromEntries(
    Object.entries(partialMarks).map(([name, mark]) => [
      `${name}, a half`,
      {
        rewrite: inSearches(({ rows, total, from }) => {
          const results = firstTen({ rows, from });
          return { body: { results, total: Math.min(total, 10), ...mark } };
        }),
        // Its second page has no rows, and errors.
        mayFail: name === 'errors' ? ['second page'] : [],
      },
    ]),
  ),
  'X-Total-Count': header(({ total }) => ({ 'x-total-count': String(total) })),
  'X-Total': header(({ total }) => ({ 'x-total': String(total) })),
  'Content-Range': header(({ rows, total, from }) => ({
    'content-range': `items ${from}-${from + rows.length - 1}/${total}`,
  })),
  'Link: next': header(({ rows, total, from, name }) => {
    const end = from + rows.length;
    return end < total ? { link: `</public-api/${name}?from=${end}>; rel="next"` } : { link: '' };
  }),
  'total of the page, all in a header': {
    rewrite: inSearches(({ rows, total }) => ({
      body: { results: rows, total: rows.length },
      headers: { 'x-total-count': String(total) },
    })),
  },
  '206 for all, a half': {
    rewrite: inSearches(({ rows, total, from }) => ({
      status: 206,
      body: { results: firstTen({ rows, from }), total: Math.min(total, 10) },
    })),
  },
  'counts to 1,000': { total: { window: 1_000 }, products: 1_200, like: { products: 1_200 } },
  'counts to 1,000, gte': {
    products: 1_200,
    like: { products: 1_200 },
    rewrite: inSearches(({ rows, total }) => {
      const isMore = total > 1_000;
      const value = Math.min(total, 1_000);
      return { body: { results: rows, total: { value, relation: isMore ? 'gte' : 'eq' } } };
    }),
  },
  'exactly 1,000': { products: 1_000, like: { products: 1_000 } },
};

const broken: Readonly<Record<string, Partial<Reply>>> = {
  501: { status: 501, body: { message: 'Not implemented' } },
  500: { status: 500, body: { message: 'Internal server error' } },
  'a web page': { text: '<!doctype html><title>Sign in</title>' },
  '403 without text': { status: 403, text: '' },
  '403 in words': { status: 403, body: { message: 'You may not read this' } },
  404: { status: 404, body: { message: 'Cannot GET' } },
  204: { status: 204, text: '' },
  '200 with a message': { body: { message: 'This feature is not enabled' } },
};

/** The routes beside the one that a question is about. */
const sides: readonly ListPath[] = [
  '/contract/items',
  '/pricing-book',
  '/quote-discount-group',
  '/contact',
  '/category',
];

/** The questions that are about nothing else. */
const needing: { readonly [path in ListPath]?: readonly string[] } = {
  '/contact': ['list contacts', 'find'],
  '/pricing-book': ['pricing drift'],
};

const brokenSides = Object.fromEntries(
  sides.flatMap((route) =>
    Object.entries(broken).map(([name, reply]) => [
      `${route}: ${name}`,
      {
        rewrite: onRoutes([route], () => reply),
        mayFail: needing[route] ?? [],
      },
    ]),
  ),
);

const isBehind = ({ rows, from }: SearchPage): boolean => rows.length === 0 && from > 0;
const refused = (status: number, message: string): Partial<Reply> => ({
  status,
  body: { message },
});

/** Slashes at the end are the service's own form; each other request is redirected. */
const slashes =
  (status: number): (() => Rewrite) =>
  () =>
  (reply, { path }) =>
    path.endsWith('/') ? reply : { status, body: {}, headers: { location: `${path}/` } };

/** The first requests are answered with this. */
const first =
  (body: unknown, status = 200, headers: () => Record<string, string> = () => ({})) =>
  (): Rewrite => {
    let count = 0;
    return (reply) => {
      count += 1;
      return count > 2 ? reply : { status, body, headers: headers() };
    };
  };

/** A record that was not asked for, where there is none. */
const firstOfAll = (): Rewrite => {
  let known: unknown;
  return (reply, { endpoint }) => {
    const { results } = Object(reply.body) as { results?: Row[] };
    known = results?.[0] ?? known;
    const isNone = /^\/[a-z-]+\/(ext\/)?[^/]+$/.test(endpoint) && reply.status === 404;
    return isNone && known ? { status: 200, body: known } : reply;
  };
};

/** The first requests are refused for their number; `upstream/faults.ts` has the usual forms of `Retry-After`. */
const limited = (status: number, message: string, headers?: () => Record<string, string>) =>
  first({ message }, status, headers);

const seconds = (): number => Math.floor(Date.now() / 1000);

export const transport: Changes = {
  ...brokenSides,
  '/company: 500': {
    rewrite: onRoutes(['/company'], () => ({ status: 500, body: {} })),
    mayFail: ['pipeline of a company', 'company', 'find', 'price', 'price in a book'],
  },
  ...rewritten({
    '404 behind the end': inSearches((page) => (isBehind(page) ? refused(404, 'No page') : {})),
    '404 behind the end, no count': inSearches((page) =>
      isBehind(page) ? refused(404, 'No page') : { body: page.rows },
    ),
    '416 behind the end': inSearches((page) => (isBehind(page) ? refused(416, 'Range') : {})),
    '204 behind the end, no count': inSearches((page) =>
      isBehind(page) ? { status: 204, text: '' } : { body: page.rows },
    ),
    '404 for no match': inSearches(({ total }) => (total === 0 ? refused(404, 'None') : {})),
    '206 for a page': inSearches(() => ({ status: 206 })),
    '201 for a page': inSearches(() => ({ status: 201 })),
    'text/plain': inSearches(() => ({ headers: { 'content-type': 'text/plain' } })),
    'a byte order mark': inSearches(({ rows, total }) => ({
      text: `\uFEFF${JSON.stringify({ results: rows, total })}`,
    })),
    '301 to a slash': slashes(301),
    '302 to a slash': slashes(302),
    '308 to a slash': slashes(308),
    'a redirect to another host': () => () => ({
      status: 302,
      body: {},
      headers: { location: 'https://elsewhere.example/public-api/' },
    }),
    '429, Retry-After as a date': limited(429, 'Slow down', () => ({
      'retry-after': new Date(Date.now() + 1000).toUTCString(),
    })),
    '429, Retry-After as an epoch': limited(429, 'Slow down', () => ({
      'retry-after': String(seconds() + 1),
    })),
    '429, Retry-After as an epoch in ms': limited(429, 'Slow down', () => ({
      'retry-after': String(Date.now() + 1000),
    })),
    '429, Retry-After as ISO': limited(429, 'Slow down', () => ({
      'retry-after': new Date(Date.now() + 1000).toISOString(),
    })),
    '403 as a rate limit': limited(403, 'Rate limit exceeded', () => ({ 'retry-after': '1' })),
    '403 as too many requests': limited(403, 'Too many requests, try again later'),
    '503, once': limited(503, 'Busy'),
    '{} where there is no record': notFound({ status: 200, body: {} }),
    '[] where there is no record': notFound({ status: 200, body: [] }),
    'another record where there is none': firstOfAll,
    'success: false, first': first({ success: false, data: [] }),
    'ok: false, first': first({ ok: false, results: [], total: 0 }),
    'status: "error", first': first({ status: 'error', results: [] }),
    'code 500, first': first({ code: 500, data: null, message: 'Internal error' }),
    'errors, first': first({ data: null, errors: [{ message: 'deadlock' }] }),
    '429 in a 200, first': first({ statusCode: 429, message: 'Too many requests' }),
    '202 and no rows, first': first({ results: [], total: 0 }, 202),
    'a guard before the JSON': inSearches(({ rows, total }) => ({
      text: `)]}',\n${JSON.stringify({ results: rows, total })}`,
    })),
    'no record by id': byId(() => refused(404, 'Cannot GET this')),
    '405 by id': byId(() => refused(405, 'Method not allowed')),
    '501 by id': byId(() => refused(501, 'Not implemented')),
    'a web page by id': byId(() => ({ text: '<html></html>' })),
    'another record by id': found((body) => ({ ...(body as Row), id: 'another' })),
    'another record in each search': inSearches((page) => ({
      body: { results: page.rows.map(({ id: _, ...row }) => row), total: page.total },
    })),
  }),
};

export const searches: Changes = {
  'filters match any word': { filters: 'any word' },
  'filters match any word, no sort': { filters: 'any word', sort: 'ignored' },
  'filters match any word, no count': { filters: 'any word', total: 'absent' },
};

const idChange = (make: (id: string) => unknown): (() => Rewrite) => {
  const changes = [...searchRoutes].map((path) =>
    inRecords(path as ListPath, (row) => ({ ...row, id: make(String(row.id)) })),
  );
  return () => {
    const all = changes.map((it) => it());
    return (reply, request) => all.reduce((now, change) => change(now, request), reply);
  };
};

const upperIn = (route: ListPath): (() => Rewrite) =>
  as(route, 'company', ({ id, name }: Named) => ({ id: String(id).toUpperCase(), name }));

/** Texts, from which no digit is lost. */
const longIds: Choices = { ids: '19 digits in texts' };

export const ids: Changes = {
  'ids of 19 digits': { ids: '19 digits', like: longIds },
  'ids of 19 digits, flat': {
    ids: '19 digits',
    references: 'flat ids and names',
    like: longIds,
  },
  'ids of integers, flat': {
    ids: 'integers',
    references: 'flat ids and names',
    like: { ids: 'integers' },
  },
  'company ids in upper case': {
    rewrite: inRecords('/company', (row) => ({ ...row, id: String(row.id).toUpperCase() })),
    like: {},
  },
  'company ids of references in upper case': {
    rewrite: all(upperIn('/opportunity'), upperIn('/quote')),
  },
  'ids as objects': { rewrite: idChange((id) => ({ $oid: id })) },
};
