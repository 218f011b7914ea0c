import type { NameOf } from '../setting-names.ts';
import { httpSettings } from './http-settings.ts';
import { flagOf, type Setting } from './setting.ts';
import { tenantSettings } from './tenant-settings.ts';

/** Every setting; a flag wins over the environment. */
export const settings = { ...tenantSettings, ...httpSettings } as const;

export type SettingName = keyof typeof settings;

/** The environment variable of a setting, with the flag of a switch. */
export const environmentName: NameOf<SettingName> = (name) => {
  const setting: Setting = settings[name];
  return setting.bare ? `${setting.env} (--${flagOf(setting)})` : setting.env;
};

export type Settings = {
  [N in SettingName]: (typeof settings)[N] extends { fallback: string }
    ? ReturnType<(typeof settings)[N]['parse']>
    : ReturnType<(typeof settings)[N]['parse']> | undefined;
};
