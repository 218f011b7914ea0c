/** Looks records up by name, number or identifier: reads what is needed, and matches with `names`. */

import { restsOn } from '../briefs/rests-on.ts';
import { compare } from '../figures/lists.ts';
import { foldedName } from '../figures/naming.ts';
import { isDeleted } from '../figures/outcome.ts';
import { flatMapSteps, runSteps, type Steps, sortSteps } from '../figures/steps.ts';
import { bestMatches } from '../names/name-filters.ts';
import {
  displayName,
  findIn,
  type Hit,
  isSearchKind,
  matchKinds,
  SearchIndex,
  type SearchKind,
} from '../names/search.ts';
import type { Collection, Coverage } from '../reading/coverage.ts';
import { ignoreApiError } from '../service/errors.ts';
import type { FieldGap } from '../service/records/account.ts';
import type { RecordOf, Resource } from '../service/records/records.ts';
import { routes, type Search } from '../service/routes.ts';
import { forEachInSlices, runInSlices } from '../slices.ts';
import type { Wording } from '../text/untrusted-text.ts';
import { fieldOf, isOneOf, longId } from '../values.ts';
import { fieldGaps, isOfAll } from './field-gaps.ts';
import { readCollections, readIfExists } from './read-collections.ts';
import type { Tenant, ToolCall } from './tenant.ts';

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
      /** Only the service's own search was asked. */
      isPart?: true;
    };

export const maxCandidates = 8;
/** Records of the service's own search. */
const maxFound = 25;

/**
 * Finds the record with this id, identifier or name; punctuation and letter case are ignored. Never guesses
 * between several matches. What looks like an id is requested first, unless the collection is cached; with `askFirst` also
 * then.
 * @throws ApiError
 */
export async function resolveRecord<K extends SearchKind>(
  tenant: Tenant,
  kind: K,
  text: string,
  call: ToolCall,
  { askFirst }: { askFirst: boolean },
): Promise<Resolution<RecordOf[K]>> {
  const isCached = !askFirst && tenant.cached(kind) !== undefined;
  const mayBeId = !isCached && longId.test(text);
  const byId = mayBeId && (await readIfExists(tenant, kind, 'id', text, call));
  if (byId) return { kind: 'one', record: byId };
  const read = await tenant.collection(kind, call, { called: text });
  const found = await resolveAmong(tenant, kind, read, text);
  const isSure = askFirst ? mayBeId : !read.isPart && !isCached;
  if (found.kind !== 'none' || isSure) return found;
  const named = /\s/.test(text) ? undefined : await readByRoute(tenant, kind, text, call);
  return named ? { kind: 'one', record: named } : found;
}

/** The record with this id or external identifier, which a service's search may not look at. @throws ApiError */
export async function readByRoute<R extends Resource>(
  tenant: Tenant,
  resource: R,
  text: string,
  call: ToolCall,
): Promise<RecordOf[R] | undefined> {
  for (const by of routes[resource].one) {
    const record = await readIfExists(tenant, resource, by, text, call);
    if (record) return record;
  }
  return undefined;
}

/**
 * The first records that the service's own search or filter finds, and whether these are all; none where it refuses that.
 * @throws NotGranted, ApiError
 */
export async function searchRecords<R extends Resource>(
  tenant: Tenant,
  resource: R,
  search: Search,
  call: ToolCall,
): Promise<{ records: readonly RecordOf[R][]; isWhole: boolean }> {
  const reading = tenant.firstPage(resource, { size: maxFound, ...search }, call);
  const { records = [], total = Infinity } = (await reading.catch(ignoreApiError('refused'))) ?? {};
  // The total of a full page may be that of the page.
  return { records, isWhole: total <= records.length && records.length < maxFound };
}

async function resolveAmong<K extends SearchKind>(
  tenant: Tenant,
  kind: K,
  read: Collection<RecordOf[K]>,
  text: string,
): Promise<Resolution<RecordOf[K]>> {
  const { records, coverage, asOf, isPart } = read;
  const index = await searchIndexOf(tenant, kind, records);
  const [hits = []] = await runInSlices(findIn([index], text));
  const tests = matchKinds.map((kind) => (hit: Hit<K>) => hit.by === kind);
  const named = runSteps(bestMatches(hits, tests, ({ record }) => isDeleted(record)));
  const matches = named?.matches ?? [];
  const [match] = matches;
  if (match && matches.length === 1) return { kind: 'one', record: match.record };
  const isFound = matches.length > 1;
  const candidates = (isFound ? matches : hits).map(({ record }) => record);
  const gaps = await fieldGaps(tenant, kind, read, restsOn.find[kind]);
  const fields = isFound ? gaps.filter(isOfAll) : gaps;
  return {
    kind: isFound ? 'several' : 'none',
    candidates: candidates.slice(0, maxCandidates),
    total: candidates.length,
    coverage: { ...coverage, asOf, ...(fields.length > 0 && { fields }) },
    ...(isPart && { isPart }),
  };
}

/** The search index, built in slices once for each reading of a collection. */
export const searchIndexOf = <K extends SearchKind>(
  tenant: Tenant,
  kind: K,
  records: readonly RecordOf[K][],
): Promise<SearchIndex<K>> =>
  tenant.derived.get(
    [records],
    'search index',
    async () => {
      const index = new SearchIndex(kind);
      await forEachInSlices(records, (record) => index.add(record));
      return index;
    },
    (index) => index.bytes,
  );

export interface SearchResult {
  hits: { [K in SearchKind]?: Hit<K>[] };
  coverage: Coverage & { asOf: Date };
  omitted: Wording[];
  /** The kinds in which only the service's own search looked. */
  searched: readonly Resource[];
}

/** What a hit shows of a product, and no search looks in. */
const onlyShown = ['price', 'cost', 'term'] as const;

/**
 * Looks for a text in several collections at once.
 * @throws ApiError
 */
export async function findText(
  tenant: Tenant,
  text: string,
  kinds: readonly SearchKind[],
  call: ToolCall,
): Promise<SearchResult> {
  const about = { about: text };
  const { records, coverage, omitted, partial } = await readCollections(
    tenant,
    [],
    kinds,
    call,
    restsOn.find,
    () => about,
  );
  const indexes: [SearchKind, SearchIndex<SearchKind>][] = [];
  for (const kind of kinds) {
    const collection = records[kind];
    if (collection) indexes.push([kind, await searchIndexOf(tenant, kind, collection)]);
  }
  const all = indexes.map(([, index]) => index);
  const found = await runInSlices(findIn(all, text));
  const hits: Partial<Record<SearchKind, Hit<SearchKind>[]>> = Object.fromEntries(
    indexes.map(([kind], at) => [kind, found[at] ?? []]),
  );
  const isFound = found.some((ofKind) => ofKind.length > 0);
  const concerns = ({ record: kind, field }: FieldGap) =>
    !isOneOf<string>(onlyShown, field) ||
    (isSearchKind(kind) && hits[kind]?.some(({ record }) => fieldOf(record, field) === undefined));
  const fields = (coverage.fields ?? []).filter(concerns);
  return {
    hits: hits as SearchResult['hits'],
    // What is found shows itself what it lacks.
    coverage: { ...coverage, fields: isFound ? fields.filter(isOfAll) : fields },
    omitted,
    searched: partial,
  };
}

/**
 * Names that begin with or contain the typed text, whatever its accents; the id instead if several records share the
 * name. `isWhole` if there are no others.
 * @throws ApiError
 */
export async function completeNames<K extends SearchKind>(
  tenant: Tenant,
  kind: K,
  typed: string,
  call: ToolCall,
): Promise<{ names: string[]; isWhole: boolean }> {
  const { records, coverage } = await tenant.collection(kind, call, { about: typed.trim() });
  const names = await runInSlices(namesWith(kind, records, foldedName(typed)));
  return { names, isWhole: coverage.complete };
}

function* namesWith<K extends SearchKind>(
  kind: K,
  records: readonly RecordOf[K][],
  typed: string,
): Steps<string[]> {
  const counts = new Map<string, number>();
  const named = yield* flatMapSteps(records, (record) => {
    const name = displayName[kind](record);
    const at = foldedName(name ?? '').indexOf(typed);
    if (name === undefined || at < 0) return [];
    counts.set(name, (counts.get(name) ?? 0) + 1);
    return [{ name, id: String(record.id ?? ''), rank: at === 0 ? 0 : 1 }];
  });
  const sorted = yield* sortSteps(named, (a, b) => a.rank - b.rank || compare(a.name, b.name));
  return sorted.map(({ name, id }) => (counts.get(name) === 1 ? name : id));
}
