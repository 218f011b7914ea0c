import type { Call } from '../service/call.ts';
import { ignoreApiError, isApiError } from '../service/errors.ts';
import type { Page, PageQuery, Search } from '../service/page.ts';
import type { ApiRecord, RecordOf, Resource } from '../service/records/records.ts';
import type { Wording } from '../text/untrusted-text.ts';
import type { Collection } from './collection.ts';
import type { Coverage } from './coverage.ts';
import { recordKeys } from './pass.ts';
import type { LearntTraits } from './profile.ts';
import { type ServicePages, searchText } from './service-pages.ts';

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
  notes?: readonly Wording[];
}

/** The source of a list. */
export interface ListSource<R extends Resource> {
  readonly pages: ServicePages;
  readonly resource: R;
  /** Reads all results of a search. */
  readonly readWhole: (search: Search) => Promise<Collection<RecordOf[R]>>;
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
 * the service ignored, as far as the judge can tell.
 * @throws ApiError
 */
export async function readListPage<R extends Resource>(
  source: ListSource<R>,
  query: PageQuery,
): Promise<ListPage<RecordOf[R]>> {
  const asOf = new Date();
  await source.pages.ready();
  const { page, search } = await filteredPage(source, query);
  const asked = { ...query, ...search };
  const ignored = await ignoredParameters(source, asked, page);
  if (ignored.length > 0) return ignoringPage(asked, ignored, asOf);
  const checked = await pageAtOffset(source, asked, page);
  if (checked === undefined) return sliceOf(await source.readWhole(searchOf(asked)), query);
  return pageAnswer(source, asked, checked, asOf);
}

function ignoringPage<R>(query: PageQuery, names: readonly Ignorable[], asOf: Date): ListPage<R> {
  const search = { ...searchOf(query) };
  for (const name of names) delete search[name];
  const coverage = { complete: false, read: 0, total: 0, asOf };
  return { records: [], from: 0, total: 0, coverage, ignored: { names, search } };
}

/** If a filter by `company.id` finds nothing, tries `companyId`, which is its name in some services. */
async function filteredPage<R extends Resource>(
  { pages, resource, call, judge }: ListSource<R>,
  query: PageQuery,
): Promise<{ page: Page<RecordOf[R]>; search: Pick<Search, 'filters'> }> {
  const page = await pageAt(pages, resource, query, call);
  const { filters = '', from = 0 } = query;
  const flat = filters.replace(/(^|,)([^:,]+)\.id:/g, '$1$2Id:');
  const isAnswered = page.records.length > 0 || (page.total ?? 0) > from;
  if (flat === filters || isAnswered || !judge) return { page, search: {} };
  const other = await pages
    .page(resource, { ...query, filters: flat }, call)
    .catch(ignoreApiError('refused'));
  const fits = other && other.records.length > 0 && judge.filters(other.records);
  return fits ? { page: other, search: { filters: flat } } : { page, search: {} };
}

/** Reads a page. If it is refused, checks whether the offset parameter has another name or meaning, and retries. */
async function pageAt<R extends Resource>(
  pages: ServicePages,
  resource: R,
  query: PageQuery,
  call: Call,
): Promise<Page<RecordOf[R]>> {
  try {
    return await pages.page(resource, query, call);
  } catch (error) {
    const mayBeOffset = isApiError(error, 'refused') && (query.from ?? 0) > 0;
    if (!mayBeOffset || !(await pages.learnOffset(resource, searchOf(query), call))) throw error;
    return pages.page(resource, query, call);
  }
}

async function ignoredParameters<R extends Resource>(
  source: ListSource<R>,
  query: PageQuery,
  page: Page<RecordOf[R]>,
): Promise<Ignorable[]> {
  const found: Ignorable[] = [];
  for (const name of ignorable) {
    const value = query[name] ?? '';
    if (value !== '' && source.judge?.[name](page.records) === false) {
      if (await isIgnored(source, query, name, page)) found.push(name);
    }
  }
  return found;
}

/** Compares with the same page requested without the parameter. */
async function isIgnored<R extends Resource>(
  { pages, resource, call }: ListSource<R>,
  query: PageQuery,
  name: Ignorable,
  page: Page<RecordOf[R]>,
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

/** The fields of filters in the service's terms, whose values have no commas. */
export const filterFields = (filters: string): string[] =>
  filters.split(',').map((part) => part.slice(0, part.indexOf(':')));

/**
 * The page at the requested offset. `undefined` if the service ignores the offset, or leaves out records of a page.
 */
async function pageAtOffset<R extends Resource>(
  source: ListSource<R>,
  query: PageQuery,
  page: Page<RecordOf[R]>,
): Promise<Page<RecordOf[R]> | undefined> {
  const { pages, resource, call } = source;
  const { from = 0 } = query;
  if (pages.pageParam === undefined) return page;
  let checked = page;
  if (from > 0 && !isKnownOffset(source, query, page)) {
    const isOther = await pages.learnOffset(resource, searchOf(query), call);
    if (isOther) checked = await pages.page(resource, query, call);
  }
  if (from > 0 && pages.traits(resource).offset === 'ignored') return undefined;
  return (await hidesRecords(source, query, checked)) ? undefined : checked;
}

/**
 * Whether the page is certainly at the requested offset: it repeats no record of the first page, and it would be
 * empty if the offset counted pages.
 */
function isKnownOffset<R extends Resource>(
  { pages, resource }: ListSource<R>,
  query: PageQuery,
  { records }: Page<RecordOf[R]>,
): boolean {
  if (pages.traits(resource).offset !== undefined) return true;
  const sample = pages.sample(resource);
  const { from = 0, size } = query;
  if (sample?.total === undefined || sample.search !== searchText(query)) return false;
  if (from >= sample.total && records.length === 0) return true;
  const repeats = recordKeys(records).some((key) => sample.keys.includes(key));
  const isNext = from <= sample.keys.length && !repeats && records.length > 0;
  if (!isNext || sample.total > size * (from - 1)) return false;
  pages.confirmOffset(resource);
  return true;
}

/** Whether a page is short because the service left out some of its records; the next page then overlaps it. */
async function hidesRecords<R extends Resource>(
  { pages, resource, call }: ListSource<R>,
  query: PageQuery,
  { records, total }: Page<RecordOf[R]>,
): Promise<boolean> {
  const traits = pages.traits(resource);
  const end = (query.from ?? 0) + records.length;
  const isShort = records.length > 0 && records.length < query.size && end < (total ?? Infinity);
  if (!isShort || isFull(traits, records.length)) return false;
  if (traits.shortPages === 'hidden') return true;
  const repeats = async () => {
    const looking = lookAt(pages, resource, { ...query, from: end }, call);
    const [next] = recordKeys((await looking.catch(ignoreTemporary)) ?? []);
    const keys = recordKeys(records);
    // Without a total this may be the end, after which some services return the last record again.
    const isUncertain = next === undefined || (total === undefined && next === keys.at(-1));
    return isUncertain ? undefined : keys.includes(next);
  };
  let isHidden = await repeats();
  // An offset of another meaning leads back into the page, too.
  if (isHidden && (await pages.learnOffset(resource, searchOf(query), call)))
    isHidden = await repeats();
  if (isHidden === undefined) return false;
  pages.learn(resource, { shortPages: isHidden ? 'hidden' : 'fewer' });
  return isHidden;
}

/**
 * Whether a page of the route cannot be longer. The longest page so far shows that only once the route is known to hide
 * nothing: it may choose its own size, and hide some records of every page.
 */
const isFull = ({ maxSize, maxRows, shortPages }: LearntTraits, rows: number): boolean =>
  (typeof maxSize === 'number' && rows >= maxSize) || (shortPages === 'fewer' && rows >= maxRows);

/** The record at an offset, as a list; `undefined` if the request is refused. */
async function lookAt<R extends Resource>(
  pages: ServicePages,
  resource: R,
  query: PageQuery,
  call: Call,
): Promise<readonly RecordOf[R][] | undefined> {
  const page = await pages
    .page(resource, { ...query, size: 1 }, call)
    .catch(ignoreApiError('refused'));
  return page?.records;
}

/** A temporary error, such as a spent budget, is ignored: the page is an answer without this check. */
function ignoreTemporary(error: unknown): undefined {
  if (!isApiError(error) || !error.retryable) throw error;
}

async function pageAnswer<R extends Resource>(
  source: ListSource<R>,
  query: PageQuery,
  page: Page<RecordOf[R]>,
  asOf: Date,
): Promise<ListPage<RecordOf[R]>> {
  const { pages } = source;
  const from = pages.pageParam === undefined ? 0 : (query.from ?? 0);
  const sent = atMost(query.size, page);
  const { records } = sent;
  const end = from + records.length;
  const seenEnd = page.total === undefined && (await isEnd(source, query, records, end));
  const isExact = seenEnd || (page.total !== undefined && page.countIsLimit !== true);
  const total = Math.max(page.total ?? 0, records.length === 0 ? 0 : end);
  const more = !isExact || end < total;
  const complete = from === 0 && !more;
  const reason = complete ? {} : { reason: isExact ? 'one page' : 'not counted' };
  const hasNext = more && records.length > 0 && pages.pageParam !== undefined;
  return {
    ...sent,
    from,
    total,
    ...(hasNext ? { next: end } : {}),
    coverage: { complete, read: records.length, total, asOf, ...reason },
  };
}

/** A service that ignores the size sends more records than were asked for. */
function atMost<R>(
  size: number,
  { records, facets }: Page<R>,
): Pick<ListPage<R>, 'records' | 'facets'> {
  return { records: records.length > size ? records.slice(0, size) : records, facets };
}

/** For a list without a total: whether a page that is shorter than requested is the last one. */
async function isEnd<R extends Resource>(
  { pages, resource, call }: ListSource<R>,
  query: PageQuery,
  records: readonly RecordOf[R][],
  end: number,
): Promise<boolean> {
  if (pages.pageParam === undefined || records.length >= query.size) return false;
  if (records.length === 0) return (query.from ?? 0) === 0;
  const last = recordKeys(records).at(-1);
  const hasNoneBehind = async () => {
    const rows = await lookAt(pages, resource, { ...query, from: end }, call);
    return recordKeys(rows ?? []).every((key) => key === last);
  };
  const learnOffset = () => pages.learnOffset(resource, searchOf(query), call);
  const isLast = await hasNoneBehind().catch(ignoreTemporary);
  if (!isLast || pages.traits(resource).offset !== undefined) return isLast ?? false;
  // An offset of another meaning may lead past the end.
  const isOther = await learnOffset().catch(ignoreTemporary);
  if (isOther === undefined) return false;
  return !isOther || ((await hasNoneBehind().catch(ignoreTemporary)) ?? false);
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
