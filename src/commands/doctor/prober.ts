import { type RawPage, readPage } from '../../api/envelope.ts';
import { ApiError, isApiError } from '../../api/errors.ts';
import { header, parseResponse } from '../../api/reply.ts';
import { defaultLimits, Wire, type WireResponse } from '../../api/wire.ts';

/** The result of one request. */
export interface Probe {
  page?: RawPage;
  /** Whether the records were a bare list, without a total. */
  bare?: boolean;
  error?: ApiError;
  /** Milliseconds until the whole answer was received. */
  durationMs: number;
}

export interface ProbeTarget {
  baseUrl: URL;
  key: string;
}

/** From response headers. */
export interface ServiceHeaders {
  remaining?: number;
  limit?: number;
  /** Milliseconds that the service's clock is ahead of ours; the Date header has whole seconds. */
  clockAheadMs?: number;
  retryAfter?: number;
}

const attemptMs = 10_000;

/** Sends single read requests, without retries, until a deadline. */
export class Prober {
  readonly headers: ServiceHeaders = {};
  requests = 0;
  readonly #target: ProbeTarget;
  readonly #wire: Wire;
  readonly #deadline: number;
  readonly #onRequest: (path: string, requests: number) => void;

  constructor(
    target: ProbeTarget,
    withinMs: number,
    onRequest: (path: string, requests: number) => void,
  ) {
    const base = new URL(
      `${target.baseUrl.pathname}/public-api`.replace(/\/+/g, '/'),
      target.baseUrl,
    );
    this.#target = target;
    this.#wire = new Wire(base, target.key, { ...defaultLimits, attemptMs });
    this.#deadline = Date.now() + withinMs;
    this.#onRequest = onRequest;
  }

  /** Whether the deadline allows further requests. */
  get hasTime(): boolean {
    return Date.now() < this.#deadline && this.headers.retryAfter === undefined;
  }

  /** One page of a route; `path` is below `/public-api`. */
  async page(path: string, query: Record<string, string>): Promise<Probe> {
    const facts = { host: this.#target.baseUrl.host, path };
    const search = new URLSearchParams(query);
    const started = Date.now();
    this.requests += 1;
    this.#onRequest(path, this.requests);
    try {
      const response = await this.#wire.send(
        { method: 'GET', path: `${path}?${search}` },
        { signal: new AbortController().signal, deadline: this.#deadline, purpose: 'interactive' },
        facts,
      );
      this.#recordHeaders(response, started);
      const body = parseResponse(response, this.#target.key, facts);
      const page = readPage(body, facts);
      return { page, bare: Array.isArray(body), durationMs: Date.now() - started };
    } catch (error) {
      return { error: this.#toKnownError(error), durationMs: Date.now() - started };
    }
  }

  close(): Promise<void> {
    return this.#wire.close();
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

  /** @throws errors that do not come from the service */
  #toKnownError(error: unknown): ApiError {
    if (!isApiError(error)) throw error;
    if (isApiError(error, 'rate-limited')) this.headers.retryAfter = error.facts.seconds ?? 60;
    return isApiError(error, 'not-found') ? new ApiError('no-route', error.facts) : error;
  }
}
