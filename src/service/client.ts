import { delay } from '../state/delay.ts';
import { registerSecrets } from '../text/secrets.ts';
import type { JsonObject } from '../values.ts';
import { type Call, callMs } from './call.ts';
import { type Connections, openConnections, type WireLimits } from './connections/connections.ts';
import { type Wire, type WireRequest, type WireResponse, wireTo } from './connections/wire.ts';
import { ApiError, type ErrorFacts, isApiError, isInternalError } from './errors.ts';
import { FieldMapping, type FieldRule } from './records/mapping.ts';
import { respell } from './records/normalise.ts';
import { toRecord } from './records/recognition.ts';
import { fieldsOf, type Opportunity, type RecordOf, type Resource } from './records/records.ts';
import { parseResponse, readOne, readPage } from './response.ts';
import {
  type IdField,
  isPathSegment,
  type Page,
  type PageRequest,
  type Route,
  routes,
} from './routes.ts';

export interface ClientOptions {
  /** The tenant's address, without `/public-api`. */
  baseUrl: URL;
  key: string;
  /** Name of the offset parameter, or `none` if the service has none. */
  pageParam: string;
  /** Where fields are, if not as documented. */
  fields?: readonly FieldRule[] | undefined;
  /** Connections shared with other tenants, with their limits; default: connections of its own with `limits`. */
  connections?: Connections | undefined;
  limits?: Partial<WireLimits>;
  /** The service has not accepted the key yet. Its text is left in what others are answered: anybody can send a word. */
  isUnchecked?: true;
  /** Average delay before the first retry; the second retry waits twice as long. Default: 250. */
  firstRetryDelayMs?: number;
  traffic: Traffic;
}

/** May delay or reject every attempt of a request, and learns its outcome. */
export interface Traffic {
  /** @throws ApiError if it must not be sent now; the signal's reason when cancelled */
  begin(facts: ErrorFacts, call: Call): Promise<SentRequest>;
  ended(sent: SentRequest, attempt: Attempt): Promise<void>;
}

export interface Attempt {
  request: Pick<TypedRequest<unknown>, 'facts' | 'probesSize'>;
  call: Call;
  /** Absent if none was received. */
  response: WireResponse | undefined;
  /** Absent if the response is valid. */
  error?: unknown;
}

/** Its number, and when it was sent by `performance.now()`. */
export interface SentRequest {
  number: number;
  startedAt: number;
}

/** A request, and how its answer is read. */
interface TypedRequest<T> extends WireRequest, Pick<PageRequest, 'attempts' | 'probesSize'> {
  facts: ErrorFacts;
  /** Default: whether the error is `retryable`. */
  mayRetry?(error: ApiError): boolean;
  /** `facts` include the status. @throws ApiError */
  read(body: unknown, facts: ErrorFacts, response: WireResponse): T;
}

/** The service's API for one tenant. Each method sends one request, and retries it where that is safe. */
export class ApiClient {
  readonly host: string;
  readonly pageParam: string | undefined;
  /** Applied to every record that is read. */
  readonly fields: FieldMapping;
  readonly #wire: Wire;
  readonly #traffic: Traffic;
  readonly #firstDelayMs: number;
  readonly #unregisterKey: () => void;

  constructor(options: ClientOptions) {
    const { baseUrl, key, pageParam, limits, traffic } = options;
    const { connections = openConnections(limits) } = options;
    this.host = baseUrl.host;
    this.pageParam = pageParam === 'none' ? undefined : pageParam;
    this.fields = new FieldMapping(options.fields);
    this.#unregisterKey = registerSecrets(options.isUnchecked ? [] : [key]);
    this.#wire = wireTo(baseUrl, key, connections);
    this.#traffic = traffic;
    this.#firstDelayMs = options.firstRetryDelayMs ?? 250;
  }

  /** @throws ApiError; the signal's reason when the call was cancelled */
  async page<R extends Resource>(
    resource: R,
    query: PageRequest,
    call: Call,
  ): Promise<Page<RecordOf[R]>> {
    const route = routes[resource];
    const { probesSize, attempts } = query;
    const request: TypedRequest<Page<JsonObject>> = {
      method: 'GET',
      path: route.path + queryString(route, query, this.pageParam),
      facts: { host: this.host, path: route.path },
      probesSize,
      attempts,
      mayRetry: (error) => error.retryable && !(probesSize && isInternalError(error)),
      read: readPage,
    };
    const page: Page<JsonObject> = await this.#send(request, call).catch((error: unknown) => {
      if (!isApiError(error, 'not-found')) throw error;
      // Behind the last page.
      if (query.from) return { records: [] };
      throw new ApiError('no-route', error.facts);
    });
    const records: RecordOf[R][] = [];
    const ids = new Set<unknown>();
    for (const raw of page.records) {
      const record = toRecord(resource, this.fields.apply(resource, raw));
      // A service that joins tables may send a record twice, and count it twice.
      if (record.id !== undefined && ids.has(record.id)) continue;
      ids.add(record.id);
      records.push(record);
    }
    const isRepeated = records.length < page.records.length;
    return { ...page, ...(isRepeated && { countIsLimit: true }), records };
  }

  /** @throws ApiError */
  async getRecord<R extends Resource>(
    resource: R,
    by: IdField,
    value: string,
    call: Call,
  ): Promise<RecordOf[R]> {
    return toRecord(resource, await this.getRaw(resource, by, value, call));
  }

  /**
   * One record as the service sent it, with fields where they are documented to be.
   * @throws ApiError
   */
  async getRaw(resource: Resource, by: IdField, value: string, call: Call): Promise<JsonObject> {
    const request = this.#requestOfOne(resource, by, value);
    const raw = this.fields.apply(resource, await this.#send(request, call));
    respell(raw, fieldsOf[resource]);
    if (isOther(raw, by, value)) throw new ApiError('not-found', request.facts, 'another was sent');
    return raw;
  }

  /**
   * Creates or updates the opportunity with this external identifier. Retried only if no connection could be
   * made, so that nothing is written twice.
   * @throws ApiError; if it has `outcomeUnknown`, the opportunity may or may not have been written
   */
  async upsertOpportunity(externalId: string, fields: object, call: Call): Promise<Opportunity> {
    const request: TypedRequest<JsonObject> = {
      ...this.#requestOfOne('opportunity', 'externalIdentifier', externalId),
      method: 'PUT',
      body: JSON.stringify(fields),
      mayRetry: (error) => isApiError(error, 'unreachable'),
    };
    const raw = await this.#send(request, call).catch((error: unknown) => {
      const isStored = isApiError(error, 'not-found') && Number(error.facts.status) < 300;
      throw isStored ? new ApiError('unexpected', { ...error.facts, problem: 'empty' }) : error;
    });
    return toRecord('opportunity', this.fields.apply('opportunity', raw));
  }

  #requestOfOne(resource: Resource, by: IdField, value: string): TypedRequest<JsonObject> {
    const path = routes[resource].path + (by === 'id' ? '/' : '/ext/');
    const facts: ErrorFacts = { host: this.host, path: `${path}…` };
    if (!isPathSegment(value)) throw new ApiError('not-found', facts, 'no path leads to it');
    const url = path + encodeURIComponent(value);
    return { method: 'GET', path: url, facts, read: readOne };
  }

  async close(): Promise<void> {
    await this.#wire.close();
    this.#unregisterKey();
  }

  /** @throws what the last attempt threw; the signal's reason when the call was cancelled */
  async #send<T>(request: TypedRequest<T>, call: Call): Promise<T> {
    const { facts, attempts = 3, mayRetry = ({ retryable }) => retryable } = request;
    for (let number = 1; ; number++) {
      // What is rejected here is not retried: it would be rejected again at once.
      const sent = await this.#traffic.begin(facts, call);
      let response: WireResponse | undefined;
      let value: T;
      try {
        response = await this.#wire.send(request, call, facts);
        const known = { ...facts, status: response.status };
        value = request.read(parseResponse(response, known), known, response);
      } catch (error) {
        await this.#traffic.ended(sent, { request, call, response, error });
        if (!isApiError(error)) throw error;
        const wait = retryDelay(number, error, this.#firstDelayMs);
        // No call takes longer, whatever its deadline says after the clock was set back.
        const inTime = wait < callMs && Date.now() + wait < call.deadline;
        if (number === attempts || !inTime || !mayRetry(error)) throw error;
        await delay(wait, call.signal);
        continue;
      }
      await this.#traffic.ended(sent, { request, call, response });
      return value;
    }
  }
}

/** Whether nothing in a record is what it was asked by: some services answer with another one. */
function isOther(record: JsonObject, by: IdField, asked: string): boolean {
  const isAsked = (value: unknown) => String(value).toLowerCase() === asked.toLowerCase();
  const named = by === 'id' ? (record.id ?? record._id) : record.externalIdentifier;
  return ['string', 'number'].includes(typeof named) && !Object.values(record).some(isAsked);
}

/** The query of a page of a route. `pageParam` is the name of the offset parameter in the settings. */
function queryString(
  { parameters }: Route,
  query: PageRequest,
  pageParam: string | undefined,
): string {
  const search = new URLSearchParams();
  if (query.size !== undefined) search.set('size', String(query.size));
  const { from = 0 } = query;
  if (from > 0 && pageParam !== undefined) search.set(pageParam, String(from));
  for (const name of parameters) {
    const value = query[name];
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  return search.size === 0 ? '' : `?${search}`;
}

/** Exponential backoff with jitter, or the delay that the service asks for. In milliseconds. */
function retryDelay(attempt: number, error: ApiError, firstDelayMs: number): number {
  const jitter = 0.5 + Math.random();
  const isRateLimit = isApiError(error, 'rate-limited');
  const requested =
    isRateLimit || isApiError(error, 'server-error') ? error.facts.seconds : undefined;
  if (requested !== undefined) return requested * 1000 + jitter * 100;
  return (isRateLimit ? 4 * firstDelayMs : firstDelayMs) * 2 ** (attempt - 1) * jitter;
}
