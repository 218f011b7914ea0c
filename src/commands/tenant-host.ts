import { ConfigError, type SettingName, type Settings } from '../config.ts';
import { type EmbeddedHost, embeddedHost } from '../hosts/embedded.ts';
import { createLog, factsOf } from '../log.ts';
import { namespaceOf } from '../tenant/shared-state.ts';
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
  namespace: string;
  key: string;
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
    const { baseUrl, key } = address;
    const namespace = namespaceOf(baseUrl, name);
    for (const other of this.#tenants)
      if (other.namespace === namespace && other.key !== key) throw sameAddress(baseUrl);
    const opened = openWith(common, settings, address, {
      name,
      label: name ?? baseUrl.host,
      nameOf: optionName,
    });
    const tenant = serve(opened, () => this.#tenants.delete(entry));
    const entry: Entry = { namespace, key, tenant };
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

/** The default name is no name, as in a file of tenants. */
function tenantName(given: Options[string]): string | undefined {
  if (given === undefined || given === defaultName) return undefined;
  try {
    return validName(String(given));
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(`name: ${error.message}`) : error;
  }
}

/** Without names they would share a journal of changes, and events. */
const sameAddress = ({ host }: URL): ConfigError =>
  new ConfigError(
    `name: a tenant at ${host} is open with another key. Close it first, or give each of the two a name.`,
  );
