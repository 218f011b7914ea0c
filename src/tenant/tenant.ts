import type { Collection } from '../reading/coverage.ts';
import type { DerivedResults } from '../reading/derived.ts';
import { type ListPage, type PageJudge, readListPage, readUnpaged } from '../reading/list-page.ts';
import { type PartOf, readPart, takeSample } from '../reading/parts.ts';
import type { ReferencedRead } from '../reading/referenced-records.ts';
import { markUnknownItems } from '../reading/service-pages.ts';
import type { Call, CallContext } from '../service/call.ts';
import type { FieldRule } from '../service/records/mapping.ts';
import type { ApiRecord, Opportunity, RecordOf, Resource } from '../service/records/records.ts';
import { type IdField, type Page, type PageQuery, routes, type Search } from '../service/routes.ts';
import type { Inbox, State } from '../state/port.ts';
import type { JsonObject } from '../values.ts';
import { type Grant, intersectGrants, readGrant, requireGrant, writeGrant } from './grants.ts';
import type { Past } from './histories.ts';
import type { KeyAccess } from './key-access.ts';
import { type SharedTenantState, sharedTenantState, type TenantOptions } from './shared-state.ts';

export interface ToolCall extends CallContext {
  /** Name and version that the host reports. */
  client: string;
  /** The authenticated caller, if callers are authenticated. */
  caller?: string | undefined;
}

/** A tenant as callers with some grants use it: checks these, and is the only access to its data. */
export class Tenant {
  readonly grants: ReadonlySet<Grant>;
  /** `host`: host and port of the service. */
  readonly site: Pick<TenantOptions, 'recordUrl'> & { host: string };
  readonly inbox: Inbox;
  readonly writes: Writes;
  readonly key: Readonly<Pick<KeyAccess, 'identity' | 'refused' | 'require'>>;
  readonly updates: Pick<SharedTenantState, 'subscribe' | 'publish' | 'invalidate' | 'clearCaches'>;
  /** Values computed once for each reading of collections. */
  readonly derived: DerivedResults;
  readonly #shared: SharedTenantState;

  /** `shared` is the state of the same tenant with other grants. */
  constructor(options: TenantOptions, shared = sharedTenantState(options)) {
    this.grants = options.grants;
    this.#shared = shared;
    this.site = { host: shared.client.host, recordUrl: options.recordUrl };
    this.inbox = options.state.inbox(shared.namespace);
    this.writes = writesOf(shared, options.grants);
    this.key = shared.access;
    this.updates = shared;
    this.derived = shared.derived;
  }

  /** The same tenant with its grants limited to these. Both share client and cache. */
  withGrants(limit: ReadonlySet<Grant>): Tenant {
    const grants = intersectGrants(this.grants, limit);
    return new Tenant({ ...this.#shared.options, grants }, this.#shared);
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
    requireGrant(this.grants, readGrant(resource));
    const { pages } = this.#shared;
    const readWhole = (search: Search) => this.collection(resource, call, search);
    // Only a judge asks for it.
    const isCached = judge !== undefined && this.cached(resource) !== undefined;
    const source = { pages, resource, readWhole, isCached, call, judge };
    const read = routes[resource].shape === 'paged' ? readListPage : readUnpaged;
    const page = await read(source, query);
    const records = markUnknownItems(resource, page.records, pages) as readonly RecordOf[R][];
    return { ...page, records };
  }

  /**
   * A whole collection, from the cache if it is fresh; or everything that a search finds, or at least the part that a
   * question is about.
   * @throws NotGranted, ApiError
   */
  async collection<R extends Resource>(
    resource: R,
    call: CallContext,
    part?: Search | PartOf,
  ): Promise<Collection<RecordOf[R]>> {
    requireGrant(this.grants, readGrant(resource));
    await this.key.require(call);
    const { collections, histories } = this.#shared;
    if (part && !isSearch(part)) {
      const isNeeded = 'only' in part || !(await collections.isHeld(resource));
      const found = isNeeded && (await readPart(this.#shared, resource, part, call));
      if (found) return found as Collection<RecordOf[R]>;
    } else if (part && findsPart(resource, part)) return collections.read(resource, call, part);
    const whole = await collections.read(resource, call);
    histories.note(resource, whole);
    return whole;
  }

  /**
   * One record.
   * @throws NotGranted, ApiError
   */
  async getRecord<R extends Resource>(
    resource: R,
    by: IdField,
    value: string,
    call: CallContext,
  ): Promise<RecordOf[R]> {
    requireGrant(this.grants, readGrant(resource));
    const { client, pages } = this.#shared;
    const record = await client.getRecord(resource, by, value, call);
    return markUnknownItems<ApiRecord>(resource, [record], pages)[0] as RecordOf[R];
  }

  /**
   * The first page of a collection, or of what the service's own search finds.
   * @throws NotGranted, ApiError, such as `refused` where the service does not search
   */
  async firstPage<R extends Resource>(
    resource: R,
    query: Search & Pick<PageQuery, 'size'>,
    call: CallContext,
  ): Promise<Page<RecordOf[R]>> {
    requireGrant(this.grants, readGrant(resource));
    return this.#shared.pages.page(resource, query, call);
  }

  /**
   * The records that a page of a list refers to by id, as far as a few requests can read them, and they may be read.
   * @throws ApiError if the key is refused
   */
  async referenced(
    resource: 'company' | 'product',
    ids: readonly string[],
    call: CallContext,
  ): Promise<ReferencedRead> {
    if (ids.length === 0 || !this.grants.has(readGrant(resource)))
      return { found: new Map(), isWhole: true };
    return this.#shared.referenced.read(resource, ids, call);
  }

  /** The past of the opportunities or of the quotes; `undefined` if none is kept. @throws NotGranted */
  async history<K extends keyof Past>(kind: K): Promise<Past[K] | undefined> {
    requireGrant(this.grants, readGrant(kind));
    return (await this.#shared.histories.open())?.[kind];
  }

  /** A copy of a record that the service sent, with fields where they are documented to be. */
  mapped(resource: Resource, record: JsonObject): JsonObject {
    return this.#shared.client.fields.apply(resource, structuredClone(record));
  }

  /** The lines of the operator's file of fields that no row has had, once so many rows were read. */
  unusedFields(resource: Resource, minRows: number): readonly FieldRule[] {
    return this.#shared.client.fields.unused(resource, minRows);
  }

  /** The cached records of a collection that may be read, of any age. Reads nothing. */
  cached<R extends Resource>(resource: R): readonly RecordOf[R][] | undefined {
    if (!this.grants.has(readGrant(resource))) return undefined;
    return this.#shared.collections.cached(resource);
  }

  /** The fields that no record of these has, as far as their readings show. */
  missingFields(resource: Resource): readonly string[] {
    return this.#shared.pages.traits(resource).missing ?? [];
  }

  /** As `missingFields`; where no reading shows them, the first page of the collection is read. @throws NotGranted, ApiError */
  async readMissingFields(resource: Resource, call: CallContext): Promise<readonly string[]> {
    requireGrant(this.grants, readGrant(resource));
    const { pages } = this.#shared;
    if (pages.traits(resource).missing === undefined) await takeSample(pages, resource, call);
    return this.missingFields(resource);
  }

  /** The collections that may be read and are kept in memory, and when they were read. */
  heldSince(): ReadonlyMap<Resource, number> {
    const held = [...this.#shared.collections.usableTimes()];
    return new Map(held.filter(([resource]) => this.grants.has(readGrant(resource))));
  }

  /** Closes the shared state, and so every tenant object that uses it. */
  close(): Promise<void> {
    return this.#shared.close();
  }
}

const isSearch = (part: Search | PartOf): part is Search =>
  !['only', 'of', 'about', 'called', 'ids'].some((key) => key in part);

const findsPart = (resource: Resource, { query, filters, sort, includeBundles }: Search): boolean =>
  Boolean(query || filters || sort) || (resource === 'product' && !includeBundles);

export type Writes = ReturnType<typeof writesOf>;

function writesOf(shared: SharedTenantState, grants: ReadonlySet<Grant>) {
  const { options, namespace, client, pages } = shared;
  const { writeRules, state } = options;
  // What makes and checks tokens of consent.
  const tokens: Pick<State, 'secret' | 'claim'> = state;
  return {
    rules: writeRules,
    journal: state.journal(namespace),
    tokens,
    /**
     * Creates or changes an opportunity.
     * @throws NotGranted, ApiError
     */
    async upsert(externalId: string, fields: JsonObject, call: Call): Promise<Opportunity> {
      requireGrant(grants, writeGrant);
      return client.upsertOpportunity(externalId, fields, call);
    },
    /** An opportunity as the service sends it. @throws NotGranted, ApiError */
    async raw(id: string, call: CallContext): Promise<JsonObject> {
      requireGrant(grants, 'opportunity:read');
      return client.getRaw('opportunity', 'id', id, call);
    },
    /** Runs one write at a time, in all processes. */
    runExclusive: <T>(work: (isHeld: () => Promise<boolean>) => Promise<T>): Promise<T> =>
      state.runExclusive(`write ${namespace}`, work),
    remainingRequests: async (): Promise<number> => (await shared.budget.peek()).remaining,
    /** What was learnt about writes and searches of opportunities, by name; `undefined` if it is unknown. */
    learnt: (name: string): boolean | undefined => pages.traits('opportunity').honoured[name],
    learn: (name: string, value: boolean): void => pages.learnHonoured('opportunity', name, value),
  };
}
