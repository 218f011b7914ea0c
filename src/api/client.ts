import { delay } from '../state/delay.ts';
import type { RateWindow } from '../state/port.ts';
import { type BudgetSettings, defaultBudget, RateBudget, type Taken } from './budget.ts';
import type { Call } from './call.ts';
import { Circuit, type CircuitSettings } from './circuit.ts';
import { type RawRecord, readOne, readPage } from './envelope.ts';
import { ApiError, type ErrorFacts, isApiError } from './errors.ts';
import { type Observer, requestOutcome } from './observer.ts';
import { type Opportunity, type RecordOf, type Resource, toRecord } from './records.ts';
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
  /** Name of the offset parameter, or `none` where the service has none. */
  pageParam: string;
  rates: RateWindow;
  /** What the rate budget is counted under: the same for all that share it. */
  budgetName: string;
  budget?: BudgetSettings;
  limits?: Partial<WireLimits>;
  circuit?: Partial<CircuitSettings>;
  /** About so long after the first failure it is tried again; twice that after the second. */
  firstRetryDelayMs?: number;
  /** Is told of every request. */
  observer?: Observer | undefined;
  /** Is told of every answer of the service, and what it refused; `path` is as in `Facts`. */
  onAnswer?: ((path: string, refusal: ApiError | undefined, call: Call) => void) | undefined;
}

export interface PageQuery {
  size: number;
  /** 0-based offset of the first record. */
  from?: number | undefined;
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
  /** All matches, where the service counts them. */
  total?: number;
  facets?: unknown;
  /** When the service sent it, by its own clock, in milliseconds since the epoch. */
  answeredAt?: number;
}

type ParseBody<T> = (body: unknown, response: WireResponse) => T;

const maxAttempts = 3;
const defaultFirstRetryDelayMs = 250;

/**
 * The service's API for one tenant: one request a method, retried where that is harmless, within the
 * tenant's rate budget.
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
    const budgetLeft = async () => (await this.budget.peek()).remaining;
    this.#unregisterGauges = this.observer?.registerGauges({ remainingBudget: budgetLeft });
  }

  /** A text, or texts however nested, without the key. */
  withoutKey<T>(value: T): T {
    return withoutLongKey(value, this.#key);
  }

  /**
   * One page, as the service pages.
   * @throws ApiError; the signal's reason when the call was cancelled
   */
  async page<R extends Resource>(
    resource: R,
    query: PageQuery,
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
    const raw = await this.#get(path, call, facts, read).catch((error: unknown) => {
      throw isApiError(error, 'not-found') ? new ApiError('no-route', error.facts) : error;
    });
    for (const record of raw.records) toRecord(resource, record);
    return raw as Page<RecordOf[R]>;
  }

  /**
   * One record, by the service's id or by external identifier where the route has it.
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
    return toRecord(resource, raw);
  }

  /**
   * Creates or updates the opportunity of that external identifier. Sent once: only a request that
   * provably never left is sent again.
   * @throws ApiError; after those with `outcomeUnknown` nobody knows whether it was written
   */
  async upsertOpportunity(externalId: string, fields: object, call: Call): Promise<Opportunity> {
    const facts: ErrorFacts = { host: this.host, path: '/opportunity/ext/…' };
    if (!isPathSegment(externalId)) throw new ApiError('not-found', facts, 'no path leads to it');
    const path = upsertPath(externalId);
    const request: WireRequest = { method: 'PUT', path, body: JSON.stringify(fields) };
    const read = (body: unknown) => readOne(body, facts);
    const again = (error: unknown) => isApiError(error, 'unreachable');
    return toRecord('opportunity', await this.#retried(request, call, facts, read, again));
  }

  close(): Promise<void> {
    this.#unregisterGauges?.();
    return this.#wire.close();
  }

  #get<T>(path: string, call: Call, facts: ErrorFacts, read: ParseBody<T>): Promise<T> {
    const again = (error: unknown) => isApiError(error) && error.retryable;
    return this.#retried({ method: 'GET', path }, call, facts, read, again);
  }

  async #retried<T>(
    request: WireRequest,
    call: Call,
    facts: ErrorFacts,
    read: ParseBody<T>,
    again: (error: unknown) => boolean,
  ): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(request, call, facts, read);
      } catch (error) {
        const wait = retryDelay(attempt, error, this.#firstRetryDelayMs);
        const inTime = Date.now() + wait < call.deadline;
        // Told by our own circuit or count: asking again at once would be told the same.
        const isOurs = isApiError(error, 'circuit-open', 'budget-spent');
        if (isOurs) this.observer?.onRejected(error.kind === 'circuit-open' ? 'circuit' : 'budget');
        if (attempt === maxAttempts || !inTime || !again(error) || isOurs) throw error;
        await delay(wait, call.signal);
      }
    }
  }

  async #once<T>(
    request: WireRequest,
    call: Call,
    facts: ErrorFacts,
    read: ParseBody<T>,
  ): Promise<T> {
    const probes = this.#circuit.check(facts);
    try {
      if (isLate(call)) throw new ApiError('timed-out', facts, 'no time left');
      const taken = await this.budget.take(call, facts);
      return await this.#observed(request, call, facts, async (observation) => {
        const response = await this.#sent(observation, taken, call, facts);
        const body = parseResponse(response, this.#key, facts);
        this.#circuit.succeeded();
        this.#onAnswer?.(facts.path ?? '', undefined, call);
        return { value: read(body, response), status: response.status };
      });
    } catch (error) {
      await this.#updateBudget(error, call, probes);
      throw error;
    }
  }

  /** Before the eyes of whoever watches, who may give it a place of its own in the trace. */
  async #observed<T>(
    request: WireRequest,
    call: Call,
    { host, path = '' }: ErrorFacts,
    answered: (request: WireRequest) => Promise<{ value: T; status: number }>,
  ): Promise<T> {
    const { trace } = call;
    const observation = this.observer?.onRequest({ method: request.method, host, path }, trace);
    try {
      const { value, status } = await answered({ ...request, trace: observation?.trace ?? trace });
      observation?.end('2xx', status);
      return value;
    } catch (error) {
      const { status } = isApiError(error) ? error.facts : {};
      observation?.end(call.signal.aborted ? 'cancelled' : requestOutcome(error), status);
      throw error;
    }
  }

  async #sent(
    request: WireRequest,
    taken: Taken,
    call: Call,
    facts: ErrorFacts,
  ): Promise<WireResponse> {
    try {
      const response = await this.#wire.send(request, call, facts);
      const remaining = header(response, 'x-ratelimit-remaining')?.trim() ?? '';
      if (/^\d{1,15}$/.test(remaining)) await this.budget.correct(taken, Number(remaining));
      return response;
    } finally {
      this.budget.ended(taken);
    }
  }

  async #updateBudget(error: unknown, call: Call, probes: boolean): Promise<void> {
    const isDown =
      isApiError(error, 'server-error', 'connection-lost', 'unreachable') ||
      (isApiError(error, 'timed-out') && !isLate(call));
    if (isDown) this.#circuit.failed(probes);
    else if (isApiError(error) && error.facts.status !== undefined) {
      this.#circuit.succeeded();
      this.#onAnswer?.(error.facts.path ?? '', error, call);
    } else this.#circuit.noResponse(probes);
    if (isApiError(error, 'rate-limited') && error.facts.seconds !== undefined) {
      await this.budget.block(error.facts.seconds);
    }
  }

  #queryString(route: Route, query: PageQuery): string {
    const search = new URLSearchParams({ size: String(query.size) });
    if (query.from !== undefined && query.from > 0 && this.pageParam !== undefined) {
      search.set(this.pageParam, String(query.from));
    }
    for (const name of route.parameters) {
      const value = query[name];
      if (value !== undefined && value !== '') search.set(name, String(value));
    }
    return `?${search}`;
  }
}

/** A call that ran out of its own time says nothing about the service. */
const isLate = (call: Call): boolean => Date.now() >= call.deadline;

/** Doubling, with jitter, so that many callers do not come back in step; or what the service asked for. */
function retryDelay(attempt: number, error: unknown, firstRetryDelayMs: number): number {
  const asked = isApiError(error, 'rate-limited', 'server-error') ? error.facts.seconds : undefined;
  const jitter = 0.5 + Math.random();
  const least = isApiError(error, 'rate-limited') ? 4 * firstRetryDelayMs : firstRetryDelayMs;
  const own = least * 2 ** (attempt - 1) * jitter;
  return asked === undefined ? own : asked * 1000 + jitter * 100;
}
