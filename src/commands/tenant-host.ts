import { ConfigError, type SettingName, type Settings } from '../config.ts';
import { type EmbeddedHost, embeddedHost } from '../hosts/embedded.ts';
import { createLog, factsOf } from '../log.ts';
import { isOneOf } from '../values.ts';
import { type Address, resolveAddress } from './address.ts';
import { openCommon, type SharedServices } from './common.ts';
import { type Opened, openWith } from './open.ts';
import { optionName, settingsFrom } from './options.ts';
import { defaultName } from './tenant-handle.ts';
import { validName } from './tenants.ts';

type Options = Parameters<typeof settingsFrom>[0];

/** Options that the tenants of a host share. */
const sharedOptions = [
  'stateDir',
  'redisUrl',
  'replicas',
  'cacheMegabytes',
  'logLevel',
] as const satisfies readonly SettingName[];

/** A tenant with the connections of its clients. */
export interface HostedTenant extends EmbeddedHost {
  opened: Opened;
}

interface Entry {
  name: string | undefined;
  address: Address;
  tenant: HostedTenant;
}

/** The tenants of an embedding program, which share cache, state and connections. */
export class TenantHost {
  readonly #options: Options;
  readonly #settings: Settings;
  readonly #tenants = new Set<Entry>();
  #common: Promise<SharedServices> | undefined;
  #closed = false;

  /** @throws ConfigError for an option that is unknown or invalid */
  constructor(options: Options) {
    const other = Object.keys(options).find((name) => !isShared(name));
    if (other !== undefined) throw new ConfigError(`There is no option "${other}" of the host`);
    this.#options = options;
    this.#settings = settingsFrom(options);
  }

  /**
   * Opens a tenant with its own options.
   * @throws ConfigError; Error when Redis refuses the password, or the host is closed
   */
  async open({ name: givenName, ...options }: Options): Promise<HostedTenant> {
    const shared = Object.keys(options).find(isShared);
    if (shared !== undefined) throw new ConfigError(`"${shared}" is an option of the host`);
    const name = tenantName(givenName);
    const settings = settingsFrom({ ...this.#options, ...options });
    const address = await resolveAddress(settings);
    try {
      return this.#add(await this.#openShared(), settings, address, name);
    } catch (error) {
      await address.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.all([...this.#tenants].map(({ tenant }) => tenant.close()));
    await (await this.#common)?.state.close();
  }

  /** A failure is forgotten: the next tenant tries again. */
  #openShared(): Promise<SharedServices> {
    this.#common ??= openCommon(this.#settings, createLog(this.#settings.logLevel)).catch(
      (error) => {
        this.#common = undefined;
        throw error;
      },
    );
    return this.#common;
  }

  #add(
    common: SharedServices,
    settings: Settings,
    address: Address,
    name: string | undefined,
  ): HostedTenant {
    if (this.#closed) throw new Error('the host is closed');
    if ([...this.#tenants].some((other) => isOtherKeyOf(other, name, address)))
      throw otherKey(address.baseUrl);
    const opened = openWith(common, settings, address, {
      name: name === defaultName ? undefined : name,
      stateByKey: name === undefined,
      label: name ?? address.baseUrl.host,
      nameOf: optionName,
    });
    const tenant = serve(opened, () => this.#tenants.delete(entry));
    const entry: Entry = { name, address, tenant };
    this.#tenants.add(entry);
    return tenant;
  }
}

function serve(opened: Opened, onClosed: () => void): HostedTenant {
  const host = embeddedHost(opened, (error) => opened.log.warn('protocol', factsOf(error)));
  return {
    ...host,
    opened,
    async close() {
      await host.close();
      await opened.close();
      onClosed();
    },
  };
}

const isShared = (name: string): boolean => isOneOf(sharedOptions, name);

function tenantName(given: Options[string]): string | undefined {
  if (given === undefined) return undefined;
  try {
    return validName(String(given));
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(`name: ${error.message}`) : error;
  }
}

/** Whether an open tenant would share its journal and events with this one, although it has another key. */
const isOtherKeyOf = (other: Entry, name: string | undefined, { baseUrl, key }: Address): boolean =>
  name !== undefined &&
  other.name === name &&
  other.address.baseUrl.href === baseUrl.href &&
  other.address.key !== key;

const otherKey = ({ host }: URL): ConfigError =>
  new ConfigError(
    `name: a tenant of this name at ${host} is open with another key. Close it first, or choose another name.`,
  );
