import type { Call } from '../service/call.ts';
import { ignoreApiError, isApiError, unlessKeyRefused } from '../service/errors.ts';
import type { ApiRecord, Resource } from '../service/records/records.ts';
import type { PageQuery, Search } from '../service/routes.ts';
import type { Wording } from '../text/untrusted-text.ts';
import { valueAt } from '../values.ts';
import { isSearchable } from './by-ids.ts';
import type { Collection, Coverage } from './coverage.ts';
import { isSamePage, recordKeys } from './pass.ts';
import {
  type AnyPage,
  countsRecords,
  type LearntTraits,
  pageSize,
  type ServicePages,
} from './service-pages.ts';

export interface ListPage<R> {
  records: readonly R[];
  /** 0-based offset of the first record. */
  from: number;
  total: number;
  /** Offset of the next record; absent at the end of the list. */
  next?: number;
  coverage: Coverage & { asOf: Date };
  /** Set if the service ignored parameters; `records` is then empty. */
  ignored?: IgnoredParameters;
  /**
   * Where filters find nothing: the fields by which the service is not proven to filter, so none if its answer is right;
   * `few records` if all records of the search can be read instead.
   */
  unproven?: readonly string[] | 'few records';
  notes?: readonly (Wording | false)[];
}

interface ListSource {
  readonly pages: ServicePages;
  readonly resource: Resource;
  /** Reads all results of a search. */
  readonly readWhole: (search: Search) => Promise<Collection<ApiRecord>>;
  /** Whether all records were read before. */
  readonly isCached: boolean;
  readonly call: Call;
  readonly judge?: PageJudge | undefined;
}

/** Parameters that some services ignore. */
const ignorable = ['filters', 'query', 'sort'] as const;
type Ignorable = (typeof ignorable)[number];

export interface IgnoredParameters {
  readonly names: readonly Ignorable[];
  /** What the service honours of the query. */
  readonly search: Search;
}

/** Whether the rows of a page can be what each parameter asks for. */
export type PageJudge = Readonly<Record<Ignorable, (rows: readonly ApiRecord[]) => boolean>>;

/**
 * A slice of a list: the service's page, or a slice of all records if the service does not page. Says which parameters
 * the service ignored, and whether it is right that nothing is found, as far as the judge can tell.
 * @throws ApiError
 */
export async function readListPage(
  source: ListSource,
  query: PageQuery,
): Promise<ListPage<ApiRecord>> {
  const { judge, pages, resource, call } = source;
  const asOf = new Date();
  const whole = async () => sliceOf(await source.readWhole(searchOf(query)), query);
  const isWhole = query.from ? await lacksOffset(source) : false;
  if (isWhole && !judge) return whole();
  // A few rows may be in order, or pass, by chance.
  const size = judge ? Math.max(query.size, sampleSize) : query.size;
  const asked = { ...query, size, ...(isWhole && { from: 0 }) };
  const { sample, found }: Sampled = judge ? await askTogether(source, asked, judge) : {};
  if (found) return { ...pageAnswer(query, found, true, asOf), unproven: [] };
  const sent = await pages.page(resource, asked, call);
  const ignored = judge ? await ignoredParameters(source, judge, asked, sent) : [];
  if (ignored.length > 0) return ignoringPage(query, ignored, asOf);
  const follows = isWhole ? 'hidden' : await whatFollows(source, asked, sent);
  if (follows === 'hidden') return whole();
  const page = await withTrueTotal(source, asked, sent);
  const isCounted = !page.countIsLimit && (page.total !== undefined || follows === 'end');
  const answer = pageAnswer(query, page, isCounted, asOf);
  if (!judge || !query.filters || answer.total > 0) return answer;
  const { filters, sort: _, ...search } = searchOf(query);
  return { ...answer, unproven: await unprovenFields(source, search, query.filters, sample) };
}

/** A slice of all records of a route that is not paged, and whether the service ignored the text. @throws ApiError */
export async function readUnpaged(
  { readWhole, judge }: ListSource,
  query: PageQuery,
): Promise<ListPage<ApiRecord>> {
  const found = await readWhole({ query: query.query });
  const mayBeIgnored = query.query && judge && !judge.query(found.records);
  const isIgnored = mayBeIgnored && isSamePage(found, await readWhole({}));
  return isIgnored ? ignoringPage(query, ['query'], found.asOf) : sliceOf(found, query);
}

/** The property of a route whose total is that of what filters and a text find. */
const countsMatches = 'counts matches';

/** Without the total of a route whose totals are wrong, as a reading of all records or the last counted row shows. */
async function withTrueTotal(
  source: ListSource,
  query: PageQuery,
  page: AnyPage,
): Promise<AnyPage> {
  const { honoured } = source.pages.traits(source.resource);
  const { total = 0, ...uncounted } = page;
  if (honoured[countsRecords] === false) return uncounted;
  const trait = query.filters || query.query ? countsMatches : countsRecords;
  const rows = page.records.length;
  const isLast = total <= (query.from ?? 0) + rows;
  // Behind a full page there may be more, where the service counts up to it.
  if (rows === 0 || (isLast && rows !== query.size)) return page;
  const isTrue = honoured[trait] ?? (await hasLastRow(source, query, page, trait));
  return isTrue ? page : uncounted;
}

/** Behind this offset many search engines answer nothing. */
const maxOffset = 10_000;

/** Whether the last counted row is the last one. True where errors, or offsets that do not count rows, hide it. */
async function hasLastRow(
  source: ListSource,
  query: PageQuery,
  { records, total }: AnyPage,
  trait: string,
  isFirst = true,
): Promise<boolean> {
  const { pages, resource, call } = source;
  const isPaged = pages.canPage(resource);
  if (total === undefined || total > maxOffset || !isPaged) return true;
  const asked = pages.sized(resource, { ...query, from: total - 1, size: 2 }, call);
  const last: AnyPage | undefined = await asked.catch((error: unknown) =>
    isApiError(error, 'refused') ? { records: [] } : unlessKeyRefused(error),
  );
  if (!last) return true;
  if (last.total !== undefined && last.total !== total) {
    // Records may have been added meanwhile, but hardly twice.
    const again = { records, total: last.total };
    if (isFirst) await hasLastRow(source, query, again, trait, false);
    else pages.learnHonoured(resource, trait, false);
    return false;
  }
  const [key] = recordKeys(last.records);
  const place = recordKeys(records).indexOf(key);
  // Another row of the page shows that records moved, or that the service ignores the offset.
  const isMoved = place >= 0 && place !== total - 1 - (query.from ?? 0);
  const isTrue = !isMoved && last.records.length === 1;
  if (!isTrue && ((await pages.offsetWorks(resource, call)) === false || isMoved)) return true;
  pages.learnHonoured(resource, trait, isTrue);
  return isTrue;
}

interface Sampled {
  /** The page without filters, if it was read. */
  sample?: AnyPage;
  found?: AnyPage;
}

/** Fields of which hardly two records have the same value. */
const identifying: readonly unknown[] = ['number', 'mpn', 'ean', 'email', 'externalIdentifier'];

/**
 * The records with an identifier, which is asked for together with that of another record: finding this one shows in the
 * same request whether the service filters by the field, which is not known yet. Nothing is found if it is known, or is
 * not shown, or the identifier has letters beyond ASCII.
 */
async function askTogether(
  source: ListSource,
  { from, ...query }: PageQuery,
  judge: PageJudge,
): Promise<Sampled> {
  const { pages, resource, call } = source;
  const [field, ...more] = filterFields(query.filters ?? '');
  const { honoured, pages: known = maxRequests + 1 } = pages.traits(resource);
  const isTried = [`none ${field}`, `with ${field}`].some((trait) => honoured[trait] !== undefined);
  const showsNothing = isTried || isForeign(query.filters ?? '');
  if (source.isCached || from || query.query || more.length > 0 || showsNothing) return {};
  if (field === undefined || !identifying.includes(field) || Number(known) <= maxRequests)
    return {};
  const sample = await takeSample(source, searchOf(query));
  const isOther = (record: ApiRecord) => !judge.filters([record]);
  const control = controlFor(field, sample.records.filter(isOther));
  if (control === undefined || isSmall(sample, pages.traits(resource))) return { sample };
  const filters = `${query.filters}|${control}`;
  const asked = pages.page(resource, { ...query, filters }, call);
  const page = await asked.catch(ignoreApiError('refused'));
  const others = page?.records.filter(isOther) ?? [];
  const isFound = others.length > 0 && others.every((each) => hasValue(each, field, control));
  pages.learnHonoured(resource, `${isFound ? 'none' : 'with'} ${field}`, isFound);
  if (!isFound || page?.total !== page?.records.length) return { sample };
  const records = page?.records.filter((record) => !isOther(record)) ?? [];
  return { sample, found: { ...page, records, total: records.length } };
}

/** Whether the offset of a row does not lead to it. */
const lacksOffset = async ({ pages, resource, call }: ListSource): Promise<boolean> =>
  pages.traits(resource).honoured[showsAll] === false ||
  (await pages.offsetWorks(resource, call)) === false;

function ignoringPage(
  query: PageQuery,
  names: readonly Ignorable[],
  asOf: Date,
): ListPage<ApiRecord> {
  const search = { ...searchOf(query) };
  for (const name of names) delete search[name];
  return { ...pageAnswer(query, { records: [] }, false, asOf), ignored: { names, search } };
}

async function ignoredParameters(
  source: ListSource,
  judge: PageJudge,
  query: PageQuery,
  page: AnyPage,
): Promise<Ignorable[]> {
  const { pages, resource } = source;
  const found: Ignorable[] = [];
  for (const name of ignorable) {
    const isRefuted = pages.traits(resource).honoured[traitOf(name, query[name] ?? '')] === false;
    if (!query[name] || (!isRefuted && judge[name](page.records))) continue;
    // Rows that do not pass are never shown, whether the filter is ignored or means something else.
    if (name === 'filters' || (await isIgnored(source, query, name, page))) found.push(name);
  }
  return found;
}

/** Compares with the same page requested without the parameter. */
async function isIgnored(
  { pages, resource, call }: ListSource,
  query: PageQuery,
  name: Ignorable,
  page: AnyPage,
): Promise<boolean> {
  const asked = traitOf(name, query[name] ?? '');
  const known = pages.traits(resource).honoured[asked];
  if (known !== undefined) return !known;
  const without = await pages.page(resource, { ...query, [name]: undefined }, call);
  const isSame = isSamePage(without, page);
  pages.learnHonoured(resource, asked, !isSame);
  return isSame;
}

/** Names the parameter and its fields: a service may support some fields and not others. */
function traitOf(name: Ignorable, value: string): string {
  if (name === 'query') return name;
  return `${name} ${name === 'sort' ? value : filterFields(value).join(' ')}`;
}

/** The property of a route that has no row for some counted records, so that offsets of its rows and records differ. */
const showsAll = 'shows all';
/** The property of a route whose short pages of so many rows leave out none of their records. */
const wholePages = (rows: number): string => `whole pages of ${rows}`;

/**
 * What follows a short page: nothing, more records, or, where the service left out some of its own records, these again.
 * An error, such as a spent budget, is ignored: the page is an answer without this check.
 */
export async function whatFollows(
  { pages, resource, call }: Pick<ListSource, 'pages' | 'resource' | 'call'>,
  query: PageQuery,
  { records, total }: AnyPage,
): Promise<'end' | 'more' | 'hidden'> {
  const end = (query.from ?? 0) + records.length;
  if (records.length === 0 || records.length >= query.size) return end === 0 ? 'end' : 'more';
  const isKnown = pages.traits(resource).honoured[wholePages(records.length)];
  if ((isKnown && total !== undefined) || end === total) return 'more';
  const behind = async () => {
    if ((await pages.offsetWorks(resource, call)) === false) return undefined;
    const asked = pages.page(resource, { ...query, from: end, size: 1 }, call);
    return recordKeys((await asked.catch(ignoreApiError('refused')))?.records ?? []);
  };
  const found = await behind().catch(unlessKeyRefused);
  if (found === undefined) return 'more';
  const [key] = found;
  const keys = recordKeys(records);
  // Behind the end some services return the last record again.
  if (total === undefined && (key === undefined || key === keys.at(-1))) return 'end';
  // Before the end a place without a record is that of one which is not shown.
  const isHidden = key === undefined || keys.includes(key);
  pages.learnHonoured(resource, isHidden ? showsAll : wholePages(records.length), !isHidden);
  return isHidden ? 'hidden' : 'more';
}

function pageAnswer(
  { from = 0, size }: PageQuery,
  { records: sent, total: counted = 0 }: AnyPage,
  isExact: boolean,
  asOf: Date,
): ListPage<ApiRecord> {
  // More are requested to judge them, and sent by a service that ignores the size.
  const records = sent.slice(0, size);
  const end = from + records.length;
  const total = Math.max(counted, sent.length === 0 ? 0 : from + sent.length);
  const more = !isExact || end < total;
  const complete = from === 0 && !more;
  const reason = complete ? {} : { reason: isExact ? 'one page' : 'not counted' };
  return {
    records,
    from,
    total,
    ...(more && records.length > 0 ? { next: end } : {}),
    coverage: { complete, read: records.length, total, asOf, ...reason },
  };
}

const searchOf = ({ size: _, from: __, ...search }: PageQuery): Search => search;

export function sliceOf<R>(whole: Collection<R>, { from = 0, size }: PageQuery): ListPage<R> {
  const next = from + size;
  return {
    records: whole.records.slice(from, next),
    from,
    total: whole.coverage.total,
    ...(next < whole.records.length && { next }),
    coverage: { ...whole.coverage, asOf: whole.asOf },
  };
}

/** Requests that a misspelt name may cost to be found among all records. */
const maxRequests = 20;
const sampleSize = 25;

/**
 * The fields of filters by which the service is not proven to filter: if there are none, its answer that nothing passes
 * is right. `few records` if all records of the search can be read with few requests.
 * @param filters in the service's terms
 * @throws ApiError
 */
async function unprovenFields(
  source: ListSource,
  search: Search,
  filters: string,
  read: AnyPage | undefined,
): Promise<readonly string[] | 'few records'> {
  const { pages, resource, call } = source;
  if (source.isCached && !search.query) return 'few records';
  const parts = filters.split(',');
  const { honoured, pages: known = 0 } = pages.traits(resource);
  const isLarge = !search.query && (known === 'uncounted' || known > maxRequests);
  if (isLarge && parts.every((part) => honoured[noneBy(part)])) return [];
  const sample = read ?? (await takeSample(source, search));
  if (isSmall(sample, pages.traits(resource))) return 'few records';
  const unproven: string[] = [];
  for (const part of parts)
    if (!(await filtersBy(source, search, part, sample.records))) unproven.push(fieldIn(part));
  if (unproven.length === 0 || sample.total !== undefined) return unproven;
  const query = { ...search, from: maxRequests * sampleSize, size: 1 };
  const behind = await pages.page(resource, query, call).catch(ignoreApiError('refused'));
  return behind?.records.length === 0 ? 'few records' : unproven;
}

const fieldIn = (part: string): string => part.slice(0, part.indexOf(':'));

/** The fields of filters in the service's terms, whose values have no commas. */
const filterFields = (filters: string): string[] => filters.split(',').map(fieldIn);

/** Whether a text has letters beyond ASCII, whose other case some services do not know. */
const hasForeignCase = (text: string): boolean => /(?!\p{ASCII})[\p{Lu}\p{Ll}]/u.test(text);

const isForeign = (part: string): boolean => hasForeignCase(part.slice(part.indexOf(':')));

/** The property of a route that it finds the values of this field in any letter case; apart for letters beyond ASCII. */
const noneBy = (part: string): string =>
  `none ${fieldIn(part)}${isForeign(part) ? ' beyond ASCII' : ''}`;

/** A page of what the search finds without filters. */
async function takeSample(
  { pages, resource, call }: ListSource,
  { filters: _, sort: __, ...search }: Search,
): Promise<AnyPage> {
  const sample = await pages.page(resource, { ...search, size: sampleSize }, call);
  const { pages: known, ...traits } = pages.traits(resource);
  if (!search.query && known === undefined && sample.total !== undefined && !sample.countIsLimit)
    pages.learn(resource, { pages: Math.ceil(sample.total / sizeOf(traits)) });
  return sample;
}

const sizeOf = ({ maxSize }: Pick<LearntTraits, 'maxSize'>): number =>
  typeof maxSize === 'number' ? maxSize : pageSize;

/** Whether all records can be read with few requests. */
const isSmall = ({ total, records, countIsLimit }: AnyPage, traits: LearntTraits): boolean =>
  total === undefined || countIsLimit
    ? records.length < sampleSize
    : total <= maxRequests * sizeOf(traits);

/**
 * Whether the service finds a record by the value that it has in the field of this filter, in other letter case: then it
 * also finds what is written in another case, of letters beyond ASCII only where that value has some.
 */
async function filtersBy(
  { pages, resource, call }: ListSource,
  search: Search,
  part: string,
  records: readonly ApiRecord[],
): Promise<boolean> {
  const [field, trait] = [fieldIn(part), noneBy(part)];
  const known = pages.traits(resource).honoured[trait];
  if (known !== undefined) return known;
  const isLike = (record: ApiRecord) =>
    hasForeignCase(String(valueAt(record, field))) === isForeign(part);
  const value = controlFor(field, records.filter(isLike));
  if (value === undefined) return false;
  const query = { ...search, filters: `${field}:${value}`, size: sampleSize };
  const page = await pages.page(resource, query, call).catch(ignoreApiError('refused'));
  const found = page?.records ?? [];
  const isHonoured = found.length > 0 && found.every((record) => hasValue(record, field, value));
  pages.learnHonoured(resource, trait, isHonoured);
  return isHonoured;
}

/** A value that one of the records has in this field, in other letter case; of digits alone only if all are. */
function controlFor(field: string, records: readonly ApiRecord[]): string | undefined {
  const values = records.map((record) => valueAt(record, field)).filter(isSearchable);
  if (field.endsWith('id')) return values[0];
  const others = values.map(inOtherCase);
  return others.find((other, at) => other !== values[at]) ?? others[0];
}

const hasValue = (record: ApiRecord, field: string, value: string): boolean =>
  folded(valueAt(record, field)) === folded(value);

const folded = (value: unknown): string => String(value).toLowerCase();

const inOtherCase = (text: string): string =>
  text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase();
