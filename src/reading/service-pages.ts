import type { Call } from '../service/call.ts';
import type { ApiClient } from '../service/client.ts';
import { ignoreApiError } from '../service/errors.ts';
import type { Page, PageQuery, Search } from '../service/page.ts';
import type { ApiRecord, RecordOf, Resource } from '../service/records/records.ts';
import { routes } from '../service/routes.ts';
import { minSampleRows, Offsets, offsetValue } from './offset.ts';
import { recordKeys } from './pass.ts';
import {
  type LearntTraits,
  type OffsetMeaning,
  profileOf,
  type RouteProfile,
  ServiceProfile,
} from './profile.ts';
import { commonSizes } from './read-pages.ts';
import { type AnyPage, SizedPages } from './sized-pages.ts';

/** The result window of search engines: a total that is a multiple of it may be a limit. */
const searchWindow = 10_000;

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
  readonly #profile: ServiceProfile;
  readonly #sized: SizedPages;
  readonly offsets: Offsets;
  readonly #samples = new Map<Resource, Sample>();
  #isReady = false;

  constructor(
    client: Pick<ApiClient, 'page' | 'pageParam'>,
    profile = new ServiceProfile(client.pageParam),
  ) {
    this.pageParam = client.pageParam;
    this.#profile = profile;
    this.#sized = new SizedPages(client, profile);
    this.offsets = new Offsets(client.pageParam, this.#sized, profile);
  }

  /** Resolves when the stored profile is loaded. Never rejects. */
  async ready(): Promise<void> {
    if (this.#isReady) return;
    await this.#profile.ready();
    this.#isReady = true;
    this.offsets.ready();
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
    return profileOf(resource, this, this.traits(resource).offset);
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
    if (!query.from && page.records.length >= minSampleRows) {
      const keys = recordKeys(page.records);
      this.#samples.set(resource, { search: searchText(query), keys, total: page.total });
    }
    const counted = await this.#withTrueCount(resource, query, page, call);
    return counted as Page<RecordOf[R]>;
  }

  #from(
    resource: Resource,
    { from = 0, size, ...search }: PageQuery,
    call: Call,
  ): Promise<AnyPage> {
    const offset = from === 0 ? undefined : this.offsets.of(resource);
    if (offset === undefined) return this.#sized.page(resource, { ...search, size }, call);
    const { name: offsetName, counts } = offset;
    if (counts.startsWith('pages'))
      return this.#acrossPages(resource, { ...search, from, size }, offset, call);
    const value = offsetValue(counts, from, size);
    return this.#sized.page(resource, { ...search, size, from: value, offsetName }, call);
  }

  /** If the offset counts pages: reads the one or two pages that contain the requested rows. */
  async #acrossPages(
    resource: Resource,
    { from = 0, size, ...search }: PageQuery,
    { name: offsetName, counts }: OffsetMeaning,
    call: Call,
  ): Promise<AnyPage> {
    const rows = rowsOfPage(this.traits(resource), size);
    const records: ApiRecord[] = [];
    const start = Math.floor(from / rows) * rows;
    for (let place = start; ; place += rows) {
      const request = { ...search, size: rows, from: offsetValue(counts, place, rows), offsetName };
      const page = await this.#sized.page(resource, request, call);
      records.push(...page.records);
      const isLast = page.records.length < rows || place + rows >= from + Math.min(size, rows);
      if (isLast) return { ...page, records: records.slice(from - start, from - start + size) };
    }
  }

  /** Requests the records after the total if it may be the number of rows of the page, or a limit of a search engine. */
  async #withTrueCount(
    resource: Resource,
    query: PageQuery,
    page: AnyPage,
    call: Call,
  ): Promise<AnyPage> {
    const { total, records } = page;
    const { from = 0, size } = query;
    if (total === undefined) return page;
    if (total > from + records.length) this.learn(resource, { counts: 'all' });
    const { counts } = this.traits(resource);
    if (counts === 'page') return uncounted(page);
    const mayBeLimit = total >= searchWindow && total % searchWindow === 0;
    if (mayBeLimit && (await this.#isLimit(resource, query, page, call)))
      return { ...page, countIsLimit: true };
    if (counts !== undefined || from > 0 || total !== records.length || !isRound(total, size))
      return page;
    const canPage = routes[resource].shape !== 'tree' && this.profile(resource).offset !== 'none';
    if (!canPage) return page;
    if (!(await this.#countsPage(resource, query, page, call))) return page;
    this.learn(resource, { counts: 'page' });
    return uncounted(page);
  }

  /** Whether the total changes with the size or, where the size has no effect, further records follow it. */
  async #countsPage(
    resource: Resource,
    { from: _, ...query }: PageQuery,
    { records }: AnyPage,
    call: Call,
  ): Promise<boolean> {
    const ignoresSize = records.length > query.size;
    if (!ignoresSize) {
      const size = Math.ceil(records.length / 2);
      const smaller = await this.#sized.page(resource, { ...query, size }, call);
      const rows = smaller.records.length;
      if (rows < records.length) return smaller.total === rows;
    }
    const hasMore = async () => {
      const after = await this.#recordsAfter(resource, query, records.length, call);
      return hasOthers(after ?? [], records);
    };
    if (await hasMore()) return true;
    // More rows than requested, and not a usual page size: the service sends everything at once.
    if (ignoresSize && !commonSizes.includes(records.length)) return false;
    // Only an offset whose meaning is known shows whether further records follow.
    const isUnknown = this.traits(resource).offset === undefined;
    if (isUnknown && (await this.offsets.learn(resource, query, call)) && (await hasMore()))
      return true;
    return this.traits(resource).offset === 'ignored';
  }

  /** Whether there are records after a total that may be a limit, or what is after it is refused. */
  async #isLimit(
    resource: Resource,
    query: PageQuery,
    { total = 0, records }: AnyPage,
    call: Call,
  ): Promise<boolean> {
    const { countLimit, checkedCount } = this.traits(resource);
    if (countLimit === total) return true;
    if (checkedCount === total) return false;
    const after = await this.#recordsAfter(resource, { ...query, size: 1 }, total, call);
    const isLimit = after === undefined || hasOthers(after, records);
    this.learn(resource, { checkedCount: total, ...(isLimit && { countLimit: total }) });
    return isLimit;
  }

  /** `undefined` if they are refused. */
  async #recordsAfter(
    resource: Resource,
    query: PageQuery,
    from: number,
    call: Call,
  ): Promise<readonly ApiRecord[] | undefined> {
    const asked = this.#from(resource, { ...query, from }, call);
    return (await asked.catch(ignoreApiError('refused')))?.records;
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

/** Rows of a page, which must be the same for all pages if they are requested by number. */
function rowsOfPage({ maxSize, maxRows, takenSize }: LearntTraits, size: number): number {
  if (maxSize === 'none') return Math.max(1, maxRows);
  const most = maxRows > 0 && maxRows < takenSize ? maxRows : size;
  return Math.min(size, most, maxSize ?? size);
}

/** Whether the number of rows is likely to be a page size. */
const isRound = (rows: number, size: number): boolean =>
  rows > 0 && (rows >= size || commonSizes.includes(rows));

const uncounted = ({ total: _, ...page }: AnyPage): AnyPage => page;

function hasOthers(found: readonly unknown[], records: readonly unknown[]): boolean {
  const known = new Set(recordKeys(records));
  return recordKeys(found).some((key) => !known.has(key));
}
