import {
  environmentName,
  type SettingName,
  type Settings,
  settings,
  variableOf,
} from '../config/settings.ts';
import { ConfigError, readSettings } from '../config.ts';
import type { NameOf } from '../setting-names.ts';
import { isKeyOf, keysOf } from '../values.ts';

type Value = string | number | boolean | URL | readonly string[];

/** Validates options as variables. Nothing is read from the environment. @throws ConfigError; see `inOptions` */
export function settingsFrom(options: Readonly<Record<string, Value | undefined>>): Settings {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(options)) {
    if (!isKeyOf(settings, name)) throw new ConfigError(`There is no option "${name}"`);
    if (value !== undefined) environment[variableOf(name)] = textOf(name, value);
  }
  return readSettings([], environment);
}

function textOf(name: SettingName, value: Value): string {
  if (typeof value !== 'object') return String(value);
  if (value instanceof URL) return value.href;
  const separator = name === 'allowedStages' ? ';' : ',';
  if (value.every((entry) => !entry.includes(separator))) return value.join(separator);
  throw new ConfigError(`${environmentName(name)}: no entry may contain "${separator}"`);
}

/** Programs and files name a setting by its option. */
export const optionName: NameOf<SettingName> = (name) => name;

const optionsByName = new Map(keysOf(settings).map((name) => [environmentName(name), name]));

/** The message of a ConfigError with options in place of variables. */
export const inOptions = (message: string): string =>
  message.replace(/CPQ_[A-Z_]+(?: \(--[a-z-]+\))?/g, (name) => optionsByName.get(name) ?? name);
