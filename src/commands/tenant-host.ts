import type { SettingName } from '../config/settings.ts';
import { ConfigError } from '../config.ts';
import { type EmbeddedHost, embeddedHost } from '../hosts/embedded.ts';
import { createLog, factsOf } from '../log.ts';
import { type Options, optionName, settingsFrom, tenantSettings } from './options.ts';
import { resolveAddress } from './start.ts';
import { openCommon, openHandle, type SharedServices, type TenantHandle } from './tenant-handle.ts';
import { validName } from './tenants.ts';

const sharedOptions: readonly SettingName[] = [
  'stateDir',
  'redisUrl',
  'cacheMegabytes',
  'logLevel',
];
const allOptions: readonly SettingName[] = [
  ...sharedOptions,
  ...tenantSettings,
  ...(['sandbox', 'keepCollections', 'historyDays'] as const),
];

export interface HostedTenant extends EmbeddedHost {
  handle: TenantHandle;
}

/** Tenants with the same name and address share their state. */
interface StateOwner {
  name: string | undefined;
  key: string;
}

/**
 * The tenants of an embedding program, which share cache, state and connections.
 * @throws ConfigError for an option that is unknown or invalid
 */
export function tenantHost(hostOptions: Options) {
  const hostSettings = settingsFrom(hostOptions, sharedOptions);
  const log = createLog(hostSettings.logLevel);
  const tenants = new Map<HostedTenant, StateOwner>();
  let common: Promise<SharedServices> | undefined;
  let closed = false;

  /** A failure is forgotten: the next tenant tries again. */
  function openShared(): Promise<SharedServices> {
    common ??= openCommon(hostSettings, log).catch((error) => {
      common = undefined;
      throw error;
    });
    return common;
  }

  function serve(handle: TenantHandle, owner: StateOwner): HostedTenant {
    const host = embeddedHost(handle.endpoint, (error) => log.warn('protocol', factsOf(error)));
    const close = async () => {
      await host.close();
      await handle.close();
      tenants.delete(tenant);
    };
    const tenant: HostedTenant = { ...host, handle, close };
    tenants.set(tenant, owner);
    return tenant;
  }

  return {
    /** @throws ConfigError; Error when Redis refuses the password, or the host is closed */
    async open({ name: givenName, ...options }: Options): Promise<HostedTenant> {
      const shared = sharedOptions.find((name) => name in options);
      if (shared !== undefined) throw new ConfigError(`"${shared}" is an option of the host`);
      const name = givenName === undefined ? undefined : validName(givenName);
      const settings = settingsFrom({ ...hostOptions, ...options }, allOptions);
      const address = await resolveAddress(settings);
      try {
        const services = await openShared();
        if (closed) throw new Error('the host is closed');
        const { baseUrl, key } = address;
        const owner = { name: name && `${name} at ${baseUrl.href}`, key };
        refuseOtherKey(owner, [...tenants.values()]);
        const more = { stateByKey: name === undefined, nameOf: optionName };
        const handle = openHandle(name ?? baseUrl.host, settings, address, services, more);
        return serve(handle, owner);
      } catch (error) {
        await address.close?.();
        throw error;
      }
    },
    async close(): Promise<void> {
      if (closed) return;
      closed = true;
      await Promise.all([...tenants.keys()].map((tenant) => tenant.close()));
      await (await common)?.state.close();
    },
  };
}

/** It would share its journal and events with the tenant of that name. @throws ConfigError */
function refuseOtherKey({ name, key }: StateOwner, owners: readonly StateOwner[]): void {
  if (!owners.some((other) => name && other.name === name && other.key !== key)) return;
  throw new ConfigError(
    `name: the tenant ${name} is open with another key. Close it first, or choose another name.`,
  );
}
