import { createHash } from 'node:crypto';
import type { Context, Settings } from './context.ts';
import type { Database } from './database.ts';
import { RollingWindow } from './limits.ts';
import type { SandboxOptions, SandboxTenant } from './options.ts';
import { type Past, tenantPast } from './past.ts';
import { type SeedOptions, seedTenant } from './seed/index.ts';
import { Store } from './store.ts';
import { defaultRetry, Webhooks } from './webhooks.ts';

const limited = ['company', 'contact', 'opportunity'];
const subjects = [
  ...limited,
  'product',
  'quote',
  'quote-template',
  'quote-widget-template',
  'pricing-book',
  'category',
  'quote-discount-group',
  'contract',
];
const reads = (names: string[]) => names.map((name) => `${name}:read`);
const writes = (names: string[]) => names.map((name) => `${name}:write`);

/** The grants of the keys of a tenant. */
const scopes = {
  all: [...reads(subjects), ...writes([...limited, 'product', 'quote'])],
  read: reads(subjects),
  limited: reads(limited),
};
type Scope = keyof typeof scopes;

export interface KeyHolder {
  tenant: string;
  permissions: readonly string[];
}

/** All tenants of the sandbox: their keys, their data (created on demand), and shared parts. */
export class SandboxService {
  readonly limits = new RollingWindow();
  readonly settings: Settings;
  readonly webhooks: Webhooks;
  readonly #names: string[];
  readonly #database: Database;
  readonly #store: Store;
  readonly #seed: Omit<SeedOptions, 'tenant' | 'profile'>;
  readonly #contexts = new Map<string, Context>();
  readonly #keyHolders = new Map<string, KeyHolder>();
  readonly #now: () => Date;

  constructor(database: Database, names: string[], options: SandboxOptions) {
    const { seed = 1, scale = 1, now = new Date() } = options;
    const started = Date.now();
    this.#names = names;
    this.#database = database;
    this.#store = new Store(database);
    this.#now = () => new Date(now.getTime() + Date.now() - started);
    this.#seed = { seed, scale, now };
    this.settings = {
      upsertOmitted: options.upsertOmitted ?? 'keep',
      rateLimit: options.rateLimit ?? { requests: 500, windowSeconds: 600 },
      publicApi: true,
    };
    const retry = { ...defaultRetry, ...options.deliveryRetry };
    this.webhooks = new Webhooks(retry, options.onDeliveryFailure ?? (() => {}));
    const [tenant = ''] = names;
    for (const webhook of options.webhooks ?? []) this.webhooks.subscribe({ tenant, ...webhook });
    for (const name of names) this.#loadKeyHolders(name, seed);
  }

  /** The SQLite handle. The first access creates the data of every tenant that has none yet. */
  get database(): Database {
    for (const name of this.#names) this.contextFor(name);
    return this.#database;
  }

  hasTenant(tenant: string): boolean {
    return this.#names.includes(tenant);
  }

  keyHolder(key: string): KeyHolder | undefined {
    return this.#keyHolders.get(key);
  }

  /** The tenant's context; the first call creates its data. */
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
      announce: (change) => this.webhooks.announce(change),
    };
    this.#contexts.set(tenant, context);
    return context;
  }

  /** The past of a tenant's opportunities and quotes: two hundred days, made from the seed when they are first asked for. */
  past(tenant: string): Past {
    return tenantPast(tenant, this.#now, () => this.contextFor(tenant).store);
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
      const rows = Object.entries(scopes).map(([scope, permissions]) => ({
        scope,
        key: deriveKey(seed, tenant, scope),
        permissions,
      }));
      this.#store.insert('api_key', tenant, rows);
    }
    const sql = `select json_object('key', key, 'permissions', json(permissions))
      from api_key where tenant = ?`;
    for (const text of this.#store.read(sql, [tenant])) {
      const { key, permissions }: { key: string; permissions: string[] } = JSON.parse(text);
      this.#keyHolders.set(key, { tenant, permissions });
    }
  }
}

/** A key of 40 letters and digits that looks random but is derived from the given words. */
function deriveKey(...words: (string | number)[]): string {
  const digest = createHash('sha512').update(words.join(':')).digest('base64');
  return digest.replace(/[^A-Za-z0-9]/g, '').slice(0, 40);
}
