import type { NameOf } from '../setting-names.ts';
import { httpSettings } from './http-settings.ts';
import type { Setting } from './setting.ts';
import { tenantSettings } from './tenant-settings.ts';

/** Every setting; a flag wins over the environment. */
export const settings = { ...tenantSettings, ...httpSettings } as const;

export type SettingName = keyof typeof settings;

export type Settings = {
  [N in SettingName]: (typeof settings)[N] extends { fallback: string }
    ? ReturnType<(typeof settings)[N]['parse']>
    : ReturnType<(typeof settings)[N]['parse']> | undefined;
};

/** The environment variable of a setting. */
export function variableOf(name: SettingName): string {
  const { env }: Setting = settings[name];
  return env ?? `CPQ_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
}

/** The flag of a setting without its hyphens; undefined for a secret. */
export function flagOf(name: SettingName): string | undefined {
  const { secret, flag }: Setting = settings[name];
  if (secret) return undefined;
  return flag ?? variableOf(name).slice('CPQ_'.length).toLowerCase().replaceAll('_', '-');
}

/** The environment variable of a setting, with the flag of a switch. */
export const environmentName: NameOf<SettingName> = (name) => {
  const { bare }: Setting = settings[name];
  return bare ? `${variableOf(name)} (--${flagOf(name)})` : variableOf(name);
};
