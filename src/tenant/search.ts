import { displayName, type Hit, type SearchKind } from '../briefs/search.ts';
import { runInSlices } from '../slices.ts';
import type { Wording } from '../text/untrusted-text.ts';
import type { ToolCall } from './call.ts';
import { readCollections } from './read-collections.ts';
import type { Coverage } from './reading/coverage.ts';
import { searchIndexOf } from './resolve.ts';
import type { Tenant } from './tenant.ts';

export interface SearchResult {
  hits: { [K in SearchKind]?: Hit<K>[] };
  coverage: Coverage & { asOf: Date };
  omitted: Wording[];
}

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
  const { records, coverage, omitted } = await readCollections(tenant, [], kinds, call);
  const hits: Partial<Record<SearchKind, Hit<SearchKind>[]>> = {};
  for (const kind of kinds) {
    const collection = records[kind];
    if (!collection) continue;
    const index = await searchIndexOf(tenant, kind, collection);
    hits[kind] = await runInSlices<Hit<SearchKind>[]>(index.find(text));
  }
  return { hits: hits as SearchResult['hits'], coverage, omitted };
}

/**
 * Names that begin with or contain the typed text; the id instead if several records share the name.
 * @throws ApiError
 */
export async function completeNames<K extends SearchKind>(
  tenant: Tenant,
  kind: K,
  typed: string,
  call: ToolCall,
): Promise<string[]> {
  const { records } = await tenant.collection(kind, call);
  const prefix = typed.trim().toLowerCase();
  const named = records.flatMap((record) => {
    const name = displayName[kind](record);
    const fits = name?.toLowerCase().includes(prefix);
    return name !== undefined && fits ? [{ name, id: String(record.id ?? '') }] : [];
  });
  const counts = countNames(named);
  const startsWithRank = (name: string) => (name.toLowerCase().startsWith(prefix) ? 0 : 1);
  return named
    .sort((a, b) => startsWithRank(a.name) - startsWithRank(b.name) || (a.name < b.name ? -1 : 1))
    .map(({ name, id }) => (counts.get(name) === 1 ? name : id));
}

function countNames(named: readonly { name: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { name } of named) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
