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
  if (response.text.trimStart().startsWith('<')) throw new WrongAddress('web-page', known);
  try {
    return JSON.parse(response.text);
  } catch {
    // The parser's own message quotes the body.
    throw new BadResponse('not JSON, or not all of it', known, true);
  }
}

function refusal(response: WireResponse, key: string, facts: Facts): ApiError {
  const { status } = response;
  const said = messageOf(response.text, key);
  const told: Facts = said === undefined ? facts : { ...facts, said };
  if (status === 401) return new KeyRefused('no valid key', facts);
  if (status === 403) {
    const aboutKey =
      said === undefined || /\bkey\b.*\bnot valid\b|\binvalid\b.*\bkey\b/i.test(said);
    return aboutKey ? new KeyRefused('key refused', facts) : new NotPermitted('forbidden', told);
  }
  if (status === 404) return new NotFound('not found', facts);
  if (status === 429) return new RateLimited(retryAfter(response), 'service', facts);
  if (status >= 500 || status === 408) return new Unavailable(`status ${status}`, facts);
  if (status < 400) return new WrongAddress('redirect', facts);
  return new Refused(`status ${status}`, told);
}

/** `message` is a text or a list of texts; the key is taken out should the service repeat it. */
function messageOf(body: string, key: string): string | undefined {
  let message: unknown;
  try {
    message = JSON.parse(body)?.message;
  } catch {
    return undefined;
  }
  const lines = (Array.isArray(message) ? message : [message]).filter(
    (line) => typeof line === 'string' && line !== '',
  );
  const said = lines.join('; ').split(key).join('[key]');
  return said === '' ? undefined : said.slice(0, longestSaid);
}

/** Seconds, from either form that `Retry-After` may have (RFC 9110, 10.2.3). */
export function retryAfter(response: WireResponse): number | undefined {
  const raw = header(response, 'retry-after');
  if (raw === undefined) return undefined;
  const seconds = Number(raw);
  if (Number.isFinite(seconds)) return Math.max(0, Math.ceil(seconds));
  const until = Date.parse(raw);
  return Number.isNaN(until) ? undefined : Math.max(0, Math.ceil((until - Date.now()) / 1000));
}
