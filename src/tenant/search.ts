import { compare } from '../figures/naming.ts';
import { flatMapSteps, type Steps, sortSteps } from '../figures/steps.ts';
import { displayName, type Hit, type SearchKind } from '../names/search.ts';
import type { Coverage } from '../reading/coverage.ts';
import type { RecordOf } from '../service/records/records.ts';
import { runInSlices } from '../slices.ts';
import type { Wording } from '../text/untrusted-text.ts';
import type { ToolCall } from './call.ts';
import { readCollections } from './read-collections.ts';
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
  return runInSlices(namesWith(kind, records, typed.trim().toLowerCase()));
}

function* namesWith<K extends SearchKind>(
  kind: K,
  records: readonly RecordOf[K][],
  typed: string,
): Steps<string[]> {
  const counts = new Map<string, number>();
  const named = yield* flatMapSteps(records, (record) => {
    const name = displayName[kind](record);
    const at = name?.toLowerCase().indexOf(typed) ?? -1;
    if (name === undefined || at < 0) return [];
    counts.set(name, (counts.get(name) ?? 0) + 1);
    return [{ name, id: String(record.id ?? ''), rank: at === 0 ? 0 : 1 }];
  });
  const sorted = yield* sortSteps(named, (a, b) => a.rank - b.rank || compare(a.name, b.name));
  return sorted.map(({ name, id }) => (counts.get(name) === 1 ? name : id));
}
