import type { Call } from '../../api/call.ts';
import {
  type ApiClient,
  isInternalError,
  type Page,
  type PageQuery,
  type Search,
} from '../../api/client.ts';
import { type ApiError, isApiError } from '../../api/errors.ts';
import { routes } from '../../api/routes.ts';
import type { RecordOf, Resource } from '../../records/records.ts';
import { meaningFrom, minSampleRows, offsetValue, probedOffset, probedSize } from './offset.ts';
import { recordKeys } from './pass.ts';
import { type LearntTraits, type OffsetMeaning, profileOf, type RouteProfile } from './profile.ts';
import { ServiceProfile } from './service-profile.ts';

/** Tried one after the other where a larger one is refused. */
const smallerSizes = [100, 50, 25] as const;
const smallestSize = 25;
/** Names of the offset parameter that services of this kind use. */
const offsetNames = ['from', 'offset', 'skip', 'page'] as const;
/** Sizes that services cut their pages to. */
const commonSizes: readonly number[] = [10, 20, 25, 30, 40, 50];
/** A search engine's window: a count that stops there says how far it looks, not how many there are. */
const searchWindow = 10_000;

/** A size that was answered with 500 may be answered a little later. */
const failedSizeMs = 10 * 60_000;
/** An offset that was found out so long ago is found out again where pages do not join. */
const doubtOffsetMs = 10 * 60_000;

type Client = Pick<ApiClient, 'page' | 'pageParam'>;

type SizedRequest = Search & { size: number; from?: number; offsetName?: string };

/** The first records of a route, to compare a later page with. */
interface Sample {
  /** The search, as text. */
  readonly search: string;
  readonly keys: readonly unknown[];
  /** What the service counted. */
  readonly total: number | undefined;
}

/**
 * The pages of the service by the offset of their first record, whatever its own way of paging: it is
 * learnt from the answers, route by route, and held for the tenant. A wrong guess costs a request.
 */
export class ServicePages {
  readonly pageParam: string | undefined;
  readonly #client: Client;
  readonly #profile: ServiceProfile;
  readonly #samples = new Map<Resource, Sample>();
  /** What another route was found to understand is the first guess. */
  #guess: OffsetMeaning | undefined;
  #isReady = false;

  constructor(client: Client, profile = new ServiceProfile(client.pageParam)) {
    this.#client = client;
    this.#profile = profile;
    this.pageParam = client.pageParam;
    if (client.pageParam !== undefined) this.#guess = { name: client.pageParam, counts: 'records' };
  }

  /** Resolves after what was learnt earlier is loaded. Never rejects. */
  async ready(): Promise<void> {
    if (this.#isReady) return;
    await this.#profile.ready();
    this.#isReady = true;
    const offsets = Object.values(this.#profile.all).map(({ offset }) => offset);
    this.#guess = offsets.find((it) => it !== undefined && it !== 'ignored') ?? this.#guess;
  }

  traits(resource: Resource): LearntTraits {
    return this.#profile.of(resource);
  }

  learn(resource: Resource, change: Partial<LearntTraits>): void {
    this.#profile.learn(resource, change);
  }

  /** The first page that was read last. */
  sample(resource: Resource): Sample | undefined {
    return this.#samples.get(resource);
  }

  profile(resource: Resource): RouteProfile {
    return profileOf(resource, this.#client, this.traits(resource).offset);
  }

  /**
   * The records from `from` on, at most `size`, fewer where the service gives fewer. The count is left out
   * where it counts the rows of the page only.
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
   * Finds out what the offset of this route means, where that was not seen yet.
   * @returns whether it is not what was assumed
   * @throws ApiError
   */
  async learnOffset(resource: Resource, search: Search, call: Call): Promise<boolean> {
    const { offset, offsetAt = 0 } = this.traits(resource);
    const isRecent = offset !== undefined && Date.now() < offsetAt + doubtOffsetMs;
    if (isRecent || this.#guess === undefined) return false;
    const assumed = offset ?? this.#guess;
    const found = await this.#findOffset(resource, search, call);
    if (found === undefined) return false;
    const isOther = !isSameOffset(found, assumed);
    // Records that move meanwhile look like another meaning: that has to be seen twice.
    if (isOther && !isSameOffset(found, await this.#findOffset(resource, search, call)))
      return false;
    this.learn(resource, { offset: found, offsetAt: Date.now() });
    if (found !== 'ignored') this.#guess = found;
    return isOther;
  }

  /** The offset did what was assumed of it: a reading by it was complete, or a page joined on to another. */
  confirmOffset(resource: Resource): void {
    const offset = this.#guess;
    if (offset === undefined || this.traits(resource).offset !== undefined) return;
    this.learn(resource, { offset, offsetAt: Date.now() });
  }

  async #findOffset(
    resource: Resource,
    search: Search,
    call: Call,
  ): Promise<OffsetMeaning | 'ignored' | undefined> {
    const page = await this.#sized(resource, { ...search, size: minSampleRows }, call);
    const sample = recordKeys(page.records);
    if (sample.length < minSampleRows) return undefined;
    let ignored = false;
    for (const name of new Set([this.#guess?.name ?? 'from', ...offsetNames])) {
      const counts = await this.#probe(resource, search, name, sample, call);
      if (counts === 'ignored') ignored = true;
      else if (counts !== undefined) return { name, counts };
    }
    return ignored ? 'ignored' : undefined;
  }

  /** What the parameter of that name counts; `undefined` where it is refused or leads nowhere. */
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
      return recordKeys((await this.#sized(resource, request, call)).records);
    };
    try {
      const counts = meaningFrom(sample, await ask(probedOffset), size);
      if (counts !== undefined || !takesNoSize) return counts;
      // Behind the first page lies what no sample shows: only whether page 1 is the first one can be told.
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
    if (from === 0) return this.#sized(resource, { ...search, size }, call);
    const offset = this.traits(resource).offset ?? this.#guess;
    if (offset === undefined || offset === 'ignored')
      return this.#sized(resource, { ...search, size }, call);
    const { name: offsetName, counts } = offset;
    if (counts.startsWith('pages'))
      return this.#acrossPages(resource, { ...search, from, size }, offset, call);
    const value = offsetValue(counts, from, size);
    return this.#sized(resource, { ...search, size, from: value, offsetName }, call);
  }

  /** Where only whole pages can be asked for: the one or two that hold as many rows as a page has, from there on. */
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
      const page = await this.#sized(
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

  /** How many rows a page has, which all pages must have where they are asked for by number. */
  #rowsOfPage(resource: Resource, size: number): number {
    const { maxSize, mostRows, takenSize } = this.traits(resource);
    if (maxSize === 'none') return Math.max(1, mostRows);
    const most = mostRows > 0 && mostRows < takenSize ? mostRows : size;
    return Math.min(size, most, maxSize ?? size);
  }

  /** In the largest size up to the one asked for that the route takes. */
  async #sized<R extends Resource>(
    resource: R,
    request: SizedRequest,
    call: Call,
  ): Promise<Page<RecordOf[R]>> {
    let refusal: ApiError | undefined;
    for (const size of sizesFor(request.size, this.traits(resource))) {
      try {
        const page = await this.#unlessTooLarge(resource, request, size, call);
        return this.#noteSize(resource, size, page, refusal && 'refused');
      } catch (error) {
        if (!isAboutSize(error, size, this.traits(resource))) throw refusal ?? error;
        refusal ??= error;
      }
    }
    throw refusal;
  }

  /** A size that was not answered before may be what a 500 is about. */
  async #unlessTooLarge<R extends Resource>(
    resource: R,
    request: SizedRequest,
    size: number | undefined,
    call: Call,
  ): Promise<Page<RecordOf[R]>> {
    const probesSize = size !== undefined && size > this.#provenSize(resource);
    try {
      return await this.#client.page(resource, { ...request, size, probesSize }, call);
    } catch (error) {
      if (!probesSize || !isInternalError(error)) throw error;
      return this.#afterInternalError(resource, { ...request, size }, call);
    }
  }

  #provenSize = (resource: Resource): number =>
    Math.max(smallestSize, this.traits(resource).takenSize);

  /**
   * The smallest size tells whether the service is down, or the larger one is what it fails at. If it is down, that
   * is as many requests as for any other page.
   */
  async #afterInternalError<R extends Resource>(
    resource: R,
    request: SizedRequest,
    call: Call,
  ): Promise<Page<RecordOf[R]>> {
    const smallest = { ...request, size: this.#provenSize(resource), attempts: 2 };
    const small = await this.#client.page(resource, smallest, call);
    const sizes = [request.size, ...smallerSizes.filter((it) => it < request.size)];
    for (const size of sizes.filter((it) => it > smallest.size)) {
      const page = await this.#client
        .page(resource, { ...request, size, probesSize: true }, call)
        .catch((error: unknown) => {
          if (isInternalError(error)) return undefined;
          throw error;
        });
      if (page) return this.#noteSize(resource, size, page, size < request.size && 'failed');
    }
    return this.#noteSize(resource, smallest.size, small, 'failed');
  }

  /** What became of a larger size decides how long this one is the largest. */
  #noteSize<R extends Resource>(
    resource: R,
    size: number | undefined,
    page: Page<RecordOf[R]>,
    larger: 'refused' | 'failed' | false | undefined,
  ): Page<RecordOf[R]> {
    const { takenSize, mostRows } = this.traits(resource);
    this.learn(resource, {
      takenSize: larger ? (size ?? 0) : Math.max(takenSize, size ?? 0),
      mostRows: Math.max(mostRows, page.records.length),
      ...(larger && { maxSize: size ?? 'none' }),
      ...(larger === 'failed' && { maxSizeUntil: Date.now() + failedSizeMs }),
    });
    return page;
  }

  /** Looks behind a page whose rows are all that are counted, and behind a count where a search stops. */
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
      return this.#behindWindow(resource, query, page, call);
    const isDoubtful = from === 0 && total === records.length && isRound(total, size);
    if (
      this.traits(resource).counts === 'all' ||
      !isDoubtful ||
      !canPage(resource, this.profile(resource))
    )
      return page;
    const behind = await this.#lookBehind(resource, query, total, call);
    if (!hasOthers(behind, records)) return page;
    this.learn(resource, { counts: 'page' });
    return uncounted(page);
  }

  async #behindWindow<R extends Resource>(
    resource: R,
    query: PageQuery,
    page: Page<RecordOf[R]>,
    call: Call,
  ): Promise<Page<RecordOf[R]>> {
    const { total = 0 } = page;
    if (this.traits(resource).checkedCount === total) return page;
    const behind = await this.#lookBehind(resource, { ...query, size: 1 }, total, call);
    this.learn(resource, { checkedCount: total });
    if (behind !== 'refused' && !hasOthers(behind, page.records)) return page;
    this.learn(resource, { countLimit: total });
    return { ...page, countIsLimit: true };
  }

  async #lookBehind<R extends Resource>(
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

/** The same text for the same search. */
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

function sizesFor(asked: number, { maxSize }: LearntTraits): (number | undefined)[] {
  if (maxSize === 'none') return [undefined];
  const first = Math.min(asked, maxSize ?? asked);
  return [first, ...smallerSizes.filter((size) => size < first), undefined];
}

/** Whether a smaller size may be answered where this one was refused. */
function isAboutSize(
  error: unknown,
  size: number | undefined,
  { takenSize }: LearntTraits,
): error is ApiError {
  if (size === undefined || !isApiError(error, 'refused')) return false;
  const { upstreamMessage = '' } = error.facts;
  if (/\b(size|limit)\b/i.test(upstreamMessage)) return true;
  // A size that was answered before is not what a refusal without a word is about.
  return (
    size > takenSize && !/\b(filters?|query|sort|from|offset|skip|page)\b/i.test(upstreamMessage)
  );
}

const canPage = (resource: Resource, { offset }: RouteProfile): boolean =>
  routes[resource].shape !== 'tree' && offset !== 'none';

/** A page that is as long as pages are, rather than as there are records. */
const isRound = (rows: number, size: number): boolean =>
  rows > 0 && (rows >= size || commonSizes.includes(rows));

const uncounted = <R>({ total: _, ...page }: Page<R>): Page<R> => page;

function hasOthers(behind: readonly unknown[] | 'refused', records: readonly unknown[]): boolean {
  if (behind === 'refused') return false;
  const known = new Set(recordKeys(records));
  return recordKeys(behind).some((key) => !known.has(key));
}
