/** Reads responses: the JSON of a body, the error that it reports, and the records in its envelope. */

import { parseWithoutSecrets } from '../text/secrets.ts';
import { fieldOf, isObject, isShallow } from '../values.ts';
import type { WireResponse } from './connections/wire.ts';
import { ApiError, type ErrorFacts } from './errors.ts';
import type { Page } from './page.ts';

const maxMessageLength = 300;

type Headed = Pick<WireResponse, 'headers'>;

/** The first value of a header; `name` is in lower case. */
export function header(response: Headed, name: string): string | undefined {
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
  const body = parseWithoutSecrets(text, response.body);
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
function answeredAt(response: Headed): { answeredAt?: number } {
  const time = Date.parse(header(response, 'date') ?? '');
  return Number.isNaN(time) ? {} : { answeredAt: time };
}

export type RawRecord = Record<string, unknown>;

/** One page without its envelope. */
type RawPage = Pick<Page<RawRecord>, 'records' | 'total' | 'countedIn' | 'facets' | 'answeredAt'>;

const envelopeKeys = ['results', 'data', 'items'] as const;
/** A deeply nested record would overflow the stack of recursive functions. */
const maxDepth = 64;
const tooDeep = 'a record nested too deeply';
/** Every record has at least one of these fields; an acknowledgement or an error has none. */
const recordFields = ['id', 'externalIdentifier', 'name', 'number', 'title', 'lastName', 'service'];

/**
 * Unwraps a list.
 * @throws ApiError (`unexpected`) for an unknown envelope: an empty page would report "none" where there are many;
 *   `embedded-error` for an error beside an empty list
 */
export function readPage(body: unknown, facts: ErrorFacts, response: Headed): RawPage {
  const time = answeredAt(response);
  if (Array.isArray(body)) return { records: requireRecords(body, facts), ...time };
  if (!isObject(body)) throw unexpected(facts, 'neither a list nor an envelope');
  const { total, countedIn } = countIn(body);
  const wrapper = envelopeKeys.find((name) => name in body);
  const list = wrapper === undefined ? undefined : body[wrapper];
  const empty = list === null && total === 0;
  if (!Array.isArray(list) && !empty) throw unexpected(facts, 'an unknown envelope');
  const records = requireRecords(list ?? [], facts);
  if (records.length === 0) refuseEmbeddedError(body, facts);
  const page: RawPage = { records, ...time };
  // A total below the number of records counts something else.
  if (total !== undefined && total >= records.length) Object.assign(page, { total, countedIn });
  const facets = body.filters;
  if (facets !== undefined && isShallow(facets, maxDepth)) page.facets = facets;
  return page;
}

/**
 * Unwraps one record.
 * @throws ApiError (`unexpected`)
 */
export function readOne(body: unknown, facts: ErrorFacts): RawRecord {
  const wrapped = isObject(body) && !('id' in body) ? (body.data ?? body.result) : undefined;
  const record = isObject(wrapped) ? wrapped : body;
  if (!isObject(record) || !recordFields.some((name) => name in record))
    throw unexpected(facts, 'not a record');
  if (!isShallow(record, maxDepth)) throw unexpected(facts, tooDeep);
  return record;
}

const unexpected = (facts: ErrorFacts, problem: string): ApiError =>
  new ApiError('unexpected', { ...facts, problem });

function requireRecords(list: unknown, facts: ErrorFacts): RawRecord[] {
  const records = Array.isArray(list) ? list : [];
  for (const record of records) {
    if (!isObject(record)) throw unexpected(facts, 'a list with entries that are not records');
    if (!isShallow(record, maxDepth)) throw unexpected(facts, tooDeep);
  }
  return records;
}

/** The fields that may have the number of all matches. */
const countFields = ['total', 'total.value', 'meta.total', 'totalCount', 'count'] as const;

function countIn(body: RawRecord): Pick<RawPage, 'total' | 'countedIn'> {
  for (const countedIn of countFields) {
    const [outer = '', inner] = countedIn.split('.');
    const total = toCount(inner === undefined ? body[outer] : fieldOf(body[outer], inner));
    if (total !== undefined) return { total, countedIn };
  }
  return {};
}

/** Taking it for an empty page would report "none" where the service failed. */
function refuseEmbeddedError(body: RawRecord, facts: ErrorFacts): void {
  const { error, errors, message, statusCode, status } = body;
  const failed = [statusCode, status].some((it) => Number(it) >= 400);
  const hasErrors = Array.isArray(errors) ? errors.length > 0 : Boolean(errors);
  if (!error && !hasErrors && !failed) return;
  const text = [message, error].find((it) => typeof it === 'string' && it !== '');
  const upstreamMessage = typeof text === 'string' ? { upstreamMessage: text.slice(0, 300) } : {};
  throw new ApiError('embedded-error', { ...facts, ...upstreamMessage });
}

function toCount(raw: unknown): number | undefined {
  const count = typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : raw;
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 ? count : undefined;
}
