import * as z from 'zod';
import { plural } from '../src/figures/naming.ts';
import { concise } from '../src/lists/concise.ts';
import { type Hit, type SearchKind, searchKinds } from '../src/names/search.ts';
import type { RecordOf } from '../src/service/records/records.ts';
import { findText } from '../src/tenant/lookup.ts';
import { join, quote, trusted, wording } from '../src/text/untrusted-text.ts';
import { toCoverage } from '../src/tool-kit/answers.ts';
import { defineTool } from '../src/tool-kit/define-tool.ts';
import * as schemas from '../src/tool-kit/schemas.ts';

/** By kind: the tool to go on with, and the fields that distinguish hits. */
const shown: Record<SearchKind, { next: string; fields: readonly string[] }> = {
  company: { next: 'cpq_brief_company', fields: ['type', 'city', 'externalIdentifier'] },
  contact: { next: 'cpq_get_record', fields: ['email', 'phone', 'company'] },
  opportunity: { next: 'cpq_get_record', fields: ['company', 'stage', 'outcome'] },
  product: {
    next: 'cpq_get_record',
    fields: ['mpn', 'manufacturer', 'price', 'cost', 'term', 'listed'],
  },
  quote: { next: 'cpq_brief_quote', fields: ['number', 'status', 'company'] },
};

export const find = defineTool({
  name: 'cpq_find',
  title: 'Find anything',
  description:
    'Finds records by what a person remembers: name, e-mail, phone, part number, quote number, external identifier. Tolerates typing errors; names the tool to go on with.',
  toolset: 'briefs',
  needs: [],
  input: z.strictObject({
    query: schemas.nameOfRecord,
    kinds: z.array(z.enum(searchKinds)).optional().describe('Default all'),
    size: z.int().min(1).max(25).default(5).describe('Hits of each kind'),
  }),
  output: { groups: schemas.records, coverage: schemas.coverage },
  async run(tenant, { query, kinds, size }, call) {
    const searched = kinds?.length ? kinds : searchKinds;
    const found = await findText(tenant, query, searched, call);
    const groups = searched.flatMap((kind) => group(kind, found.hits[kind] ?? [], size));
    return {
      summary: wording`${found.omitted.length > 0 && 'Not all could be searched. '}${findSummary(query, groups)}`,
      data: { groups, coverage: toCoverage(found.coverage) },
      notes: [
        ...found.omitted,
        // Of collections that are too large to be read for a search.
        found.searched.length > 0 &&
          sumOf(groups, 'exact') === 0 &&
          wording`The service itself searched ${trusted(found.searched.join(', '))}: it may miss typing errors, and numbers written differently.`,
        findHint(groups),
        groups.length === 0 &&
          /\p{L}/u.test(query) &&
          !/\d/.test(query) &&
          wording`Owners are not searched: lists and briefs filter by them.`,
      ],
    };
  },
});

type Group = ReturnType<typeof group>[number];

function group<K extends SearchKind>(kind: K, hits: readonly Hit<K>[], size: number) {
  if (hits.length === 0) return [];
  const exact = hits.filter(({ by }) => by !== undefined).length;
  const rows = hits.slice(0, size).map((hit) => row(kind, hit));
  return [{ kind, next: shown[kind].next, total: hits.length, exact, hits: rows }];
}

function row<K extends SearchKind>(kind: K, { record, by }: Hit<K>): Record<string, unknown> {
  const allFields = concise(kind, record as RecordOf[K]);
  const fields = shown[kind].fields.map((name) => [name, allFields[name]]);
  return {
    id: allFields.id,
    name: allFields.name ?? allFields.title,
    ...(by ? { exact: true } : {}),
    deleted: allFields.deleted,
    ...Object.fromEntries(fields),
  };
}

const sumOf = (groups: readonly Group[], count: 'exact' | 'total'): number =>
  groups.reduce((sum, group) => sum + group[count], 0);

function findSummary(text: string, groups: readonly Group[]) {
  if (groups.length === 0) return wording`Nothing found for ${quote(text)}.`;
  const exact = sumOf(groups, 'exact');
  const counts = groups.map(({ kind, total }) => plural(total, kind));
  const sure =
    exact > 0
      ? wording`; ${exact} ${exact === 1 ? 'matches' : 'match'} exactly`
      : '; none matches exactly';
  return wording`Found for ${quote(text)}: ${join(counts, ', ')}${sure}.`;
}

function findHint(groups: readonly Group[]) {
  if (groups.length === 0) return wording`Try fewer words, or a part of the name or number.`;
  if (sumOf(groups, 'exact') === 1) return undefined;
  return sumOf(groups, 'total') === 1
    ? wording`It is only similar: ask the person whether it is meant.`
    : wording`Several match: ask the person which one is meant, unless all were asked for.`;
}
