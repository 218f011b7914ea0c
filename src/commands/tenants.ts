import { dirname, resolve } from 'node:path';
import { environmentName, type SettingName, type Settings } from '../config/settings.ts';
import { ConfigError, fileContent, requireTenant } from '../config.ts';
import type { NameOf } from '../setting-names.ts';
import { fieldOf, isObject, isOneOf, parseJson } from '../values.ts';
import { inOptions, isText, optionName, settingsFrom, tenantSettings } from './options.ts';
import { resolveAddress } from './start.ts';
import {
  defaultName,
  fieldRulesOf,
  openHandle,
  type SharedServices,
  type TenantHandle,
} from './tenant-handle.ts';

/** The file's own name of a setting, or the variable of one that it cannot hold, and tenants inherit from the server. */
const nameInFile: NameOf<SettingName> = (name) =>
  isOneOf(tenantSettings, name) ? optionName(name) : environmentName(name);
/** Address, key and secrets are never inherited by another tenant. */
const callerSettings = tenantSettings.filter((name) => /baseUrl|Key|Secret/i.test(name));

/** Whether no tenant needs to be configured, because every caller uses an own key. */
const usesCallerKeys = ({ auth, baseUrl }: Settings): boolean =>
  auth.has('key') && auth.size === 1 && baseUrl === undefined;

export type ConfiguredTenants = Awaited<ReturnType<typeof configuredTenants>>;

/**
 * The tenants of this process: those in the tenants file, or the one in the settings.
 * @throws ConfigError for an invalid file, or if no tenant is configured
 */
export async function configuredTenants(settings: Settings, common: SharedServices) {
  let open: ReadonlyMap<string, TenantHandle> = new Map();
  /** Serialized settings; a tenant is reopened when they change. */
  const descriptions = new WeakMap<TenantHandle, string>();

  /** The open tenant if its settings are unchanged; otherwise a new one. */
  function entryOf([name, settings]: readonly [string, Settings]): [string, TenantHandle] {
    const description = JSON.stringify(settings, (_, value) =>
      value instanceof Set ? [...value] : value,
    );
    const known = open.get(name);
    if (known && descriptions.get(known) === description) return [name, known];
    const nameOf = settings.tenantsFile === undefined ? environmentName : nameInFile;
    const tenant = openHandle(name, settings, requireTenant(settings), common, { nameOf });
    descriptions.set(tenant, description);
    return [name, tenant];
  }

  /** Calls in flight finish on the tenant on which they started. @throws ConfigError; then nothing changes */
  function reload(settings: Settings): { opened: string[]; closed: string[] } {
    if (settings.sandbox) return { opened: [], closed: [] };
    const read = usesCallerKeys(settings) ? [] : tenantsOf(settings);
    const before = open;
    open = new Map([...read].map(entryOf));
    const hasChanged = (name: string) => before.get(name) !== open.get(name);
    const opened = [...open.keys()].filter(hasChanged);
    const closed = [...before.keys()].filter(hasChanged);
    for (const name of closed) before.get(name)?.retire();
    return { opened, closed };
  }

  if (settings.sandbox) {
    const address = await resolveAddress(settings);
    open = new Map([[defaultName, openHandle(defaultName, settings, address, common)]]);
  } else reload(settings);

  return {
    reload,
    get handles(): readonly TenantHandle[] {
      return [...open.values()];
    },
    find(name: string | undefined): TenantHandle | undefined {
      const [only] = open.size === 1 ? open.values() : [];
      return name === undefined ? only : open.get(name);
    },
    async close(): Promise<void> {
      await Promise.all(this.handles.map((tenant) => tenant.close()));
    },
  };
}

/**
 * The settings of each tenant: those in the tenants file, or the only one.
 * @throws ConfigError that says what is wrong, never a key
 */
export function tenantsOf(server: Settings): ReadonlyMap<string, Settings> {
  const { tenantsFile: path } = server;
  if (path === undefined) return new Map([[defaultName, server]]);
  const read = Object.entries(readEntries(path)).map(([name, entry]) => {
    try {
      return [validName(name), settingsFor(entry, dirname(path), server)] as const;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw new ConfigError(`${path}: ${JSON.stringify(name)}: ${inOptions(error.message)}`);
    }
  });
  if (read.length === 0) throw new ConfigError(`${path}: describes no tenant`);
  return new Map(read);
}

/** Without the keys, which who creates tokens need not be able to read. @throws ConfigError */
export const namesInFile = (path: string): string[] => Object.keys(readEntries(path));

const exampleFile = '{"tenants": {"a-name": {"baseUrl": "https://…", "apiKeyFile": "…"}}}';

function readEntries(path: string): Record<string, unknown> {
  const text = fileContent(environmentName('tenantsFile'), path);
  // Without the parser's own error, because it could quote a key.
  const tenants = fieldOf(parseJson(text), 'tenants');
  if (isObject(tenants)) return tenants;
  throw new ConfigError(
    `${environmentName('tenantsFile')}: ${path} must be JSON such as ${exampleFile}`,
  );
}

/** @throws ConfigError */
export function validName(name: unknown): string {
  if (typeof name === 'string' && /^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) return name;
  throw new ConfigError('a name may contain a–z, 0–9 and hyphens');
}

function settingsFor(entry: unknown, folder: string, server: Settings): Settings {
  if (!isObject(entry)) throw new ConfigError(`must be an object, as in ${exampleFile}`);
  const options = Object.fromEntries(
    Object.entries(entry).map(([name, value]) => {
      const isPath = name.endsWith('File') && isText(value);
      return [name, isPath ? resolve(folder, value) : value];
    }),
  );
  const read = settingsFrom(options, tenantSettings);
  const own = tenantSettings.filter((name) => name in options || callerSettings.includes(name));
  const settings = { ...server, ...Object.fromEntries(own.map((name) => [name, read[name]])) };
  requireTenant(settings);
  fieldRulesOf(settings);
  return settings;
}
