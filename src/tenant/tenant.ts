import type { PipelineHistory, QuoteHistory } from '../history/history.ts';
import type { Collection } from '../reading/collection.ts';
import { type ListPage, type PageJudge, readListPage, sliceOf } from '../reading/list-page.ts';
import { unprovenFields } from '../reading/proven-none.ts';
import type { ReferencedCompanies } from '../reading/referenced-companies.ts';
import { type Call, type CallContext, interactiveCall, readingCall } from '../service/call.ts';
import { ignoreApiError } from '../service/errors.ts';
import type { Page, PageQuery, Search } from '../service/page.ts';
import type { Opportunity, Quote, RecordOf, Resource } from '../service/records/records.ts';
import { routes } from '../service/routes.ts';
import type { Inbox, Journal, State, Update } from '../state/port.ts';
import { type Grant, intersectGrants, NotGranted, readGrant, writeGrant } from './grants.ts';
import { bytesOfCopy, SharedTenantState, type TenantOptions } from './shared-state.ts';
import { describeUnrecognized } from './unrecognized.ts';
import type { WriteRules } from './write-rules.ts';

/** Records of the service's own search. */
const maxFound = 25;

/** A tenant as callers with some grants use it: checks these, and is the only access to its data. */
export class Tenant {
  readonly grants: ReadonlySet<Grant>;
  /** Hash of the tenant's address, key and name. */
  readonly identity: string;
  /** Identifies the tenant's state. */
  readonly namespace: string;
  readonly inbox: Inbox;
  /** What makes and checks tokens of consent. */
  readonly tokens: Pick<State, 'secret' | 'once'>;
  readonly writeRules: WriteRules;
  readonly journal: Journal;
  readonly #options: TenantOptions;
  readonly #shared: SharedTenantState;

  /** `shared` is the state of the same tenant with other grants. */
  constructor(options: TenantOptions, shared?: SharedTenantState) {
    const { state, grants, writeRules } = options;
    this.grants = grants;
    this.writeRules = writeRules;
    this.#options = options;
    this.#shared = shared ?? new SharedTenantState(options);
    const { identity, namespace } = this.#shared;
    this.identity = identity;
    this.namespace = namespace;
    this.inbox = state.inbox(namespace);
    this.journal = state.journal(namespace);
    this.tokens = state;
  }

  /** The same tenant with its grants limited to these. Both share client and cache. */
  withGrants(grants: ReadonlySet<Grant>): Tenant {
    const options = { ...this.#options, grants: intersectGrants(this.grants, grants) };
    return new Tenant(options, this.#shared);
  }

  get host(): string {
    return this.#shared.client.host;
  }

  /**
   * A page of a list: the service's own page, or a slice of the whole list if the route is not paged. With `judge` it
   * says which parameters the service ignored.
   * @throws NotGranted, ApiError
   */
  async list<R extends Resource>(
    resource: R,
    query: PageQuery,
    call: CallContext,
    judge?: PageJudge,
  ): Promise<ListPage<RecordOf[R]>> {
    this.requireGrant(readGrant(resource));
    const page =
      routes[resource].shape === 'paged'
        ? await this.#page(resource, query, call, judge)
        : sliceOf(await this.#matches(resource, query, call), query);
    const notes = describeUnrecognized(resource, page.records);
    return notes.length === 0 ? page : { ...page, notes: [...notes, ...(page.notes ?? [])] };
  }

  /** All records that a page is a slice of, where the service has no pages. */
  #matches<R extends Resource>(
    resource: R,
    { query }: PageQuery,
    call: CallContext,
  ): Promise<Collection<RecordOf[R]>> {
    return query
      ? this.#shared.searches.read(resource, { query }, call)
      : this.collection(resource, call);
  }

  /**
   * A whole collection, from the cache if it is fresh.
   * @throws NotGranted, ApiError
   */
  async collection<R extends Resource>(
    resource: R,
    call: CallContext,
  ): Promise<Collection<RecordOf[R]>> {
    this.requireGrant(readGrant(resource));
    await this.requireKey(call);
    const collection = await this.#shared.collections.read(resource, call);
    this.#options.onCollection?.(resource, collection);
    this.#shared.histories.note(resource, collection);
    if (resource !== 'quote') return collection;
    const records = await this.#shared.withKnownItems(collection.records);
    return records === collection.records
      ? collection
      : { ...collection, records: records as readonly RecordOf[R][] };
  }

  /** True if the service refused the key in its last response. */
  get keyRefused(): boolean {
    return this.#shared.access.refused;
  }

  /**
   * Must be called before stored data is returned. If the key was refused, checks it again with one small request.
   * @throws ApiError (such as `key-refused`) until the service accepts the key again
   */
  async requireKey(call: CallContext): Promise<void> {
    if (!this.keyRefused) return;
    await this.#shared.client
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
    call: CallContext,
  ): Promise<RecordOf[R]> {
    this.requireGrant(readGrant(resource));
    return this.#shared.client.getRecord(resource, by, value, interactiveCall(call));
  }

  /**
   * The first records that the service's own search finds; none where it does not search.
   * @throws NotGranted, ApiError
   */
  async search<R extends Resource>(
    resource: R,
    query: string,
    call: CallContext,
  ): Promise<readonly RecordOf[R][]> {
    const reading = this.firstPage(resource, { size: maxFound, query }, call);
    return (await reading.catch(ignoreApiError('refused')))?.records ?? [];
  }

  /**
   * The first page of a collection, or of what the service's own search finds.
   * @throws NotGranted, ApiError, such as `refused` where the service does not search
   */
  async firstPage<R extends Resource>(
    resource: R,
    query: Pick<PageQuery, 'size' | 'query'>,
    call: CallContext,
  ): Promise<Page<RecordOf[R]>> {
    this.requireGrant(readGrant(resource));
    return this.#shared.pages.page(resource, query, interactiveCall(call));
  }

  /** An opportunity as the service sends it. @throws NotGranted, ApiError */
  async rawOpportunity(id: string, call: CallContext): Promise<Record<string, unknown>> {
    this.requireGrant('opportunity:read');
    return this.#shared.client.getRaw('opportunity', 'id', id, interactiveCall(call));
  }

  /** What was learnt about writes and searches of opportunities, by name; `undefined` if it is unknown. */
  learnt(name: string): boolean | undefined {
    return this.#shared.pages.traits('opportunity').honoured[name];
  }

  learn(name: string, value: boolean): void {
    const { honoured } = this.#shared.pages.traits('opportunity');
    this.#shared.pages.learn('opportunity', { honoured: { ...honoured, [name]: value } });
  }

  /**
   * Sets requests aside in the budget for a write, until the time `until` or until the returned function is called.
   * @throws ApiError (`budget-spent`) if fewer remain
   */
  setAside(requests: number, until: number): Promise<() => void> {
    return this.#shared.budget.setAside(requests, until, { host: this.host });
  }

  /**
   * The fields by which the service is not proven to filter, for filters that find nothing: none if its answer is
   * right. `undefined` if all records of the search can be read with few requests.
   * @throws NotGranted, ApiError
   */
  async unprovenFilters(
    resource: Resource,
    search: Search,
    filters: string,
    call: CallContext,
  ): Promise<readonly string[] | undefined> {
    this.requireGrant(readGrant(resource));
    if (!search.query && this.cached(resource)) return undefined;
    return unprovenFields(this.#shared.pages, resource, search, filters, interactiveCall(call));
  }

  /**
   * Creates or changes an opportunity.
   * @throws NotGranted, ApiError
   */
  async upsertOpportunity(
    externalId: string,
    fields: Record<string, unknown>,
    call: Call,
  ): Promise<Opportunity> {
    this.requireGrant(writeGrant);
    return this.#shared.client.upsertOpportunity(externalId, fields, call);
  }

  /** Runs one write at a time, in all processes. */
  writeExclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#options.state.runExclusive(`write ${this.namespace}`, work);
  }

  /**
   * Reads the items of the wanted quotes that the service's lists leave out, as far as budget and time allow.
   * @returns all the quotes with these items, and how many of the wanted have unknown items still
   * @throws NotGranted; the signal's reason when the call was cancelled
   */
  async completeItems(
    quotes: readonly Quote[],
    wanted: readonly Quote[],
    call: CallContext,
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
    call: CallContext,
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
    return (await this.#shared.histories.open())?.pipeline;
  }

  /** The past of the quotes; `undefined` if none is kept. */
  async quoteHistory(): Promise<QuoteHistory | undefined> {
    return (await this.#shared.histories.open())?.quotes;
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
    return this.#options.state.bus.subscribe(this.namespace, (update) => {
      if (update !== 'missed' && this.#shared.access.mayRead(update)) listener(update);
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
    call: CallContext,
    judge: PageJudge | undefined,
  ): Promise<ListPage<RecordOf[R]>> {
    const { pages } = this.#shared;
    const readWhole = (search: Search) => this.searchAll(resource, search, call);
    const apiCall = interactiveCall(call);
    const page = await readListPage({ pages, resource, readWhole, call: apiCall, judge }, query);
    const records = await this.#shared.items.marked(resource, page.records, apiCall);
    return { ...page, records };
  }

  /**
   * Everything that a search finds, for what the service's own pages do not give.
   * @throws NotGranted, ApiError
   */
  async searchAll<R extends Resource>(
    resource: R,
    search: Search,
    call: CallContext,
  ): Promise<Collection<RecordOf[R]>> {
    this.requireGrant(readGrant(resource));
    const { query, filters, sort, includeBundles } = search;
    const isWhole = !query && !filters && !sort && (resource !== 'product' || includeBundles);
    if (isWhole) return this.collection(resource, call);
    return this.#shared.searches.read(resource, search, call);
  }
}
