import type { CollectionCache } from '../reading/cache.ts';
import type { Collection } from '../reading/collection.ts';
import { Collections, defaultFreshness, type Freshness } from '../reading/collections.ts';
import { DerivedResults } from '../reading/derived.ts';
import { Parts } from '../reading/parts.ts';
import { ReferencedCompanies } from '../reading/referenced-companies.ts';
import { ServicePages } from '../reading/service-pages.ts';
import type { Call, CallContext } from '../service/call.ts';
import { ApiClient, type ClientOptions } from '../service/client.ts';
import type { RecordOf, Resource } from '../service/records/records.ts';
import { resources } from '../service/routes.ts';
import {
  type RateBudget,
  TrafficControl,
  type TrafficOptions,
} from '../service/traffic/traffic-control.ts';
import type { State, Update } from '../state/port.ts';
import { shortHash } from '../state/short-hash.ts';
import { isOneOf } from '../values.ts';
import type { Grant } from './grants.ts';
import { type HistoryOptions, historiesOf } from './histories.ts';
import { type KeyAccess, keyAccess } from './key-access.ts';

/** The operator's limits for writes. They apply even if a person agrees to a change. */
export interface WriteRules {
  perHour: number;
  fields: ReadonlySet<string>;
  /** Ids or names of stages that may not be set; names that look alike are barred too. */
  barredStages: readonly string[];
  /** Ids or names of the only stages that may be set; empty for all. */
  allowedStages: readonly string[];
}

export interface TenantOptions
  extends Omit<ClientOptions, 'traffic'>,
    Omit<TrafficOptions, 'rates' | 'budgetName' | 'listener'> {
  state: State;
  writeRules: WriteRules;
  grants: ReadonlySet<Grant>;
  /** Page of a record in the product, with `{resource}` and `{id}`. */
  recordUrl?: string | undefined;
  cache: CollectionCache;
  freshness?: Freshness;
  history?: HistoryOptions;
  /** Called when a collection alone is larger than the cache: it is then read again for every question. */
  onTooLarge?: (resource: Resource, bytes: number) => void;
  /** Called when a reading begins that takes a large share of the rate budget. */
  onCostly?: (collection: string, requests: number) => void;
  /** Called once for the lines of the file of fields whose right side no record of a whole collection has. */
  onUnusedFields?: (lines: string[]) => void;
  /**
   * Name of the tenant if there are several. Tenants of different names share no state, even with the same address
   * and key; a tenant keeps its state when its key is replaced.
   */
  name?: string | undefined;
  /** True if nothing but the key tells tenants of one address apart: each key then has its own state. */
  stateByKey?: boolean;
}

/** What all callers of a tenant share that use the same key. It checks no grants: only `Tenant` uses it. */
export class SharedTenantState {
  readonly options: TenantOptions;
  /**
   * Identifies the tenant's state: journal, inbox, write lock and updates. Derived from the address; with several
   * tenants from name and address; for a caller's own key from address and key.
   */
  readonly namespace: string;
  readonly client: ApiClient;
  readonly budget: RateBudget;
  readonly pages: ServicePages;
  readonly companies: ReferencedCompanies;
  readonly collections: Collections;
  readonly parts: Parts;
  readonly derived: DerivedResults;
  readonly histories: ReturnType<typeof historiesOf>;
  readonly access: KeyAccess;
  readonly #reported = new Set<Resource>();
  /** Ends what was begun, in this order. */
  readonly #endings: (() => unknown)[];

  constructor(options: TenantOptions) {
    const { state, baseUrl, key, name, stateByKey, cache } = options;
    const { freshness = defaultFreshness, fields = [], onTooLarge, onCostly } = options;
    const identity = shortHash(
      [baseUrl.href, key, ...(name === undefined ? [] : [name])].join('\n'),
    );
    const namespace = stateByKey ? identity : namespaceOf(baseUrl, name);
    this.options = options;
    this.namespace = namespace;
    const tryKey = (call: Call) => this.client.page('company', { size: 1 }, call);
    this.access = keyAccess(identity, (update) => this.publish(update), tryKey);
    this.derived = new DerivedResults((readings, bytes) => cache.countDerived(readings, bytes));
    const traffic = new TrafficControl({
      ...options,
      rates: state.rates,
      // All keys of a tenant share one budget.
      budgetName: baseUrl.href,
      listener: this.access,
    });
    this.budget = traffic.budget;
    const client = new ApiClient({ ...options, traffic });
    this.client = client;
    const pages = new ServicePages(client);
    this.pages = pages;
    this.companies = new ReferencedCompanies(client, pages);
    const { collections } = state;
    // What was read by other rules is not used.
    const rules = fields.map(({ text }) => text).join('\n');
    const reader = rules === '' ? identity : shortHash(`${identity}\n${rules}`);
    const shared = collections && { collections, tenant: namespace, reader };
    const budget = () => ({ limit: traffic.budget.limit, onCostly });
    const sources = { host: client.host, pages, cache, freshness, shared, budget, onTooLarge };
    this.collections = new Collections(sources);
    this.histories = historiesOf(options.history, state.snapshots(namespace));
    this.parts = new Parts(client, pages, this.collections);
    const unregisterGauges = options.observer?.registerGauges({
      remainingBudget: async () => (await traffic.budget.peek()).remaining,
      cachedCollections: () => this.collections.cacheTimes(),
    });
    this.#endings = [
      state.bus.subscribe(namespace, (update) => applyUpdate(this, update)),
      () => unregisterGauges?.(),
      () => this.histories.flush(),
      () => this.collections.close(),
      () => client.close(),
    ];
  }

  /** A whole collection, from the cache if it is fresh. @throws ApiError */
  async collection<R extends Resource>(
    resource: R,
    call: CallContext,
  ): Promise<Collection<RecordOf[R]>> {
    const collection = await this.collections.read(resource, call);
    this.histories.note(resource, collection);
    this.#reportUnused(resource, collection);
    return collection;
  }

  #reportUnused(resource: Resource, { records, coverage }: Collection<unknown>): void {
    if (!coverage.complete || this.#reported.has(resource)) return;
    const unused = this.client.fields.unused(resource, Math.max(1, records.length));
    if (unused.length === 0) return;
    this.#reported.add(resource);
    this.options.onUnusedFields?.(unused.map(({ text }) => text));
  }

  /** Calls the listener for every update. @returns a function that unsubscribes */
  subscribe(listener: (update: Update) => void): () => void {
    return this.options.state.bus.subscribe(this.namespace, (update) => {
      if (update !== 'missed') listener(update);
    });
  }

  /** Invalidates the cached collection in all processes. */
  invalidate(resource: Resource): void {
    this.publish({ collection: resource });
  }

  publish(update: Update): void {
    // Local listeners run synchronously; a failed publication is repeated after the reconnect.
    this.options.state.bus.publish(this.namespace, update).catch(() => {});
  }

  /** Releases everything that was read, in this process only. */
  clearCaches(): void {
    this.companies.clear();
    this.collections.invalidate();
  }

  async close(): Promise<void> {
    for (const end of this.#endings) await end();
  }
}

function applyUpdate(state: SharedTenantState, update: Update | 'missed'): void {
  if (update === 'missed') {
    state.clearCaches();
    return;
  }
  state.access.onUpdate(update);
  const { collection } = update;
  if (collection === 'company') state.companies.clear();
  if (isOneOf(resources, collection)) state.collections.invalidate(collection);
}

/** The namespace of the state of a tenant that the operator configured. */
export function namespaceOf(baseUrl: URL, name: string | undefined): string {
  const address = shortHash(baseUrl.href);
  return name === undefined ? address : `${name}-${address}`;
}
