import { type Opportunity, type RecordOf, type Resource, toRecord } from '../records/records.ts';
import { delay } from '../state/delay.ts';
import type { RateWindow } from '../state/port.ts';
import { type BudgetSettings, defaultBudget, RateBudget, type Taken } from './budget.ts';
import type { Call } from './call.ts';
import { Circuit, type CircuitSettings } from './circuit.ts';
import { type RawRecord, readOne, readPage } from './envelope.ts';
import { ApiError, type ErrorFacts, isApiError } from './errors.ts';
import { requireFamiliar } from './familiar.ts';
import { type Observer, requestOutcome } from './observer.ts';
import { answeredAt, header, parseResponse, withoutLongKey } from './reply.ts';
import { isPathSegment, type Route, routes, upsertPath } from './routes.ts';
import {
  defaultLimits,
  Wire,
  type WireLimits,
  type WireRequest,
  type WireResponse,
} from './wire.ts';

export interface ClientOptions {
  /** The tenant's address, without `/public-api`. */
  baseUrl: URL;
  key: string;
  /** Name of the offset parameter, or `none` if the service has none. */
  pageParam: string;
  rates: RateWindow;
  /** Identifies the rate budget: clients with the same name share it. */
  budgetName: string;
  budget?: BudgetSettings;
  limits?: Partial<WireLimits>;
  circuit?: Partial<CircuitSettings>;
  /** Average delay before the first retry; the second retry waits twice as long. */
  firstRetryDelayMs?: number;
  /** Notified of every request. */
  observer?: Observer | undefined;
  /** Called for every response, with the error of a failed one. `path` is as in `ErrorFacts`. */
  onAnswer?: ((path: string, refusal: ApiError | undefined, call: Call) => void) | undefined;
}

export interface PageQuery extends Search {
  size: number;
  /** 0-based offset of the first record. */
  from?: number | undefined;
}

/** A page in the service's own terms. */
export interface PageRequest extends Search {
  /** Left out where the service refuses it. */
  size?: number | undefined;
  /** What the offset parameter says; left out where it is 0. */
  from?: number | undefined;
  /** Name of the offset parameter where it is not the one of the settings. */
  offsetName?: string | undefined;
  /** Asked to find out whether the service takes so large a size: a 500 is not retried, and no sign of an outage. */
  probesSize?: boolean;
  /** How often it is sent at most; 3 where this is left out. */
  attempts?: number;
}

/** What is asked for of a route, whatever the page. */
export interface Search {
  query?: string | undefined;
  /** `key:v1|v2,key2:v` (comma is and, pipe is or). */
  filters?: string | undefined;
  /** `-field,+field`. */
  sort?: string | undefined;
  includeBundles?: boolean | undefined;
  includeEmpty?: boolean | undefined;
}

export interface Page<R> {
  records: R[];
  /** Number of all matches, if the service counts them. */
  total?: number;
  /** `total` is as far as the service looks: there are more. */
  countIsLimit?: boolean;
  /** The field that held the count, such as `meta.total`. */
  countedIn?: string;
  /** The service refuses a size: it decides how many records a page has. */
  withoutSize?: boolean;
  facets?: unknown;
  /** Time of the response by the service's clock, in milliseconds since the epoch. */
  answeredAt?: number;
}

type ClientRequest = WireRequest & Pick<PageRequest, 'probesSize' | 'attempts'>;
type ParseBody<T> = (body: unknown, response: WireResponse) => T;

const maxAttempts = 3;
const defaultFirstRetryDelayMs = 250;

/**
 * The service's API for one tenant. Each method sends one request, retries it where that is safe, and counts it
 * in the tenant's rate budget.
 */
export class ApiClient {
  readonly host: string;
  readonly pageParam: string | undefined;
  readonly budget: RateBudget;
  readonly observer: Observer | undefined;
  readonly #key: string;
  readonly #wire: Wire;
  readonly #circuit: Circuit;
  readonly #firstRetryDelayMs: number;
  readonly #onAnswer: ClientOptions['onAnswer'];
  readonly #unregisterGauges: (() => void) | undefined;

  constructor(options: ClientOptions) {
    this.host = options.baseUrl.host;
    this.pageParam = options.pageParam === 'none' ? undefined : options.pageParam;
    this.budget = new RateBudget(
      options.rates,
      options.budgetName,
      options.budget ?? defaultBudget,
    );
    this.#key = options.key;
    this.#circuit = new Circuit(options.circuit);
    this.#firstRetryDelayMs = options.firstRetryDelayMs ?? defaultFirstRetryDelayMs;
    const base = new URL(
      `${options.baseUrl.pathname}/public-api`.replace(/\/+/g, '/'),
      options.baseUrl,
    );
    this.#wire = new Wire(base, options.key, { ...defaultLimits, ...options.limits });
    this.observer = options.observer;
    this.#onAnswer = options.onAnswer;
    const remainingBudget = async () => (await this.budget.peek()).remaining;
    this.#unregisterGauges = this.observer?.registerGauges({ remainingBudget });
  }

  /** Replaces the key in a text, or in all texts of a nested value. */
  withoutKey<T>(value: T): T {
    return withoutLongKey(value, this.#key);
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
    const path = route.path + this.#queryString(route, query);
    const read = (body: unknown, response: WireResponse): Page<RawRecord> => {
      const at = answeredAt(response);
      const page = readPage(body, facts);
      return at === undefined ? page : { ...page, answeredAt: at };
    };
    const { probesSize = false, attempts = maxAttempts } = query;
    const options = { probesSize, attempts };
    const raw = await this.#get(path, call, facts, read, options).catch((error: unknown) => {
      throw isApiError(error, 'not-found') ? new ApiError('no-route', error.facts) : error;
    });
    const records = raw.records.map((record) => toRecord(resource, record));
    requireFamiliar(resource, records, facts);
    return { ...raw, records };
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
    const route = routes[resource];
    const infix = by === 'id' ? '/' : '/ext/';
    const facts: ErrorFacts = { host: this.host, path: `${route.path}${infix}…` };
    if (!isPathSegment(value)) throw new ApiError('not-found', facts, 'no path leads to it');
    const path = route.path + infix + encodeURIComponent(value);
    const raw = await this.#get(path, call, facts, (body) => readOne(body, facts));
    const record = toRecord(resource, raw);
    requireFamiliar(resource, [record], facts);
    return record;
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
    const request: WireRequest = { method: 'PUT', path, body: JSON.stringify(fields) };
    const read = (body: unknown) => readOne(body, facts);
    const mayRetry = (error: unknown) => isApiError(error, 'unreachable');
    return toRecord('opportunity', await this.#withRetries(request, call, facts, read, mayRetry));
  }

  close(): Promise<void> {
    this.#unregisterGauges?.();
    return this.#wire.close();
  }

  #get<T>(
    path: string,
    call: Call,
    facts: ErrorFacts,
    read: ParseBody<T>,
    options: Pick<PageRequest, 'probesSize' | 'attempts'> = {},
  ): Promise<T> {
    const mayRetry = (error: unknown) =>
      isApiError(error) && error.retryable && !(options.probesSize && isInternalError(error));
    const request = { method: 'GET', path, ...options } as const;
    return this.#withRetries(request, call, facts, read, mayRetry);
  }

  async #withRetries<T>(
    request: ClientRequest,
    call: Call,
    facts: ErrorFacts,
    read: ParseBody<T>,
    mayRetry: (error: unknown) => boolean,
  ): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(request, call, facts, read);
      } catch (error) {
        const wait = retryDelay(attempt, error, this.#firstRetryDelayMs);
        const inTime = Date.now() + wait < call.deadline;
        // An immediate retry would be rejected locally again.
        const isLocal = isApiError(error, 'circuit-open', 'budget-spent');
        if (isLocal)
          this.observer?.onRejected(error.kind === 'circuit-open' ? 'circuit' : 'budget');
        if (attempt === (request.attempts ?? maxAttempts) || !inTime || !mayRetry(error) || isLocal)
          throw error;
        await delay(wait, call.signal);
      }
    }
  }

  async #attempt<T>(
    { probesSize = false, attempts: _, ...request }: ClientRequest,
    call: Call,
    facts: ErrorFacts,
    read: ParseBody<T>,
  ): Promise<T> {
    const isProbe = this.#circuit.check(facts);
    try {
      if (isExpired(call)) throw new ApiError('timed-out', facts, 'the deadline has passed');
      const taken = await this.budget.take(call, facts);
      return await this.#observed(request, call, facts, async (observation) => {
        const response = await this.#send(observation, taken, call, facts);
        const body = parseResponse(response, this.#key, facts);
        this.#circuit.succeeded();
        this.#onAnswer?.(facts.path ?? '', undefined, call);
        return { value: read(body, response), status: response.status };
      });
    } catch (error) {
      await this.#recordFailure(error, call, isProbe, probesSize);
      throw error;
    }
  }

  /** Notifies the observer, which may start a span for the request. */
  async #observed<T>(
    request: WireRequest,
    call: Call,
    { host, path = '' }: ErrorFacts,
    send: (request: WireRequest) => Promise<{ value: T; status: number }>,
  ): Promise<T> {
    const { trace } = call;
    const observation = this.observer?.onRequest({ method: request.method, host, path }, trace);
    try {
      const { value, status } = await send({ ...request, trace: observation?.trace ?? trace });
      observation?.end('2xx', status);
      return value;
    } catch (error) {
      const { status } = isApiError(error) ? error.facts : {};
      observation?.end(call.signal.aborted ? 'cancelled' : requestOutcome(error), status);
      throw error;
    }
  }

  async #send(
    request: WireRequest,
    taken: Taken,
    call: Call,
    facts: ErrorFacts,
  ): Promise<WireResponse> {
    try {
      const response = await this.#wire.send(request, call, facts);
      const remaining = headerNumber(response, 'x-ratelimit-remaining');
      const limit = headerNumber(response, 'x-ratelimit-limit');
      if (remaining !== undefined) await this.budget.correct(taken, remaining, limit);
      return response;
    } finally {
      this.budget.ended(taken);
    }
  }

  async #recordFailure(
    error: unknown,
    call: Call,
    isProbe: boolean,
    probesSize: boolean,
  ): Promise<void> {
    if (probesSize && isInternalError(error)) {
      this.#circuit.noResponse(isProbe);
      return;
    }
    const isDown =
      isApiError(error, 'server-error', 'connection-lost', 'unreachable') ||
      (isApiError(error, 'timed-out') && !isExpired(call));
    if (isDown) this.#circuit.failed(isProbe);
    else if (isApiError(error) && error.facts.status !== undefined) {
      this.#circuit.succeeded();
      this.#onAnswer?.(error.facts.path ?? '', error, call);
    } else this.#circuit.noResponse(isProbe);
    if (isApiError(error, 'rate-limited') && error.facts.seconds !== undefined) {
      await this.budget.block(error.facts.seconds);
    }
  }

  #queryString(route: Route, query: PageRequest): string {
    const search = new URLSearchParams();
    if (query.size !== undefined) search.set('size', String(query.size));
    const { from, offsetName = this.pageParam } = query;
    if (from !== undefined && from > 0 && offsetName !== undefined) {
      search.set(offsetName, String(from));
    }
    for (const name of route.parameters) {
      const value = query[name];
      if (value !== undefined && value !== '') search.set(name, String(value));
    }
    return search.size === 0 ? '' : `?${search}`;
  }
}

function headerNumber(response: WireResponse, name: string): number | undefined {
  const text = header(response, name)?.trim() ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Some services answer a too large `size` with status 500. */
export const isInternalError = (error: unknown): error is ApiError<'server-error'> =>
  isApiError(error, 'server-error') && error.facts.status === 500;

/** After its deadline a call does not show whether the service works. */
const isExpired = (call: Call): boolean => Date.now() >= call.deadline;

/** Exponential backoff with jitter, or the delay that the service asks for. In milliseconds. */
function retryDelay(attempt: number, error: unknown, firstRetryDelayMs: number): number {
  const jitter = 0.5 + Math.random();
  const requested = isApiError(error, 'rate-limited', 'server-error')
    ? error.facts.seconds
    : undefined;
  if (requested !== undefined) return requested * 1000 + jitter * 100;
  const firstMs = isApiError(error, 'rate-limited') ? 4 * firstRetryDelayMs : firstRetryDelayMs;
  return firstMs * 2 ** (attempt - 1) * jitter;
}
