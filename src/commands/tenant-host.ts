import { ConfigError, type SettingName, type Settings } from '../config.ts';
import { type EmbeddedHost, embeddedHost } from '../hosts/embedded.ts';
import { createLog, factsOf } from '../log.ts';
import { isOneOf } from '../values.ts';
import { openCommon, type SharedServices } from './common.ts';
import { optionName, settingsFrom } from './options.ts';
import { resolveAddress } from './start.ts';
import { defaultName, TenantHandle } from './tenant-handle.ts';
import { validName } from './tenants.ts';

type Options = Parameters<typeof settingsFrom>[0];

const sharedOptions: readonly SettingName[] = [
  ...(['stateDir', 'redisUrl', 'replicas', 'cacheMegabytes', 'logLevel'] as const),
];

export interface HostedTenant extends EmbeddedHost {
  handle: TenantHandle;
}

/** Tenants with the same name and address share their state. */
interface StateOwner {
  name: string | undefined;
  key: string;
}

/** The tenants of an embedding program, which share cache, state and connections. */
export class TenantHost {
  readonly #options: Options;
  readonly #settings: Settings;
  readonly #log;
  readonly #tenants = new Map<HostedTenant, StateOwner>();
  #common: Promise<SharedServices> | undefined;
  #closed = false;

  /** @throws ConfigError for an option that is unknown or invalid */
  constructor(options: Options) {
    const other = Object.keys(options).find((name) => !isOneOf(sharedOptions, name));
    if (other !== undefined) throw new ConfigError(`There is no option "${other}" of the host`);
    this.#options = options;
    this.#settings = settingsFrom(options);
    this.#log = createLog(this.#settings.logLevel);
  }

  /**
   * Opens a tenant with its own options.
   * @throws ConfigError; Error when Redis refuses the password, or the host is closed
   */
  async open({ name: givenName, ...options }: Options): Promise<HostedTenant> {
    const shared = sharedOptions.find((name) => name in options);
    if (shared !== undefined) throw new ConfigError(`"${shared}" is an option of the host`);
    const name = givenName === undefined ? undefined : validName(String(givenName));
    const settings = settingsFrom({ ...this.#options, ...options });
    const address = await resolveAddress(settings);
    try {
      const common = await this.#openShared();
      if (this.#closed) throw new Error('the host is closed');
      const { baseUrl, key } = address;
      const owner = { name: name && `${name} at ${baseUrl.href}`, key };
      this.#refuseOtherKey(owner);
      const handle = new TenantHandle(name ?? baseUrl.host, settings, address, common, {
        name: name === defaultName ? undefined : name,
        stateByKey: name === undefined,
        nameOf: optionName,
      });
      return this.#serve(handle, owner);
    } catch (error) {
      await address.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.all([...this.#tenants.keys()].map((tenant) => tenant.close()));
    await (await this.#common)?.state.close();
  }

  /** A failure is forgotten: the next tenant tries again. */
  #openShared(): Promise<SharedServices> {
    this.#common ??= openCommon(this.#settings, this.#log).catch((error) => {
      this.#common = undefined;
      throw error;
    });
    return this.#common;
  }

  /** It would share its journal and events with this one. @throws ConfigError */
  #refuseOtherKey({ name, key }: StateOwner): void {
    const owners = [...this.#tenants.values()];
    if (!owners.some((other) => name && other.name === name && other.key !== key)) return;
    throw new ConfigError(
      `name: the tenant ${name} is open with another key. Close it first, or choose another name.`,
    );
  }

  #serve(handle: TenantHandle, owner: StateOwner): HostedTenant {
    const onError = (error: Error) => this.#log.warn('protocol', factsOf(error));
    const host = embeddedHost(handle.endpoint, onError);
    const close = async () => {
      await host.close();
      await handle.close();
      this.#tenants.delete(tenant);
    };
    const tenant: HostedTenant = { ...host, handle, close };
    this.#tenants.set(tenant, owner);
    return tenant;
  }
}
