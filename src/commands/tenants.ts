import { dirname, resolve } from 'node:path';
import { isObject } from '../api/envelope.ts';
import {
  ConfigError,
  environmentName,
  fileContent,
  requireTenant,
  type SettingName,
  type Settings,
} from '../config.ts';
import type { TenantRegistry } from '../hosts/access/tenant-registry.ts';
import type { NameOf } from '../setting-names.ts';
import { resolveAddress } from './address.ts';
import type { SharedServices } from './common.ts';
import { optionName, settingsFrom } from './options.ts';
import { defaultName, TenantHandle } from './tenant-handle.ts';

type Given = string | number | readonly string[];

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '';
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

/** The types of values in the file, as messages name them. An empty grant must not become the default one. */
const types = {
  'a text': (value: unknown) => (isText(value) ? value : undefined),
  'a number': (value: unknown) => (typeof value === 'number' ? value : undefined),
  'a text or a list of texts': (value: unknown) =>
    isText(value) || (isTexts(value) && value.length > 0) ? value : undefined,
  'a text or a list of texts, which may be empty': (value: unknown) =>
    isText(value) || isTexts(value) ? value : undefined,
} satisfies Record<string, (value: unknown) => Given | undefined>;

/** What of a tenant the file may say; the server's own settings stand in for what it leaves out. */
const typeOf = {
  baseUrl: 'a text',
  apiKey: 'a text',
  apiKeyFile: 'a text',
  grants: 'a text or a list of texts',
  toolsets: 'a text or a list of texts',
  pageParam: 'a text',
  rateLimit: 'a number',
  freshSeconds: 'a number',
  consent: 'a text',
  writesPerHour: 'a number',
  writeFields: 'a text or a list of texts',
  barredStages: 'a text or a list of texts, which may be empty',
  webhookSecret: 'a text',
  webhookSecretFile: 'a text',
  webhookSigningSecret: 'a text',
  webhookSigningSecretFile: 'a text',
} as const satisfies Partial<Record<keyof Settings, keyof typeof types>>;
type TenantSetting = keyof typeof typeOf;
const tenantSettings = Object.keys(typeOf) as TenantSetting[];
const isTenantSetting = (name: string): name is TenantSetting => Object.hasOwn(typeOf, name);
/** The file's own name of a setting, or the variable of one that it cannot hold. */
const nameInFile: NameOf<SettingName> = (name) =>
  isTenantSetting(name) ? optionName(name) : environmentName(name);
/** Those that belong to one tenant: another must never get them for want of its own. */
const callerSettings = tenantSettings.filter((name) => /baseUrl|Key|Secret/i.test(name));

interface OpenEntry {
  tenant: TenantHandle;
  /** What it was opened with; another text, another tenant. */
  description: string;
}

/** Whether there need be no tenant here, because every caller names one. */
const usesCallerKeys = ({ auth, baseUrl, sandbox }: Settings): boolean =>
  auth.has('key') && auth.size === 1 && baseUrl === undefined && !sandbox;

/** What became of the tenants when the file was read again. */
export interface Reloaded {
  opened: string[];
  changed: string[];
  closed: string[];
}

/** The tenants that this process serves: those of the file, or the one of the settings. */
export class ConfiguredTenants implements TenantRegistry {
  readonly #settings: Settings;
  readonly #common: SharedServices;
  #tenants: ReadonlyMap<string, OpenEntry> = new Map();

  private constructor(settings: Settings, common: SharedServices) {
    this.#settings = settings;
    this.#common = common;
  }

  /** @throws ConfigError for a file that is not as it must be, or where no tenant is named at all */
  static async open(settings: Settings, common: SharedServices): Promise<ConfiguredTenants> {
    const tenants = new ConfiguredTenants(settings, common);
    if (settings.tenantsFile !== undefined) tenants.reload();
    else if (!usesCallerKeys(settings)) {
      const tenant = new TenantHandle(
        defaultName,
        settings,
        await resolveAddress(settings),
        common,
      );
      tenants.#tenants = new Map([[defaultName, { tenant, description: '' }]]);
    }
    return tenants;
  }

  get handles(): readonly TenantHandle[] {
    return [...this.#tenants.values()].map(({ tenant }) => tenant);
  }

  find(name: string | undefined): TenantHandle | undefined {
    if (name !== undefined) return this.#tenants.get(name)?.tenant;
    return this.#tenants.size === 1 ? this.handles[0] : undefined;
  }

  /**
   * Reads the file again. Calls in flight are finished by whom they were begun.
   * @throws ConfigError for a file that is not as it must be: then everything stays as it was
   */
  reload(): Reloaded {
    const path = this.#settings.tenantsFile;
    if (path === undefined) return { opened: [], changed: [], closed: [] };
    const entry = readTenants(path, this.#settings);
    const before = this.#tenants;
    this.#tenants = new Map(
      [...entry].map(([name, settings]) => [name, this.#kept(name, settings)]),
    );
    const names = [...this.#tenants.keys()];
    const closed = [...before.keys()].filter((name) => !this.#tenants.has(name));
    const isOther = (name: string) => before.get(name) !== this.#tenants.get(name);
    const changed = names.filter((name) => before.has(name) && isOther(name));
    for (const name of [...closed, ...changed]) before.get(name)?.tenant.retire();
    return { opened: names.filter((name) => !before.has(name)), changed, closed };
  }

  async close(): Promise<void> {
    await Promise.all(this.handles.map((tenant) => tenant.close()));
  }

  /** The one that is open, where it is still described in the same words. */
  #kept(name: string, settings: Settings): OpenEntry {
    const opened = JSON.stringify(settings, (_, value) =>
      value instanceof Set ? [...value] : value,
    );
    const known = this.#tenants.get(name);
    if (known?.description === opened) return known;
    const address = { ...requireTenant(settings), async close() {} };
    // Whoever moves the only tenant into a file, under the name it has, keeps what is kept of it.
    const entry = { nameOf: nameInFile, ...(name === defaultName ? {} : { name }) };
    return {
      tenant: new TenantHandle(name, settings, address, this.#common, entry),
      description: opened,
    };
  }
}

/**
 * The settings of each tenant that the file describes.
 * @throws ConfigError that says what is wrong in it, never a value of a key
 */
export function readTenants(path: string, server: Settings): ReadonlyMap<string, Settings> {
  const read = Object.entries(readEntries(path)).map(([name, entry]) => {
    try {
      return [validName(name), settingsFor(entry, dirname(path), server)] as const;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw new ConfigError(`${path}: ${JSON.stringify(name)}: ${error.messageNaming(optionName)}`);
    }
  });
  if (read.length === 0) throw new ConfigError(`${path}: describes no tenant`);
  return new Map(read);
}

const exampleFile = '{"tenants": {"a-name": {"baseUrl": "https://…", "apiKeyFile": "…"}}}';

function readEntries(path: string): Record<string, unknown> {
  const text = fileContent('tenantsFile', path);
  const tenants = (parseJson(text) as { tenants?: unknown } | undefined)?.tenants;
  if (isObject(tenants)) return tenants;
  throw new ConfigError(
    (nameOf) => `${nameOf('tenantsFile')}: ${path} must be JSON such as ${exampleFile}`,
  );
}

/** The parser's own message would quote the text, and so a key. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

function validName(name: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) return name;
  throw new ConfigError('a name is made of a–z, 0–9 and hyphens');
}

function settingsFor(entry: unknown, folder: string, server: Settings): Settings {
  if (!isObject(entry)) throw new ConfigError(`must be an object, as in ${exampleFile}`);
  const options: Record<string, Given> = {};
  for (const [name, value] of Object.entries(entry)) {
    if (!isTenantSetting(name)) {
      throw new ConfigError(
        `"${name}" cannot be said of a tenant. Known: ${tenantSettings.join(', ')}`,
      );
    }
    const given = validValue(name, value);
    options[name] = name.endsWith('File') ? resolve(folder, String(given)) : given;
  }
  const read = settingsFrom(options);
  const own = Object.keys(options).map((name) => [name, read[name as keyof Settings]]);
  const ofFiles = callerSettings.map((name) => [name, read[name]]);
  const settings = { ...server, ...Object.fromEntries([...ofFiles, ...own]) } as Settings;
  requireTenant(settings);
  return settings;
}

/** @throws ConfigError without the value, which may be a key in the wrong place */
function validValue(name: TenantSetting, value: unknown): Given {
  const type = typeOf[name];
  const given = types[type](value);
  if (given !== undefined) return given;
  throw new ConfigError(`${name} must be ${type}`);
}
