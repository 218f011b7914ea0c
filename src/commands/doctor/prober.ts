import { type RawPage, readPage } from '../../api/envelope.ts';
import { ApiError, isApiError } from '../../api/errors.ts';
import { header, parseResponse } from '../../api/reply.ts';
import { defaultLimits, Wire, type WireResponse } from '../../api/wire.ts';

/** What came of one request. */
export interface Probe {
  page?: RawPage;
  /** Not wrapped in anything, and so not counted. */
  bare?: boolean;
  error?: ApiError;
  /** Milliseconds from sending to having all of it. */
  durationMs: number;
}

export interface ProbeTarget {
  baseUrl: URL;
  key: string;
}

/** Seen on the replies. */
export interface ServiceHeaders {
  remaining?: number;
  limit?: number;
  /** Milliseconds that the service's clock is ahead of ours; it is told in whole seconds. */
  clockAheadMs?: number;
  retryAfter?: number;
}

const attemptMs = 10_000;

/** Reads from the service, never more than asked for: no retry, no write, and all of it within a time. */
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

  /** Whether asking on is of use. */
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
    // Replies overtake one another: the fewest left is the latest.
    if (remaining !== undefined) {
      this.headers.remaining = Math.min(remaining, this.headers.remaining ?? remaining);
    }
    if (limit !== undefined) this.headers.limit = limit;
    const date = Date.parse(header(response, 'date') ?? '');
    if (!Number.isNaN(date)) this.headers.clockAheadMs ??= date + 500 - (started + Date.now()) / 2;
  }

  /** @throws what is no error of the service but a mistake of ours */
  #toKnownError(error: unknown): ApiError {
    if (!isApiError(error)) throw error;
    if (isApiError(error, 'rate-limited')) this.headers.retryAfter = error.facts.seconds ?? 60;
    return isApiError(error, 'not-found') ? new ApiError('no-route', error.facts) : error;
  }
}
