import { dirname, resolve } from 'node:path';
import { isObject } from '../api/envelope.ts';
import { ConfigError, contentOf, requireTenant, type Settings } from '../config.ts';
import type { Doors } from '../hosts/access/doors.ts';
import { addressOf } from './address.ts';
import type { Common } from './common.ts';
import { namedAsOptions, settingsFrom } from './options.ts';
import { TenantHandle, usualName } from './tenant-handle.ts';

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
type Sayable = keyof typeof typeOf;
const sayable = Object.keys(typeOf) as Sayable[];
const isSayable = (name: string): name is Sayable => Object.hasOwn(typeOf, name);
/** Those that belong to one tenant: another must never get them for want of its own. */
const personal = sayable.filter((name) => /baseUrl|Key|Secret/i.test(name));

interface OpenTenant {
  door: TenantHandle;
  /** What it was opened with; another text, another tenant. */
  opened: string;
}

/** Whether there need be no tenant here, because every caller names one. */
const bringTheirOwn = ({ auth, baseUrl, sandbox }: Settings): boolean =>
  auth.has('key') && auth.size === 1 && baseUrl === undefined && !sandbox;

/** What became of the tenants when the file was read again. */
export interface Reloaded {
  opened: string[];
  changed: string[];
  closed: string[];
}

/** The tenants that this process serves: those of the file, or the one of the settings. */
export class Tenants implements Doors {
  readonly #settings: Settings;
  readonly #common: Common;
  #tenants: ReadonlyMap<string, OpenTenant> = new Map();

  private constructor(settings: Settings, common: Common) {
    this.#settings = settings;
    this.#common = common;
  }

  /** @throws ConfigError for a file that is not as it must be, or where no tenant is named at all */
  static async open(settings: Settings, common: Common): Promise<Tenants> {
    const tenants = new Tenants(settings, common);
    if (settings.tenantsFile !== undefined) tenants.reload();
    else if (!bringTheirOwn(settings)) {
      const door = new TenantHandle(usualName, settings, await addressOf(settings), common);
      tenants.#tenants = new Map([[usualName, { door, opened: '' }]]);
    }
    return tenants;
  }

  get doors(): readonly TenantHandle[] {
    return [...this.#tenants.values()].map(({ door }) => door);
  }

  find(name: string | undefined): TenantHandle | undefined {
    if (name !== undefined) return this.#tenants.get(name)?.door;
    return this.#tenants.size === 1 ? this.doors[0] : undefined;
  }

  /**
   * Reads the file again. Calls in flight are finished by whom they were begun.
   * @throws ConfigError for a file that is not as it must be: then everything stays as it was
   */
  reload(): Reloaded {
    const path = this.#settings.tenantsFile;
    if (path === undefined) return { opened: [], changed: [], closed: [] };
    const described = readTenants(path, this.#settings);
    const before = this.#tenants;
    this.#tenants = new Map(
      [...described].map(([name, settings]) => [name, this.#kept(name, settings)]),
    );
    const names = [...this.#tenants.keys()];
    const closed = [...before.keys()].filter((name) => !this.#tenants.has(name));
    const isOther = (name: string) => before.get(name) !== this.#tenants.get(name);
    const changed = names.filter((name) => before.has(name) && isOther(name));
    for (const name of [...closed, ...changed]) before.get(name)?.door.retire();
    return { opened: names.filter((name) => !before.has(name)), changed, closed };
  }

  async close(): Promise<void> {
    await Promise.all(this.doors.map((door) => door.close()));
  }

  /** The one that is open, where it is still described in the same words. */
  #kept(name: string, settings: Settings): OpenTenant {
    const opened = JSON.stringify(settings, (_, value) =>
      value instanceof Set ? [...value] : value,
    );
    const known = this.#tenants.get(name);
    if (known?.opened === opened) return known;
    const address = { ...requireTenant(settings), async close() {} };
    // Whoever moves the only tenant into a file, under the name it has, keeps what is kept of it.
    const entry = name === usualName ? {} : { name };
    return { door: new TenantHandle(name, settings, address, this.#common, entry), opened };
  }
}

/**
 * The settings of each tenant that the file describes.
 * @throws ConfigError that says what is wrong in it, never a value of a key
 */
export function readTenants(path: string, server: Settings): ReadonlyMap<string, Settings> {
  const read = Object.entries(tenantsIn(path)).map(([name, described]) => {
    try {
      return [checkedName(name), settingsOf(described, dirname(path), server)] as const;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw new ConfigError(`${path}: ${JSON.stringify(name)}: ${namedAsOptions(error.message)}`);
    }
  });
  if (read.length === 0) throw new ConfigError(`${path}: describes no tenant`);
  return new Map(read);
}

const form = '{"tenants": {"a-name": {"baseUrl": "https://…", "apiKeyFile": "…"}}}';

function tenantsIn(path: string): Record<string, unknown> {
  const text = contentOf('CPQ_TENANTS_FILE', path);
  const tenants = (parsed(text) as { tenants?: unknown } | undefined)?.tenants;
  if (isObject(tenants)) return tenants;
  throw new ConfigError(`CPQ_TENANTS_FILE: ${path} must be JSON such as ${form}`);
}

/** The parser's own message would quote the text, and so a key. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

function checkedName(name: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) return name;
  throw new ConfigError('a name is made of a–z, 0–9 and hyphens');
}

function settingsOf(described: unknown, folder: string, server: Settings): Settings {
  if (!isObject(described)) throw new ConfigError(`must be an object, as in ${form}`);
  const options: Record<string, Given> = {};
  for (const [name, value] of Object.entries(described)) {
    if (!isSayable(name)) {
      throw new ConfigError(`"${name}" cannot be said of a tenant. Known: ${sayable.join(', ')}`);
    }
    const given = checkedValue(name, value);
    options[name] = name.endsWith('File') ? resolve(folder, String(given)) : given;
  }
  const read = settingsFrom(options);
  const own = Object.keys(options).map((name) => [name, read[name as keyof Settings]]);
  const ofFiles = personal.map((name) => [name, read[name]]);
  const settings = { ...server, ...Object.fromEntries([...ofFiles, ...own]) } as Settings;
  requireTenant(settings);
  return settings;
}

/** @throws ConfigError without the value, which may be a key in the wrong place */
function checkedValue(name: Sayable, value: unknown): Given {
  const type = typeOf[name];
  const given = types[type](value);
  if (given !== undefined) return given;
  throw new ConfigError(`${name} must be ${type}`);
}
