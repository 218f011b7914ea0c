import type { Settings } from '../config.ts';
import type { Served } from '../hosts/served.ts';
import type { Log } from '../log.ts';
import type { Surface } from '../mcp/surface.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { addressOf } from './address.ts';
import { openCommon, openLog } from './common.ts';
import { TenantHandle, usualName } from './tenant-handle.ts';

/** Everything that serving one tenant needs. */
export interface Opened extends Served {
  tenant: Tenant;
  surface: Surface;
  log: Log;
  close(): Promise<void>;
}

/**
 * Opens the tenant that the settings name, or the embedded one.
 * @throws ConfigError when neither is there
 */
export async function openTenant(settings: Settings): Promise<Opened> {
  const address = await addressOf(settings);
  const common = await openCommon(settings, openLog(settings));
  const door = new TenantHandle(usualName, settings, address, common);
  const served = door.served(door.grants);
  return {
    ...served,
    tenant: door.tenant,
    surface: served.parts.surface,
    log: common.log,
    async close() {
      await door.close();
      await common.state.close();
    },
  };
}
