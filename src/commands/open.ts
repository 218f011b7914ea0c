import { requireTenant, type Settings, takesWebhooks, toolsetsOf } from '../config.ts';
import type { Served } from '../hosts/served.ts';
import type { WebhookTenant } from '../hosts/webhooks.ts';
import { createLog, factsOf, type Log } from '../log.ts';
import { followMoved } from '../mcp/moved.ts';
import { type Surface, surfaceOf } from '../mcp/surface.ts';
import { usualStateFolder } from '../state/folder.ts';
import { localState } from '../state/local.ts';
import type { State } from '../state/port.ts';
import { CollectionCache } from '../tenant/cache.ts';
import { usualFreshness } from '../tenant/collections.ts';
import { Tenant } from '../tenant/tenant.ts';
import { version } from '../version.ts';

/** Everything that serving one tenant needs. */
export interface Opened extends Served {
  tenant: Tenant;
  surface: Surface;
  log: Log;
  /** Where its webhooks come in, if any are taken. */
  webhooks: WebhookTenant | undefined;
  close(): Promise<void>;
}

interface Address {
  baseUrl: URL;
  key: string;
  close(): Promise<void>;
}

/**
 * Opens the tenant that the settings name, or the embedded one.
 * @throws ConfigError when neither is there
 */
export async function openTenant(settings: Settings): Promise<Opened> {
  const address = settings.sandbox
    ? await embedded()
    : { ...requireTenant(settings), async close() {} };
  const { baseUrl, key } = address;
  const log = createLog(settings.logLevel, [key, ...secretsOf(settings)]);
  const state = await stateFor(settings, log);
  const tenant = new Tenant({
    baseUrl,
    key,
    pageParam: settings.pageParam,
    state,
    writing: {
      perHour: settings.writesPerHour,
      fields: settings.writeFields,
      barredStages: settings.barredStages,
    },
    budget: { requests: settings.rateLimit, windowSeconds: 600 },
    grants: settings.grants,
    cache: new CollectionCache(settings.cacheMegabytes),
    freshness: { ...usualFreshness, freshMs: settings.freshSeconds * 1000 },
  });
  const surface = surfaceOf(settings.grants, toolsetsOf(settings));
  const failed = (tool: string, error: unknown) =>
    log.error('call failed', { tool, ...factsOf(error) });
  const allowTokens = settings.consent === 'token';
  const hearsChanges = takesWebhooks(settings) || settings.redisUrl !== undefined;
  const parts = { surface, tenant, version, log: { failed }, allowTokens, hearsChanges };
  return {
    tenant,
    surface,
    log,
    parts,
    server: async (connection) =>
      (await import('../mcp/server.ts')).createServer(parts, connection),
    followMoved: (listener) => followMoved(tenant, listener),
    webhooks: takesWebhooks(settings) ? webhooksOf(tenant, settings) : undefined,
    async close() {
      await tenant.close();
      await state.close();
      await address.close();
    },
  };
}

/** What must not show in a log. */
function secretsOf({ redisUrl, webhookSecret, webhookSigningSecret }: Settings): string[] {
  const { password = '' } = redisUrl ?? {};
  return [password, decodeURIComponent(password), webhookSecret ?? '', webhookSigningSecret ?? ''];
}

/** @throws Error when Redis refuses the password */
async function stateFor(settings: Settings, log: Log): Promise<State> {
  const { redisUrl: url, replicas, stateDir } = settings;
  if (!url) return localState(stateDir ?? usualStateFolder(process.env));
  // Loaded where it is wanted: most servers share nothing.
  const { redisState } = await import('../state/redis.ts');
  return redisState({ url, replicas, tell: (event, facts) => log.warn(event, facts) });
}

function webhooksOf(tenant: Tenant, settings: Settings): WebhookTenant {
  const { webhookSecret: secret, webhookSigningSecret: signingSecret } = settings;
  const receive = async (body: string) =>
    (await import('../tenant/events/receive.ts')).receiveEvent(tenant, body);
  return { secret, signingSecret, receive };
}

/** The sandbox of this process, on a loopback port of its own. */
async function embedded(): Promise<Address> {
  const { startSandbox } = await import('../sandbox/index.ts');
  const sandbox = await startSandbox();
  const [tenant] = sandbox.tenants;
  return { baseUrl: new URL(tenant.baseUrl), key: tenant.keys.all, close: () => sandbox.close() };
}
