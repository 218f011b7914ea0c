import { environmentName, type SettingName, type Settings } from '../config.ts';
import type { TenantEndpoint } from '../hosts/endpoint.ts';
import type { Log } from '../log.ts';
import type { Surface } from '../mcp/surface.ts';
import type { NameOf } from '../setting-names.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { resolveAddress } from './address.ts';
import { openCommon, openLog } from './common.ts';
import { defaultName, TenantHandle } from './tenant-handle.ts';

/** An open tenant with everything needed to serve it. */
export interface Opened extends TenantEndpoint {
  tenant: Tenant;
  surface: Surface;
  log: Log;
  close(): Promise<void>;
}

/**
 * Opens the configured tenant, or the embedded one. `nameOf` names settings in error messages.
 * @throws ConfigError if neither is configured
 */
export async function openTenant(
  settings: Settings,
  nameOf: NameOf<SettingName> = environmentName,
): Promise<Opened> {
  const address = await resolveAddress(settings);
  const common = await openCommon(settings, openLog(settings));
  const tenant = new TenantHandle(defaultName, settings, address, common, { nameOf });
  const served = tenant.endpointFor(tenant.grants);
  return {
    ...served,
    tenant: tenant.tenant,
    surface: served.parts.surface,
    log: common.log,
    async close() {
      await tenant.close();
      await common.state.close();
    },
  };
}
