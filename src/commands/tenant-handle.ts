import { answerMs } from '../changes/consent.ts';
import { environmentName, type Settings } from '../config/settings.ts';
import { parseAs } from '../config.ts';
import type { TenantEndpoint } from '../hosts/endpoint.ts';
import type { TenantObserver } from '../hosts/observer.ts';
import type { WebhookTenant } from '../hosts/webhooks.ts';
import { factsOf, type Log } from '../log.ts';
import { CollectionCache } from '../reading/cache.ts';
import { callMs } from '../service/call.ts';
import { openConnections } from '../service/connections/connections.ts';
import { type FieldRule, parseFieldRules } from '../service/records/mapping.ts';
import type { NameOf } from '../setting-names.ts';
import { localState } from '../state/files/local.ts';
import { defaultStateFolder } from '../state/files/state-folder.ts';
import type { State } from '../state/port.ts';
import { type Grant, intersectGrants } from '../tenant/grants.ts';
import type { TenantOptions } from '../tenant/shared-state.ts';
import { Tenant } from '../tenant/tenant.ts';
import { registerSecrets } from '../text/secrets.ts';
import { type Address, describeServer } from './start.ts';

export type SharedServices = Awaited<ReturnType<typeof openCommon>>;

/**
 * What all tenants of a process share.
 * @param observer creates the observer of a tenant by the operator's name of it, for `http`
 * @throws Error when Redis refuses the password
 */
export async function openCommon(
  settings: Settings,
  log: Log,
  observer?: (name: string) => TenantObserver,
) {
  const cache = new CollectionCache(settings.cacheMegabytes);
  const connections = openConnections();
  const { password = '' } = settings.redisUrl ?? {};
  const secrets = [settings.metricsToken, password, decodeURIComponent(password)];
  const unregisterSecrets = registerSecrets(secrets);
  const state = await openState(settings, log);
  const close = async () => {
    await state.close();
    unregisterSecrets();
  };
  return { state: { ...state, close }, cache, connections, log, observer };
}

/** @throws Error when Redis refuses the password */
export async function openState(settings: Settings, log: Pick<Log, 'warn'>): Promise<State> {
  const { redisUrl: url, stateDir } = settings;
  const report = (event: string, facts: Record<string, unknown>) => log.warn(event, facts);
  if (!url) return localState(stateDir ?? defaultStateFolder(process.env), { report });
  // Loaded on demand: most servers do not use Redis.
  const { redisState } = await import('../state/redis/redis.ts');
  return redisState({ url, report });
}

export const defaultName = 'default';

interface TenantHandleOptions extends Pick<TenantOptions, 'limits' | 'stateByKey'> {
  /** Names settings in error messages; default: environment variables. */
  nameOf?: NameOf;
}

export type TenantHandle = ReturnType<typeof openHandle>;

/** An open tenant with its endpoints for callers; it can be retired. The default name is no part of the state's. */
export function openHandle(
  name: string,
  settings: Settings,
  address: Address,
  common: SharedServices,
  { nameOf = environmentName, ...more }: TenantHandleOptions = {},
) {
  const { log } = common;
  const { webhookSecret: secret } = settings;
  const unregisterSecrets = registerSecrets([secret]);
  const observed = common.observer ? { observer: common.observer(name) } : {};
  const tenant = new Tenant({
    ...tenantOptions(name, settings, address, common, nameOf),
    // A restricted lookup must not get connections that were opened without it.
    connections: more.limits ? undefined : common.connections,
    name: more.stateByKey || name === defaultName ? undefined : name,
    ...more,
    ...observed,
  });
  const { grants } = tenant;
  const failed = (tool: string, error: unknown) =>
    log.error('call failed', { tool, ...factsOf(error) });
  const parts = { nameOf, log: { failed }, ...observed, consent: settings.consent };
  /** Keyed by grants and tools. */
  const endpoints = new Map<string, TenantEndpoint>();

  function endpointFor(granted: ReadonlySet<Grant>, tools?: ReadonlySet<string>): TenantEndpoint {
    const allowed = intersectGrants(grants, granted);
    const key = [[...allowed].sort().join(' '), ...[...(tools ?? ['all'])].sort()].join('|');
    const known = endpoints.get(key);
    if (known) return known;
    const own = allowed.size === grants.size ? tenant : tenant.withGrants(allowed);
    const described = describeServer({ ...settings, grants: allowed }, tools);
    const served = { ...described, tenant: own, ...parts };
    const server = async () => (await import('../mcp/server.ts')).createServer(served);
    const endpoint = { parts: served, server };
    endpoints.set(key, endpoint);
    return endpoint;
  }

  async function close(): Promise<void> {
    await tenant.close();
    await address.close?.();
    unregisterSecrets();
  }

  return {
    ...{ name, tenant, grants, log, endpointFor, close },
    webhooks: secret === undefined ? undefined : { secret, receive: receiverOf(tenant) },
    /** For callers with all grants of the tenant. */
    get endpoint(): TenantEndpoint {
      return endpointFor(grants);
    },
    /** New calls are refused, and caches are released at once; calls in flight may still finish. */
    retire(): void {
      tenant.updates.clearCaches();
      const notClosed = (error: unknown) =>
        log.warn('not closed', { tenant: name, ...factsOf(error) });
      // Allows for calls that are still queued, or wait for a person.
      setTimeout(() => close().catch(notClosed), answerMs + callMs + 40_000).unref();
    },
  };
}

/** @throws ConfigError that names the line of the file that is wrong */
export const fieldRulesOf = ({ fieldsFile = '' }: Settings): FieldRule[] =>
  parseAs(environmentName('fieldsFile'), () => parseFieldRules(fieldsFile));

/** What the settings say of a tenant, and what it reports to the log. */
const tenantOptions = (
  tenant: string,
  settings: Settings,
  { baseUrl, key, generatedHistory }: Address,
  { state, cache, log }: SharedServices,
  nameOf: NameOf,
) => ({
  baseUrl,
  key,
  cache,
  // The embedded tenant is another one after each start.
  state:
    settings.keepCollections === 'on' && !settings.sandbox
      ? state
      : { ...state, collections: undefined },
  pageParam: settings.pageParam,
  fields: fieldRulesOf(settings),
  recordUrl: settings.recordUrl,
  writeRules: {
    perHour: settings.writesPerHour,
    fields: settings.writeFields,
    allowedStages: settings.allowedStages,
  },
  requestLimit: settings.rateLimit,
  grants: settings.grants,
  freshMs: settings.freshSeconds * 1000,
  history: {
    keepDays: settings.historyDays,
    generated: generatedHistory,
    onError: (error: unknown) => log.error('history not stored', { tenant, ...factsOf(error) }),
  },
  onTooLarge(collection: string, bytes: number) {
    const { cacheMegabytes } = settings;
    const remedy = `every question about it reads it again: raise ${nameOf('cacheMegabytes')}`;
    const megabytes = Math.ceil(bytes / 2 ** 20);
    const facts = { tenant, collection, megabytes, cacheMegabytes, remedy };
    log.warn('collection larger than the cache', facts);
  },
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
): Promise<TenantEndpoint & { close(): Promise<void> }> {
  const common = await openCommon(settings, log);
  const handle = openHandle(name, settings, address, common);
  return {
    ...handle.endpoint,
    async close() {
      await handle.close();
      await common.state.close();
    },
  };
}
