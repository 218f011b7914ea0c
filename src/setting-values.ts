// Parses the texts of settings, and what callers send in their place. Imports nothing, so every module may use it.

/** A value that cannot be used; the message says what it must be, and never repeats it. */
export class InvalidValue extends Error {}

/**
 * Parses the text of one setting, or throws an InvalidValue that says what it must be. Plain functions instead
 * of schemas, because loading a schema library would take longer than the rest of the start.
 */
export type ParseValue<T> = (text: string) => T;

export const wholeNumber =
  (least: number, most: number): ParseValue<number> =>
  (given) => {
    const number = given.trim() === '' ? Number.NaN : Number(given);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw new InvalidValue(`must be a whole number from ${least} to ${most}`);
  };

export const parseList: ParseValue<string[]> = (names) =>
  names.split(/[\s,]+/).filter((name) => name !== '');

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

/** Names of this machine in URLs. */
export const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Whether a name or address, in a URL or not, is of this machine. */
export const isLoopback = (host: string): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/i.test(host);

/** Whether nobody on the way can replace what is read from there, such as keys. */
export const isProtected = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || isLoopback(hostname);
