import { isObject, isShallow } from '../values.ts';
import { ApiError, type ErrorFacts } from './errors.ts';
import type { Page } from './page.ts';

export type RawRecord = Record<string, unknown>;

/** One page without its envelope. */
type RawPage = Pick<Page<RawRecord>, 'records' | 'total' | 'countedIn' | 'facets'>;

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
export function readPage(body: unknown, facts: ErrorFacts): RawPage {
  if (Array.isArray(body)) return { records: requireRecords(body, facts) };
  if (!isObject(body)) throw unexpected(facts, 'neither a list nor an envelope');
  const { total, countedIn } = countIn(body);
  const wrapper = envelopeKeys.find((name) => name in body);
  const list = wrapper === undefined ? undefined : body[wrapper];
  const empty = list === null && total === 0;
  if (!Array.isArray(list) && !empty) throw unexpected(facts, 'an unknown envelope');
  const records = requireRecords(list ?? [], facts);
  if (records.length === 0) refuseEmbeddedError(body, facts);
  const page: RawPage = { records };
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

/** All matches, wherever the service says how many there are. */
function countIn(body: RawRecord): Pick<RawPage, 'total' | 'countedIn'> {
  const { total, meta, totalCount, count } = body;
  const counts = {
    total,
    'total.value': isObject(total) ? total.value : undefined,
    'meta.total': isObject(meta) ? meta.total : undefined,
    totalCount,
    count,
  };
  for (const [countedIn, raw] of Object.entries(counts)) {
    const found = toCount(raw);
    if (found !== undefined) return { total: found, countedIn };
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
