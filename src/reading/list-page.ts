import type { Call } from '../service/call.ts';
import { ignoreApiError, isApiError } from '../service/errors.ts';
import type { PageQuery, Search } from '../service/page.ts';
import type { ApiRecord, Resource } from '../service/records/records.ts';
import type { Wording } from '../text/untrusted-text.ts';
import type { Collection } from './collection.ts';
import type { Coverage } from './coverage.ts';
import { recordKeys } from './pass.ts';
import type { LearntTraits } from './profile.ts';
import { filterFields, unprovenFields } from './proven-none.ts';
import { type ServicePages, searchText } from './service-pages.ts';
import type { AnyPage } from './sized-pages.ts';

/** A slice of a list, with the total of the list. */
export interface ListPage<R> {
  records: readonly R[];
  /** 0-based offset of the first record. */
  from: number;
  /** Number of all matching records. */
  total: number;
  /** Offset of the next record; absent at the end of the list. */
  next?: number;
  coverage: Coverage & { asOf: Date };
  /** Values to filter by, where the service sends them. */
  facets?: unknown;
  /** Set if the service ignored parameters; `records` is then empty. */
  ignored?: IgnoredParameters;
  /**
   * Where filters find nothing: the fields by which the service is not proven to filter, so none if its answer is right;
   * `few records` if all records of the search can be read instead.
   */
  unproven?: readonly string[] | 'few records';
  notes?: readonly Wording[];
}

/** The source of a list. */
export interface ListSource {
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
export type Ignorable = (typeof ignorable)[number];

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
  const asOf = new Date();
  await source.pages.ready();
  const { page: first, asked } = await filteredPage(source, query);
  const ignored = await ignoredParameters(source, asked, first);
  if (ignored.length > 0) return ignoringPage(asked, ignored, asOf);
  const page = await pageAtOffset(source, asked, first);
  const end = page && (await endOf(source, asked, page));
  if (!page || end === 'hidden') return sliceOf(await source.readWhole(searchOf(asked)), query);
  const answer = pageAnswer(source, asked, page, end === 'end', asOf);
  const { judge, pages, resource, call, isCached } = source;
  const { filters, sort: _, ...search } = searchOf(query);
  if (!judge || !filters || answer.total > 0) return answer;
  const unproven =
    isCached && !search.query
      ? 'few records'
      : await unprovenFields(pages, resource, search, filters, call);
  return { ...answer, unproven };
}

function ignoringPage(
  query: PageQuery,
  names: readonly Ignorable[],
  asOf: Date,
): ListPage<ApiRecord> {
  const search = { ...searchOf(query) };
  for (const name of names) delete search[name];
  const coverage = { complete: false, read: 0, total: 0, asOf };
  return { records: [], from: 0, total: 0, coverage, ignored: { names, search } };
}

/** If a filter by `company.id` finds nothing, tries `companyId`, which is its name in some services. */
async function filteredPage(
  source: ListSource,
  query: PageQuery,
): Promise<{ page: AnyPage; asked: PageQuery }> {
  const page = await pageAt(source, query);
  const { pages, resource, call, judge } = source;
  const { filters = '', from = 0 } = query;
  const flat = filters.replace(/(^|,)([^:,]+)\.id:/g, '$1$2Id:');
  const isAnswered = page.records.length > 0 || (page.total ?? 0) > from;
  if (flat === filters || isAnswered || !judge) return { page, asked: query };
  const asked = { ...query, filters: flat };
  const other = await pages.page(resource, asked, call).catch(ignoreApiError('refused'));
  const fits = other && other.records.length > 0 && judge.filters(other.records);
  return fits ? { page: other, asked } : { page, asked: query };
}

/** Reads a page. If it is refused, checks whether the offset parameter has another name or meaning, and retries. */
async function pageAt({ pages, resource, call }: ListSource, query: PageQuery): Promise<AnyPage> {
  try {
    return await pages.page(resource, query, call);
  } catch (error) {
    const mayBeOffset = isApiError(error, 'refused') && (query.from ?? 0) > 0;
    if (!mayBeOffset || !(await pages.offsets.learn(resource, searchOf(query), call))) throw error;
    return pages.page(resource, query, call);
  }
}

async function ignoredParameters(
  source: ListSource,
  query: PageQuery,
  page: AnyPage,
): Promise<Ignorable[]> {
  const found: Ignorable[] = [];
  for (const name of ignorable) {
    if (!query[name] || source.judge?.[name](page.records) !== false) continue;
    if (await isIgnored(source, query, name, page)) found.push(name);
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
  const { honoured } = pages.traits(resource);
  const asked = traitOf(name, query[name] ?? '');
  const known = honoured[asked];
  if (known !== undefined) return !known;
  const without = await pages.page(resource, { ...query, [name]: undefined }, call);
  const isSame =
    without.total === page.total &&
    String(recordKeys(without.records)) === String(recordKeys(page.records));
  pages.learn(resource, { honoured: { ...honoured, [asked]: !isSame } });
  return isSame;
}

/** Names the parameter and its fields: a service may support some fields and not others. */
function traitOf(name: Ignorable, value: string): string {
  if (name === 'query') return name;
  return `${name} ${name === 'sort' ? value : filterFields(value).join(' ')}`;
}

/** The page at the requested offset; `undefined` if the service ignores the offset. */
async function pageAtOffset(
  { pages, resource, call }: ListSource,
  query: PageQuery,
  page: AnyPage,
): Promise<AnyPage | undefined> {
  if (pages.pageParam === undefined || !query.from) return page;
  const isUncertain = !isAtOffset(pages, resource, query, page);
  const isOther = isUncertain && (await pages.offsets.learn(resource, searchOf(query), call));
  if (pages.traits(resource).offset === 'ignored') return undefined;
  return isOther ? pages.page(resource, query, call) : page;
}

/**
 * Whether the page is certainly at the requested offset: it repeats no record of the first page, and it would be
 * empty if the offset counted pages.
 */
function isAtOffset(
  pages: ServicePages,
  resource: Resource,
  query: PageQuery,
  { records }: AnyPage,
): boolean {
  if (pages.traits(resource).offset !== undefined) return true;
  const sample = pages.sample(resource);
  const { from = 0, size } = query;
  if (sample?.total === undefined || sample.search !== searchText(query)) return false;
  if (from >= sample.total && records.length === 0) return true;
  const repeats = recordKeys(records).some((key) => sample.keys.includes(key));
  const isNext = from <= sample.keys.length && !repeats && records.length > 0;
  if (!isNext || sample.total > size * (from - 1)) return false;
  pages.offsets.confirm(resource);
  return true;
}

/**
 * What follows a page: nothing, more records, or, where the service left out some of its own records, these again.
 * A temporary error, such as a spent budget, is ignored: the page is an answer without this check.
 */
async function endOf(
  source: ListSource,
  query: PageQuery,
  page: AnyPage,
): Promise<'end' | 'more' | 'hidden'> {
  const { pages, resource } = source;
  const { records, total = Number.POSITIVE_INFINITY } = page;
  const { from = 0, size } = query;
  if (pages.pageParam === undefined || records.length >= size) return 'more';
  if (records.length === 0) return from === 0 ? 'end' : 'more';
  const traits = pages.traits(resource);
  if (from + records.length >= total || isFull(traits, records.length)) return 'more';
  if (traits.shortPages === 'hidden') return 'hidden';
  return lookBehind(source, query, page).catch((error: unknown) => {
    if (!isApiError(error) || !error.retryable) throw error;
    return 'more';
  });
}

/**
 * Whether a page of the route cannot be longer. The longest page so far shows that only once the route is known to hide
 * nothing: it may choose its own size, and hide some records of every page.
 */
const isFull = ({ maxSize, maxRows, shortPages }: LearntTraits, rows: number): boolean =>
  (typeof maxSize === 'number' && rows >= maxSize) || (shortPages === 'fewer' && rows >= maxRows);

/** Requests the record behind a short page. */
async function lookBehind(
  { pages, resource, call }: ListSource,
  query: PageQuery,
  { records, total }: AnyPage,
): Promise<'end' | 'more' | 'hidden'> {
  const keys = recordKeys(records);
  const behind = { ...query, from: (query.from ?? 0) + records.length, size: 1 };
  const look = async () => {
    const page = await pages.page(resource, behind, call).catch(ignoreApiError('refused'));
    const [next] = recordKeys(page?.records ?? []);
    // Behind the end some services return the last record again.
    if (next === undefined || (total === undefined && next === keys.at(-1))) return 'end';
    return keys.includes(next) ? 'hidden' : 'more';
  };
  const seen = await look();
  // An offset of another meaning leads back into the page, or past the end.
  const isDoubtful =
    seen === 'hidden' ||
    (seen === 'end' && total === undefined && pages.traits(resource).offset === undefined);
  const isOther = isDoubtful && (await pages.offsets.learn(resource, searchOf(query), call));
  const found = isOther ? await look() : seen;
  if (found !== 'end')
    pages.learn(resource, { shortPages: found === 'hidden' ? 'hidden' : 'fewer' });
  return found;
}

/** @param isEnd whether nothing follows a page without a total */
function pageAnswer(
  { pages }: ListSource,
  query: PageQuery,
  { records: sent, facets, total: counted, countIsLimit }: AnyPage,
  isEnd: boolean,
  asOf: Date,
): ListPage<ApiRecord> {
  const isPaged = pages.pageParam !== undefined;
  const from = isPaged ? (query.from ?? 0) : 0;
  // A service that ignores the size sends more records than were asked for.
  const records = sent.length > query.size ? sent.slice(0, query.size) : sent;
  const end = from + records.length;
  const isExact = counted === undefined ? isEnd : countIsLimit !== true;
  const total = Math.max(counted ?? 0, records.length === 0 ? 0 : end);
  const more = !isExact || end < total;
  const complete = from === 0 && !more;
  const reason = complete ? {} : { reason: isExact ? 'one page' : 'not counted' };
  const hasNext = more && records.length > 0 && isPaged;
  return {
    records,
    facets,
    from,
    total,
    ...(hasNext ? { next: end } : {}),
    coverage: { complete, read: records.length, total, asOf, ...reason },
  };
}

const searchOf = ({ size: _, from: __, ...search }: PageQuery): Search => search;

export function sliceOf<R>(whole: Collection<R>, { from = 0, size }: PageQuery): ListPage<R> {
  const { total } = whole.coverage;
  const result: ListPage<R> = {
    records: whole.records.slice(from, from + size),
    from,
    total,
    coverage: { ...whole.coverage, asOf: whole.asOf },
  };
  if (from + size < whole.records.length) result.next = from + size;
  return result;
}
