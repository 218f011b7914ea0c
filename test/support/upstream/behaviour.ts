import type { IncomingHttpHeaders } from 'node:http';
import type { Budget } from './budget.ts';
import type { ResourcePath, Row } from './records.ts';

export interface UpstreamRequest {
  /** Counted from 1 since the start or the last reset. */
  n: number;
  method: string;
  /** As received, `/public-api` included, without the query. */
  path: string;
  /** The list route that the path is, or lies below. */
  route: ResourcePath | undefined;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
  /** What was answered, if it came to that. */
  status: number | undefined;
  /** `open` while unanswered; `cut` when this side broke off; `aborted` when the client did. */
  outcome: 'open' | 'answered' | 'cut' | 'aborted';
  /** The client closed the socket before the answer was finished. */
  aborted: boolean;
  /** A write that was stored, whatever was answered afterwards. */
  applied: boolean;
}

/** Another host, where a redirect leads. */
export interface Elsewhere {
  url: string;
  requests: Array<{ path: string; headers: IncomingHttpHeaders }>;
  /** Whether any request brought an `api-key` header. */
  sawKey(): boolean;
}

export interface Upstream {
  /** The base URL, without `/public-api`. */
  url: string;
  port: number;
  /** Everything received, in order. May be emptied at any time, which changes no count. */
  requests: UpstreamRequest[];
  /** Adds to the present behaviour; a switch set to `undefined` is off. Its counts start anew. */
  set(behaviour: Behaviour): void;
  /** Back to the behaviour it was started with; forgets requests, budget and redirects, not records. */
  reset(): void;
  /** May be changed at any time, also while a walk is running. */
  records: Record<ResourcePath, Row[]>;
  budget: Budget;
  elsewhere: Elsewhere;
  openSockets(): number;
  close(): Promise<void>;
}

export interface Refusal {
  code: number;
  message?: string | string[];
  /** Sent as it is: seconds, an HTTP date, or nonsense. A function is asked each time. */
  retryAfter?: string | (() => string);
  /** A proxy's page instead of the JSON body. */
  html?: boolean;
}

export interface Redirect {
  code: 301 | 302 | 303 | 307 | 308;
  /** `other`: another host name and port; `other port`: the same name; `same`: answered; `loop`: never. */
  to: 'other' | 'other port' | 'same' | 'loop';
}

export interface Trickle {
  part: 'headers' | 'body';
  bytes: number;
  everyMs: number;
  /** So many bytes slowly, then the rest at once. Without it the answer never ends. */
  total?: number;
}

export interface Cut {
  at: 'start' | 'headers' | 'body';
  how: 'reset' | 'close' | 'hang';
}

interface Offset {
  /** The query parameter, `from` by default. */
  name?: string;
  unit?: 'record' | 'page';
  /** The number of the first record or page. */
  base?: 0 | 1;
}

export type EnvelopeName = 'results' | 'data' | 'items' | 'array' | 'null';

export type Total = 'absent' | 'string' | { off: number } | { moves: number } | { is: unknown };

interface RateHeaders {
  limit?: number | string;
  remaining?: number | string;
  reset?: number | string;
}

/** Every switch, with the value that it has for one request. None is on unless set. */
interface Switches {
  /** The accepted keys: 401 without one, 403 with another. */
  keys: ReadonlySet<string>;
  /** So many requests in a rolling window; `enforce: false` counts violations and answers anyway. */
  rate: { limit: number; windowMs: number; enforce?: boolean };
  /** What the rate headers say, instead of the truth. */
  rateHeaders: 'absent' | RateHeaders;
  /** Of the header names, which are in lower case otherwise. */
  headerCase: 'upper' | 'title';
  headers: Record<string, string>;

  status: Refusal;
  redirect: Redirect;

  delayHeaders: number;
  delayBody: number;
  trickle: Trickle;
  cut: Cut;
  /** The share of the body that is sent, with a content-length that fits it. */
  truncate: number;

  /** These bytes in the place of a whole HTTP answer, and then the end of the connection. */
  raw: string;
  /** This text instead of the answer. */
  instead: { text: string; type?: string };
  /** `null`: the search envelope with nothing in it. */
  envelope: EnvelopeName;
  total: Total;
  duplicateKeys: boolean;
  bom: boolean;
  contentType: string;
  invalidUtf8: boolean;
  /** Arrays nested so deep in a field of the first record. */
  depth: number;
  /** So much text in a field of the first record. */
  hugeMiB: number;
  /** The named ones only for a client that accepts them; `false gzip` is plain text that says gzip. */
  encoding: 'gzip' | 'deflate' | 'br' | 'unasked gzip' | 'false gzip';
  /** Zeros of that size, gzipped. */
  bombMiB: number;
  /** Chunked, in pieces of so many bytes, or cut in the middle of each multi-byte character. */
  chunks: number | 'characters';

  maxSize: number;
  /** The page size, whatever is asked for. */
  fixedSize: number;
  ignoreFrom: boolean;
  /** Every record at once, whatever is asked for. */
  everything: boolean;
  offset: Offset;
  /** Left out of the page after it was cut, so that offsets count them and the total may. */
  hidden: { oneIn: number; counted: boolean };
  /** Fewer records than asked for though more follow; the next offset continues after them. */
  shortReads: 'half' | 'random';
  beyondEnd: 'empty' | 'refused' | 'last page';
  /** Records that are equal in `sort` change their order with each request. */
  unstableOrder: boolean;
  ignoreSort: boolean;

  /**
   * When the rest of the behaviour strikes a write: after it was stored (unless it is refused), without
   * storing it (an answer that looks like success is then a lie), or before its body was read.
   */
  write: 'applied' | 'unapplied' | 'unread';
  /** What a write does to the fields that it does not name. */
  omitted: 'kept' | 'cleared';

  /** Runs before the n-th request is answered, and may hold it back. */
  onRequest: (n: number, upstream: Upstream, request: UpstreamRequest) => void | Promise<void>;
}

/** Which requests a setting is for. Counts are of the requests that the other conditions fit. */
export interface When {
  path?: ResourcePath;
  method?: 'GET' | 'PUT';
  first?: number;
  after?: number;
  every?: number;
  /** Counts each method, path and query by itself, so that `first: 2` fails each page twice. */
  per?: 'url';
  /** Asked when the headers are in, before a body was read. */
  if?: (request: UpstreamRequest) => boolean;
}

type Choose<T> = (request: UpstreamRequest) => T | undefined;

const choose = Symbol('choose');

/** A value for some requests only. */
export interface Conditional<T> {
  /** A chooser whose counts are its own. */
  readonly [choose]: () => Choose<T>;
}

export type Setting<T> = T | Conditional<T>;

export type Behaviour = { readonly [K in keyof Switches]?: Setting<Switches[K]> | undefined };

export type Active = { readonly [K in keyof Switches]?: Switches[K] | undefined };

const isConditional = <T>(setting: Setting<T>): setting is Conditional<T> =>
  typeof setting === 'object' && setting !== null && choose in setting;

const chooser = <T>(setting: Setting<T>): Choose<T> =>
  isConditional(setting) ? setting[choose]() : () => setting;

const fits = (request: UpstreamRequest, when: When): boolean =>
  (when.path === undefined || when.path === request.route) &&
  (when.method === undefined || when.method === request.method) &&
  (when.if === undefined || when.if(request));

const counts = (seen: number, { first, after, every }: When): boolean =>
  (first === undefined || seen <= first) &&
  (after === undefined || seen > after) &&
  (every === undefined || seen % every === 0);

const countedAs = ({ method, path, query }: UpstreamRequest, { per }: When): string =>
  per === 'url' ? `${method} ${path}?${query}` : '';

/** The setting for these requests only: `status: only({ code: 500 }, { first: 2 })`. */
export function only<T>(setting: Setting<T>, when: When): Conditional<T> {
  const start = (): Choose<T> => {
    const inner = chooser(setting);
    const sightings = new Map<string, number>();
    return (request) => {
      if (!fits(request, when)) return undefined;
      const key = countedAs(request, when);
      const seen = (sightings.get(key) ?? 0) + 1;
      sightings.set(key, seen);
      return counts(seen, when) ? inner(request) : undefined;
    };
  };
  return { [choose]: start };
}

/** The first of these settings that is for the request. */
export function firstOf<T>(...settings: ReadonlyArray<Setting<T>>): Conditional<T> {
  const start = (): Choose<T> => {
    const inner = settings.map((setting) => chooser(setting));
    return (request) => inner.map((ask) => ask(request)).find((value) => value !== undefined);
  };
  return { [choose]: start };
}

/** Every switch of the behaviour for these requests only: `limit(faults['500'], { first: 2 })`. */
export function limit(behaviour: Behaviour, when: When): Behaviour {
  const limited = Object.entries(switchesOf(behaviour)).map(([name, setting]) => [
    name,
    setting === undefined ? undefined : only<unknown>(setting, when),
  ]);
  return Object.fromEntries(limited) as Behaviour;
}

/** Presets carry more than switches. */
function switchesOf(behaviour: Behaviour): Behaviour {
  const { expect, kinds, transient, applied, ...switches } = behaviour as Behaviour &
    Record<string, unknown>;
  return switches;
}

/** The behaviour at work: what is set, with the counts of what was seen. */
export class LiveBehaviour {
  readonly #choosers = new Map<string, Choose<unknown>>();

  set(behaviour: Behaviour): void {
    for (const [name, setting] of Object.entries(switchesOf(behaviour))) {
      if (setting === undefined) this.#choosers.delete(name);
      else this.#choosers.set(name, chooser<unknown>(setting));
    }
  }

  clear(): void {
    this.#choosers.clear();
  }

  /** To be asked once a request, since asking counts. */
  for(request: UpstreamRequest): Active {
    const values = [...this.#choosers].map(([name, ask]) => [name, ask(request)]);
    return Object.fromEntries(values) as Active;
  }
}
