/** Reads responses: the JSON of a body, the error that it reports, and the records in its envelope. */

import { isAscii, isUtf8, transcode } from 'node:buffer';
import { parseWithoutSecrets } from '../text/secrets.ts';
import { fieldOf, isObject, isShallow, type JsonObject, valueAt } from '../values.ts';
import type { WireResponse } from './connections/wire.ts';
import { ApiError, type ErrorFacts } from './errors.ts';
import { lettersOf } from './records/normalise.ts';
import type { Page } from './routes.ts';

const maxMessageLength = 300;

type Headed = Pick<WireResponse, 'headers'>;

/** The first value of a header; `name` is in lower case. */
function header(response: Headed, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * The JSON of a successful response, without secrets, in case the service repeats one. The facts include its status.
 * @throws ApiError for every other status, for a web page, and for a body that is not JSON
 */
export function parseResponse(response: WireResponse, known: ErrorFacts): unknown {
  if (response.status >= 300) throw toApiError(response, known);
  if (response.status === 204) throw new ApiError('not-found', known);
  const text = textOf(response);
  if (/^\s*</.test(text)) throw new ApiError('web-page', known);
  const parsed = parseWithoutSecrets(text, response.body);
  // Some gateways encode JSON as a text of JSON.
  const inner =
    typeof parsed === 'string' ? parseWithoutSecrets(withExactIntegers(parsed)) : undefined;
  const body = inner ?? parsed;
  if (body === undefined) throw new ApiError('malformed', { ...known, problem: problemOf(text) });
  return body;
}

/** The parser's message is not used: it quotes the body. */
function problemOf(text: string): string {
  if (/\}\r?\n\{/.test(text)) return 'one record a line instead of one JSON document';
  if (/[\]}]\s*$/.test(text)) return 'not JSON';
  return 'not JSON, or cut off before its end: a proxy may limit the size of answers';
}

/** Without a byte order mark. */
const textOf = ({ body }: WireResponse): string =>
  withExactIntegers(decoded(body).replace(/^\uFEFF?(\)]}',?)?/, ''));

/** As `body.toString('utf8')`, which takes three times as long on Node 20, and of ASCII thirty times. */
function decoded(body: Buffer): string {
  if (isAscii(body)) return body.toString('latin1');
  return isUtf8(body) ? transcode(body, 'utf8', 'utf16le').toString('utf16le') : body.toString();
}

/** Integers that a number cannot hold, such as ids of 19 digits, become texts. */
const withExactIntegers = (json: string): string =>
  sixteenDigits.test(json) ? json.replace(textsAndNumbers, quoteIfUnsafe) : json;

/** Written out, since a search for `\d{16}` takes five times as long. */
const sixteenDigits = /\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d\d/;

/** Each is matched whole, so that this takes linear time, also in a text that does not end. */
const textsAndNumbers = /"(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*/g;

const quoteIfUnsafe = (token: string): string =>
  /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token;

function toApiError(response: WireResponse, facts: ErrorFacts): ApiError {
  const { status } = response;
  const body = parseWithoutSecrets(textOf(response));
  const reported = { ...facts, ...messageIn(fieldOf(body, 'message')) };
  const { upstreamMessage } = reported;
  if (status === 401 || (status === 403 && isAboutKey(upstreamMessage)))
    return new ApiError('key-refused', facts);
  const wait = { ...facts, seconds: retryAfter(response) };
  if (status === 429 || (status === 403 && isAboutRate(upstreamMessage)))
    return new ApiError('rate-limited', wait);
  if (status === 403) return new ApiError('not-permitted', reported);
  if ([404, 405, 501].includes(status)) return new ApiError('not-found', facts);
  if (status >= 500 || status === 408) return new ApiError('server-error', wait);
  if (status < 400) return new ApiError('redirect', facts);
  return new ApiError('refused', reported);
}

const isAboutKey = (message = ''): boolean =>
  /\bkey\b/i.test(message) && /\b(?:not valid|invalid)\b/i.test(message);

const isAboutRate = (message = ''): boolean =>
  /\brate.?limit|\btoo many requests\b|\bthrottl|\bquota\b/i.test(message);

/** The message of an error, a string or a list of strings. */
function messageIn(message: unknown): Pick<ErrorFacts, 'upstreamMessage'> {
  const lines = [message].flat().filter((line) => typeof line === 'string' && line !== '');
  const text = lines.join('; ').slice(0, maxMessageLength).toWellFormed();
  return text === '' ? {} : { upstreamMessage: text };
}

/**
 * Seconds from `Retry-After`: a number of them, or a date of the service's clock, which may differ from ours (RFC 9110,
 * 10.2.3), also as an epoch; at most a quarter of an hour, after which it is asked again.
 */
function retryAfter(response: WireResponse): number | undefined {
  const raw = header(response, 'retry-after')?.trim() ?? '';
  const number = raw === '' ? Number.NaN : Number(raw);
  const { answeredAt: now = Date.now() } = answeredAt(response);
  const isDate = /^(?:\d{4}-|[a-z]{3,9},? )/i.test(raw);
  const epoch = number < 1e11 ? number * 1000 : number;
  const seconds = number < 1e9 ? number : ((isDate ? Date.parse(raw) : epoch) - now) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(maxWait, Math.max(0, Math.ceil(seconds)));
}

const maxWait = 900;

/** Time of the response by the service's clock, in milliseconds since the epoch. */
function answeredAt(response: Headed): { answeredAt?: number } {
  const time = Date.parse(header(response, 'date') ?? '');
  return Number.isNaN(time) ? {} : { answeredAt: time };
}

/** What a list or a record is wrapped in, best first; besides the name of the resource. */
const wrappers = [
  ...['results', 'data', 'items', 'records', 'rows', 'list', 'content', 'value', 'entities'],
  ...['result', 'response', 'payload', '_embedded', 'hits', 'edges', 'd'],
];
const maxWrappers = 3;
/** A deeply nested record would overflow the stack of recursive functions. */
const maxDepth = 64;
const tooDeep = 'a record nested too deeply';
/** Every record has at least one of these fields; an acknowledgement or an error has none. */
const recordFields = ['id', 'externalidentifier', 'name', 'number', 'title', 'lastname', 'service'];

/** The objects around what is wrapped, from the outside in, and that itself: a list, or what has no wrapper. */
function unwrap(
  body: unknown,
  { path = '' }: ErrorFacts,
): { inner: unknown; around: JsonObject[] } {
  // Also its resource, as `opportunity` or `opportunities`.
  const resource = path.split('/')[1] ?? '';
  const names = [...wrappers, resource, resource.replace(/y$/, 'ie').concat('s')];
  const around: JsonObject[] = [];
  let inner = body;
  while (isObject(inner) && around.length < maxWrappers) {
    const outer: JsonObject = inner;
    const name = names.find((it) => typeof outer[it] === 'object') ?? listIn(outer);
    if (name === undefined) break;
    around.push(outer);
    inner = outer[name];
  }
  return { inner, around };
}

/** The name of the only list of an envelope, where it is not known, but has records. A record, or an error, has none. */
function listIn(outer: JsonObject): string | undefined {
  if (outer.error || outer.message || isRecord(outer)) return undefined;
  const [list, ...others] = Object.entries(outer).filter(([, value]) => Array.isArray(value));
  const rows = others.length === 0 ? list?.[1] : undefined;
  return Array.isArray(rows) && rows.length > 0 && rows.every(isRecord) ? list?.[0] : undefined;
}

/**
 * Unwraps a list.
 * @throws ApiError (`unexpected`) for an unknown envelope: an empty page would report "none" where there are many;
 *   `embedded-error` for an error beside an empty list
 */
export function readPage(body: unknown, facts: ErrorFacts, response: Headed): Page<JsonObject> {
  const { inner: list, around } = unwrap(body, facts);
  const holders = holdersIn(around);
  const rows = Array.isArray(list) ? list.length : 0;
  const total = countIn(holders, response, rows);
  if (rows === 0 && isObject(body)) refuseEmbeddedError(body, facts);
  const isEmpty = list === null && total === 0;
  if (!Array.isArray(list) && !isEmpty) throw unexpected(facts, 'an unknown envelope');
  const records = requireRecords(list ?? [], facts);
  const isAll = total !== undefined && total <= rows;
  const isPartial =
    records.length < rows ||
    (facts.status === 206 && isAll) ||
    holders.some((holder) => saysPartial(holder, rows, isAll));
  const page: Page<JsonObject> = { records, ...answeredAt(response) };
  if (isPartial) page.countIsLimit = true;
  else if (total !== undefined) page.total = total;
  return page;
}

/** Words in lower case, without underscores, with the value by which they say that an answer is not whole. */
const partialWords = new Map<string, boolean>([
  ...['partial', 'ispartial', 'timedout', 'incomplete', 'incompleteresults', 'truncated'].map(
    (word) => [word, true] as const,
  ),
  ...['terminatedearly', 'approximate', 'estimated'].map((word) => [word, true] as const),
  ...['complete', 'iscomplete', 'exact', 'totalisexact'].map((word) => [word, false] as const),
]);
const nextWords = ['hasmore', 'hasnext', 'hasnextpage', 'next', 'nextcursor', 'nextpage'];

/** Whether the service says that its answer is not whole, or that more follows where it has sent all that it counts. */
function saysPartial(holder: JsonObject, rows: number, isAll: boolean): boolean {
  const { _shards, errors, warnings } = holder;
  if (Number(fieldOf(_shards, 'failed')) > 0) return true;
  if (Array.isArray(errors) && errors.length > 0) return true;
  if (rows === 0 && Array.isArray(warnings) && warnings.length > 0) return true;
  for (const name in holder) {
    const word = lettersOf(name);
    if (partialWords.get(word) === holder[name]) return true;
    if (isAll && holder[name] && nextWords.includes(word)) return true;
  }
  return false;
}

function isRecord(it: unknown): it is JsonObject {
  if (!isObject(it)) return false;
  for (const name in it)
    if (recordFields.includes(name) || recordFields.includes(lettersOf(name))) return true;
  return false;
}

const isEnvelope = (it: JsonObject): boolean =>
  !isRecord(it) && wrappers.some((name) => Array.isArray(it[name]));

/**
 * Unwraps one record.
 * @throws ApiError (`unexpected`)
 */
export function readOne(body: unknown, facts: ErrorFacts): JsonObject {
  const isNone = body === null || fieldOf(body, 'statusCode') === 404;
  if (isNone || (typeof body === 'object' && Object.keys(body).length === 0))
    throw new ApiError('not-found', facts);
  const { inner, around } = unwrap(body, facts);
  const record = [...around, inner].flat().find(isRecord);
  if (!record) throw unexpected(facts, 'not a record');
  if (!isShallow(record, maxDepth)) throw unexpected(facts, tooDeep);
  return record;
}

const unexpected = (facts: ErrorFacts, problem: string): ApiError =>
  new ApiError('unexpected', { ...facts, problem });

/** Entries of a graph or of a search engine are wrapped once more. */
function requireRecords(list: unknown, facts: ErrorFacts): JsonObject[] {
  const records: JsonObject[] = [];
  for (const entry of Array.isArray(list) ? list : []) {
    if (entry === null) continue;
    const record: unknown = fieldOf(entry, 'node') ?? fieldOf(entry, '_source') ?? entry;
    if (!isObject(record) || isEnvelope(record))
      throw unexpected(facts, 'a list with entries that are not records');
    if (!isShallow(record, maxDepth)) throw unexpected(facts, tooDeep);
    records.push(record);
  }
  return records;
}

/** The fields that may have the number of all matches, and the objects in an envelope that may have them. */
const countFields = [
  ...['recordsFiltered', 'filtered'],
  ...['total', 'totalCount', 'total_count', 'totalElements', 'totalRecords', 'totalResults'],
  ...['@odata.count', '__count', 'count'],
];
const countHolders = ['meta', 'pagination', 'paging', 'page', 'meta.pagination', '_links'];
const countHeaders = ['x-total-count', 'x-total', 'content-range'];

function holdersIn(envelopes: readonly JsonObject[]): JsonObject[] {
  const holders = [...envelopes];
  for (const path of countHolders)
    for (const envelope of envelopes) {
      const holder = valueAt(envelope, path);
      if (isObject(holder)) holders.push(holder);
    }
  return holders;
}

/** The first count that is more than the rows of the page, or else equal to it: a lower one counts something else. */
function countIn(
  holders: readonly JsonObject[],
  response: Headed,
  rows: number,
): number | undefined {
  const sent: unknown[] = [];
  for (const name of countFields) for (const holder of holders) sent.push(holder[name]);
  for (const name of countHeaders) sent.push(header(response, name)?.replace(/^.*\//, ''));
  let isSame = false;
  for (const raw of sent) {
    const count = toCount(isObject(raw) ? raw.relation !== 'gte' && raw.value : raw);
    if (count !== undefined && count > rows) return count;
    isSame ||= count === rows;
  }
  return isSame ? rows : undefined;
}

/** Taking it for an empty page would report "none" where the service failed. */
function refuseEmbeddedError(body: JsonObject, facts: ErrorFacts): void {
  const { error, errors, message, statusCode, status, code, success, ok } = body;
  const codes = [statusCode, status, code].map(Number).filter((it) => it >= 400 && it < 600);
  const saysSo =
    success === false || ok === false || /^(error|fail(ed|ure)?)$/i.test(String(status));
  // Accepted, and not answered yet.
  const failed = codes.length > 0 || saysSo || facts.status === 202;
  const hasErrors = Array.isArray(errors) ? errors.length > 0 : Boolean(errors);
  if (!error && !hasErrors && !failed) return;
  // What a server says of a fault of its own can be a stack trace.
  const isTrace = codes.some((it) => it >= 500);
  const reported = isTrace ? {} : { ...messageIn(error), ...messageIn(message) };
  throw new ApiError('embedded-error', { ...facts, ...reported });
}

/** The number in a header, such as of requests that remain; `undefined` if it is not written in digits. */
export function countInHeader(response: Headed | undefined, name: string): number | undefined {
  const text = (response && header(response, name)) ?? '';
  return /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : undefined;
}

function toCount(raw: unknown): number | undefined {
  const count = typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : raw;
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 ? count : undefined;
}
