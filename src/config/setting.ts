import { type ParseValue, parseBoolean, parseText } from '../setting-values.ts';

export interface Setting<T = unknown> {
  parse: ParseValue<T>;
  /** For the documentation and error messages. */
  description: string;
  fallback?: string;
  /** Has no flag, because flags show in process lists. */
  secret?: boolean;
  /** Takes no value on the command line. */
  bare?: boolean;
  /** Default: from the name, as `CPQ_BASE_URL` of `baseUrl`. */
  env?: string;
  /** Default: from the variable, as `--base-url`. */
  flag?: string;
}

/** A setting that always has a value. */
type Defaulted<T> = Setting<T> & { fallback: string };

export function setting<T>(
  parse: ParseValue<T>,
  description: string,
  fallback: string,
): Defaulted<T>;
export function setting<T>(parse: ParseValue<T>, description: string): Setting<T>;
export function setting<T>(parse: ParseValue<T>, description: string, fallback?: string) {
  return { parse, description, ...(fallback !== undefined && { fallback }) };
}

export const text = (description: string): Setting<string> => setting(parseText, description);

export const secret = (parse: ParseValue<string>, description: string): Setting<string> => ({
  ...setting(parse, description),
  secret: true,
});

/** A setting that is off by default. */
export const onOff = (description: string): Defaulted<boolean> => ({
  ...setting(parseBoolean, description, '0'),
  bare: true,
});
