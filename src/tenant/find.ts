import { calledBy, type Hit, type SearchedKind } from '../briefs/search.ts';
import type { Wording } from '../outside-text.ts';
import type { ToolCall } from './call.ts';
import type { Coverage } from './reading/coverage.ts';
import { searchable } from './resolve.ts';
import { readSeveral } from './several.ts';
import type { Tenant } from './tenant.ts';

export interface Found {
  hits: { [K in SearchedKind]?: Hit<K>[] };
  coverage: Coverage & { asOf: Date };
  left: Wording[];
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
