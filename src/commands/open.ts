import type { Settings } from '../config.ts';
import type { TenantEndpoint } from '../hosts/endpoint.ts';
import type { Log } from '../log.ts';
import type { Address } from './address.ts';
import { openCommon } from './common.ts';
import { defaultName, TenantHandle } from './tenant-handle.ts';

/**
 * Opens the one tenant of a process, with services of its own.
 * @throws Error when Redis refuses the password
 */
export async function openTenant(
  settings: Settings,
  address: Address,
  log: Log,
): Promise<TenantEndpoint & Pick<Address, 'close'>> {
  const common = await openCommon(settings, log);
  const handle = new TenantHandle(defaultName, settings, address, common);
  return {
    ...handle.endpoint,
    async close() {
      await handle.close();
      await common.state.close();
    },
  };
}
