import type { Change, Context, Settings } from './context.ts';
import type { Database } from './database.ts';
import { deriveKey, type Permission, SCOPES, type Scope } from './keys.ts';
import { type RateLimit, RollingWindow } from './limits.ts';
import { RequestLog } from './log.ts';
import type { SandboxOptions, SandboxTenant } from './options.ts';
import { type Past, tenantPast } from './past.ts';
import { type SeedOptions, seedTenant } from './seed/index.ts';
import type { KeyHolder, Service } from './server.ts';
import { Store } from './store.ts';
import { defaultRetry, Webhooks } from './webhooks.ts';

const DEFAULT_LIMIT: RateLimit = { requests: 500, windowSeconds: 600 };

/** All tenants of the sandbox: their keys, their data (created on demand), and shared parts. */
export class SandboxService implements Service {
  readonly log = new RequestLog();
  readonly limits = new RollingWindow();
  readonly settings: Settings;
  readonly webhooks: Webhooks;
  readonly #names: string[];
  readonly #store: Store;
  readonly #seed: Omit<SeedOptions, 'tenant' | 'profile'>;
  readonly #contexts = new Map<string, Context>();
  readonly #keyHolders = new Map<string, KeyHolder>();
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #now: () => Date;

  constructor(database: Database, names: string[], options: SandboxOptions) {
    const { seed = 1, scale = 1, now = new Date() } = options;
    const started = Date.now();
    this.#names = names;
    this.#store = new Store(database);
    this.#now = () => new Date(now.getTime() + Date.now() - started);
    this.#seed = { seed, scale, now };
    this.settings = {
      upsertOmitted: options.upsertOmitted ?? 'keep',
      rateLimit: options.rateLimit ?? DEFAULT_LIMIT,
      publicApi: true,
    };
    const retry = { ...defaultRetry, ...options.deliveryRetry };
    this.webhooks = new Webhooks(retry, options.onDeliveryFailure ?? (() => {}));
    const [tenant = ''] = names;
    for (const webhook of options.webhooks ?? []) this.webhooks.subscribe({ tenant, ...webhook });
    this.listen((change) => this.webhooks.announce(change));
    for (const name of names) this.#loadKeyHolders(name, seed);
  }

  hasTenant(tenant: string): boolean {
    return this.#names.includes(tenant);
  }

  keyHolder(key: string): KeyHolder | undefined {
    return this.#keyHolders.get(key);
  }

  contextFor(tenant: string): Context {
    const known = this.#contexts.get(tenant);
    if (known) return known;
    const profile = this.#names.indexOf(tenant) % 2;
    seedTenant(this.#store, { ...this.#seed, tenant, profile });
    const context: Context = {
      tenant,
      store: this.#store,
      settings: this.settings,
      now: this.#now,
      announce: (change) => {
        for (const listener of this.#listeners) listener(change);
      },
    };
    this.#contexts.set(tenant, context);
    return context;
  }

  pastOf(tenant: string): Past {
    return tenantPast(tenant, this.#now, () => this.contextFor(tenant).store);
  }

  listen(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tenantsAt(url: string): [SandboxTenant, ...SandboxTenant[]] {
    const sql = 'select key from api_key where tenant = ? and scope = ?';
    const [first, ...rest] = this.#names.map((name) => {
      const keyOf = (scope: Scope) => String(this.#store.value(sql, name, scope));
      const keys = { all: keyOf('all'), read: keyOf('read'), limited: keyOf('limited') };
      return { name, baseUrl: `${url}/t/${name}`, keys };
    });
    if (!first) throw new Error('There is no tenant.');
    return [first, ...rest];
  }

  /** An existing file keeps its keys, even with another seed. */
  #loadKeyHolders(tenant: string, seed: number): void {
    if (!this.#store.value('select 1 from api_key where tenant = ?', tenant)) {
      const rows = Object.entries(SCOPES).map(([scope, permissions]) => ({
        scope,
        key: deriveKey(seed, tenant, scope),
        permissions,
      }));
      this.#store.insert('api_key', tenant, rows);
    }
    const sql = `select json_object('key', key, 'permissions', json(permissions))
      from api_key where tenant = ?`;
    for (const text of this.#store.read(sql, [tenant])) {
      const { key, permissions }: { key: string; permissions: Permission[] } = JSON.parse(text);
      this.#keyHolders.set(key, { tenant, permissions });
    }
  }
}
