import type { ParseValue } from '../setting-values.ts';

export interface Setting<T = unknown> {
  env: string;
  /** Absent for secrets, because flags show in process lists. */
  flag?: string;
  /** Takes no value on the command line. */
  bare?: boolean;
  /** For the documentation and error messages. */
  description: string;
  fallback?: string;
  parse: ParseValue<T>;
}

export const setting = <const S extends Setting>(setting: S): S => setting;
