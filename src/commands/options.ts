import {
  environmentName,
  type Setting,
  type SettingName,
  type Settings,
  settings,
  variableOf,
} from '../config/settings.ts';
import { ConfigError, readSettings } from '../config.ts';
import type { NameOf } from '../setting-names.ts';
import { isOneOf, keysOf } from '../values.ts';

export type Options = Readonly<Record<string, unknown>>;

const lists = ['grants', 'toolsets', 'tools', 'writeFields', 'allowedStages'] as const;
/** Settings that each tenant of a program or of a tenants file may have. */
export const tenantSettings = [
  ...(['baseUrl', 'apiKey', 'apiKeyFile', 'pageParam', 'fieldsFile'] as const),
  ...(['recordUrl', 'consent', 'webhookSecret', 'webhookSecretFile'] as const),
  ...lists,
  ...(['rateLimit', 'freshSeconds', 'writesPerHour'] as const),
] satisfies SettingName[];

/**
 * Validates options as variables. Nothing is read from the environment.
 * @param known other options are refused: one that does nothing could be a limit that somebody relies on
 * @throws ConfigError; see `inOptions`
 */
export function settingsFrom(options: Options, known: readonly SettingName[]): Settings {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(options)) {
    if (!isOneOf(known, name))
      throw new ConfigError(`There is no option "${name}" here. Known: ${known.join(', ')}`);
    if (value !== undefined) environment[variableOf(name)] = textOf(name, value);
  }
  return readSettings([], environment);
}

/** Empty texts and lists are refused, because an empty variable means the default. */
function textOf(name: SettingName, value: unknown): string {
  if (value instanceof URL) return value.href;
  const isList = isOneOf(lists, name);
  if (isList && Array.isArray(value) && value.length > 0 && value.every(isText)) {
    const separator = name === 'allowedStages' ? ';' : ',';
    if (value.every((entry) => !entry.includes(separator))) return value.join(separator);
    throw new ConfigError(`${environmentName(name)}: no entry may contain "${separator}"`);
  }
  const { bare, fallback = '' }: Setting = settings[name];
  const type = bare ? 'boolean' : /^\d+$/.test(fallback) ? 'number' : 'string';
  if (typeof value === type && String(value).trim() !== '') return String(value);
  // Without the value, which may be a misplaced key.
  const expected = type === 'string' ? 'text that is not empty' : type;
  const orList = isList ? ', or a list of at least one such text' : '';
  throw new ConfigError(`${environmentName(name)} must be a ${expected}${orList}`);
}

export const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '';

/** Programs and files name a setting by its option. */
export const optionName: NameOf<SettingName> = (name) => name;

const optionsByName = new Map(keysOf(settings).map((name) => [environmentName(name), name]));

/** The message of a ConfigError with options in place of variables. */
export const inOptions = (message: string): string =>
  message.replace(/CPQ_[A-Z_]+(?: \(--[a-z-]+\))?/g, (name) => optionsByName.get(name) ?? name);
