import type { Call } from '../../api/call.ts';
import { requireRecognized } from '../../api/client.ts';
import { type RawRecord, readOne, readPage } from '../../api/envelope.ts';
import { ApiError, type ErrorFacts, isApiError } from '../../api/errors.ts';
import { type Page, type PageRequest, queryString } from '../../api/page.ts';
import { header, parseResponse } from '../../api/reply.ts';
import { routes } from '../../api/routes.ts';
import { apiBase, Wire, type WireResponse } from '../../api/wire.ts';
import { type ApiRecord, type RecordOf, type Resource, toRecord } from '../../records/records.ts';
import { Connections } from '../../transport/connections.ts';

export interface ProbeTarget {
  baseUrl: URL;
  key: string;
}

/** The first page of one route. */
export interface Probe {
  records: readonly ApiRecord[];
  total?: number;
  error?: ApiError;
  /** Milliseconds until the whole answer was received. */
  durationMs: number;
}

export type Probes = ReadonlyMap<Resource, Probe>;

/** From response headers. */
export interface ServiceHeaders {
  remaining?: number;
  limit?: number;
  /** Milliseconds that the service's clock is ahead of ours; the Date header has whole seconds. */
  clockAheadMs?: number;
  retryAfter?: number;
}

/** Requests that one run sends at most. */
const maxRequests = 40;
const attemptMs = 10_000;

/**
 * Sends read requests until a deadline, each once; again only where the service answers with an error that a
 * second request may not show.
 */
export class Prober {
  readonly headers: ServiceHeaders = {};
  requests = 0;
  /** Name of the offset parameter in the settings. */
  readonly pageParam: string | undefined;
  readonly #target: ProbeTarget;
  readonly #wire: Wire;
  readonly #deadline: number;
  readonly #onRequest: (path: string, requests: number) => void;
  readonly #raw = new Map<Resource, readonly RawRecord[]>();

  constructor(
    target: ProbeTarget,
    pageParam: string,
    withinMs: number,
    onRequest: (path: string, requests: number) => void,
  ) {
    this.#target = target;
    this.pageParam = pageParam === 'none' ? undefined : pageParam;
    this.#wire = new Wire(apiBase(target.baseUrl), target.key, new Connections({ attemptMs }));
    this.#deadline = Date.now() + withinMs;
    this.#onRequest = onRequest;
  }

  /** Whether further requests may be sent. */
  get canAsk(): boolean {
    const hasTime = Date.now() < this.#deadline && this.headers.retryAfter === undefined;
    return hasTime && this.requests < maxRequests;
  }

  get call(): Call {
    const { signal } = new AbortController();
    return { signal, deadline: this.#deadline, purpose: 'interactive' };
  }

  /** Rows of the first page of a route, as the service sent them. */
  rawRows(resource: Resource): readonly RawRecord[] {
    return this.#raw.get(resource) ?? [];
  }

  /** One page, as `ApiClient.page` reads it. @throws ApiError */
  async page<R extends Resource>(resource: R, query: PageRequest): Promise<Page<RecordOf[R]>> {
    const route = routes[resource];
    const facts = this.#facts(route.path);
    const path = route.path + queryString(route, query, this.pageParam);
    const body = await this.#twice(path, facts, (it) => readPage(it, facts));
    if (!this.#raw.has(resource)) this.#raw.set(resource, structuredClone(body.records));
    const records = body.records.map((record) => toRecord(resource, record));
    requireRecognized(resource, records, facts);
    return { ...body, records };
  }

  /** One record by id, as the service sends it. @throws ApiError */
  record(resource: Resource, id: string): Promise<RawRecord> {
    const facts = this.#facts(`${routes[resource].path}/…`);
    const path = `${routes[resource].path}/${encodeURIComponent(id)}`;
    return this.#twice(path, facts, (body) => readOne(body, facts));
  }

  close(): Promise<void> {
    return this.#wire.close();
  }

  #facts(path: string): ErrorFacts {
    return { host: this.#target.baseUrl.host, path };
  }

  async #twice<T>(path: string, facts: ErrorFacts, read: (body: unknown) => T): Promise<T> {
    try {
      return await this.#once(path, facts, read);
    } catch (error) {
      if (!isApiError(error, 'embedded-error', 'malformed')) throw error;
      return this.#once(path, facts, read);
    }
  }

  async #once<T>(path: string, facts: ErrorFacts, read: (body: unknown) => T): Promise<T> {
    if (!this.canAsk) throw new ApiError('budget-spent', { ...facts, seconds: undefined });
    const started = Date.now();
    this.requests += 1;
    this.#onRequest(facts.path ?? '', this.requests);
    try {
      const response = await this.#wire.send({ method: 'GET', path }, this.call, facts);
      this.#recordHeaders(response, started);
      return read(parseResponse(response, this.#target.key, facts));
    } catch (error) {
      if (isApiError(error, 'rate-limited')) this.headers.retryAfter = error.facts.seconds ?? 60;
      throw isApiError(error, 'not-found') ? new ApiError('no-route', error.facts) : error;
    }
  }

  #recordHeaders(response: WireResponse, started: number): void {
    const number = (name: string) => {
      const text = header(response, name);
      return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text);
    };
    const remaining = number('x-ratelimit-remaining');
    const limit = number('x-ratelimit-limit');
    // Answers may arrive out of order: the lowest value is the latest.
    if (remaining !== undefined) {
      this.headers.remaining = Math.min(remaining, this.headers.remaining ?? remaining);
    }
    if (limit !== undefined) this.headers.limit = limit;
    const date = Date.parse(header(response, 'date') ?? '');
    if (!Number.isNaN(date)) this.headers.clockAheadMs ??= date + 500 - (started + Date.now()) / 2;
  }
}
