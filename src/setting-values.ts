// Parses the texts of settings, and what callers send in their place. Imports nothing, so every module may use it.

/** A value that cannot be used; the message says what it must be, and never repeats it. */
export class InvalidValue extends Error {}

/**
 * Parses the text of one setting, or throws an InvalidValue that says what it must be. Plain functions instead
 * of schemas, because loading a schema library would take longer than the rest of the start.
 */
export type ParseValue<T> = (text: string) => T;

export const parseText: ParseValue<string> = (given) => given;

export const oneOf =
  <const W extends readonly string[]>(words: W): ParseValue<W[number]> =>
  (given) => {
    if (words.includes(given)) return given;
    throw new InvalidValue(`must be one of ${words.join(', ')}`);
  };

export const wholeNumber =
  (least: number, most: number): ParseValue<number> =>
  (given) => {
    const number = given.trim() === '' ? Number.NaN : Number(given);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw new InvalidValue(`must be a whole number from ${least} to ${most}`);
  };

const trueWords = ['1', 'true', 'yes', 'on'];
export const parseBoolean: ParseValue<boolean> = (given) => {
  oneOf([...trueWords, '0', 'false', 'no', 'off', ''])(given);
  return trueWords.includes(given);
};

export const parseList: ParseValue<string[]> = (names) =>
  names.split(/[\s,]+/).filter((name) => name !== '');

/** @throws InvalidValue for no name */
export function parseNames(given: string): string[] {
  const names = parseList(given);
  if (names.length === 0) throw new InvalidValue('is empty');
  return names;
}

/** Names, or addresses of either family, as they are in a Host header without its port. */
export function parseHostNames(given: string): string[] {
  const names = parseList(given);
  if (!names.some((name) => /[/*]|^[^:]*:[^:]*$/.test(name))) return names;
  throw new InvalidValue('must be host names, without https://, port and wildcards');
}

/** @throws InvalidValue for separators alone, which would allow every stage */
export function parseStages(given: string): string[] {
  const names = given
    .split(';')
    .map((name) => name.trim())
    .filter(Boolean);
  if (names.length > 0 || given === '') return names;
  throw new InvalidValue('is empty');
}

export const parameterName: ParseValue<string> = (given) => {
  if (/^[\w.[\]-]{1,40}$/.test(given)) return given;
  throw new InvalidValue('must be a parameter name');
};

/** What examples and the command `config` write where a person has to fill in a value. */
const placeholder = /YOUR[-_]|\$\{|^\$\w+$|^%\w+%$|^\{\w+:.*\}$|^<.*>$/;

/** Without spaces around. Checked before anything is connected: a placeholder may be what somebody else can use. */
function filledIn(given: string): string {
  const text = given.trim();
  if (!placeholder.test(text)) return text;
  throw new InvalidValue('is a placeholder that was not replaced by your value');
}

/** Messages must not repeat the URL: it may contain a password. */
function urlFrom(given: string, protocols: RegExp, example: string): URL {
  const text = filledIn(given);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && protocols.test(url.protocol)) return url;
  throw new InvalidValue(`is not ${example}`);
}

const http = /^https?:$/;

export function webAddress(given: string): URL {
  const example = 'a web address such as https://mcp.example.com/mcp';
  const url = urlFrom(given, http, example);
  if (url.username || url.password || url.hash) throw new InvalidValue(`is not ${example}`);
  return url;
}

/** An address with `{id}`, and `{resource}` if it needs the kind of the record. */
export function recordAddress(given: string): string {
  webAddress(given.replaceAll(/\{(id|resource)\}/g, '$1'));
  if (given.includes('{id}')) return given.trim();
  throw new InvalidValue('must contain {id}');
}

export function parseAddressPatterns(given: string): string[] {
  const patterns = parseList(given);
  for (const pattern of patterns) baseUrlFrom(pattern.replaceAll('*', 'any'));
  return patterns;
}

/** Parses the API address, also of a route below `/public-api`. */
export function baseUrlFrom(text: string): URL {
  const url = urlFrom(text, http, 'a web address such as https://tenant.example.com');
  if (url.username || url.password)
    throw new InvalidValue('must not contain a user name or password');
  const parts = url.pathname.split(/\/public-api(?![^/])/);
  url.pathname = withoutSlashesAtEnd(
    parts.slice(0, Math.max(1, parts.length - 1)).join('/public-api'),
  );
  url.search = '';
  url.hash = '';
  return url;
}

function withoutSlashesAtEnd(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

export function redisUrlFrom(text: string): URL {
  const example = 'an address such as redis://host:6379';
  const url = urlFrom(text, /^rediss?:$/, example);
  if (url.hostname === '') throw new InvalidValue(`is not ${example}`);
  if (/%(?![0-9a-f]{2})/i.test(url.username + url.password))
    throw new InvalidValue('contains an invalid percent encoding: write a percent sign as %25');
  return url;
}

export function headerSafe(key: string): string {
  const trimmed = filledIn(key);
  if (/^[\x21-\x7e]+$/.test(trimmed)) return trimmed;
  if (trimmed === '') throw new InvalidValue('is empty');
  throw new InvalidValue(
    'holds a character that a key cannot have, such as a space or a line break',
  );
}

/** Printable ASCII only, because secrets may be part of a URL path. */
export function parseSecret(text: string): string {
  const secret = headerSafe(text);
  if (secret.length >= 16) return secret;
  throw new InvalidValue('is shorter than 16 characters');
}

/** Names of this machine in URLs. */
export const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Whether a name or address, in a URL or not, is of this machine. */
export const isLoopback = (host: string): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/i.test(host);
