import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Row } from '../hosts.ts';
import { listen } from '../local-server.ts';
import { type Answering, answer, endpointOf, routeOf } from './answer.ts';
import {
  type Behaviour,
  type Elsewhere,
  LiveBehaviour,
  type Rewrite,
  type Upstream,
  type UpstreamRequest,
} from './behaviour.ts';
import { RollingBudget } from './budget.ts';
import { random } from './random.ts';
import {
  generateRecords,
  type Ids,
  type Records,
  type ResourcePath,
  resourcePaths,
} from './records.ts';
import { type Exchange, send, sever } from './send.ts';

export type { Upstream } from './behaviour.ts';

const defaultCount = 60;

export interface Start {
  counts?: Partial<Record<ResourcePath, number>>;
  /** Overrides which records have an `id`. */
  ids?: Partial<Record<ResourcePath, Ids>>;
  /** Upstreams of different seeds have no common ids. */
  seed?: number;
  /** The records, instead of generated ones. */
  records?: Records;
  /** A path may end with a slash. */
  finalSlash?: boolean;
  /** Creates what changes the replies of this service. */
  rewrite?: (() => Rewrite) | undefined;
  /** The clock of the rolling window and of `updatedAt`. */
  now?: () => number;
}

/** The records of a route are made when they are first needed: most tests need those of one or two. */
function recordsFor({ counts = {}, ids = {}, seed = 1 }: Start): Records {
  const all = {} as Records;
  for (const path of resourcePaths) {
    const keep = (rows: Row[]): Row[] => {
      Object.defineProperty(all, path, { value: rows, writable: true });
      return rows;
    };
    const count = counts[path] ?? defaultCount;
    Object.defineProperty(all, path, {
      ...{ configurable: true, enumerable: true },
      get: () => keep(generateRecords(path, count, seed, ids[path])),
      set: keep,
    });
  }
  return all;
}

/** None, or a long one: the machine may be busy. */
const timeouts = { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 60_000 };

/** Answers every request like the service, so that a client that follows a redirect does not notice. */
async function startElsewhere(): Promise<Elsewhere & { close(): Promise<void> }> {
  const requests: Elsewhere['requests'] = [];
  const server = await listen((incoming, response) => {
    requests.push({ path: incoming.url ?? '', headers: incoming.headers });
    response.setHeader('content-type', 'application/json');
    response.end('{"results":[{"id":"ElsewhereElsewhere00","name":"Elsewhere"}],"total":1}');
  });
  return {
    ...server,
    requests,
    sawKey: () => requests.some(({ headers }) => headers['api-key'] !== undefined),
  };
}

function entryOf(
  incoming: IncomingMessage,
  n: number,
  at: number,
  finalSlash: boolean,
): UpstreamRequest {
  const [path = '', query = ''] = (incoming.url ?? '').split(/\?(.*)/s);
  const endpoint = endpointOf(finalSlash ? path.replace(/\/$/, '') : path);
  return {
    n,
    method: incoming.method ?? '',
    path,
    endpoint,
    route: routeOf(endpoint),
    query: new URLSearchParams(query),
    headers: incoming.headers,
    body: '',
    at,
    status: undefined,
    outcome: 'open',
    aborted: false,
    applied: false,
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = await incoming.toArray();
  return Buffer.concat(parts).toString();
}

/** Waits for the end of the answer, and records which side ended it. */
function overWith(request: UpstreamRequest, response: ServerResponse): AbortSignal {
  const over = new AbortController();
  response.once('finish', () => {
    request.outcome = 'answered';
  });
  response.once('close', () => {
    request.aborted = request.outcome === 'open';
    if (request.aborted) request.outcome = 'aborted';
    over.abort();
  });
  return over.signal;
}

async function serve(
  exchange: Exchange,
  incoming: IncomingMessage,
  answering: Answering,
): Promise<void> {
  const { request, on } = exchange;
  const { upstream } = answering;
  const unread = request.method === 'PUT' && on.write === 'unread';
  if (!unread) request.body = await bodyOf(incoming);
  await on.onRequest?.(request.n, upstream, request);
  if (unread) return sever(exchange, on.cut?.how ?? 'reset');
  await send(exchange, answer(answering));
}

/** An interruption by the client is not an error; others are errors of the test. */
function settle(exchange: Exchange, error: unknown): void {
  if (exchange.over.aborted || exchange.socket.destroyed) return;
  exchange.socket.destroy();
  throw error;
}

/**
 * Starts a service on 127.0.0.1 with every documented route that behaves as configured. Settings can be combined,
 * and changed while requests are under way: a request keeps those of its start.
 */
export async function startUpstream(initial: Behaviour & Start = {}): Promise<Upstream> {
  const { counts = {}, ids = {}, records, seed = 1, now = Date.now, ...others } = initial;
  const { rewrite: makeRewrite, finalSlash = false, ...behaviour } = others;
  const live = new LiveBehaviour();
  live.set(behaviour);
  const budget = new RollingBudget(now);
  const elsewhere = await startElsewhere();
  const rewrite = makeRewrite?.() ?? ((reply) => reply);
  let chance = random(seed);
  let received = 0;

  const server = await listen((incoming, response) => {
    received += 1;
    const request = entryOf(incoming, received, now(), finalSlash);
    upstream.requests.push(request);
    const on = live.for(request);
    const over = overWith(request, response);
    const exchange = { request, on, response, socket: incoming.socket, over };
    const answering = { request, on, upstream, budget, random: chance, now, rewrite };
    serve(exchange, incoming, answering).catch((error) => settle(exchange, error));
  }, timeouts);
  const upstream: Upstream = {
    url: server.url,
    requests: [],
    records: records ?? recordsFor({ counts, ids, seed }),
    budget,
    elsewhere,
    set: (change) => live.set(change),
    reset: () => {
      live.clear();
      live.set(behaviour);
      budget.reset();
      chance = random(seed);
      received = 0;
      upstream.requests.length = 0;
      elsewhere.requests.length = 0;
    },
    openSockets: server.openSockets,
    close: async () => {
      await Promise.all([server.close(), elsewhere.close()]);
    },
  };
  return upstream;
}
