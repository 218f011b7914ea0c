import { STATUS_CODES } from 'node:http';
import type { Row } from '../hosts.ts';
import type { Active, Redirect, Refusal, Upstream, UpstreamRequest } from './behaviour.ts';
import { encoded, jsonBody, shaped } from './bodies.ts';
import type { RateStatus, RollingBudget } from './budget.ts';
import { list, RejectedQuery } from './paging.ts';
import type { Random } from './random.ts';
import { type ResourcePath, resourcePaths } from './records.ts';
import { complaints, isRow, parsed, upsert } from './writes.ts';

const prefix = '/public-api';

/** Records of these routes can be read by id. */
export const byId: ReadonlySet<string> = new Set<ResourcePath>([
  '/company',
  '/contact',
  '/opportunity',
  '/product',
  '/quote',
  '/quote-template',
  '/quote-widget-template',
  '/pricing-book',
  '/quote-discount-group',
]);

export const byExternalIdentifier: ReadonlySet<string> = new Set<ResourcePath>([
  '/company',
  '/contact',
  '/product',
]);

/** A page of the web interface or of a proxy. */
const page = (title: string) =>
  `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`;

export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

interface Draft {
  status: number;
  headers?: Record<string, string>;
  /** Sent unchanged instead of `json`. */
  text?: string;
  json?: unknown;
}

export interface Answering {
  request: UpstreamRequest;
  on: Active;
  upstream: Upstream;
  budget: RollingBudget;
  random: Random;
  now: () => number;
}

export function routeOf(path: string): ResourcePath | undefined {
  const below = path.slice(prefix.length);
  const under = (route: ResourcePath) => below === route || below.startsWith(`${route}/`);
  return path.startsWith(`${prefix}/`) ? resourcePaths.findLast(under) : undefined;
}

const problem = (status: number, message: string | string[]): Draft => ({
  status,
  json: { message, error: STATUS_CODES[status] ?? 'Error', statusCode: status },
});

const defaultMessages: Record<number, string> = {
  401: 'No API key provided',
  403: 'API key not valid',
};

function refusal({ code, message, retryAfter, html }: Refusal): Draft {
  const title = STATUS_CODES[code] ?? 'Error';
  const draft = html
    ? { status: code, text: page(`${code} ${title}`), headers: { 'content-type': 'text/html' } }
    : problem(code, message ?? defaultMessages[code] ?? title);
  if (retryAfter === undefined) return draft;
  const wait = typeof retryAfter === 'string' ? retryAfter : retryAfter();
  // Node's own header has the machine's clock, and not that of the tests.
  const date = new Date().toUTCString();
  return { ...draft, headers: { ...draft.headers, date, 'retry-after': wait } };
}

function checkKey({ request, on }: Answering): Draft | undefined {
  const key = request.headers['api-key'];
  if (!on.keys) return undefined;
  if (key === undefined) return refusal({ code: 401 });
  return on.keys.has(String(key)) ? undefined : refusal({ code: 403 });
}

function checkRate({ on }: Answering, rateStatus: RateStatus | undefined): Draft | undefined {
  if (!rateStatus || rateStatus.allowed || on.rate?.enforce === false) return undefined;
  return refusal({ code: 429, retryAfter: String(Math.ceil(rateStatus.freeInMs / 1000)) });
}

function rateHeaders(on: Active, rateStatus: RateStatus | undefined): Record<string, string> {
  if (on.rateHeaders === 'absent') return {};
  const truth = rateStatus && {
    limit: rateStatus.limit,
    remaining: rateStatus.remaining,
    reset: Math.ceil(rateStatus.freeInMs / 1000),
  };
  const said = Object.entries({ ...truth, ...on.rateHeaders });
  return Object.fromEntries(said.map(([name, value]) => [`x-ratelimit-${name}`, String(value)]));
}

function redirection({ code, to }: Redirect, { request, upstream }: Answering): Draft | undefined {
  const back = request.query.has('redirected');
  if (to === 'same' && back) return undefined;
  const query = new URLSearchParams(request.query);
  if (to === 'same' || to === 'loop') query.set('redirected', '1');
  const hosts = {
    other: upstream.elsewhere.url.replace('127.0.0.1', 'localhost'),
    'other port': upstream.elsewhere.url,
    same: upstream.url,
    loop: upstream.url,
  };
  const location = `${hosts[to]}${request.path}?${query}`;
  return { status: code, text: '', headers: { location } };
}

const externalTarget = (path: string): string | undefined => {
  const [, text] = /^\/public-api\/opportunity\/ext\/([^/]+)$/.exec(path) ?? [];
  return text === undefined ? undefined : decodeURIComponent(text);
};

/** Stores the opportunity, or refuses it. */
function put({ request, on, upstream, random, now }: Answering): Draft {
  const target = externalTarget(request.path);
  if (target === undefined) return problem(404, `Cannot PUT ${request.path}`);
  const body = parsed(request.body);
  const wrong = complaints(body);
  if (wrong.length > 0 || !isRow(body)) return problem(400, wrong);
  const fresh = { id: random.id(), at: new Date(now()).toISOString() };
  const stored = upsert(upstream.records['/opportunity'], target, body, fresh, on.omitted);
  request.applied = true;
  return { status: 200, json: stored };
}

function one(rows: readonly Row[], field: string, value: string): Draft {
  const row = rows.find((candidate) => candidate[field] === value);
  return row ? { status: 200, json: row } : problem(404, 'Not Found');
}

function read({ request, on, upstream, random }: Answering): Draft {
  const { path, route } = request;
  if (!path.startsWith(`${prefix}/`)) {
    return { status: 200, text: page('Sign in'), headers: { 'content-type': 'text/html' } };
  }
  const missing = problem(404, `Cannot ${request.method} ${path}`);
  if (route === undefined || request.method !== 'GET') return missing;
  const rows = upstream.records[route];
  const [first, second, ...more] = path
    .slice(prefix.length + route.length)
    .split('/')
    .slice(1);
  if (first === undefined) {
    const answer = list(route, rows, request, on, random);
    return answer instanceof RejectedQuery
      ? problem(400, answer.messages)
      : { status: 200, json: answer };
  }
  if (more.length > 0) return missing;
  if (second === undefined && byId.has(route)) return one(rows, 'id', decodeURIComponent(first));
  const external = first === 'ext' && second !== undefined && byExternalIdentifier.has(route);
  return external ? one(rows, 'externalIdentifier', decodeURIComponent(second)) : missing;
}

/** A refused write is never stored; after other faults it may have been, as before a redirect to what was made (303). */
function strikesLater({ request, on }: Answering): boolean {
  const refused = (on.redirect?.code ?? 303) !== 303 || (on.status?.code ?? 500) < 500;
  return request.method === 'PUT' && (on.write ?? 'applied') === 'applied' && !refused;
}

function draft(answering: Answering, rateStatus: RateStatus | undefined): Draft {
  const { request, on } = answering;
  const stopped = checkKey(answering) ?? checkRate(answering, rateStatus);
  if (stopped) return stopped;
  const stored = strikesLater(answering) ? put(answering) : undefined;
  const moved = on.redirect && redirection(on.redirect, answering);
  if (moved) return moved;
  if (on.status) return refusal(on.status);
  if (on.instead) {
    const { text, type = 'application/json; charset=utf-8' } = on.instead;
    return { status: 200, text, headers: { 'content-type': type } };
  }
  if (stored) return stored;
  if (request.method !== 'PUT') return read(answering);
  const pretends = on.write === 'unapplied';
  return pretends ? { status: 200, json: parsed(request.body) ?? {} } : put(answering);
}

const bodiless = new Set([204, 304]);

/** The complete answer, before faults of the transport. */
export function answer(answering: Answering): Reply {
  const { request, on, budget } = answering;
  const rateStatus = on.rate && budget.admit(on.rate);
  const { status, text, json, headers } = draft(answering, rateStatus);
  const plain = text === undefined ? jsonBody(json, on) : Buffer.from(text);
  const accepted = String(request.headers['accept-encoding'] ?? '');
  const { body, encoding } = encoded(shaped(plain, on), on, accepted);
  const all: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    ...rateHeaders(on, rateStatus),
    ...headers,
    ...(on.contentType !== undefined && { 'content-type': on.contentType }),
    ...(encoding !== undefined && { 'content-encoding': encoding }),
    ...on.headers,
  };
  return { status, headers: all, body: bodiless.has(status) ? Buffer.alloc(0) : body };
}
