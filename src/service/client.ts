import { registerSecrets } from '../text/secrets.ts';
import type { Call, Trace } from './call.ts';
import { Connections, type WireLimits } from './connections/connections.ts';
import { readOne, readPage } from './envelope.ts';
import { ApiError, type ErrorFacts, isApiError, isInternalError } from './errors.ts';
import { type Page, type PageRequest, queryString } from './page.ts';
import { unrecognizedFields } from './records/recognition.ts';
import { type Opportunity, type RecordOf, type Resource, toRecord } from './records/records.ts';
import { answeredAt, parseResponse } from './response.ts';
import { type RetryRules, withRetries } from './retry.ts';
import { isPathSegment, routes, upsertPath } from './routes.ts';
import { apiBase, Wire, type WireRequest, type WireResponse } from './wire.ts';

export interface ClientOptions {
  /** The tenant's address, without `/public-api`. */
  baseUrl: URL;
  key: string;
  /** Name of the offset parameter, or `none` if the service has none. */
  pageParam: string;
  /** Connections shared with other tenants, with their limits; default: connections of its own with `limits`. */
  connections?: Connections | undefined;
  limits?: Partial<WireLimits>;
  /** Average delay before the first retry; the second retry waits twice as long. */
  firstRetryDelayMs?: number;
  interceptor: RequestInterceptor;
}

/** Surrounds every attempt of a request: may delay or reject it, and learns its outcome. */
export interface RequestInterceptor {
  intercept<T>(request: ApiRequest, call: Call, attempt: Attempt<T>): Promise<T>;
}

export interface ApiRequest extends WireRequest {
  /** The facts of its errors. */
  facts: ErrorFacts;
  /** As in `PageRequest`. */
  probesSize?: boolean | undefined;
}

export interface Attempt<T> {
  send(trace: Trace | undefined): Promise<WireResponse>;
  /** @throws ApiError */
  parse(response: WireResponse): T;
}

/** `facts` include the status. */
type ReadBody<T> = (body: unknown, facts: ErrorFacts) => T;

const maxAttempts = 3;
const defaultFirstRetryDelayMs = 250;

/** The service's API for one tenant. Each method sends one request, and retries it where that is safe. */
export class ApiClient {
  readonly host: string;
  readonly pageParam: string | undefined;
  readonly #wire: Wire;
  readonly #interceptor: RequestInterceptor;
  readonly #firstDelayMs: number;
  readonly #unregisterKey: () => void;

  constructor(options: ClientOptions) {
    const { baseUrl, key, pageParam, limits, interceptor } = options;
    const { connections = new Connections(limits) } = options;
    this.host = baseUrl.host;
    this.pageParam = pageParam === 'none' ? undefined : pageParam;
    this.#unregisterKey = registerSecrets([key]);
    this.#wire = new Wire(apiBase(baseUrl), key, connections);
    this.#interceptor = interceptor;
    this.#firstDelayMs = options.firstRetryDelayMs ?? defaultFirstRetryDelayMs;
  }

  /**
   * Reads one page of a list.
   * @throws ApiError; the signal's reason when the call was cancelled
   */
  async page<R extends Resource>(
    resource: R,
    query: PageRequest,
    call: Call,
  ): Promise<Page<RecordOf[R]>> {
    const route = routes[resource];
    const facts: ErrorFacts = { host: this.host, path: route.path };
    const { probesSize = false, attempts = maxAttempts } = query;
    const path = route.path + queryString(route, query, this.pageParam);
    const mayRetry = (error: unknown) =>
      isRetryable(error) && !(probesSize && isInternalError(error));
    const rules = { maxAttempts: attempts, mayRetry };
    const request = { method: 'GET', path, facts, probesSize } as const;
    const parsePage = this.#parserOf(readPage, facts);
    let received: WireResponse | undefined;
    const parse = (response: WireResponse) => {
      received = response;
      return parsePage(response);
    };
    const raw = await this.#send(request, call, rules, parse).catch((error: unknown) => {
      throw isApiError(error, 'not-found') ? new ApiError('no-route', error.facts) : error;
    });
    const records = raw.records.map((record) => toRecord(resource, record));
    requireRecognized(resource, records, facts);
    return { ...raw, records, ...(received && answeredAt(received)) };
  }

  /**
   * Reads one record, by the service's id or, if the route supports it, by external identifier.
   * @throws ApiError
   */
  async getRecord<R extends Resource>(
    resource: R,
    by: 'id' | 'externalIdentifier',
    value: string,
    call: Call,
  ): Promise<RecordOf[R]> {
    const raw = await this.getRaw(resource, by, value, call);
    const record = toRecord(resource, raw);
    requireRecognized(resource, [record], { host: this.host, path: routes[resource].path });
    return record;
  }

  /**
   * One record exactly as the service sent it.
   * @throws ApiError
   */
  async getRaw(
    resource: Resource,
    by: 'id' | 'externalIdentifier',
    value: string,
    call: Call,
  ): Promise<Record<string, unknown>> {
    const route = routes[resource];
    const infix = by === 'id' ? '/' : '/ext/';
    const facts: ErrorFacts = { host: this.host, path: `${route.path}${infix}…` };
    if (!isPathSegment(value)) throw new ApiError('not-found', facts, 'no path leads to it');
    const path = route.path + infix + encodeURIComponent(value);
    const rules = { maxAttempts, mayRetry: isRetryable };
    const request = { method: 'GET', path, facts } as const;
    return this.#send(request, call, rules, this.#parserOf(readOne, facts));
  }

  /**
   * Creates or updates the opportunity with this external identifier. Retried only if no connection could be
   * made, so that nothing is written twice.
   * @throws ApiError; if it has `outcomeUnknown`, the opportunity may or may not have been written
   */
  async upsertOpportunity(externalId: string, fields: object, call: Call): Promise<Opportunity> {
    const facts: ErrorFacts = { host: this.host, path: '/opportunity/ext/…' };
    if (!isPathSegment(externalId)) throw new ApiError('not-found', facts, 'no path leads to it');
    const path = upsertPath(externalId);
    const request: ApiRequest = { method: 'PUT', path, body: JSON.stringify(fields), facts };
    const mayRetry = (error: unknown) => isApiError(error, 'unreachable');
    const rules = { maxAttempts, mayRetry };
    const raw = await this.#send(request, call, rules, this.#parserOf(readOne, facts));
    return toRecord('opportunity', raw);
  }

  async close(): Promise<void> {
    await this.#wire.close();
    this.#unregisterKey();
  }

  /** A parser of responses, which throws ApiError. */
  #parserOf<T>(read: ReadBody<T>, facts: ErrorFacts): (response: WireResponse) => T {
    return (response) => {
      const body = parseResponse(response, facts);
      return read(body, { ...facts, status: response.status });
    };
  }

  #send<T>(
    request: ApiRequest,
    call: Call,
    rules: Pick<RetryRules, 'maxAttempts' | 'mayRetry'>,
    parse: (response: WireResponse) => T,
  ): Promise<T> {
    const { facts } = request;
    const send = (trace: Trace | undefined) => this.#wire.send({ ...request, trace }, call, facts);
    const attempt: Attempt<T> = { send, parse };
    const sendOnce = async () => {
      await call.slot?.acquire();
      return this.#interceptor.intercept(request, call, attempt);
    };
    return withRetries(sendOnce, call, { ...rules, firstDelayMs: this.#firstDelayMs });
  }
}

const isRetryable = (error: unknown): boolean => isApiError(error) && error.retryable;

/**
 * @throws ApiError (`unfamiliar`) where no record has any of the fields that its kind is read by: figures of them
 *   would all be 0
 */
export function requireRecognized(
  resource: Resource,
  records: readonly Readonly<Record<string, unknown>>[],
  facts: ErrorFacts,
): void {
  const fields = unrecognizedFields(resource, records);
  if (fields) throw new ApiError('unfamiliar', { ...facts, unknownFields: fields });
}
