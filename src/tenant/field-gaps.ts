import { compact } from '../figures/fields.ts';
import type { Named } from '../figures/naming.ts';
import { outcomeOf, plainWords } from '../figures/outcome.ts';
import { statusCategoryOf } from '../figures/quote-state.ts';
import { quoteDiscount } from '../figures/quote-totals.ts';
import { forEachStep, runSteps, type Steps } from '../figures/steps.ts';
import { termOf } from '../figures/terms.ts';
import type { KnownRecords } from '../names/references.ts';
import { unlessKeyRefused } from '../service/errors.ts';
import {
  type Account,
  accountOf,
  type FieldGap,
  gapsIn,
  isMany,
  minRows,
  placeOf,
  saysGone,
} from '../service/records/account.ts';
import { areRead } from '../service/records/recognition.ts';
import {
  type ApiRecord,
  type Contact,
  type Opportunity,
  type PricingBook,
  type Product,
  partOf,
  type Quote,
  type QuoteItem,
  type Resource,
} from '../service/records/records.ts';
import { resources } from '../service/routes.ts';
import { runInSlices } from '../slices.ts';
import { fieldOf, isOneOf, keysOf, longId } from '../values.ts';
import type { Tenant, ToolCall } from './tenant.ts';

/** The fields that figures rest on, by the collection: paths such as `company`, and `items.price` of the lines of quotes. */
export type RestsOn = { readonly [R in Resource]?: readonly string[] };

/**
 * Whether figures understand a word of the service: `unknown` only matters where no word of the reading is `known`, since
 * tenants have words of their own beside the usual ones; `unclear` where many are, too; `mixed` only where many are beside
 * known ones, or where more are: then the known ones are not understood; `refuted` always does.
 */
type Judgement = 'known' | 'unknown' | 'unclear' | 'mixed' | 'refuted';
type Judged = readonly [word: unknown, judgement: Judgement];

/** A name that looks like an id may be one; it is one where the id looks like a name. */
function nameJudged({ id = '', name }: ApiRecord): readonly Judged[] {
  if (name === undefined) return [];
  if (!longId.test(name)) return [[name, 'known']];
  return [[name, /\S\s\S/.test(id) ? 'refuted' : 'unknown']];
}

/** Of fields whose values have a known form: what their words mean. */
const words: {
  readonly [R in Resource]?: Readonly<Record<string, (record: ApiRecord) => readonly Judged[]>>;
} = {
  company: { name: nameJudged },
  product: { name: nameJudged },
  opportunity: {
    statusId: (deal: Opportunity) => {
      const outcome = outcomeOf(deal);
      const word = deal.statusId ?? deal.pipelineStage?.name;
      if (outcome === 'deleted' || word === undefined) return [];
      if (saysGone(word)) return [[word, 'refuted']];
      const said = plainWords(word);
      const isOpen = said.has('open') || said.has('active');
      if (isOpen && outcome !== 'won' && outcome !== 'lost')
        return outcome === 'open' ? [] : [[word, 'refuted']];
      if (outcome === 'closed_unknown') return [[word, 'unclear']];
      if (outcome === 'open') return [[word, word.length < minWord ? 'refuted' : 'unknown']];
      return [[word, 'known']];
    },
    /** In percent, or as a share of 1. Where none is above 10, another scale may be meant. */
    probability: ({ probability = 0 }: Opportunity) => {
      if (probability > 100) return [[probability, 'refuted']];
      if (probability > 10) return [[probability, 'known']];
      if (probability > 1) return [[probability, 'unknown']];
      return probability % 1 ? [[probability, 'mixed']] : [];
    },
  },
  quote: {
    status: (quote: Quote) => {
      const category = statusCategoryOf(quote);
      if (category === 'deleted' || !quote.status) return [];
      if (saysGone(quote.status)) return [[quote.status, 'refuted']];
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
        return known === 'one-time' ? [] : [[term, known === 'other' ? 'unclear' : 'known']];
      }),
  },
};

/** A shorter word is a code. */
const minWord = 3;
const maxWords = 5;

/** By path: in how many rows a word is not understood, and such words. */
type NotUnderstood = ReadonlyMap<string, { rows: number; example: string }>;

type Counts = Record<Judgement, number>;

/** @param isSample of some rows only what is not understood in any of them is told */
function* notUnderstood(
  resource: Resource,
  records: readonly ApiRecord[],
  isSample: boolean,
): Steps<NotUnderstood> {
  const found = new Map<string, { rows: number; example: string }>();
  for (const [path, judge] of Object.entries(words[resource] ?? {})) {
    const counts: Counts = { known: 0, unknown: 0, unclear: 0, mixed: 0, refuted: 0 };
    const examples = new Map<Judgement, Set<unknown>>();
    yield* forEachStep(records, (record) => {
      for (const [word, judgement] of judge(record)) {
        counts[judgement] += 1;
        const words = examples.get(judgement) ?? new Set();
        if (words.size < maxWords) examples.set(judgement, words.add(word));
      }
    });
    const gaps = gapsOfWords(counts);
    // A few rows may all be of one stage, or of the same small probability.
    const { known, unknown, unclear } = counts;
    if (isSample && (known > 0 || unknown + unclear < minRows))
      Object.assign(gaps, { unknown: 0, unclear: 0 });
    const rows = Object.values(gaps).reduce((sum, count) => sum + count, 0);
    const told = keysOf(gaps).flatMap((judgement) => [...(examples.get(judgement) ?? [])]);
    if (rows > 0) found.set(path, { rows, example: told.slice(0, maxWords).join(', ') });
  }
  return found;
}

/** The words that are not understood beside the others. */
function gapsOfWords({ known, unknown, unclear, mixed, refuted }: Counts): Partial<Counts> {
  const gaps: Partial<Counts> = { refuted };
  // Where more values are fractions, those are the rule, as for the scale of probabilities.
  const areFractions = mixed > known + unknown + refuted;
  if (known === 0 || areFractions) gaps.unknown = unknown;
  if (known === 0 || isMany(unclear, known + unclear)) gaps.unclear = unclear;
  if (areFractions) gaps.known = known;
  else if (known > 0 && isMany(mixed, known + mixed)) gaps.mixed = mixed;
  return gaps;
}

export interface Understood extends Account {
  words: NotUnderstood;
}

/** The account of these records, with the words that are not understood. */
export function* understand(resource: Resource, records: readonly ApiRecord[]): Steps<Understood> {
  const account = yield* accountOf(resource, records);
  return { ...account, words: yield* notUnderstood(resource, records, false) };
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
    const path = [...of.split('.').slice(1), field].join('.');
    return paths.includes(path) ? [{ ...placeOf(resource, account, path), example: text }] : [];
  });
  const gaps = gapsOf(resource, account, paths, missing);
  const isNamed = (gap: FieldGap) => lines.some(({ field }) => field === gap.field);
  return [...lines, ...gaps.filter((gap) => gap.example !== undefined || !isNamed(gap))];
}

/** False if only some of the records lack the field: that says nothing of another one. */
export const isOfAll = ({ example, rows, of }: FieldGap): boolean =>
  example !== undefined || rows === of;

/** The gaps of an answer about these records. That some of a kind lack a field counts only if one of these does. */
export const gapsAbout = (about: KnownRecords, gaps: readonly FieldGap[] = []): FieldGap[] =>
  gaps.filter((gap) => {
    const records = isOneOf(resources, gap.record) ? about[gap.record] : undefined;
    if (isOfAll(gap) || records === undefined) return true;
    return records.some((one) => fieldOf(one, gap.field) === undefined);
  });

/** The rows of a page, and what is known besides. */
interface RowsOfPage {
  records: readonly ApiRecord[];
  /** All records of which the rows are some. */
  examined?: readonly ApiRecord[];
  total?: number;
}

/**
 * Those that make what the rows of a page show wrong: rows themselves show what they lack, but for the lines of quotes.
 * What few rows lack, or say in other words, is none where all records are known and do not.
 */
export async function gapsOfRows(
  tenant: Tenant,
  resource: Resource,
  { records: rows, examined, total = Infinity }: RowsOfPage,
  paths: readonly string[] = [],
): Promise<FieldGap[]> {
  if (paths.length === 0 || rows.length === 0) return [];
  // A quick test, because every list is looked at.
  const isRead = resource !== 'quote' && areRead(resource, rows);
  const words = runSteps(notUnderstood(resource, rows, false));
  if (isRead && words.size === 0) return [];
  const account = runSteps(accountOf(resource, rows));
  const gapsWith = (words: NotUnderstood) =>
    gapsOf(resource, { ...account, words }, paths).filter(
      ({ example, record }) => example !== undefined || record === 'quote_line',
    );
  const certain = gapsWith(runSteps(notUnderstood(resource, rows, true)));
  const all = examined ?? tenant.cached(resource) ?? (total <= rows.length ? rows : undefined);
  if (!all) return certain;
  const others = await fieldGaps(tenant, resource, { records: all }, paths);
  // Rows that are not of a reading may have what it does not have yet.
  const own = examined ? [] : certain.filter(({ example }) => example !== undefined);
  const isIn = (gaps: readonly FieldGap[], { field }: FieldGap) =>
    gaps.some((gap) => gap.field === field);
  return gapsWith(words).filter((gap) => isIn(own, gap) || isIn(others, gap));
}

/** As `gapsIn`, with the words that are not understood. */
export function gapsOf(
  resource: Resource,
  account: Understood,
  paths: readonly string[],
  missing?: readonly string[],
): FieldGap[] {
  const gaps = gapsIn(resource, account, paths, missing);
  const isGap = (path: string) => gaps.some(({ field }) => path.endsWith(field));
  const ofWords = paths.flatMap((path): FieldGap[] => {
    const found = isGap(path) ? undefined : account.words.get(path);
    return found ? [{ ...placeOf(resource, account, path), ...found }] : [];
  });
  return [...gaps, ...ofWords];
}

/**
 * Without the gaps that a page or a search may have by chance: quotes of one-time lines have no term, others have one.
 * Those of all records stay, as the first page of the collection shows.
 * @throws ApiError if the key is refused
 */
export async function withoutChance(
  tenant: Tenant,
  resource: Resource,
  gaps: FieldGap[],
  call: ToolCall,
): Promise<FieldGap[]> {
  const isLacking = ({ example, rows, of }: FieldGap) => example === undefined && rows === of;
  if (!gaps.some(isLacking)) return gaps;
  const missing = await tenant.readMissingFields(resource, call).catch(unlessKeyRefused);
  const isMissing = ({ record, field }: FieldGap) =>
    missing?.includes(record === resource ? field : `${partOf(resource)?.list}.${field}`) ?? true;
  return gaps.filter((gap) => !isLacking(gap) || isMissing(gap));
}

type RefsOf = (record: ApiRecord) => readonly Named[];
const companyIn: RefsOf = ({ company = {} }: Opportunity | Quote) => [company];

/** The references by which the figures of several collections are brought together. */
const joins: readonly (readonly [from: Resource, field: string, to: Resource, refs: RefsOf])[] = [
  ['opportunity', 'company', 'company', companyIn],
  ['quote', 'company', 'company', companyIn],
  [
    'contact',
    'companyId',
    'company',
    ({ companyId: id, companyName: name }: Contact) => [compact({ id, name })],
  ],
  ['quote', 'opportunity', 'opportunity', ({ opportunity }: Quote) => [opportunity ?? {}]],
  ['quote', 'items.product', 'product', ({ items = [] }: Quote) => items.flatMap(productOf)],
  [
    'pricing_book',
    'products.productId',
    'product',
    ({ products = [] }: PricingBook) => products.map(({ productId: id }) => compact({ id })),
  ],
  [
    'pricing_book',
    'companyIds',
    'company',
    ({ companyIds = [] }: PricingBook) => companyIds.map((id) => ({ id })),
  ],
];

/** Lines find their product in the catalogue by its id only. */
const productOf = ({ product: { id, name = '' } = {} }: QuoteItem): Named[] =>
  id === undefined && name === '' ? [] : [{ id: id ?? name, name }];

/** What opportunities are grouped by, and no collection of its own has. */
const groupings = ['owner', 'pipelineStage'] as const;

/** Records that are looked at, and references of each: all of them would take too long in one step. */
const maxJoined = 1_000;
const maxOfEach = 50;

/** An id without what forms of the same id differ in: letter case, spaces around it, zeros before it. */
const folded = (id: string): string => id.trim().toLowerCase().replace(/^0+/, '');

/** The kinds of characters that ids of one origin are made of, such as letters and digits. */
const charactersOf = (id: string): string =>
  [...new Set(id.replace(/\d/g, '0').replace(/[a-z]/g, 'a').replace(/[A-Z]/g, 'A'))]
    .sort()
    .join('');

/**
 * References that lead to none of these records: those that seem to mean one, by the form of their id or by its name, and
 * the others where they are at least so many, and many of all.
 */
function lostReferences(
  refs: readonly Named[],
  to: readonly ApiRecord[],
  minLost: number,
): readonly string[] {
  const ids = new Set(to.map(({ id }) => id));
  const missed = refs.filter(({ id, name }) => (id === undefined ? name : !ids.has(id)));
  if (missed.length === 0) return [];
  const names = new Set(to.map(({ name }) => name));
  const forms = new Set(
    to.flatMap(({ id = '', name = '', mpn }: Product) => [folded(id), name, mpn]),
  );
  // Of two long ids of one length and origin, one may have no digit.
  const formOf = (id: string) => (id.length < 15 ? charactersOf(id) : id.length);
  const known = new Set(to.slice(0, maxJoined).map(({ id = '' }) => formOf(id)));
  const isForeign = ({ id }: Named): boolean => id !== undefined && !known.has(formOf(id));
  // Of a part another record can have the same name, where ids lead to its records.
  const isNamed = Number.isFinite(minLost) || missed.length === refs.length;
  const isNear = (ref: Named): boolean =>
    [folded(ref.id ?? ''), ref.id, (isNamed || isForeign(ref)) && ref.name].some(
      (it) => it && forms.has(it),
    );
  const [near, lost]: [string[], string[]] = [[], []];
  for (const ref of missed)
    if (ref.id !== undefined) (isNear(ref) ? near : lost).push(ref.id);
    else if (ref.name !== undefined && !names.has(ref.name)) lost.push(ref.name);
  const isLost = refs.length >= minRows && refs.every(isForeign);
  return isLost || (lost.length >= minLost && isMany(lost.length, refs.length))
    ? [...near, ...lost]
    : near;
}

/**
 * References that lead to no record of these collections with their names, and such to what has no name.
 * @param minimumOf of a collection: fewer references that lead to none of its records are not told; `Infinity` where a
 *   part of it was read
 */
export const danglingReferences = (
  tenant: Tenant,
  read: KnownRecords,
  minimumOf: (resource: Resource) => number,
): FieldGap[] => [
  ...joins.flatMap(([record, field, target, refsOf]): FieldGap[] => {
    const [from, to] = [read[record], read[target]];
    const minLost = minimumOf(target);
    if (!from || !to || (to.length === 0 && minLost > 1)) return [];
    return tenant.derived.get([from, to], `references ${field} ${minLost}`, () => {
      const refs = from.slice(0, maxJoined).flatMap((each) => refsOf(each).slice(0, maxOfEach));
      const lost = lostReferences(refs, to, minLost);
      if (lost.length === 0) return [];
      const place = placeOf(record, { rows: refs.length, lines: refs.length }, field);
      return [{ ...place, rows: lost.length, example: lost[0] }];
    });
  }),
  ...groupings.flatMap((field): FieldGap[] => {
    const deals = read.opportunity?.slice(0, maxJoined) ?? [];
    const refs = deals.map((deal: Opportunity) => deal[field]).filter((ref) => ref !== undefined);
    // An e-mail address, or what looks like an id, is no name of a person or a stage; beside such an id it may be one.
    const isUnnamed = ({ id = '', name }: Named): boolean =>
      !name || name.includes('@') || (longId.test(name) && !longId.test(id));
    const unnamed = refs.filter(isUnnamed);
    if (unnamed.length < minimumOf('opportunity')) return [];
    const [example] = unnamed.flatMap(({ name }) => name ?? []);
    const gap = { record: 'opportunity' as const, field: `${field}.name`, of: refs.length };
    return [{ ...gap, rows: unnamed.length, ...(example !== undefined && { example }) }];
  }),
];
