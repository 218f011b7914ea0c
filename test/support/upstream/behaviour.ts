import type { IncomingHttpHeaders } from 'node:http';
import type { Budget } from './budget.ts';
import type { Records, ResourcePath } from './records.ts';

export interface UpstreamRequest {
  /** Number of the request since the start or the last reset, from 1. */
  n: number;
  method: string;
  /** As received, `/public-api` included, without the query. */
  path: string;
  /** The path below `/public-api`; without a slash at the end, where that is allowed. */
  endpoint: string;
  /** The list route of the path. */
  route: ResourcePath | undefined;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
  /** Status of the answer, if there was one. */
  status: number | undefined;
  /** `open`: unanswered; `cut`: ended by the upstream; `aborted`: ended by the client. */
  outcome: 'open' | 'answered' | 'cut' | 'aborted';
  /** The client closed the socket before the answer was finished. */
  aborted: boolean;
  /** A write that was stored, whatever was answered afterwards. */
  applied: boolean;
}

/** Another host, the target of redirects. */
export interface Elsewhere {
  url: string;
  requests: Array<{ path: string; headers: IncomingHttpHeaders }>;
  /** Whether any request had an `api-key` header. */
  sawKey(): boolean;
}

export interface Upstream {
  /** The base URL, without `/public-api`. */
  url: string;
  /** Received requests in order. May be emptied at any time, which changes no count. */
  requests: UpstreamRequest[];
  /** Adds to the present behaviour; `undefined` switches something off. Its counts start again. */
  set(behaviour: Behaviour): void;
  /** Restores the behaviour of the start; clears requests, budget and redirects, but not records. */
  reset(): void;
  /** May be changed at any time, also during a walk. */
  records: Records;
  budget: Budget;
  elsewhere: Elsewhere;
  openSockets(): number;
  close(): Promise<void>;
}

export interface Refusal {
  code: number;
  message?: string | string[];
  /** Sent unchanged: seconds, an HTTP date, or nonsense. A function is called each time. */
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
  /** This number of bytes slowly, then the rest at once. Without it the answer never ends. */
  total?: number;
}

export interface Cut {
  at: 'start' | 'headers' | 'body';
  how: 'reset' | 'close' | 'hang';
}

interface Offset {
  /** The query parameter, `from` by default. */
  name?: string;
  counts?: 'records' | 'records from 1' | 'pages' | 'pages from 1';
  /** Where the offset has another name, `from` is refused by name instead of ignored. */
  refusesFrom?: boolean;
}

export type EnvelopeName = 'results' | 'data' | 'items' | 'array' | 'null';

/** Where a list says how many records match, or what it says instead; `total` by default. */
export type Total =
  | 'absent'
  | 'text'
  | 'meta.total'
  | 'totalCount'
  | 'count'
  | 'total.value'
  | 'rows of the page'
  | { off: number }
  | { moves: number }
  | { is: unknown }
  /** The result window of a search engine: records behind it are neither counted nor returned. */
  | { window: number };

/** How a record refers to another one, such as its company. */
export type Reference = 'flat ids' | 'flat ids and names' | 'both' | 'names' | 'bare ids';

/** A reply before it is written as JSON. */
export interface Reply {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
  /** Sent unchanged instead of the body. */
  text?: string;
}

/** Changes a reply on its way to the client. */
export type Rewrite = (reply: Reply, request: UpstreamRequest) => Reply;

interface RateHeaders {
  limit?: number | string;
  remaining?: number | string;
  reset?: number | string;
}

/** Every switch, with the value that it has for one request. None is on unless set. */
interface Switches {
  /** The accepted keys: 401 without a key, 403 with another one. */
  keys: ReadonlySet<string>;
  /** This number of requests in a rolling window; `enforce: false` counts violations and answers anyway. */
  rate: { limit: number; windowMs: number; enforce?: boolean };
  /** Values of the rate headers instead of the true ones. */
  rateHeaders: 'absent' | RateHeaders;
  /** Case of the header names; lower case by default. */
  headerCase: 'upper' | 'title';
  headers: Record<string, string>;

  status: Refusal;
  redirect: Redirect;

  delayHeaders: number;
  delayBody: number;
  trickle: Trickle;
  cut: Cut;
  /** The share of the body that is sent, with a matching content-length. */
  truncate: number;

  /** These bytes instead of an HTTP answer; then the connection is closed. */
  raw: string;
  /** This text instead of the body. */
  instead: { text: string; type?: string };
  /** The envelope of lists, by default `results` of searches and `array` of others; `null`: `results` without records. */
  envelope: EnvelopeName;
  /** The envelope of the routes that are documented as searches. */
  searchEnvelope: EnvelopeName;
  total: Total;
  duplicateKeys: boolean;
  bom: boolean;
  contentType: string;
  invalidUtf8: boolean;
  /** Depth of nested arrays in a field of the first record. */
  depth: number;
  /** Size of a text in a field of the first record. */
  hugeMiB: number;
  /** Encodings are used only if the client accepts them; `false gzip` is plain text labelled as gzip. */
  encoding: 'gzip' | 'deflate' | 'br' | 'unasked gzip' | 'false gzip';
  /** Unpacked size of a gzip of zeros. */
  bombMiB: number;
  /** Chunk size in bytes, or chunks cut inside each multi-byte character. */
  chunks: number | 'characters';

  /** The largest page: what is larger is cut, or refused with this status. */
  maxSize: number | { rows: number; over: 400 | 500 };
  /** The page size, whatever is requested. */
  fixedSize: number;
  /** The routes that take a page size; others refuse it by name. With `search routes`, others have one page with all. */
  sizeOn: 'search routes' | 'no route';
  ignoreFrom: boolean;
  /** All records at once, whatever is requested; of every route, or of those that are not documented as searches. */
  everything: true | 'open routes';
  offset: Offset;
  /** Removed from pages after paging, so that offsets count them and the total may. */
  hidden: { oneIn: number; counted: boolean };
  /** Fewer records than requested although more follow; the next offset continues after them. */
  shortReads: 'half' | 'random' | 'every third page';
  beyondEnd: 'empty' | 'refused' | 'last page';
  /** Records that are equal in `sort` change their order with each request. */
  unstableOrder: boolean;
  /** `any word`: a search engine finds every record that has one of the words in any field. */
  filters: 'ignored' | 'refused' | 'any word';
  /** Rows are flat, and a nested key of a filter matches nothing. */
  flatFilterKeys: boolean;
  query: 'ignored' | 'refused';
  sort: 'ignored' | 'refused';

  /** How a record refers to another one; as it is stored by default. */
  references: Reference;
  /** A contact nests its company. */
  nestedCompany: boolean;
  /** The rows of a list of quotes do not hold their items. */
  itemsById: boolean;
  /** The form of the mark of a deletion; a time by default. */
  deleted: 'boolean' | 'null';
  /** What optional fields are where they are missing; absent by default. */
  missing: 'null' | 'empty text';
  amounts: 'texts';
  times: 'epoch seconds' | 'epoch milliseconds';
  /** Probabilities are sent as 0–100. */
  probability: 'percent';
  fields: 'snake_case' | 'PascalCase' | 'in attributes' | 'other amounts';
  idField: '_id';
  /** Ids of nineteen digits are sent as numbers. */
  longIds: boolean;
  /** An id that has another form than those of the records is refused with 400. */
  refusesMalformedIds: boolean;

  /**
   * When the faults apply to a write: after it was stored (unless it is refused), without storing it (a success
   * answer is then false), or before its body was read.
   */
  write: 'applied' | 'unapplied' | 'unread';
  /** What a write does to omitted fields; `kept` by default. */
  omitted: 'kept' | 'cleared';
  /** A write that refers to a record that does not exist is refused. */
  refusesUnknownIds: boolean;
  writeRule: 'status' | 'company locked' | 'company kept' | 'title' | 'category' | 'computed';

  /** Runs before the n-th request is answered, and may delay it. */
  onRequest: (n: number, upstream: Upstream, request: UpstreamRequest) => void | Promise<void>;
}

/** Selects requests. Counts are of the requests that match the other conditions. */
export interface When {
  path?: ResourcePath;
  method?: 'GET' | 'PUT';
  first?: number;
  after?: number;
  every?: number;
  /** Counts each method, path and query separately, so that `first: 2` fails each page twice; or each path. */
  per?: 'url' | 'path';
  /** Called after the headers, before a body was read. */
  if?: (request: UpstreamRequest) => boolean;
}

type Choose<T> = (request: UpstreamRequest) => T | undefined;

const choose = Symbol('choose');

/** A value for some requests only. */
export interface Conditional<T> {
  /** Creates a chooser with its own counts. */
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

function countedAs({ method, path, query }: UpstreamRequest, { per }: When): string {
  if (per === undefined) return '';
  return per === 'url' ? `${method} ${path}?${query}` : path;
}

/** A setting for these requests only: `status: only({ code: 500 }, { first: 2 })`. */
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

/** The first of these settings that matches the request. */
export function firstOf<T>(...settings: ReadonlyArray<Setting<T>>): Conditional<T> {
  const start = (): Choose<T> => {
    const inner = settings.map((setting) => chooser(setting));
    return (request) => inner.map((ask) => ask(request)).find((value) => value !== undefined);
  };
  return { [choose]: start };
}

/** All switches of a behaviour, for these requests only: `limit(faults['500'], { first: 2 })`. */
export function limit(behaviour: Behaviour, when: When): Behaviour {
  const limited = Object.entries(switchesOf(behaviour)).map(([name, setting]) => [
    name,
    setting === undefined ? undefined : only<unknown>(setting, when),
  ]);
  return Object.fromEntries(limited) as Behaviour;
}

/** The switches of a preset without its other fields. */
function switchesOf(behaviour: Behaviour): Behaviour {
  const { expect, kinds, transient, applied, ...switches } = behaviour as Behaviour &
    Record<string, unknown>;
  return switches;
}

/** The present behaviour with its counts. */
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

  /** Call once for each request, because each call counts. */
  for(request: UpstreamRequest): Active {
    const values = [...this.#choosers].map(([name, ask]) => [name, ask(request)]);
    return Object.fromEntries(values) as Active;
  }
}
