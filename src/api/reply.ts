import {
  type ApiError,
  BadResponse,
  type Facts,
  KeyRefused,
  NotFound,
  NotPermitted,
  RateLimited,
  Refused,
  Unavailable,
  WrongAddress,
} from './errors.ts';
import type { WireResponse } from './wire.ts';

const longestSaid = 300;

/** A failure of the service that may have said when to come back. */
export class Overloaded extends Unavailable {
  readonly seconds: number | undefined;

  constructor(message: string, facts: Facts, seconds: number | undefined) {
    super(message, facts);
    this.seconds = seconds;
  }
}

/** The first value of a header, in whatever letter case it came (the wire lower-cases). */
export function header(response: WireResponse, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * The JSON of a good answer.
 * @throws ApiError for every other status, for a web page, and for what is not JSON
 */
export function parseReply(response: WireResponse, key: string, facts: Facts): unknown {
  const known = { ...facts, status: response.status };
  if (response.status >= 300) throw refusal(response, key, known);
  if (/^\s*</.test(response.text)) throw new WrongAddress('web-page', known);
  const body = parsed(response.text, key);
  // The parser's own message quotes the body.
  if (body === undefined) throw new BadResponse('not JSON, or not all of it', known, true);
  return body;
}

/** Shorter ones are not taken out: half the alphabet could be such a key, and is no secret. */
const shortestKey = 8;
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
  if (key.length < shortestKey) return body;
  const mayHold =
    text.includes(key) || escapes.some((it) => text.includes(it)) || /["\\]/.test(key);
  return mayHold ? withoutKey(body, key) : body;
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

function refusal(response: WireResponse, key: string, facts: Facts): ApiError {
  const { status } = response;
  const said = messageOf(response.text, key);
  const told: Facts = said === undefined ? facts : { ...facts, said };
  if (status === 401) return new KeyRefused('no valid key', facts);
  if (status === 403) {
    return said === undefined || isAboutKey(said)
      ? new KeyRefused('key refused', facts)
      : new NotPermitted('forbidden', told);
  }
  if (status === 404) return new NotFound('not found', facts);
  if (status === 429) return new RateLimited(retryAfter(response), 'service', facts);
  if (status >= 500 || status === 408) {
    return new Overloaded(`status ${status}`, facts, retryAfter(response));
  }
  if (status < 400) return new WrongAddress('redirect', facts);
  return new Refused(`status ${status}`, told);
}

const isAboutKey = (said: string): boolean =>
  /\bkey\b/i.test(said) && /\b(?:not valid|invalid)\b/i.test(said);

/** `message` is a text or a list of texts. */
function messageOf(body: string, key: string): string | undefined {
  const { message } = (parsed(body, key) ?? {}) as { message?: unknown };
  const lines = (Array.isArray(message) ? message : [message]).filter(
    (line) => typeof line === 'string' && line !== '',
  );
  const said = lines.join('; ');
  return said === '' ? undefined : said.slice(0, longestSaid).toWellFormed();
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
