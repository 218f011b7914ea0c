import { ConfigError, environmentName, type Settings } from '../config.ts';
import type { RetirableTenant } from '../hosts/access/api-key.ts';
import type { TenantEndpoint } from '../hosts/endpoint.ts';
import type { TenantObserver } from '../hosts/observer.ts';
import type { WebhookTenant } from '../hosts/webhooks.ts';
import { factsOf, type Log } from '../log.ts';
import { defaultFreshness } from '../reading/collections.ts';
import { callMs } from '../service/call.ts';
import { type FieldRule, parseFieldRules } from '../service/records/mapping.ts';
import type { NameOf } from '../setting-names.ts';
import { InvalidValue } from '../setting-values.ts';
import type { State } from '../state/port.ts';
import { type Grant, intersectGrants } from '../tenant/grants.ts';
import type { TenantOptions } from '../tenant/shared-state.ts';
import { Tenant } from '../tenant/tenant.ts';
import { registerSecrets } from '../text/secrets.ts';
import { openCommon, type SharedServices } from './common.ts';
import { type Address, describeServer } from './start.ts';

/** Name of the only tenant. */
export const defaultName = 'default';

export interface TenantHandleOptions extends Pick<TenantOptions, 'name' | 'limits' | 'stateByKey'> {
  /** Names settings in error messages; default: environment variables. */
  nameOf?: NameOf;
}

/** An open tenant with its endpoints for callers; it can be retired. */
export class TenantHandle implements RetirableTenant {
  readonly name: string;
  readonly tenant: Tenant;
  /** Receives the tenant's webhooks, if configured. */
  readonly webhooks: WebhookTenant | undefined;
  readonly log: SharedServices['log'];
  readonly #settings: Settings;
  readonly #address: Address;
  /** Keyed by grants and tools. */
  readonly #endpoints = new Map<string, TenantEndpoint>();
  readonly #nameOf: NameOf;
  readonly #observer: { observer?: TenantObserver };
  readonly #unregisterSecrets: () => void;

  constructor(
    name: string,
    settings: Settings,
    address: Address,
    common: SharedServices,
    { nameOf = environmentName, ...more }: TenantHandleOptions = {},
  ) {
    const { webhookSecret: secret } = settings;
    this.name = name;
    this.log = common.log;
    this.#settings = settings;
    this.#address = address;
    this.#nameOf = nameOf;
    this.#unregisterSecrets = registerSecrets([secret]);
    this.#observer = common.observer ? { observer: common.observer(name) } : {};
    this.tenant = new Tenant({
      ...tenantOptions(settings, address),
      state: stateFor(settings, common.state),
      cache: common.cache,
      // A restricted lookup must not get connections that were opened without it.
      connections: more.limits ? undefined : common.connections,
      history: {
        keepDays: settings.historyDays,
        generated: address.generatedHistory,
        onError: (error) =>
          this.log.error('history not stored', { tenant: name, ...factsOf(error) }),
      },
      ...more,
      ...this.#observer,
      onTooLarge: (collection, bytes) => this.#warnOfSize(collection, bytes),
      onCostly: (collection, requests) =>
        this.log.info('long reading', { tenant: name, collection, requests }),
      onUnusedFields: (lines) =>
        this.log.warn('no record has what the file of fields names', { tenant: name, lines }),
    });
    if (secret !== undefined) this.webhooks = { secret, receive: receiverOf(this.tenant) };
  }

  get grants(): ReadonlySet<Grant> {
    return this.tenant.grants;
  }

  /** For callers with all grants of the tenant. */
  get endpoint(): TenantEndpoint {
    return this.endpointFor(this.grants);
  }

  endpointFor(grants: ReadonlySet<Grant>, tools?: ReadonlySet<string>): TenantEndpoint {
    const granted = intersectGrants(this.grants, grants);
    const name = [[...granted].sort().join(' '), ...[...(tools ?? ['all'])].sort()].join('|');
    const endpoint = this.#endpoints.get(name) ?? this.#createEndpoint(granted, tools);
    this.#endpoints.set(name, endpoint);
    return endpoint;
  }

  /** New calls are refused, and caches are released at once; calls in flight may still finish. */
  retire(): void {
    this.tenant.updates.clearCaches();
    const close = () =>
      this.close().catch((error: unknown) =>
        this.log.warn('not closed', { tenant: this.name, ...factsOf(error) }),
      );
    // Allows for calls that are still queued.
    setTimeout(close, callMs + 40_000).unref();
  }

  async close(): Promise<void> {
    await this.tenant.close();
    await this.#address.close();
    this.#unregisterSecrets();
  }

  #warnOfSize(collection: string, bytes: number): void {
    const { cacheMegabytes } = this.#settings;
    const remedy = `every question about it reads it again: raise ${this.#nameOf('cacheMegabytes')}`;
    const megabytes = Math.ceil(bytes / 2 ** 20);
    const facts = { tenant: this.name, collection, megabytes, cacheMegabytes, remedy };
    this.log.warn('collection larger than the cache', facts);
  }

  #createEndpoint(grants: ReadonlySet<Grant>, tools?: ReadonlySet<string>): TenantEndpoint {
    const settings = { ...this.#settings, grants };
    const tenant = grants.size === this.grants.size ? this.tenant : this.tenant.withGrants(grants);
    const parts = {
      ...describeServer(settings, tools),
      tenant,
      nameOf: this.#nameOf,
      log: {
        failed: (tool: string, error: unknown) =>
          this.log.error('call failed', { tool, ...factsOf(error) }),
      },
      ...this.#observer,
      consent: settings.consent,
    };
    return {
      parts,
      server: async () => (await import('../mcp/server.ts')).createServer(parts),
    };
  }
}

/** The embedded tenant is another one after each start. In Redis collections are shared in any case. */
function stateFor({ redisUrl, keepCollections, sandbox }: Settings, state: State): State {
  if (redisUrl || (keepCollections === 'on' && !sandbox)) return state;
  const { collections: _, ...others } = state;
  return others;
}

/** @throws ConfigError that names the line of the file that is wrong */
export function fieldRulesOf({ fieldsFile = '' }: Settings): FieldRule[] {
  try {
    return parseFieldRules(fieldsFile);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw new ConfigError(`${environmentName('fieldsFile')}: ${error.message}`);
  }
}

const tenantOptions = (settings: Settings, { baseUrl, key }: Address) => ({
  baseUrl,
  key,
  pageParam: settings.pageParam,
  fields: fieldRulesOf(settings),
  recordUrl: settings.recordUrl,
  writeRules: {
    perHour: settings.writesPerHour,
    fields: settings.writeFields,
    barredStages: settings.barredStages,
    allowedStages: settings.allowedStages,
  },
  budget: { requests: settings.rateLimit, windowSeconds: 600 },
  grants: settings.grants,
  freshness: { ...defaultFreshness, freshMs: settings.freshSeconds * 1000 },
});

function receiverOf(tenant: Tenant): WebhookTenant['receive'] {
  // Builds the index of stored events now: a sender takes a slow first answer for a failure.
  tenant.inbox.list(() => false, { from: 0, size: 0 }).catch(() => {}); // Reported by deliveries.
  return async (body) => (await import('../events/receive.ts')).receiveDelivery(tenant, body);
}

/** @throws Error when Redis refuses the password */
export async function openTenant(
  settings: Settings,
  address: Address,
  log: Log,
  name = defaultName,
): Promise<TenantEndpoint & Pick<Address, 'close'>> {
  const common = await openCommon(settings, log);
  const named = name === defaultName ? {} : { name };
  const handle = new TenantHandle(name, settings, address, common, named);
  return {
    ...handle.endpoint,
    async close() {
      await handle.close();
      await common.state.close();
    },
  };
}
