import type { Call } from '../../service/call.ts';
import {
  ApiClient,
  type ApiRequest,
  type Attempt,
  type RequestInterceptor,
} from '../../service/client.ts';
import type { WireResponse } from '../../service/connections/wire.ts';
import { ApiError, isApiError } from '../../service/errors.ts';
import type { Page, PageRequest } from '../../service/page.ts';
import type { ApiRecord, RecordOf, Resource } from '../../service/records/records.ts';
import { header } from '../../service/response.ts';

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

/** The API client with a maximum number of requests and a deadline; keeps what response headers say. */
export class Prober implements RequestInterceptor {
  readonly headers: ServiceHeaders = {};
  requests = 0;
  readonly #client: ApiClient;
  readonly #deadline: number;
  readonly #onRequest: (path: string, requests: number) => void;

  constructor(
    target: { baseUrl: URL; key: string },
    pageParam: string,
    withinMs: number,
    onRequest: (path: string, requests: number) => void,
  ) {
    this.#client = new ApiClient({
      ...target,
      pageParam,
      limits: { attemptMs },
      interceptor: this,
    });
    this.#deadline = Date.now() + withinMs;
    this.#onRequest = onRequest;
  }

  /** Name of the offset parameter in the settings. */
  get pageParam(): string | undefined {
    return this.#client.pageParam;
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

  /**
   * One page, requested once; again if the answer held an error that a second one may not have.
   * @throws ApiError
   */
  page<R extends Resource>(resource: R, query: PageRequest): Promise<Page<RecordOf[R]>> {
    const request = () => this.#client.page(resource, { ...query, attempts: 1 }, this.call);
    return request().catch((error: unknown) => {
      if (isApiError(error, 'embedded-error', 'malformed')) return request();
      throw error;
    });
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** @throws ApiError (`budget-spent`) when no further request may be sent */
  async intercept<T>({ facts }: ApiRequest, _: Call, { send, parse }: Attempt<T>): Promise<T> {
    if (!this.canAsk) throw new ApiError('budget-spent', { ...facts, seconds: undefined });
    const started = Date.now();
    this.requests += 1;
    this.#onRequest(facts.path ?? '', this.requests);
    try {
      const response = await send(undefined);
      this.#keepHeaders(response, started);
      return parse(response);
    } catch (error) {
      if (isApiError(error, 'rate-limited')) this.headers.retryAfter = error.facts.seconds ?? 60;
      throw error;
    }
  }

  #keepHeaders(response: WireResponse, started: number): void {
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
