import { ConfigError, readSettings, type Settings, settings } from '../config.ts';

type Name = keyof typeof settings;
type Value = string | number | boolean | URL | readonly string[];

const isName = (name: string): name is Name => Object.hasOwn(settings, name);

/**
 * Settings that are given by name, as a program or a file gives them, through the same checks as the
 * variables. Nothing is read from the environment.
 * @throws ConfigError that speaks of variables; `toOptionNames` puts the names in their place
 */
export function settingsFrom(options: Readonly<Record<string, Value | undefined>>): Settings {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(options)) {
    if (!isName(name)) throw new ConfigError(`There is no option "${name}"`);
    if (value !== undefined) environment[settings[name].env] = textOf(name, value);
  }
  return readSettings([], environment);
}

function textOf(name: Name, value: Value): string {
  if (typeof value !== 'object') return String(value);
  if (value instanceof URL) return value.href;
  const separator = name === 'barredStages' ? ';' : ',';
  if (value.every((entry) => !entry.includes(separator))) return value.join(separator);
  throw new ConfigError(`${settings[name].env}: no entry may hold "${separator}"`);
}

/** The checks speak of variables; who gave options is told of those. */
export function toOptionNames(message: string): string {
  const names = Object.entries(settings).sort(([, a], [, b]) => b.env.length - a.env.length);
  return names.reduce((text, [name, { env }]) => text.replaceAll(env, name), message);
}
