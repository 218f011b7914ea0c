import { ApiError, isApiError } from '../api/errors.ts';
import type { Company, Quote, RecordOf } from '../api/records.ts';
import {
  calledBy,
  type Hit,
  indexOf,
  type SearchedKind,
  type SearchIndex,
} from '../briefs/search.ts';
import type { ToolCall } from './call.ts';
import type { Coverage } from './reading/coverage.ts';
import { readSeveral } from './several.ts';
import type { Tenant } from './tenant.ts';

export interface Found {
  hits: { [K in SearchedKind]?: Hit<K>[] };
  coverage: Coverage & { asOf: Date };
  left: string[];
}

/**
 * Looks for a text in several collections at once.
 * @throws ApiError
 */
export async function findText(
  tenant: Tenant,
  text: string,
  kinds: readonly SearchedKind[],
  call: ToolCall,
): Promise<Found> {
  const { records, coverage, left } = await readSeveral(tenant, [], kinds, call);
  const hits: Partial<Record<SearchedKind, Hit<SearchedKind>[]>> = {};
  for (const kind of kinds) {
    const collection = records[kind];
    if (collection) hits[kind] = searchable(tenant, kind, collection).find(text);
  }
  return { hits: hits as Found['hits'], coverage, left };
}

/** Built once for each reading of a collection. */
const searchable = <K extends SearchedKind>(
  tenant: Tenant,
  kind: K,
  records: readonly RecordOf[K][],
): SearchIndex<K> => tenant.derived(records, () => indexOf(kind, records));

/** Either the one that is meant, or those that could be. */
export type Meant<R> = { record: R } | { candidates: R[]; total: number };

/**
 * The company of that id, external identifier or name. A name that several have, or nobody exactly, is
 * never guessed.
 * @throws ApiError
 */
export async function meantCompany(
  tenant: Tenant,
  text: string,
  call: ToolCall,
): Promise<Meant<Company>> {
  const { records } = await tenant.collection('company', call);
  const hits = searchable(tenant, 'company', records).find(text);
  return only(
    hits,
    hits.find(({ record }) => record.id === text),
  );
}

/**
 * The quote of that id or number.
 * @throws ApiError
 */
export async function meantQuote(
  tenant: Tenant,
  text: string,
  call: ToolCall,
): Promise<Meant<Quote>> {
  // Ids are opaque: only the service knows whether this is one.
  const byId = /^\S+$/.test(text)
    ? await tenant.one('quote', 'id', text, call).catch(none)
    : undefined;
  if (byId) return { record: byId };
  const { records } = await tenant.collection('quote', call);
  return only(searchable(tenant, 'quote', records).find(text), undefined);
}

function none(error: unknown): undefined {
  if (!isApiError(error, 'not-found')) throw error;
}

const mostCandidates = 8;

function only<R>(
  hits: readonly { record: R; exact: boolean }[],
  sure: { record: R } | undefined,
): Meant<R> {
  if (sure) return { record: sure.record };
  const exact = hits.filter((hit) => hit.exact);
  const [first] = exact;
  if (exact.length === 1 && first) return { record: first.record };
  const candidates = exact.length > 1 ? exact : hits;
  return {
    candidates: candidates.slice(0, mostCandidates).map(({ record }) => record),
    total: candidates.length,
  };
}

/**
 * The one record of that id, or of that whole name, number or other identifier.
 * @throws NotFound when there is none, or several; ApiError
 */
export async function meantRecord<K extends SearchedKind>(
  tenant: Tenant,
  kind: K,
  text: string,
  call: ToolCall,
): Promise<RecordOf[K]> {
  const byId = await tenant.one(kind, 'id', text, call).catch(none);
  if (byId) return byId;
  const { records } = await tenant.collection(kind, call);
  const meant = only(searchable(tenant, kind, records).find(text), undefined);
  if ('record' in meant) return meant.record;
  throw new ApiError('not-found', { host: tenant.host }, 'none, or several');
}

/**
 * Names that begin with, or contain, what a person has typed so far; an id where several share a name.
 * @throws ApiError
 */
export async function namesLike<K extends SearchedKind>(
  tenant: Tenant,
  kind: K,
  typed: string,
  call: ToolCall,
): Promise<string[]> {
  const { records } = await tenant.collection(kind, call);
  const wanted = typed.trim().toLowerCase();
  const named = records.flatMap((record) => {
    const name = calledBy[kind](record);
    const fits = name?.toLowerCase().includes(wanted);
    return name !== undefined && fits ? [{ name, id: String(record.id ?? '') }] : [];
  });
  const counts = countNames(named);
  const begins = (name: string) => (name.toLowerCase().startsWith(wanted) ? 0 : 1);
  return named
    .sort((a, b) => begins(a.name) - begins(b.name) || (a.name < b.name ? -1 : 1))
    .map(({ name, id }) => (counts.get(name) === 1 ? name : id));
}

function countNames(named: readonly { name: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { name } of named) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
