import { fieldOf, parseJson } from '../values.ts';
import { ApiError, type ErrorFacts } from './errors.ts';
import type { WireResponse } from './wire.ts';

const maxMessageLength = 300;

/** The first value of a header; `name` is in lower case. */
export function header(response: WireResponse, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * The JSON of a successful response.
 * @throws ApiError for every other status, for a web page, and for a body that is not JSON
 */
export function parseResponse(
  response: WireResponse,
  parse: JsonParser,
  facts: ErrorFacts,
): unknown {
  const known = { ...facts, status: response.status };
  if (response.status >= 300) throw toApiError(response, parse, known);
  const text = textOf(response);
  if (/^\s*</.test(text)) throw new ApiError('web-page', known);
  const body = parse(text);
  // The parser's message is not used: it quotes the body.
  if (body === undefined)
    throw new ApiError('malformed', { ...known, problem: 'not JSON, or incomplete' });
  return body;
}

/** Without a byte order mark. */
function textOf({ body }: WireResponse): string {
  const text = body.toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** Shorter keys are not replaced: they would match ordinary text, and are not secret. */
const minKeyLength = 8;

/** Returns undefined for a text that is not JSON. */
export type JsonParser = (text: string) => unknown;

/** A parser that replaces the key, in case the service echoes it. */
export function jsonParserWithout(key: string): JsonParser {
  if (key.length < minKeyLength) return parseJson;
  const escapedKey = jsonSpellings(key);
  return (text) => {
    const hasKey = text.includes(key) || (text.includes('\\') && escapedKey.test(text));
    const body = parseJson(text);
    return hasKey ? withoutKey(body, key) : body;
  };
}

/** Characters that JSON has to write, or may write, with a backslash. */
const escaped: ReadonlyMap<string, string> = new Map([
  ['"', String.raw`\\"`],
  ['\\', String.raw`\\\\`],
  ['/', String.raw`\\?/`],
]);

/**
 * Matches a text in JSON, whichever of its characters are escaped. The spellings of a character exclude each other, so
 * that matching takes linear time.
 */
const jsonSpellings = (text: string): RegExp =>
  new RegExp(
    text.replace(/[\s\S]/g, (character) => {
      const hex = character.charCodeAt(0).toString(16).padStart(4, '0');
      const anyCase = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
      return `(?:${escaped.get(character) ?? `\\u${hex}`}|\\\\u${anyCase})`;
    }),
  );

export type KeyRemover = <T>(value: T) => T;

/**
 * Replaces a key in a text, or in all texts of a nested value, also in the forms in which answers escape `<`, quotation
 * marks and backslashes.
 */
export function keyRemover(key: string): KeyRemover {
  const forms = key.length < minKeyLength ? [] : [...formsOf(key)];
  return <T>(value: T) =>
    forms.reduce<unknown>((cleaned, form) => withoutKey(cleaned, form), value) as T;
}

function formsOf(key: string): ReadonlySet<string> {
  const inTag = /<(?=[a-z/!?])/gi;
  const inHtml = key.replace(inTag, '&lt;');
  const inSentence = key.replace(inTag, '< ').replace(/[\\"]/g, '\\$&');
  return new Set([key, inHtml, inSentence]);
}

/** Stops below the maximum depth of a record: deeper values are rejected later. */
function withoutKey(value: unknown, key: string, levels = 80): unknown {
  if (typeof value === 'string') return value.replaceAll(key, '[key]');
  if (typeof value === 'number') return String(value) === key ? '[key]' : value;
  if (typeof value !== 'object' || value === null || levels === 0) return value;
  if (Array.isArray(value)) return value.map((entry) => withoutKey(entry, key, levels - 1));
  const entries = Object.entries(value).map(([name, inner]) => [
    name.replaceAll(key, '[key]'),
    withoutKey(inner, key, levels - 1),
  ]);
  return Object.fromEntries(entries);
}

function toApiError(response: WireResponse, parse: JsonParser, facts: ErrorFacts): ApiError {
  const { status } = response;
  const upstreamMessage = upstreamMessageOf(parse(textOf(response)));
  const reported: ErrorFacts =
    upstreamMessage === undefined ? facts : { ...facts, upstreamMessage };
  if (status === 401) return new ApiError('key-refused', facts);
  if (status === 403) {
    return isAboutKey(upstreamMessage)
      ? new ApiError('key-refused', facts)
      : new ApiError('not-permitted', reported);
  }
  if (status === 404) return new ApiError('not-found', facts);
  if (status === 429) {
    return new ApiError('rate-limited', { ...facts, seconds: retryAfter(response) });
  }
  if (status >= 500 || status === 408) {
    return new ApiError('server-error', { ...facts, seconds: retryAfter(response) });
  }
  if (status < 400) return new ApiError('redirect', facts);
  return new ApiError('refused', reported);
}

/** A 403 without a message is taken as a refusal of the key. */
const isAboutKey = (message: string | undefined): boolean =>
  message === undefined || (/\bkey\b/i.test(message) && /\b(?:not valid|invalid)\b/i.test(message));

/** The field `message` is a string or a list of strings. */
function upstreamMessageOf(body: unknown): string | undefined {
  const message = fieldOf(body, 'message');
  const lines = (Array.isArray(message) ? message : [message]).filter(
    (line) => typeof line === 'string' && line !== '',
  );
  const text = lines.join('; ');
  return text === '' ? undefined : text.slice(0, maxMessageLength).toWellFormed();
}

/** The forms of a date in HTTP begin with the day of the week (RFC 9110, 5.6.7). */
const httpDate = /^[a-z]{3,9},? /i;

/**
 * Seconds from `Retry-After`, in either form (RFC 9110, 10.2.3); at most a day. A date is that of the service's clock,
 * which may differ from ours.
 */
function retryAfter(response: WireResponse): number | undefined {
  const raw = header(response, 'retry-after')?.trim();
  if (raw === undefined || raw === '') return undefined;
  const { answeredAt: now = Date.now() } = answeredAt(response);
  const seconds = httpDate.test(raw) ? (Date.parse(raw) - now) / 1000 : Number(raw);
  return Number.isNaN(seconds) ? undefined : Math.min(day, Math.max(0, Math.ceil(seconds)));
}

const day = 86_400;

/** Time of the response by the service's clock, in milliseconds since the epoch. */
export function answeredAt(response: WireResponse): { answeredAt?: number } {
  const time = Date.parse(header(response, 'date') ?? '');
  return Number.isNaN(time) ? {} : { answeredAt: time };
}
