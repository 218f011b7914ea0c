import type { Settings } from '../config.ts';
import type { TenantEndpoint } from '../hosts/endpoint.ts';
import type { WebhookTenant } from '../hosts/webhooks.ts';
import type { Log } from '../log.ts';
import type { Surface } from '../mcp/surface.ts';
import type { Tenant } from '../tenant/tenant.ts';
import type { Address } from './address.ts';
import { openCommon, type SharedServices } from './common.ts';
import { defaultName, TenantHandle, type TenantHandleOptions } from './tenant-handle.ts';

/** An open tenant with everything needed to serve it. */
export interface Opened extends TenantEndpoint {
  tenant: Tenant;
  surface: Surface;
  log: Log;
  /** Receives the tenant's webhooks, if configured. */
  webhooks: WebhookTenant | undefined;
  close(): Promise<void>;
}

/**
 * Opens the one tenant of a process, with services of its own.
 * @throws Error when Redis refuses the password
 */
export async function openTenant(settings: Settings, address: Address, log: Log): Promise<Opened> {
  const common = await openCommon(settings, log);
  const opened = openWith(common, settings, address);
  return {
    ...opened,
    async close() {
      await opened.close();
      await common.state.close();
    },
  };
}

/** Opens a tenant that uses these services; closing it leaves them open. */
export function openWith(
  common: SharedServices,
  settings: Settings,
  address: Address,
  { label = defaultName, ...options }: TenantHandleOptions & { label?: string } = {},
): Opened {
  const handle = new TenantHandle(label, settings, address, common, options);
  const served = handle.endpointFor(handle.grants);
  return {
    ...served,
    tenant: handle.tenant,
    surface: served.parts.surface,
    log: common.log,
    webhooks: handle.webhooks,
    close: () => handle.close(),
  };
}
