import { ApiError, type ErrorFacts } from './errors.ts';
import type { WireResponse } from './wire.ts';

const maxMessageLength = 300;

/** The first value of a header, in whatever letter case it came (the wire lower-cases). */
export function header(response: WireResponse, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * The JSON of a good answer.
 * @throws ApiError for every other status, for a web page, and for what is not JSON
 */
export function parseResponse(response: WireResponse, key: string, facts: ErrorFacts): unknown {
  const known = { ...facts, status: response.status };
  if (response.status >= 300) throw toApiError(response, key, known);
  if (/^\s*</.test(response.text)) throw new ApiError('web-page', known);
  const body = parsed(response.text, key);
  // The parser's own message quotes the body.
  if (body === undefined)
    throw new ApiError('malformed', { ...known, problem: 'not JSON, or not all of it' });
  return body;
}

/** Shorter ones are not taken out: half the alphabet could be such a key, and is no secret. */
const minKeyLength = 8;
/** How a character of a key may be written as an escape, so that the text does not hold the key. */
const escapes = ['\\u00', '\\/'];

/** The JSON in it without the key, should the service repeat it anywhere; undefined for what is none. */
function parsed(text: string, key: string): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (key.length < minKeyLength) return body;
  const mayHold =
    text.includes(key) || escapes.some((it) => text.includes(it)) || /["\\]/.test(key);
  return mayHold ? withoutKey(body, key) : body;
}

/** The same without the key, also as answers write a `<`, a quotation mark or a backslash of it; a short one stays. */
export function withoutLongKey<T>(value: T, key: string): T {
  if (key.length < minKeyLength) return value;
  return [...formsOf(key)].reduce<unknown>((left, form) => withoutKey(left, form), value) as T;
}

function formsOf(key: string): ReadonlySet<string> {
  const inTag = /<(?=[a-z/!?])/gi;
  const inHtml = key.replace(inTag, '&lt;');
  const inSentence = key.replace(inTag, '< ').replace(/[\\"]/g, '\\$&');
  return new Set([key, inHtml, inSentence]);
}

/** Goes no deeper than a record may be: what is nested further is refused anyway. */
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

function toApiError(response: WireResponse, key: string, facts: ErrorFacts): ApiError {
  const { status } = response;
  const upstreamMessage = upstreamMessageOf(response.text, key);
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

/** A 403 without a word is taken for the key's. */
const isAboutKey = (message: string | undefined): boolean =>
  message === undefined || (/\bkey\b/i.test(message) && /\b(?:not valid|invalid)\b/i.test(message));

/** `message` is a text or a list of texts. */
function upstreamMessageOf(body: string, key: string): string | undefined {
  const { message } = (parsed(body, key) ?? {}) as { message?: unknown };
  const lines = (Array.isArray(message) ? message : [message]).filter(
    (line) => typeof line === 'string' && line !== '',
  );
  const text = lines.join('; ');
  return text === '' ? undefined : text.slice(0, maxMessageLength).toWellFormed();
}

/** Seconds, from either form that `Retry-After` may have (RFC 9110, 10.2.3); a day at most. */
export function retryAfter(response: WireResponse): number | undefined {
  const raw = header(response, 'retry-after')?.trim();
  if (raw === undefined || raw === '') return undefined;
  const given = Number(raw);
  const seconds = Number.isNaN(given) ? (Date.parse(raw) - Date.now()) / 1000 : given;
  return Number.isNaN(seconds) ? undefined : Math.min(day, Math.max(0, Math.ceil(seconds)));
}

const day = 86_400;

/** When the service sent it, by its own clock, in milliseconds since the epoch. */
export function answeredAt(response: WireResponse): number | undefined {
  const time = Date.parse(header(response, 'date') ?? '');
  return Number.isNaN(time) ? undefined : time;
}
