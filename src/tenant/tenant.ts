import type { WriteRules } from '../changes/write-rules.ts';
import { hasUnknownItems } from '../figures/quote-totals.ts';
import type { GeneratedHistory } from '../history/generated-history.ts';
import type { PipelineHistory, QuoteHistory } from '../history/history.ts';
import { HistoryRecorder, type Recorders } from '../history/recorder.ts';
import { type ListPage, readListPage, sliceOf } from '../lists/list-page.ts';
import type { CollectionCache } from '../reading/cache.ts';
import type { Collection } from '../reading/collection.ts';
import {
  Collections,
  defaultFreshness,
  type Freshness,
  readToEnd,
} from '../reading/collections.ts';
import { DerivedResults } from '../reading/derived.ts';
import type { Progress } from '../reading/pass.ts';
import { QuoteItems } from '../reading/quote-items.ts';
import { RecentSearches } from '../reading/recent-searches.ts';
import { ReferencedCompanies } from '../reading/referenced-companies.ts';
import { ServicePages, searchText } from '../reading/service-pages.ts';
import { ServiceProfile } from '../reading/service-profile.ts';
import { SharedReadings } from '../reading/shared-readings.ts';
import { readCollection } from '../reading/walk.ts';
import type { Call } from '../service/call.ts';
import { ApiClient, type ClientOptions } from '../service/client.ts';
import { type ApiError, ignoreApiError, isApiError } from '../service/errors.ts';
import type { PageQuery, Search } from '../service/page.ts';
import type { ApiRecord, Quote, RecordOf, Resource } from '../service/records/records.ts';
import { resources, routes } from '../service/routes.ts';
import { TrafficControl, type TrafficOptions } from '../service/traffic/traffic-control.ts';
import type { Inbox, Journal, State, Update } from '../state/port.ts';
import { shortHash } from '../state/short-hash.ts';
import { interactiveCall, readingCall, type ToolCall } from './call.ts';
import { type Grant, intersectGrants, readGrant } from './grants.ts';
import { describeUnrecognized } from './unrecognized.ts';

export interface TenantOptions
  extends Omit<ClientOptions, 'interceptor'>,
    Omit<TrafficOptions, 'rates' | 'budgetName' | 'onResponse'> {
  state: State;
  writeRules: WriteRules;
  grants: ReadonlySet<Grant>;
  cache: CollectionCache;
  freshness?: Freshness;
  history?: HistoryOptions;
  /** Called when a collection alone is larger than the cache: it is then kept compressed. */
  onTooLarge?: (resource: Resource, bytes: number) => void;
  /** Called for every collection that is returned, read or cached. */
  onCollection?: (resource: Resource, collection: Collection<ApiRecord>) => void;
  /**
   * Name of the tenant if there are several. Tenants of different names share no state, even with the same address
   * and key; a tenant keeps its state when its key is replaced.
   */
  name?: string | undefined;
  /** True if callers bring their own keys: state is then separate for each key. */
  ownKey?: boolean;
}

interface HistoryOptions {
  /** Days for which snapshots are kept; 0 keeps none. */
  keepDays: number;
  /** Of the embedded tenant; then no snapshots are made. */
  generated?: GeneratedHistory | undefined;
  /** Called when a snapshot could not be stored. */
  onError(error: unknown): void;
}

/** Of a record in memory that is a copy of another with some fields replaced; measured, and rounded up. */
const bytesOfCopy = 400;

/** The operator has not granted what the tool needs. */
export class NotGranted extends Error {
  readonly kind = 'not-granted';
  readonly grant: Grant;

  constructor(grant: Grant) {
    super(`not granted: ${grant}`);
    this.grant = grant;
  }
}

/** State shared by all callers of a tenant that use the same key. */
class SharedTenantState {
  readonly client: ApiClient;
  readonly profile: ServiceProfile;
  readonly pages: ServicePages;
  readonly items: QuoteItems;
  readonly companies: ReferencedCompanies;
  readonly collections: Collections;
  readonly derived: DerivedResults;
  readonly searches: RecentSearches;
  readonly #recorders: Recorders | undefined;
  /** True if the service refused the key in its last response. */
  keyRefused = false;
  /** Collections that the key may not read, by the service's last response for each. */
  readonly #forbidden = new Set<Resource>();
  readonly #state: State;
  readonly #namespace: string;
  readonly #identity: string;
  readonly #unsubscribe: () => void;
  readonly #unregisterGauges: (() => void) | undefined;

  constructor(options: TenantOptions, namespace: string, identity: string) {
    const { state, baseUrl, cache, freshness = defaultFreshness } = options;
    this.#state = state;
    this.searches = new RecentSearches(cache);
    this.derived = new DerivedResults((readings, bytes) => cache.countDerived(readings, bytes));
    this.#namespace = namespace;
    this.#identity = identity;
    // All keys of a tenant share one budget.
    const budget = { rates: state.rates, budgetName: baseUrl.href };
    const traffic = new TrafficControl({ ...options, ...budget, onResponse: this.#onResponse });
    this.client = new ApiClient({ ...options, interceptor: traffic });
    const shared = state.collections && new SharedReadings(state.collections, namespace, identity);
    this.profile = new ServiceProfile(this.client.pageParam, state.profile(namespace));
    this.pages = new ServicePages(this.client, this.profile);
    const readQuote = (id: string, call: Call) => this.client.getRecord('quote', 'id', id, call);
    this.items = new QuoteItems(this.pages, readQuote, cache);
    this.companies = new ReferencedCompanies(this.client, this.pages);
    const { client, pages, items } = this;
    const { onTooLarge } = options;
    const sources = { host: client.host, pages, items, cache, freshness, shared, onTooLarge };
    this.collections = new Collections(sources);
    this.#unsubscribe = state.bus.subscribe(namespace, (update) => this.#onUpdate(update));
    this.#unregisterGauges = options.observer?.registerGauges({
      remainingBudget: async () => (await traffic.budget.peek()).remaining,
      cachedCollections: () => this.collections.cacheTimes(),
      largeCollections: () => this.collections.tooLarge(),
    });
    this.#recorders = this.#startRecorders(options.history);
  }

  /** A generated history needs no snapshots. */
  #startRecorders(history: HistoryOptions | undefined): Recorders | undefined {
    if (!history || history.keepDays === 0 || history.generated) return undefined;
    const { onError } = history;
    return {
      opportunity: new HistoryRecorder(async () => (await this.#stored(history)).pipeline, onError),
      quote: new HistoryRecorder(async () => {
        const { quotes } = await this.#stored(history);
        // Items may have been read since.
        const save = async (records: readonly Quote[], takenAt: Date) =>
          quotes.save(await this.withKnownItems(records), takenAt);
        return { save };
      }, onError),
    };
  }

  /** The past of the pipeline and of the quotes; `undefined` if no history is kept. */
  async histories(
    options: HistoryOptions | undefined,
  ): Promise<{ pipeline: PipelineHistory; quotes: QuoteHistory } | undefined> {
    if (!options || options.keepDays === 0) return undefined;
    const { generated } = options;
    if (!generated) return this.#stored(options);
    const { generatedPipeline, generatedQuotes } = await import('../history/generated-history.ts');
    return { pipeline: generatedPipeline(generated), quotes: generatedQuotes(generated) };
  }

  /** Loaded when it is first used, because a start does not need it. */
  async #stored({ keepDays }: HistoryOptions) {
    const { StoredHistory, StoredQuoteHistory } = await import('../history/history.ts');
    const store = this.#state.snapshots(this.#namespace);
    return {
      pipeline: new StoredHistory(store, keepDays),
      quotes: new StoredQuoteHistory(store, keepDays),
    };
  }

  /** The quotes, with the items that were read by id since. */
  withKnownItems(quotes: readonly Quote[]): Promise<readonly Quote[]> {
    return this.derived.version(
      [quotes],
      `items ${this.items.version}`,
      async () => {
        if (!quotes.some(hasUnknownItems)) return quotes;
        return quotes.map((quote) => this.items.withKnownItems(quote));
      },
      ({ length }) => length * bytesOfCopy,
    );
  }

  /** Notes a collection that was read, for the history. */
  onRead(resource: Resource, collection: Collection<ApiRecord>): void {
    if (resource === 'opportunity') this.#recorders?.opportunity.note(collection);
    if (resource === 'quote') this.#recorders?.quote.note(collection);
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    this.#unregisterGauges?.();
    await this.#recorders?.opportunity.flush();
    await this.#recorders?.quote.flush();
    this.collections.close();
    this.searches.clear();
    this.items.clear();
    await this.profile.saved();
    await this.client.close();
  }

  /** True if the service has not refused the key, or this key's access to the collection. */
  mayRead({ collection }: Update): boolean {
    return !this.keyRefused && !(isResource(collection) && this.#forbidden.has(collection));
  }

  /** Invalidates the cached collection in all processes. */
  publishInvalidation(update: Update): void {
    // Local listeners run synchronously; a failed publication is repeated after the reconnect.
    this.#state.bus.publish(this.#namespace, update).catch(() => {});
  }

  clearCaches(): void {
    this.searches.clear();
    this.companies.clear();
    this.collections.invalidateAll();
  }

  #onUpdate(update: Update | 'missed'): void {
    if (update === 'missed') {
      this.clearCaches();
      return;
    }
    if (update.keyRefused === this.#identity) this.keyRefused = true;
    this.searches.clear();
    if (update.collection === 'company') this.companies.clear();
    if (isResource(update.collection)) this.collections.invalidate(update.collection);
  }

  /** A refused key or collection also invalidates what was read before. */
  readonly #onResponse = (path: string, refusal: ApiError | undefined, { purpose }: Call): void => {
    const resource = resources.find((name) => routes[name].path === path);
    if (isApiError(refusal, 'key-refused')) this.#markKeyRefused();
    else if (refusal === undefined || isApiError(refusal, 'not-permitted')) this.keyRefused = false;
    if (resource === undefined) return;
    if (refusal === undefined) this.#forbidden.delete(resource);
    // A walk that is refused half-way returns its part, so the collection is not invalidated.
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

/** A tenant: its address, key, grants, cached data and state. */
export class Tenant {
  readonly client: ApiClient;
  /** The service's pages, independent of how it pages. */
  readonly pages: ServicePages;
  readonly grants: ReadonlySet<Grant>;
  /** Hash of the tenant's address, key and name. */
  readonly identity: string;
  /**
   * Identifies the tenant's state: journal, inbox, write lock and updates. Derived from the address; with several
   * tenants from name and address; for a caller's own key from address and key.
   */
  readonly namespace: string;
  readonly inbox: Inbox;
  readonly state: State;
  readonly writeRules: WriteRules;
  readonly journal: Journal;
  readonly #options: TenantOptions;
  readonly #shared: SharedTenantState;

  /** `shared` is the state of the same tenant with other grants. */
  constructor(options: TenantOptions, shared?: SharedTenantState) {
    const { state, baseUrl, key, name, ownKey } = options;
    this.grants = options.grants;
    this.identity = shortHash(
      [baseUrl.href, key, ...(name === undefined ? [] : [name])].join('\n'),
    );
    this.namespace = ownKey ? this.identity : namespaceOf(baseUrl, name);
    this.inbox = state.inbox(this.namespace);
    this.state = state;
    this.writeRules = options.writeRules;
    this.journal = state.journal(this.namespace);
    this.#options = options;
    this.#shared = shared ?? new SharedTenantState(options, this.namespace, this.identity);
    this.client = this.#shared.client;
    this.pages = this.#shared.pages;
  }

  /** The same tenant with its grants limited to these. Both share client and cache. */
  withGrants(grants: ReadonlySet<Grant>): Tenant {
    const options = { ...this.#options, grants: intersectGrants(this.grants, grants) };
    return new Tenant(options, this.#shared);
  }

  get host(): string {
    return this.client.host;
  }

  /**
   * A page of a list: the service's own page, or a slice of the whole list if the route is not paged.
   * @throws NotGranted, ApiError
   */
  async list<R extends Resource>(
    resource: R,
    query: PageQuery,
    call: ToolCall,
  ): Promise<ListPage<RecordOf[R]>> {
    this.requireGrant(readGrant(resource));
    const page =
      routes[resource].shape === 'paged'
        ? await this.#page(resource, query, call)
        : sliceOf(await this.#matches(resource, query, call), query);
    const notes = describeUnrecognized(resource, page.records);
    return notes.length === 0 ? page : { ...page, notes: [...notes, ...(page.notes ?? [])] };
  }

  /** All records that a page is a slice of, where the service has no pages. */
  #matches<R extends Resource>(
    resource: R,
    { query }: PageQuery,
    call: ToolCall,
  ): Promise<Collection<RecordOf[R]>> {
    return query ? this.#readSearch(resource, { query }, call) : this.collection(resource, call);
  }

  /**
   * A whole collection, from the cache if it is fresh.
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
    this.#shared.onRead(resource, collection);
    if (resource !== 'quote') return collection;
    const records = await this.#shared.withKnownItems(collection.records);
    return records === collection.records
      ? collection
      : { ...collection, records: records as readonly RecordOf[R][] };
  }

  /** True if the service refused the key in its last response. */
  get keyRefused(): boolean {
    return this.#shared.keyRefused;
  }

  /**
   * Must be called before stored data is returned. If the key was refused, checks it again with one small request.
   * @throws ApiError (such as `key-refused`) until the service accepts the key again
   */
  async requireKey(call: ToolCall): Promise<void> {
    if (!this.keyRefused) return;
    await this.client
      .page('company', { size: 1 }, interactiveCall(call))
      .catch(ignoreApiError('not-permitted'));
  }

  /**
   * One record.
   * @throws NotGranted, ApiError
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

  /**
   * Reads the items of the wanted quotes that the service's lists leave out, as far as budget and time allow.
   * @returns all the quotes with these items, and how many of the wanted have unknown items still
   * @throws NotGranted; the signal's reason when the call was cancelled
   */
  async completeItems(
    quotes: readonly Quote[],
    wanted: readonly Quote[],
    call: ToolCall,
  ): Promise<{ quotes: readonly Quote[]; missing: number }> {
    this.requireGrant('quote:read');
    return this.#shared.items.complete(quotes, wanted, readingCall(call));
  }

  /**
   * The companies that a page of a list refers to, as far as a few requests can read them; `undefined` if companies may
   * not be read.
   * @throws ApiError if the key is refused
   */
  async referencedCompanies(
    ids: readonly string[],
    call: ToolCall,
  ): Promise<ReferencedCompanies | undefined> {
    if (!this.grants.has('company:read')) return undefined;
    await this.#shared.companies.read(ids, interactiveCall(call));
    return this.#shared.companies;
  }

  /** Another version of the records of the first reading, made once for these readings. */
  version<R extends object>(
    readings: readonly [readonly R[], ...(object | undefined)[]],
    name: string,
    work: () => Promise<readonly R[]>,
  ): Promise<readonly R[]> {
    const bytesOf = ({ length }: readonly R[]) => length * bytesOfCopy;
    return this.#shared.derived.version(readings, name, work, bytesOf);
  }

  /**
   * Computes a value once for each reading of these collections; `name` says which of their values, `bytesOf` how much
   * memory it takes where that counts.
   */
  derived<T>(
    from: readonly (object | undefined)[],
    name: string,
    work: () => T,
    bytesOf?: (result: Awaited<T>) => number,
  ): T {
    return this.#shared.derived.get(from, name, work, bytesOf);
  }

  /** The past of the pipeline; `undefined` if none is kept. */
  async history(): Promise<PipelineHistory | undefined> {
    return (await this.#shared.histories(this.#options.history))?.pipeline;
  }

  /** The past of the quotes; `undefined` if none is kept. */
  async quoteHistory(): Promise<QuoteHistory | undefined> {
    return (await this.#shared.histories(this.#options.history))?.quotes;
  }

  /** Invalidates the cached collection in all processes. */
  invalidate(resource: Resource): void {
    this.#shared.publishInvalidation({ collection: resource });
  }

  /** The cached records of a collection that may be read, of any age. Reads nothing. */
  cached<R extends Resource>(resource: R): readonly RecordOf[R][] | undefined {
    if (!this.grants.has(readGrant(resource))) return undefined;
    return this.#shared.collections.cached(resource);
  }

  /**
   * Calls the listener for every update that the key may read.
   * @returns a function that unsubscribes
   */
  onUpdate(listener: (update: Update) => void): () => void {
    return this.state.bus.subscribe(this.namespace, (update) => {
      if (update !== 'missed' && this.#shared.mayRead(update)) listener(update);
    });
  }

  /** @throws NotGranted */
  requireGrant(grant: Grant): void {
    if (!this.grants.has(grant)) throw new NotGranted(grant);
  }

  /** Releases everything that was read, in this process only. */
  clearCaches(): void {
    this.#shared.clearCaches();
  }

  /** Closes the shared state, and so every tenant object that uses it. */
  close(): Promise<void> {
    return this.#shared.close();
  }

  async #page<R extends Resource>(
    resource: R,
    query: PageQuery,
    call: ToolCall,
  ): Promise<ListPage<RecordOf[R]>> {
    const readWhole = (search: Search) => this.searchAll(resource, search, call);
    const source = { pages: this.pages, resource, readWhole, call: interactiveCall(call) };
    const page = await readListPage(source, query);
    const records = await this.#shared.items.marked(resource, page.records, source.call);
    return { ...page, records };
  }

  /**
   * Everything that a search finds, for what the service's own pages do not give.
   * @throws NotGranted, ApiError
   */
  async searchAll<R extends Resource>(
    resource: R,
    search: Search,
    call: ToolCall,
  ): Promise<Collection<RecordOf[R]>> {
    this.requireGrant(readGrant(resource));
    const { query, filters, sort, includeBundles } = search;
    const isWhole = !query && !filters && !sort && (resource !== 'product' || includeBundles);
    if (isWhole) return this.collection(resource, call);
    const { searches } = this.#shared;
    const name = `${resource} ${searchText(search)}`;
    const known = searches.get(name) as Collection<RecordOf[R]> | undefined;
    if (known) return known;
    const found = await this.#readSearch(resource, search, call);
    searches.set(name, found);
    return found;
  }

  async #readSearch<R extends Resource>(
    resource: R,
    search: Search,
    call: ToolCall,
  ): Promise<Collection<RecordOf[R]>> {
    const asOf = new Date();
    const apiCall = interactiveCall(call);
    const reading = readCollection(this.pages, resource, search, apiCall);
    const report = ({ read, total }: Progress) => call.progress(read, total, resource);
    const found = await readToEnd(reading, report);
    const records = await this.#shared.items.marked(resource, found.records, apiCall);
    return { ...found, records, asOf };
  }
}

/** The namespace of the state of a tenant that the operator configured. */
export function namespaceOf(baseUrl: URL, name: string | undefined): string {
  const address = shortHash(baseUrl.href);
  return name === undefined ? address : `${name}-${address}`;
}

const isResource = (name: string | undefined): name is Resource =>
  name !== undefined && Object.hasOwn(routes, name);
