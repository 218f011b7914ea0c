import { requireTenant, type Settings, toolsetsOf } from '../config.ts';
import type { Served } from '../hosts/served.ts';
import { createLog, factsOf, type Log } from '../log.ts';
import { type Surface, surfaceOf } from '../mcp/surface.ts';
import { usualStateFolder } from '../state/folder.ts';
import { localState } from '../state/local.ts';
import { CollectionCache } from '../tenant/cache.ts';
import { usualFreshness } from '../tenant/collections.ts';
import { Tenant } from '../tenant/tenant.ts';
import { version } from '../version.ts';

/** Everything that serving one tenant needs. */
export interface Opened extends Served {
  tenant: Tenant;
  surface: Surface;
  log: Log;
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
  const log = createLog(settings.logLevel, [key]);
  const state = localState(settings.stateDir ?? usualStateFolder(process.env));
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
  const parts = { surface, tenant, version, log: { failed }, allowTokens };
  return {
    tenant,
    surface,
    log,
    parts,
    server: async () => (await import('../mcp/server.ts')).createServer(parts),
    async close() {
      await tenant.close();
      await state.close();
      await address.close();
    },
  };
}

/** The sandbox of this process, on a loopback port of its own. */
async function embedded(): Promise<Address> {
  const { startSandbox } = await import('../sandbox/index.ts');
  const sandbox = await startSandbox();
  const [tenant] = sandbox.tenants;
  return { baseUrl: new URL(tenant.baseUrl), key: tenant.keys.all, close: () => sandbox.close() };
}
