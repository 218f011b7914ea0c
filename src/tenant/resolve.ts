/** Resolves a text to a record, by id, identifier or name. */

import { isDeleted } from '../figures/outcome.ts';
import { filterSteps } from '../figures/steps.ts';
import { normalisePart } from '../names/part-numbers.ts';
import { SearchIndex, type SearchKind } from '../names/search.ts';
import type { Coverage } from '../reading/coverage.ts';
import { ApiError, ignoreApiError } from '../service/errors.ts';
import type { ApiRecord, RecordOf, Resource } from '../service/records/records.ts';
import { routes } from '../service/routes.ts';
import { forEachInSlices, runInSlices } from '../slices.ts';
import { identifier, join, quote, trusted, wording } from '../text/untrusted-text.ts';
import type { ToolCall } from './call.ts';
import { InvalidArguments } from './invalid-arguments.ts';
import type { Tenant } from './tenant.ts';

/** How a text can match a record, most specific first. */
const matchKinds = ['id', 'identifier', 'name'] as const;
export type MatchKind = (typeof matchKinds)[number];

/** The candidates with the most specific kind of match. */
export interface BestMatches<T> {
  by: MatchKind;
  /** Including deleted ones. */
  all: readonly T[];
  current: readonly T[];
}

/**
 * The best matches: an id takes precedence over an identifier, an identifier over a name. `undefined` if nothing
 * matches.
 */
export function bestMatches<T>(
  candidates: readonly T[],
  matchKindOf: (candidate: T) => MatchKind | undefined,
  isDeletedCandidate: (candidate: T) => boolean,
): BestMatches<T> | undefined {
  const named = candidates.map((candidate) => ({ candidate, by: matchKindOf(candidate) }));
  const by = matchKinds.find((naming) => named.some((it) => it.by === naming));
  if (by === undefined) return undefined;
  const all = named.filter((it) => it.by === by).map(({ candidate }) => candidate);
  return { by, all, current: all.filter((candidate) => !isDeletedCandidate(candidate)) };
}

/**
 * `one`: a unique match. `several`: the first of several matches. `none`: the first of the similar records, best
 * first.
 */
export type Resolution<R> =
  | { kind: 'one'; record: R }
  | {
      kind: 'several' | 'none';
      candidates: R[];
      total: number;
      /** Of the records among which it was looked for. */
      coverage: Coverage & { asOf: Date };
    };

const maxCandidates = 8;

/**
 * Finds the record with this id, identifier or name; punctuation and letter case are ignored. Never guesses
 * between several matches. With `askFirst` it first requests the record by id, for collections that take long to
 * read.
 * @throws ApiError
 */
export async function resolveRecord<K extends SearchKind>(
  tenant: Tenant,
  kind: K,
  text: string,
  call: ToolCall,
  { askFirst }: { askFirst: boolean },
): Promise<Resolution<RecordOf[K]>> {
  const byId =
    askFirst && /^\S+$/.test(text) && (await readIfExists(tenant, kind, 'id', text, call));
  if (byId) return { kind: 'one', record: byId };
  const { records, coverage, asOf } = await tenant.collection(kind, call);
  const found = await resolveAmong(tenant, kind, records, text, { ...coverage, asOf });
  if (coverage.complete || found.kind !== 'none') return found;
  const searched = await searchService(tenant, kind, text, call);
  return resolveAmong(tenant, kind, searched, text, { ...coverage, asOf });
}

async function resolveAmong<K extends SearchKind>(
  tenant: Tenant,
  kind: K,
  records: readonly RecordOf[K][],
  text: string,
  coverage: Coverage & { asOf: Date },
): Promise<Resolution<RecordOf[K]>> {
  const index = await searchIndexOf(tenant, kind, records);
  const hits = await runInSlices(index.find(text));
  const named = bestMatches(
    hits,
    ({ by }) => by,
    ({ record }) => isDeleted(record),
  );
  const matches = named?.current.length ? named.current : (named?.all ?? []);
  const [match] = matches;
  if (match && matches.length === 1) return { kind: 'one', record: match.record };
  const candidates = (matches.length > 1 ? matches : hits).map(({ record }) => record);
  return {
    kind: matches.length > 1 ? 'several' : 'none',
    candidates: candidates.slice(0, maxCandidates),
    total: candidates.length,
    coverage,
  };
}

/** What the service finds, where not everything could be read; nothing where it refuses to search. */
async function searchService<K extends SearchKind>(
  tenant: Tenant,
  kind: K,
  text: string,
  call: ToolCall,
): Promise<readonly RecordOf[K][]> {
  const found = await tenant.searchAll(kind, { query: text }, call).catch(ignoreApiError());
  return found?.records ?? [];
}

/**
 * Reads one record by id, external identifier, quote or part number. What has no route of its own is looked up in
 * the whole list.
 * @throws ApiError, of the kind `not-found` if there is no such record
 * @throws InvalidArguments if several records have the identifier
 */
export async function readByIdentifier<R extends Resource>(
  tenant: Tenant,
  resource: R,
  text: string,
  call: ToolCall,
): Promise<RecordOf[R]> {
  const { one } = routes[resource];
  for (const by of one) {
    const record = await readIfExists(tenant, resource, by, text, call);
    if (record) return record;
  }
  if (one.length === 0 || needsLookup.includes(resource)) {
    const record = await findByIdentifier(tenant, resource, text, call);
    if (record) return record;
  }
  throw new ApiError('not-found', { host: tenant.host }, 'no record has this id');
}

/** Records with an external identifier or a number, by which the service has no route. */
const needsLookup: readonly Resource[] = ['opportunity', 'product', 'quote'];

/** The one record of the whole list with this identifier, a current one before a deleted one. */
async function findByIdentifier<R extends Resource>(
  tenant: Tenant,
  resource: R,
  text: string,
  call: ToolCall,
): Promise<RecordOf[R] | undefined> {
  const { records } = await tenant.collection(resource, call);
  const key = normalisePart(text);
  if (key === '') return undefined;
  const named = await runInSlices(
    filterSteps(records, (record) => isIdentifiedBy(record as ApiRecord, key)),
  );
  const current = named.filter((record) => !isDeleted(record as ApiRecord));
  const [record, ...others] = current.length > 0 ? current : named;
  if (record === undefined) return undefined;
  if (others.length > 0) throw severalIdentified(resource, text, [record, ...others]);
  const { id } = record as ApiRecord;
  // The rows of a list may lack what the record by id has.
  const isWhole = id === undefined || routes[resource].one.length === 0;
  return isWhole ? record : readIfExists(tenant, resource, 'id', id, call);
}

function severalIdentified(
  resource: Resource,
  text: string,
  records: readonly ApiRecord[],
): InvalidArguments {
  const first = records.slice(0, maxCandidates);
  const each = first.map(({ id = '', name = '' }) => wording`${identifier(id)} ${quote(name)}`);
  return new InvalidArguments(
    wording`${records.length} ${trusted(resource.replaceAll('_', ' '))} records have the number ${quote(text)}: ${join(each, ', ')}. Ask the person which one, then call again with its id.`,
  );
}

const isIdentifiedBy = (
  { id, externalIdentifier, number, mpn, ean }: ApiRecord,
  key: string,
): boolean =>
  [id, externalIdentifier, number, mpn, ean].some(
    (one) => typeof one === 'string' && normalisePart(one) === key,
  );

/** Reads one record; undefined if it does not exist, or if the value cannot be an id. @throws ApiError */
export const readIfExists = <R extends Resource>(
  tenant: Tenant,
  resource: R,
  by: 'id' | 'externalIdentifier',
  value: string,
  call: ToolCall,
): Promise<RecordOf[R] | undefined> =>
  tenant.getRecord(resource, by, value, call).catch(ignoreApiError('not-found', 'refused'));

/** The search index, built in slices once for each reading of a collection. */
export const searchIndexOf = <K extends SearchKind>(
  tenant: Tenant,
  kind: K,
  records: readonly RecordOf[K][],
): Promise<SearchIndex<K>> =>
  tenant.derived(
    [records],
    'search index',
    async () => {
      const index = new SearchIndex(kind);
      await forEachInSlices(records, (record) => index.add(record));
      return index;
    },
    (index) => index.bytes,
  );
