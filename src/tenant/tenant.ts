import { createHash } from 'node:crypto';
import type { Call } from '../api/call.ts';
import { ApiClient, type ClientOptions, type PageQuery } from '../api/client.ts';
import { type ApiError, isApiError } from '../api/errors.ts';
import type { ApiRecord, RecordOf, Resource } from '../api/records.ts';
import { resources, routes } from '../api/routes.ts';
import type { Inbox, Journal, State, Update } from '../state/port.ts';
import type { CollectionCache } from './cache.ts';
import { interactiveCall, type ToolCall } from './call.ts';
import type { WriteRules } from './changes/write-rules.ts';
import {
  type Collection,
  Collections,
  defaultFreshness,
  type Freshness,
  readToEnd,
} from './collections.ts';
import { type Grant, intersectGrants, readGrant } from './grants.ts';
import type { Coverage } from './reading/coverage.ts';
import type { Progress } from './reading/pass.ts';
import { readCollection } from './reading/walk.ts';
import { SharedReadings } from './shared-readings.ts';

export interface TenantOptions extends Omit<ClientOptions, 'rates' | 'budgetName' | 'onAnswer'> {
  state: State;
  writeRules: WriteRules;
  grants: ReadonlySet<Grant>;
  cache: CollectionCache;
  freshness?: Freshness;
  /** Told of every collection that a call gets, whether it was read for it or held. */
  onCollection?: (resource: Resource, collection: Collection<ApiRecord>) => void;
  /**
   * Name of its entry among several tenants. Two entries share nothing that is kept, whatever their
   * address and key, and an entry keeps what is its own when its key is renewed.
   */
  name?: string | undefined;
  /** Whether the key is its caller's own: then nobody with another key sees what was kept under it. */
  ownKey?: boolean;
}

/** A stretch of a list, and what it is a stretch of. */
export interface ListPage<R> {
  records: readonly R[];
  /** Offset of the first, 0-based. */
  from: number;
  /** Everything that matches. */
  total: number;
  /** Offset of what follows, if anything does. */
  next?: number;
  coverage: Coverage & { asOf: Date };
  /** Values to filter by, where the service sends them. */
  facets?: unknown;
}

/** The key here is not allowed to do what the tool needs: the operator did not grant it. */
export class NotGranted extends Error {
  readonly kind = 'not-granted';
  readonly grant: Grant;

  constructor(grant: Grant) {
    super(`not granted: ${grant}`);
    this.grant = grant;
  }
}

/** What everyone who works with one tenant through one key shares. */
class SharedTenantState {
  readonly client: ApiClient;
  readonly collections: Collections;
  /** What was worked out from a collection, for as long as that collection is held. */
  readonly derived = new WeakMap<object, unknown>();
  /** Whether the service refused the key when it was last shown to it. */
  keyRefused = false;
  /** Collections that the key may not read, as the service said last. */
  readonly #forbidden = new Set<Resource>();
  readonly #state: State;
  readonly #namespace: string;
  readonly #identity: string;
  readonly #unsubscribe: () => void;

  constructor(options: TenantOptions, namespace: string, identity: string) {
    const { state, baseUrl, cache, freshness = defaultFreshness } = options;
    this.#state = state;
    this.#namespace = namespace;
    this.#identity = identity;
    // The budget is the tenant's, whichever of its keys draws on it.
    const budget = { rates: state.rates, budgetName: baseUrl.href };
    const onAnswer = this.#onAnswer;
    this.client = new ApiClient({ ...options, ...budget, onAnswer });
    const readings =
      state.collections && new SharedReadings(state.collections, namespace, identity);
    this.collections = new Collections(this.client, cache, freshness, readings);
    this.#unsubscribe = state.bus.subscribe(namespace, (update) => this.#onUpdate(update));
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    this.collections.close();
    await this.client.close();
  }

  /** Whether the key may read what this is about, as far as the service said. */
  mayRead({ collection }: Update): boolean {
    return !this.keyRefused && !(isResource(collection) && this.#forbidden.has(collection));
  }

  /** What is held of this collection, here or elsewhere, is no longer true, or no longer for this key. */
  publishInvalidation(update: Update): void {
    // Dropped here before this returns; others are told as soon as they can be.
    this.#state.bus.publish(this.#namespace, update).catch(() => {});
  }

  #onUpdate(update: Update | 'missed'): void {
    if (update === 'missed') {
      this.collections.invalidateAll();
      return;
    }
    if (update.keyRefused === this.#identity) this.keyRefused = true;
    if (isResource(update.collection)) this.collections.invalidate(update.collection);
  }

  /** What the service says of the key holds for what was read with it before, too. */
  readonly #onAnswer = (path: string, refusal: ApiError | undefined, { purpose }: Call): void => {
    const resource = resources.find((name) => routes[name].path === path);
    if (isApiError(refusal, 'key-refused')) this.#markKeyRefused();
    else if (refusal === undefined || isApiError(refusal, 'not-permitted')) this.keyRefused = false;
    if (resource === undefined) return;
    if (refusal === undefined) this.#forbidden.delete(resource);
    // A walk that is refused half-way keeps what it has: whoever waits for it decides.
    else if (isApiError(refusal, 'not-permitted') && purpose !== 'walk')
      this.#markForbidden(resource);
  };

  #markKeyRefused(): void {
    if (this.keyRefused) return;
    this.keyRefused = true;
    for (const collection of resources)
      this.publishInvalidation({ collection, keyRefused: this.#identity });
  }

  #markForbidden(resource: Resource): void {
    if (this.#forbidden.has(resource)) return;
    this.#forbidden.add(resource);
    this.publishInvalidation({ collection: resource });
  }
}

/** One tenant at work: an address, a key, what it may be used for, and what is known of its data. */
export class Tenant {
  readonly client: ApiClient;
  readonly grants: ReadonlySet<Grant>;
  /** Names the tenant and its key, and tells nothing of the key. */
  readonly identity: string;
  /**
   * Names everything that is kept of the tenant: the journal, the inbox, the write lock, the updates. The
   * only tenant is named by its address, an entry among several by its name and address, and a caller's
   * own key by address and key.
   */
  readonly namespace: string;
  readonly inbox: Inbox;
  readonly state: State;
  readonly writeRules: WriteRules;
  readonly journal: Journal;
  readonly #options: TenantOptions;
  readonly #shared: SharedTenantState;

  /** `shared`: of the same tenant, for somebody who may do less. */
  constructor(options: TenantOptions, shared?: SharedTenantState) {
    const { state, baseUrl, key, name, ownKey } = options;
    const address = digestOf(baseUrl.href);
    this.grants = options.grants;
    this.identity = digestOf([baseUrl.href, key, ...(name === undefined ? [] : [name])].join('\n'));
    const entry = name === undefined ? address : `${name}-${address}`;
    this.namespace = ownKey ? this.identity : entry;
    this.inbox = state.inbox(this.namespace);
    this.state = state;
    this.writeRules = options.writeRules;
    this.journal = state.journal(this.namespace);
    this.#options = options;
    this.#shared = shared ?? new SharedTenantState(options, this.namespace, this.identity);
    this.client = this.#shared.client;
  }

  /** The same tenant for somebody who may do no more than these; what was read is read for both. */
  withGrants(grants: ReadonlySet<Grant>): Tenant {
    const options = { ...this.#options, grants: intersectGrants(this.grants, grants) };
    return new Tenant(options, this.#shared);
  }

  get host(): string {
    return this.client.host;
  }

  /**
   * A stretch of a list: the service's own page where it pages, otherwise cut from the whole.
   * @throws NotGranted, ApiError
   */
  async list<R extends Resource>(
    resource: R,
    query: PageQuery,
    call: ToolCall,
  ): Promise<ListPage<RecordOf[R]>> {
    this.requireGrant(readGrant(resource));
    if (routes[resource].shape === 'paged') return this.#page(resource, query, call);
    if (query.query) return this.#search(resource, query, call);
    return sliceOf(await this.collection(resource, call), query);
  }

  /**
   * A whole collection, from memory where it is fresh.
   * @throws NotGranted, ApiError
   */
  async collection<R extends Resource>(
    resource: R,
    call: ToolCall,
  ): Promise<Collection<RecordOf[R]>> {
    this.requireGrant(readGrant(resource));
    await this.requireKey(call);
    const collection = await this.#shared.collections.read(resource, call);
    this.#options.onCollection?.(resource, collection);
    return collection;
  }

  /** Whether the service refused the key when it was last shown to it. */
  get keyRefused(): boolean {
    return this.#shared.keyRefused;
  }

  /**
   * To be called before anything that is kept is shown: a key that was refused is shown to the service again
   * first, with one small request.
   * @throws ApiError (`key-refused` among them) for as long as nobody can tell that it is good again
   */
  async requireKey(call: ToolCall): Promise<void> {
    if (!this.keyRefused) return;
    await this.client
      .page('company', { size: 1 }, interactiveCall(call))
      .catch((error: unknown) => {
        if (!isApiError(error, 'not-permitted')) throw error;
      });
  }

  /**
   * One record.
   * @throws NotGranted, NotFound, ApiError
   */
  async getRecord<R extends Resource>(
    resource: R,
    by: 'id' | 'externalIdentifier',
    value: string,
    call: ToolCall,
  ): Promise<RecordOf[R]> {
    this.requireGrant(readGrant(resource));
    return this.client.getRecord(resource, by, value, interactiveCall(call));
  }

  /** Worked out once for each reading of a collection. */
  derived<T>(from: object, work: () => T): T {
    const { derived } = this.#shared;
    if (!derived.has(from)) derived.set(from, work());
    return derived.get(from) as T;
  }

  /** What is held of this collection, here or elsewhere, is no longer true. */
  invalidate(resource: Resource): void {
    this.#shared.publishInvalidation({ collection: resource });
  }

  /** What is held of a collection in memory now, however old; nothing is read. */
  cached<R extends Resource>(resource: R): readonly RecordOf[R][] | undefined {
    return this.#shared.collections.cached(resource);
  }

  /** Calls the listener with what moves and the key may read, until the result is called. */
  onUpdate(listener: (update: Update) => void): () => void {
    return this.state.bus.subscribe(this.namespace, (update) => {
      if (update !== 'missed' && this.#shared.mayRead(update)) listener(update);
    });
  }

  /** @throws NotGranted */
  requireGrant(grant: Grant): void {
    if (!this.grants.has(grant)) throw new NotGranted(grant);
  }

  /** For everyone who works with it. */
  close(): Promise<void> {
    return this.#shared.close();
  }

  async #page<R extends Resource>(
    resource: R,
    query: PageQuery,
    call: ToolCall,
  ): Promise<ListPage<RecordOf[R]>> {
    const asOf = new Date();
    const page = await this.client.page(resource, query, interactiveCall(call));
    const from = this.client.pageParam === undefined ? 0 : (query.from ?? 0);
    // A service that ignores the size sends more than was asked for.
    const records = page.records.slice(0, query.size);
    const end = from + records.length;
    const total = Math.max(page.total ?? 0, records.length === 0 ? 0 : end);
    const more = page.total === undefined ? records.length >= query.size : end < page.total;
    const complete = from === 0 && !more && page.total !== undefined;
    const result: ListPage<RecordOf[R]> = {
      records,
      from,
      total,
      coverage: { complete, read: records.length, total, asOf },
    };
    if (!complete) result.coverage.reason = page.total === undefined ? 'not counted' : 'one page';
    if (more && records.length > 0 && this.client.pageParam !== undefined) result.next = end;
    if (page.facets !== undefined) result.facets = page.facets;
    return result;
  }

  /** A search on a route that does not say how it pages: everything that matches is read, then cut. */
  async #search<R extends Resource>(
    resource: R,
    query: PageQuery,
    call: ToolCall,
  ): Promise<ListPage<RecordOf[R]>> {
    const asOf = new Date();
    const reading = readCollection(
      this.client,
      resource,
      { query: query.query },
      interactiveCall(call),
    );
    const tell = ({ read, total }: Progress) => call.progress(read, total, resource);
    return sliceOf({ ...(await readToEnd(reading, tell)), asOf }, query);
  }
}

const digestOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 16);

const isResource = (name: string | undefined): name is Resource =>
  name !== undefined && Object.hasOwn(routes, name);

function sliceOf<R>(whole: Collection<R>, { from = 0, size }: PageQuery): ListPage<R> {
  const { total } = whole.coverage;
  const result: ListPage<R> = {
    records: whole.records.slice(from, from + size),
    from,
    total,
    coverage: { ...whole.coverage, asOf: whole.asOf },
  };
  if (from + size < whole.records.length) result.next = from + size;
  return result;
}
