import type { Call } from '../service/call.ts';
import type { ApiClient } from '../service/client.ts';
import { isApiError } from '../service/errors.ts';
import type { Page, PageQuery, Search } from '../service/page.ts';
import type { RecordOf, Resource } from '../service/records/records.ts';
import { routes } from '../service/routes.ts';
import { meaningFrom, minSampleRows, offsetValue, probedOffset, probedSize } from './offset.ts';
import { recordKeys } from './pass.ts';
import { type LearntTraits, type OffsetMeaning, profileOf, type RouteProfile } from './profile.ts';
import { commonSizes } from './read-pages.ts';
import { ServiceProfile } from './service-profile.ts';
import { SizedPages } from './sized-pages.ts';

/** Common names of the offset parameter. */
const offsetNames = ['from', 'offset', 'skip', 'page'] as const;
/** The result window of search engines: a total that is a multiple of it may be a limit. */
const searchWindow = 10_000;

/** After this time the meaning of the offset is checked again if pages do not fit together. */
const doubtOffsetMs = 10 * 60_000;

type Client = Pick<ApiClient, 'page' | 'pageParam'>;

/** The first records of a route, to compare later pages with. */
interface Sample {
  /** The search, as text. */
  readonly search: string;
  readonly keys: readonly unknown[];
  /** The total that the service reported. */
  readonly total: number | undefined;
}

/**
 * Pages addressed by the offset of their first record, independent of how the service pages. How each route pages is
 * learnt from its responses and kept for the tenant. A wrong assumption costs one request.
 */
export class ServicePages {
  readonly pageParam: string | undefined;
  readonly #client: Client;
  readonly #profile: ServiceProfile;
  readonly #sized: SizedPages;
  readonly #samples = new Map<Resource, Sample>();
  /** The offset parameter that another route uses, assumed for routes that are not known yet. */
  #assumed: OffsetMeaning | undefined;
  #isReady = false;

  constructor(client: Client, profile = new ServiceProfile(client.pageParam)) {
    this.#client = client;
    this.#profile = profile;
    this.#sized = new SizedPages(client, profile);
    this.pageParam = client.pageParam;
    if (client.pageParam !== undefined)
      this.#assumed = { name: client.pageParam, counts: 'records' };
  }

  /** Resolves when the stored profile is loaded. Never rejects. */
  async ready(): Promise<void> {
    if (this.#isReady) return;
    await this.#profile.ready();
    this.#isReady = true;
    const offsets = Object.values(this.#profile.all).map(({ offset }) => offset);
    this.#assumed = offsets.find((it) => it !== undefined && it !== 'ignored') ?? this.#assumed;
  }

  traits(resource: Resource): LearntTraits {
    return this.#profile.of(resource);
  }

  learn(resource: Resource, change: Partial<LearntTraits>): void {
    this.#profile.learn(resource, change);
  }

  /** The latest first page of the route. */
  sample(resource: Resource): Sample | undefined {
    return this.#samples.get(resource);
  }

  profile(resource: Resource): RouteProfile {
    return profileOf(resource, this.#client, this.traits(resource).offset);
  }

  /**
   * At most `size` records starting at `from`; fewer if the service returns fewer. The total is left out if it is the
   * number of rows of the page.
   * @throws ApiError; the signal's reason when the call was cancelled
   */
  async page<R extends Resource>(
    resource: R,
    query: PageQuery,
    call: Call,
  ): Promise<Page<RecordOf[R]>> {
    await this.ready();
    const page = await this.#from(resource, query, call);
    this.learn(resource, { countedIn: page.countedIn ?? 'none' });
    this.#noteSample(resource, query, page);
    return this.#withTrueCount(resource, query, page, call);
  }

  /**
   * Finds out what the offset of this route means, if that is unknown.
   * @returns whether it differs from what was assumed
   * @throws ApiError
   */
  async learnOffset(resource: Resource, search: Search, call: Call): Promise<boolean> {
    const { offset, offsetAt = 0 } = this.traits(resource);
    const isRecent = offset !== undefined && Math.abs(Date.now() - offsetAt) < doubtOffsetMs;
    if (isRecent || this.#assumed === undefined) return false;
    const assumed = offset ?? this.#assumed;
    const found = await this.#findOffset(resource, search, call);
    if (found === undefined) return false;
    const isOther = !isSameOffset(found, assumed);
    // Records that move meanwhile can look like another meaning, so it must be found twice.
    if (isOther && !isSameOffset(found, await this.#findOffset(resource, search, call)))
      return false;
    this.learn(resource, { offset: found, offsetAt: Date.now() });
    if (found !== 'ignored') this.#assumed = found;
    return isOther;
  }

  /** Records that the offset means what was assumed: a reading was complete, or two pages fitted together. */
  confirmOffset(resource: Resource): void {
    const offset = this.#assumed;
    if (offset === undefined || this.traits(resource).offset !== undefined) return;
    this.learn(resource, { offset, offsetAt: Date.now() });
  }

  async #findOffset(
    resource: Resource,
    search: Search,
    call: Call,
  ): Promise<OffsetMeaning | 'ignored' | undefined> {
    const page = await this.#sized.page(resource, { ...search, size: minSampleRows }, call);
    const sample = recordKeys(page.records);
    if (sample.length < minSampleRows) return undefined;
    let ignored = false;
    for (const name of new Set([this.#assumed?.name ?? 'from', ...offsetNames])) {
      const counts = await this.#probe(resource, search, name, sample, call);
      if (counts === 'ignored') ignored = true;
      else if (counts !== undefined) return { name, counts };
    }
    return ignored ? 'ignored' : undefined;
  }

  /** What the parameter of that name counts; `undefined` if it is refused or returns nothing. */
  async #probe(
    resource: Resource,
    search: Search,
    name: string,
    sample: readonly unknown[],
    call: Call,
  ): Promise<ReturnType<typeof meaningFrom>> {
    const takesNoSize = this.traits(resource).maxSize === 'none';
    const size = takesNoSize ? sample.length : probedSize;
    const ask = async (from: number) => {
      const request = { ...search, size, from, offsetName: name };
      return recordKeys((await this.#sized.page(resource, request, call)).records);
    };
    try {
      const counts = meaningFrom(sample, await ask(probedOffset), size);
      if (counts !== undefined || !takesNoSize) return counts;
      // The sample contains the first page only, so this can only distinguish pages counted from 0 and from 1.
      return meaningOfFirst(sample, await ask(1));
    } catch (error) {
      if (isApiError(error, 'refused')) return undefined;
      throw error;
    }
  }

  #noteSample<R extends Resource>(
    resource: R,
    query: PageQuery,
    { records, total }: Page<RecordOf[R]>,
  ): void {
    if ((query.from ?? 0) > 0 || records.length < minSampleRows) return;
    const keys = recordKeys(records);
    this.#samples.set(resource, { search: searchText(query), keys, total });
  }

  async #from<R extends Resource>(
    resource: R,
    { from = 0, size, ...search }: PageQuery,
    call: Call,
  ): Promise<Page<RecordOf[R]>> {
    if (from === 0) return this.#sized.page(resource, { ...search, size }, call);
    const offset = this.traits(resource).offset ?? this.#assumed;
    if (offset === undefined || offset === 'ignored')
      return this.#sized.page(resource, { ...search, size }, call);
    const { name: offsetName, counts } = offset;
    if (counts.startsWith('pages'))
      return this.#acrossPages(resource, { ...search, from, size }, offset, call);
    const value = offsetValue(counts, from, size);
    return this.#sized.page(resource, { ...search, size, from: value, offsetName }, call);
  }

  /** If the offset counts pages: reads the one or two pages that contain the requested rows. */
  async #acrossPages<R extends Resource>(
    resource: R,
    { from = 0, size, ...search }: PageQuery,
    { name: offsetName, counts }: OffsetMeaning,
    call: Call,
  ): Promise<Page<RecordOf[R]>> {
    const rows = this.#rowsOfPage(resource, size);
    const records: RecordOf[R][] = [];
    const start = Math.floor(from / rows) * rows;
    for (let place = start; ; place += rows) {
      const value = offsetValue(counts, place, rows);
      const page = await this.#sized.page(
        resource,
        { ...search, size: rows, from: value, offsetName },
        call,
      );
      records.push(...page.records);
      const wanted = Math.min(size, rows);
      const isLast = page.records.length < rows || place + rows >= from + wanted;
      if (isLast) return { ...page, records: records.slice(from - start, from - start + size) };
    }
  }

  /** Rows of a page, which must be the same for all pages if they are requested by number. */
  #rowsOfPage(resource: Resource, size: number): number {
    const { maxSize, maxRows, takenSize } = this.traits(resource);
    if (maxSize === 'none') return Math.max(1, maxRows);
    const most = maxRows > 0 && maxRows < takenSize ? maxRows : size;
    return Math.min(size, most, maxSize ?? size);
  }

  /** Requests the records after the total if it may be the number of rows of the page, or a limit of a search engine. */
  async #withTrueCount<R extends Resource>(
    resource: R,
    query: PageQuery,
    page: Page<RecordOf[R]>,
    call: Call,
  ): Promise<Page<RecordOf[R]>> {
    const traits = this.traits(resource);
    const { total, records } = page;
    const { from = 0, size } = query;
    if (total === undefined) return page;
    if (traits.countLimit === total) return { ...page, countIsLimit: true };
    if (total > from + records.length) this.learn(resource, { counts: 'all' });
    else if (traits.counts === 'page') return uncounted(page);
    if (total >= searchWindow && total % searchWindow === 0)
      return this.#checkWindow(resource, query, page, call);
    const isDoubtful = from === 0 && total === records.length && isRound(total, size);
    if (
      this.traits(resource).counts === 'all' ||
      !isDoubtful ||
      !canPage(resource, this.profile(resource))
    )
      return page;
    if (!(await this.#countsPage(resource, query, page, call))) return page;
    this.learn(resource, { counts: 'page' });
    return uncounted(page);
  }

  /** Whether the total changes with the size or, where the size has no effect, further records follow it. */
  async #countsPage<R extends Resource>(
    resource: R,
    { from: _, ...query }: PageQuery,
    { records }: Page<RecordOf[R]>,
    call: Call,
  ): Promise<boolean> {
    const ignoresSize = records.length > query.size;
    if (!ignoresSize) {
      const size = Math.ceil(records.length / 2);
      const smaller = await this.#sized.page(resource, { ...query, size }, call);
      const rows = smaller.records.length;
      if (rows < records.length) return smaller.total === rows;
    }
    const hasMore = async () =>
      hasOthers(await this.#recordsAfter(resource, query, records.length, call), records);
    if (await hasMore()) return true;
    // More rows than requested, and not a usual page size: the service sends everything at once.
    if (ignoresSize && !commonSizes.includes(records.length)) return false;
    if (this.traits(resource).offset === undefined) {
      // Only an offset whose meaning is known shows whether further records follow.
      if ((await this.learnOffset(resource, query, call)) && (await hasMore())) return true;
    }
    return this.traits(resource).offset === 'ignored';
  }

  async #checkWindow<R extends Resource>(
    resource: R,
    query: PageQuery,
    page: Page<RecordOf[R]>,
    call: Call,
  ): Promise<Page<RecordOf[R]>> {
    const { total = 0 } = page;
    if (this.traits(resource).checkedCount === total) return page;
    const after = await this.#recordsAfter(resource, { ...query, size: 1 }, total, call);
    this.learn(resource, { checkedCount: total });
    if (after !== 'refused' && !hasOthers(after, page.records)) return page;
    this.learn(resource, { countLimit: total });
    return { ...page, countIsLimit: true };
  }

  async #recordsAfter<R extends Resource>(
    resource: R,
    query: PageQuery,
    from: number,
    call: Call,
  ): Promise<readonly RecordOf[R][] | 'refused'> {
    try {
      return (await this.#from(resource, { ...query, from }, call)).records;
    } catch (error) {
      if (isApiError(error, 'refused')) return 'refused';
      throw error;
    }
  }
}

/** Identifies a search: equal searches have equal texts. */
export const searchText = ({
  query,
  filters,
  sort,
  includeBundles,
  includeEmpty,
}: Search): string =>
  JSON.stringify([query, filters, sort, includeBundles, includeEmpty].map((it) => it ?? ''));

const isSameOffset = (
  one: OffsetMeaning | 'ignored' | undefined,
  other: OffsetMeaning | 'ignored' | undefined,
): boolean => JSON.stringify(one) === JSON.stringify(other);

function meaningOfFirst(
  sample: readonly unknown[],
  [key]: readonly unknown[],
): 'pages' | 'pages from 1' | undefined {
  if (key === undefined) return undefined;
  return key === sample[0] ? 'pages from 1' : 'pages';
}

const canPage = (resource: Resource, { offset }: RouteProfile): boolean =>
  routes[resource].shape !== 'tree' && offset !== 'none';

/** Whether the number of rows is likely to be a page size. */
const isRound = (rows: number, size: number): boolean =>
  rows > 0 && (rows >= size || commonSizes.includes(rows));

const uncounted = <R>({ total: _, ...page }: Page<R>): Page<R> => page;

function hasOthers(found: readonly unknown[] | 'refused', records: readonly unknown[]): boolean {
  if (found === 'refused') return false;
  const known = new Set(recordKeys(records));
  return recordKeys(found).some((key) => !known.has(key));
}
