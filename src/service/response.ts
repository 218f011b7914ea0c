import { parseWithoutSecrets } from '../text/secrets.ts';
import { fieldOf } from '../values.ts';
import type { WireResponse } from './connections/wire.ts';
import { ApiError, type ErrorFacts } from './errors.ts';

const maxMessageLength = 300;

/** The first value of a header; `name` is in lower case. */
export function header(response: WireResponse, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * The JSON of a successful response, without secrets, in case the service repeats one.
 * @throws ApiError for every other status, for a web page, and for a body that is not JSON
 */
export function parseResponse(response: WireResponse, facts: ErrorFacts): unknown {
  const known = { ...facts, status: response.status };
  if (response.status >= 300) throw toApiError(response, known);
  const text = textOf(response);
  if (/^\s*</.test(text)) throw new ApiError('web-page', known);
  const body = parseWithoutSecrets(text);
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

function toApiError(response: WireResponse, facts: ErrorFacts): ApiError {
  const { status } = response;
  const upstreamMessage = upstreamMessageOf(parseWithoutSecrets(textOf(response)));
  const reported: ErrorFacts =
    upstreamMessage === undefined ? facts : { ...facts, upstreamMessage };
  if (status === 401 || (status === 403 && isAboutKey(upstreamMessage)))
    return new ApiError('key-refused', facts);
  if (status === 403) return new ApiError('not-permitted', reported);
  if (status === 404) return new ApiError('not-found', facts);
  const wait = { ...facts, seconds: retryAfter(response) };
  if (status === 429) return new ApiError('rate-limited', wait);
  if (status >= 500 || status === 408) return new ApiError('server-error', wait);
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
