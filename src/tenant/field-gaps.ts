import type { Named } from '../figures/naming.ts';
import { outcomeOf, plainWords } from '../figures/outcome.ts';
import { statusCategoryOf } from '../figures/quote-state.ts';
import { quoteDiscount } from '../figures/quote-totals.ts';
import { forEachStep, runSteps, type Steps } from '../figures/steps.ts';
import { termOf } from '../figures/terms.ts';
import { companyOf, type KnownRecords } from '../names/references.ts';
import {
  type Account,
  accountOf,
  type FieldGap,
  gapsIn,
  minRows,
  placeOf,
} from '../service/records/account.ts';
import { areRead } from '../service/records/recognition.ts';
import type { ApiRecord, Opportunity, Quote, Resource } from '../service/records/records.ts';
import { runInSlices } from '../slices.ts';
import type { Tenant } from './tenant.ts';

/** The fields that figures rest on, by the collection: paths such as `company`, and `items.price` of the lines of quotes. */
export type RestsOn = { readonly [R in Resource]?: readonly string[] };

/**
 * Whether figures understand a word of the service: `unknown` only matters where no word of the reading is `known`, since
 * tenants have words of their own beside the usual ones; `refuted` always does.
 */
type Judged = readonly [word: unknown, judgement: 'known' | 'unknown' | 'refuted'];

/** Of fields whose values have a known form: what their words mean. */
const words: {
  readonly [R in Resource]?: Readonly<Record<string, (record: ApiRecord) => readonly Judged[]>>;
} = {
  opportunity: {
    statusId: (deal: Opportunity) => {
      const outcome = outcomeOf(deal);
      const word = deal.statusId ?? deal.pipelineStage?.name;
      if (outcome === 'deleted' || word === undefined) return [];
      const said = plainWords(word);
      if (outcome === 'open' && (said.has('open') || said.has('active'))) return [];
      return [[word, outcome === 'won' || outcome === 'lost' ? 'known' : 'unknown']];
    },
  },
  quote: {
    status: (quote: Quote) => {
      const category = statusCategoryOf(quote);
      if (category === 'deleted' || !quote.status) return [];
      const isAnswered = [quote.sentAt, quote.approvedAt, quote.declinedAt].some(Boolean);
      return [[quote.status, category !== 'other' ? 'known' : isAnswered ? 'refuted' : 'unknown']];
    },
    discount: (quote: Quote) =>
      quote.discount && quoteDiscount(quote)?.kind === 'unreadable'
        ? [[JSON.stringify(quote.discount), 'refuted']]
        : [],
    'items.term': ({ items = [] }: Quote) =>
      items.flatMap(({ term = '' }): Judged[] => {
        const known = termOf(term);
        return known === 'one-time' ? [] : [[term, known === 'other' ? 'unknown' : 'known']];
      }),
  },
};

const maxWords = 5;

export interface Understood extends Account {
  /** By path: in how many rows a word is not understood, and such words. */
  words: ReadonlyMap<string, { rows: number; example: string }>;
}

/** The account of these records, with the words that are not understood. */
export function* understand(resource: Resource, records: readonly ApiRecord[]): Steps<Understood> {
  const account = yield* accountOf(resource, records);
  const found = new Map<string, { rows: number; example: string }>();
  for (const [path, judge] of Object.entries(words[resource] ?? {})) {
    const counts = { known: 0, unknown: 0, refuted: 0 };
    const examples = new Set<unknown>();
    yield* forEachStep(records, (record) => {
      for (const [word, judgement] of judge(record)) {
        counts[judgement] += 1;
        if (judgement !== 'known' && examples.size < maxWords) examples.add(word);
      }
    });
    const rows = counts.refuted + (counts.known === 0 ? counts.unknown : 0);
    if (rows > 0) found.set(path, { rows, example: [...examples].join(', ') });
  }
  return { ...account, words: found };
}

/** Those that could not be read, or not understood, in some of the records; counted once for each reading. */
export async function fieldGaps(
  tenant: Tenant,
  resource: Resource,
  { records, isPart }: { records: readonly ApiRecord[]; isPart?: true },
  paths: readonly string[] = [],
): Promise<FieldGap[]> {
  if (paths.length === 0 || records.length === 0) return [];
  const account = await tenant.derived.get([records], 'fields', () =>
    runInSlices(understand(resource, records)),
  );
  const missing = isPart && tenant.missingFields(resource);
  const unused = tenant.unusedFields(resource, Math.max(1, records.length));
  const lines = unused.flatMap(({ of, field, text }): FieldGap[] => {
    const path = of === 'quote.items' ? `items.${field}` : field;
    return paths.includes(path) ? [{ ...placeOf(resource, account, path), example: text }] : [];
  });
  const gaps = gapsOf(resource, account, paths, missing && ((path) => missing.includes(path)));
  const isNamed = (gap: FieldGap) => lines.some(({ field }) => field === gap.field);
  return [...lines, ...gaps.filter((gap) => gap.example !== undefined || !isNamed(gap))];
}

/** Those that make what the rows of a page show wrong: rows themselves show what they lack, but for the lines of quotes. */
export function gapsOfRows(
  resource: Resource,
  rows: readonly ApiRecord[],
  paths: readonly string[] = [],
): FieldGap[] {
  if (paths.length === 0 || rows.length === 0) return [];
  if (resource !== 'quote' && areRead(resource, rows) && areUnderstood(resource, rows)) return [];
  return gapsOf(resource, runSteps(understand(resource, rows)), paths).filter(
    ({ example, record }) => example !== undefined || record === 'quote_line',
  );
}

/** Whether no word is refuted, and one of each field is known where there are any. */
function areUnderstood(resource: Resource, records: readonly ApiRecord[]): boolean {
  for (const judge of Object.values(words[resource] ?? {})) {
    const found = new Set<Judged[1]>();
    for (const record of records) for (const [, judgement] of judge(record)) found.add(judgement);
    if (found.has('refuted') || (found.has('unknown') && !found.has('known'))) return false;
  }
  return true;
}

/** As `gapsIn`, with the words that are not understood. */
export function gapsOf(
  resource: Resource,
  account: Understood,
  paths: readonly string[],
  isMissing?: (path: string) => boolean,
): FieldGap[] {
  const gaps = gapsIn(resource, account, paths, isMissing);
  const isGap = (path: string) => gaps.some(({ field }) => path.endsWith(field));
  const understood = paths.filter((path) => !isGap(path));
  return [...gaps, ...understood.flatMap((path) => wordGap(resource, account, path))];
}

function wordGap(resource: Resource, account: Understood, path: string): FieldGap[] {
  const found = account.words.get(path);
  if (!found) return [];
  return [{ ...placeOf(resource, account, path), ...found }];
}

const companyIn = (record: ApiRecord) => companyOf(record);
/** The references by which the figures of several collections are brought together. */
const joins = [
  ['opportunity', 'company', 'company', companyIn],
  ['quote', 'company', 'company', companyIn],
  ['contact', 'companyId', 'company', companyIn],
  ['quote', 'opportunity', 'opportunity', ({ opportunity }: Quote) => opportunity ?? {}],
] as const;

/** What opportunities are grouped by, and no collection of its own has. */
const groupings = ['owner', 'pipelineStage'] as const;

/** References that are looked at. */
const maxJoined = 1_000;

type RefOf = (record: ApiRecord) => Named;

const namesOf = (refOf: RefOf) => (record: ApiRecord) =>
  refOf(record).id ?? refOf(record).name ?? [];

/** All references, if they are not few and none leads to a record. */
function lostReferences(refs: readonly string[], to: readonly ApiRecord[]): readonly string[] {
  const wanted = new Set(refs);
  const isFound = to.some(({ id = '', name = '' }) => wanted.has(id) || wanted.has(name));
  return isFound || refs.length < minRows ? [] : refs;
}

/** Those whose id is one of these in another letter case, or whose name is that of one with another id; if none leads to one. */
function nearReferences(refs: readonly Named[], to: readonly ApiRecord[]): string[] {
  const ids = new Set(to.map(({ id }) => id));
  if (refs.some(({ id }) => id !== undefined && ids.has(id))) return [];
  const others = new Set(to.flatMap(({ id = '', name = '' }) => [id.toLowerCase(), name]));
  return refs.flatMap(({ id, name = '' }) =>
    id && (others.has(id.toLowerCase()) || (name && others.has(name))) ? [id] : [],
  );
}

/**
 * References none of which leads to a record, and such without any name, of these collections with their names. Of a
 * part, such that seem to mean one of its records.
 * @param isWhole whether all records of a collection are here
 */
export const danglingReferences = (
  tenant: Tenant,
  read: KnownRecords,
  isWhole: (resource: Resource) => boolean,
): FieldGap[] => [
  ...joins.flatMap(([record, field, target, refOf]): FieldGap[] => {
    const [from, to] = [read[record], read[target]];
    if (!from || !to?.length) return [];
    return tenant.derived.get([from, to], `references ${field}`, () => {
      const lost = isWhole(target)
        ? lostReferences(from.slice(0, maxJoined).flatMap(namesOf(refOf)), to)
        : nearReferences(from.map(refOf), to);
      if (lost.length === 0) return [];
      const rows = isWhole(target) ? from.length : lost.length;
      return [{ record, field, of: from.length, rows, example: lost[0] }];
    });
  }),
  ...groupings.flatMap((field): FieldGap[] => {
    const deals = (isWhole('opportunity') && read.opportunity?.slice(0, maxJoined)) || [];
    const refs = deals.map((deal: Opportunity) => deal[field]).filter((ref) => ref !== undefined);
    if (refs.length < minRows || refs.some(({ name }) => name)) return [];
    return [{ record: 'opportunity', field: `${field}.name`, of: refs.length, rows: refs.length }];
  }),
];
