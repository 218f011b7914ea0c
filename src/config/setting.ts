import type { ParseValue } from '../setting-values.ts';

export interface Setting<T = unknown> {
  env: string;
  /** Default: the name of the variable, as `--base-url` of `CPQ_BASE_URL`. */
  flag?: string;
  /** Has no flag, because flags show in process lists. */
  secret?: boolean;
  /** Takes no value on the command line. */
  bare?: boolean;
  /** For the documentation and error messages. */
  description: string;
  fallback?: string;
  parse: ParseValue<T>;
}

export const setting = <const S extends Setting>(setting: S): S => setting;

/** The flag of a setting without its hyphens; undefined for a secret. */
export const flagOf = ({ env, flag, secret }: Omit<Setting, 'parse'>): string | undefined =>
  secret ? undefined : (flag ?? env.slice('CPQ_'.length).toLowerCase().replaceAll('_', '-'));
