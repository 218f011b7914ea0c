import type { NameOf } from '../setting-names.ts';
import { httpSettings } from './http-settings.ts';
import type { Setting } from './setting.ts';
import { tenantSettings } from './tenant-settings.ts';

/** Every setting; a flag wins over the environment. */
export const settings = { ...tenantSettings, ...httpSettings } as const;

export type SettingName = keyof typeof settings;

/** The environment variable of a setting, with the flag of a switch. */
export const environmentName: NameOf<SettingName> = (name) => {
  const { env, flag, bare }: Setting = settings[name];
  return bare ? `${env} (--${flag})` : env;
};

export type Settings = {
  [N in SettingName]: (typeof settings)[N] extends { fallback: string }
    ? ReturnType<(typeof settings)[N]['parse']>
    : ReturnType<(typeof settings)[N]['parse']> | undefined;
};
