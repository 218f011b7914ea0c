import { Slots } from '../containers.ts';
import type { CollectionCache } from '../reading/cache.ts';
import { Collections } from '../reading/collections.ts';
import { DerivedResults } from '../reading/derived.ts';
import { referencedRecords } from '../reading/referenced-records.ts';
import { ServicePages } from '../reading/service-pages.ts';
import type { Call } from '../service/call.ts';
import { ApiClient, type ClientOptions } from '../service/client.ts';
import type { Resource } from '../service/records/records.ts';
import { resources } from '../service/routes.ts';
import { type TrafficOptions, trafficControl } from '../service/traffic/traffic-control.ts';
import type { State, Update } from '../state/port.ts';
import { shortHash } from '../state/short-hash.ts';
import { isOneOf } from '../values.ts';
import type { Grant } from './grants.ts';
import { type HistoryOptions, historiesOf } from './histories.ts';
import { keyAccess } from './key-access.ts';

/** The operator's limits for writes. They apply even if a person agrees to a change. */
export interface WriteRules {
  perHour: number;
  fields: ReadonlySet<string>;
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
  /** As in `CollectionSources`, in milliseconds. */
  freshMs?: number;
  history?: HistoryOptions;
  /** Called when a collection alone is larger than the cache: it is then read again for every question. */
  onTooLarge?: (resource: Resource, bytes: number) => void;
  /**
   * Name of the tenant if there are several. Tenants of different names share no state, even with the same address
   * and key; a tenant keeps its state when its key is replaced.
   */
  name?: string | undefined;
  /** True if nothing but the key tells tenants of one address apart: each key then has its own state. */
  stateByKey?: boolean;
}

export type SharedTenantState = ReturnType<typeof sharedTenantState>;

/** What all callers of a tenant share that use the same key. It checks no grants: only `Tenant` uses it. */
export function sharedTenantState(options: TenantOptions) {
  const { state, baseUrl, key, name, cache } = options;
  const identity = shortHash([baseUrl.href, key, ...(name === undefined ? [] : [name])].join('\n'));
  // What was stored by other rules for fields is not taken for one's own.
  const rules = (options.fields ?? []).map(({ text }) => text).join('\n');
  const reader = rules === '' ? identity : shortHash(`${identity}\n${rules}`);
  const namespace = options.stateByKey ? identity : namespaceOf(baseUrl, name);
  /** Local listeners run synchronously. @throws StateUnavailable */
  const publishNow = (update: Update) => state.bus.publish(namespace, update);
  // A failed publication is repeated after the reconnect.
  const publish = (update: Update) => void publishNow(update).catch(() => {});
  const tryKey = (call: Call): Promise<unknown> => client.page('company', { size: 1 }, call);
  const access = keyAccess(identity, publish, tryKey);
  // All keys of a tenant share one budget.
  const common = { rates: state.rates, budgetName: baseUrl.href, listener: access };
  const traffic = trafficControl({ ...options, ...common });
  const { budget } = traffic;
  const client = new ApiClient({ ...options, traffic });
  const pages = new ServicePages(client);
  const referenced = referencedRecords(client, pages);
  const collections = new Collections({
    ...{ host: client.host, pages, cache, onTooLarge: options.onTooLarge },
    freshMs: options.freshMs,
    shared: state.collections && { collections: state.collections, tenant: namespace, reader },
    budgetLimit: () => budget.limit,
  });
  const histories = historiesOf(options.history, state.snapshots(namespace), reader);
  const unregisterGauges = options.observer?.registerGauges({
    remainingBudget: async () => (await budget.peek()).remaining,
    cachedCollections: () => collections.cacheTimes(),
  });
  /** Releases everything that was read, in this process only. */
  const clearCaches = () => {
    referenced.clear();
    collections.invalidate();
  };
  const unsubscribe = state.bus.subscribe(namespace, (update) => {
    if (update === 'missed') return clearCaches();
    access.onUpdate(update);
    const { collection } = update;
    if (collection === 'company' || collection === 'product') referenced.clear();
    if (isOneOf(resources, collection)) collections.invalidate(collection);
  });
  return {
    /**
     * `namespace` identifies the tenant's state: journal, inbox, write lock and updates. Derived from the address; with
     * several tenants from name and address; for a caller's own key from address and key.
     */
    ...{ options, namespace, client, budget, pages, referenced, collections, histories, access },
    trials: new Slots(1),
    derived: new DerivedResults((readings, bytes) => cache.countDerived(readings, bytes)),
    publish: publishNow,
    clearCaches,
    /** Calls the listener for every update. @returns a function that unsubscribes */
    subscribe: (listener: (update: Update) => void): (() => void) =>
      state.bus.subscribe(namespace, (update) => {
        if (update !== 'missed') listener(update);
      }),
    /** Invalidates the cached collection in all processes. */
    invalidate: (resource: Resource) => publish({ collection: resource }),
    async close(): Promise<void> {
      unsubscribe();
      unregisterGauges?.();
      await histories.flush();
      collections.close();
      await client.close();
    },
  };
}

/** The namespace of the state of a tenant that the operator configured. */
export function namespaceOf(baseUrl: URL, name: string | undefined): string {
  const address = shortHash(baseUrl.href);
  return name === undefined ? address : `${name}-${address}`;
}
