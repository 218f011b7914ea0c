import { STATUS_CODES } from 'node:http';
import type {
  Active,
  Redirect,
  Refusal,
  Reply,
  Rewrite,
  Upstream,
  UpstreamRequest,
} from './behaviour.ts';
import { encoded, jsonBody, shaped } from './bodies.ts';
import type { RateStatus, RollingBudget } from './budget.ts';
import { list, RejectedQuery } from './paging.ts';
import type { Random } from './random.ts';
import { type ResourcePath, resourcePaths } from './records.ts';
import { sentRecord } from './view.ts';
import { parsed, upsert } from './writes.ts';

const prefix = '/public-api';

/** Records of these routes can be read by id. */
const byId: ReadonlySet<string> = new Set<ResourcePath>([
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

const byExternalIdentifier: ReadonlySet<string> = new Set<ResourcePath>([
  '/company',
  '/contact',
  '/product',
]);

/** A page of the web interface or of a proxy. */
const page = (title: string) =>
  `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`;

/** A reply as it is sent. */
export interface Message {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

export interface Answering {
  request: UpstreamRequest;
  on: Active;
  upstream: Upstream;
  budget: RollingBudget;
  random: Random;
  now: () => number;
  rewrite: Rewrite;
}

/** The part below `/public-api`. */
export const endpointOf = (path: string): string =>
  path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : '';

export const routeOf = (endpoint: string): ResourcePath | undefined =>
  resourcePaths.findLast((route) => endpoint === route || endpoint.startsWith(`${route}/`));

const problem = (status: number, message: string | string[]): Reply => ({
  status,
  body: { message, error: STATUS_CODES[status] ?? 'Error', statusCode: status },
});

const defaultMessages: Record<number, string> = {
  401: 'No API key provided',
  403: 'API key not valid',
};

function refusal({ code, message, retryAfter, html }: Refusal): Reply {
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

function checkKey({ request, on }: Answering): Reply | undefined {
  const key = request.headers['api-key'];
  if (!on.keys) return undefined;
  if (key === undefined) return refusal({ code: 401 });
  return on.keys.has(String(key)) ? undefined : refusal({ code: 403 });
}

function checkRate({ on }: Answering, rateStatus: RateStatus | undefined): Reply | undefined {
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

function redirection({ code, to }: Redirect, { request, upstream }: Answering): Reply | undefined {
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

/** Stores the opportunity, or refuses it. */
function put({ request, on, upstream, random, now }: Answering): Reply {
  const [, external] = /^\/opportunity\/ext\/([^/]+)$/.exec(request.endpoint) ?? [];
  if (external === undefined) return problem(404, `Cannot PUT ${request.path}`);
  const fresh = { id: random.id(), at: new Date(now()).toISOString() };
  const body = parsed(request.body);
  const stored = upsert(upstream.records, decodeURIComponent(external), body, fresh, on);
  if (Array.isArray(stored)) return problem(400, stored);
  request.applied = true;
  return { status: 200, body: sentRecord('/opportunity', stored, 'record', on) };
}

/** Of which kind an id is: a number, or a text of so many characters. */
const formOf = (id: unknown): string =>
  /^\d+$/.test(String(id)) ? 'number' : `${String(id).length}`;

function one(
  route: ResourcePath,
  field: string,
  value: string,
  { upstream, on }: Answering,
): Reply {
  const rows = upstream.records[route];
  if (on.refusesMalformedIds && field === 'id' && formOf(value) !== formOf(rows[0]?.id))
    return problem(400, ['id must be a valid id']);
  const row = rows.find((it) => it[field] !== undefined && String(it[field]) === value);
  if (!row) return problem(404, 'Not Found');
  return { status: 200, body: sentRecord(route, row, 'record', on) };
}

function listed(route: ResourcePath, { request, on, upstream, random }: Answering): Reply {
  const answer = list(route, upstream.records[route], request, on, random);
  return answer instanceof RejectedQuery
    ? problem(answer.status, [answer.message])
    : { status: 200, body: answer };
}

function read(answering: Answering): Reply {
  const { method, path, endpoint, route } = answering.request;
  if (!path.startsWith(`${prefix}/`)) {
    return { status: 200, text: page('Sign in'), headers: { 'content-type': 'text/html' } };
  }
  const missing = problem(404, `Cannot ${method} ${path}`);
  if (route === undefined || method !== 'GET') return missing;
  if (endpoint === route) return listed(route, answering);
  const [first = '', second, ...more] = endpoint.slice(route.length + 1).split('/');
  if (more.length > 0) return missing;
  if (second === undefined && byId.has(route))
    return one(route, 'id', decodeURIComponent(first), answering);
  if (first !== 'ext' || second === undefined || !byExternalIdentifier.has(route)) return missing;
  return one(route, 'externalIdentifier', decodeURIComponent(second), answering);
}

/** A refused write is never stored; after other faults it may have been, as before a redirect to what was made (303). */
function strikesLater({ request, on }: Answering): boolean {
  const refused = (on.redirect?.code ?? 303) !== 303 || (on.status?.code ?? 500) < 500;
  return request.method === 'PUT' && (on.write ?? 'applied') === 'applied' && !refused;
}

function replyTo(answering: Answering, rateStatus: RateStatus | undefined): Reply {
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
  return pretends ? { status: 200, body: parsed(request.body) ?? {} } : put(answering);
}

const bodiless = new Set([204, 304]);

/** The complete answer, before faults of the transport. */
export function answer(answering: Answering): Message {
  const { request, on, budget, rewrite } = answering;
  const rateStatus = on.rate && budget.admit(on.rate);
  const reply = rewrite(replyTo(answering, rateStatus), request);
  const { status, text, headers } = reply;
  const plain = text === undefined ? jsonBody(reply.body, on) : Buffer.from(text);
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
