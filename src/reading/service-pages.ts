import type { ProbabilityScale } from '../figures/probability.ts';
import type { Call } from '../service/call.ts';
import type { ApiClient } from '../service/client.ts';
import { type ApiError, ignoreApiError, isApiError, isInternalError } from '../service/errors.ts';
import { minRows } from '../service/records/account.ts';
import type { ApiRecord, Quote, RecordOf, Resource } from '../service/records/records.ts';
import { type Page, type PageQuery, routes } from '../service/routes.ts';
import { recordKeys } from './pass.ts';

/** Records per request of a reading. */
export const pageSize = 100;
/** Page sizes to try in turn if a larger one is refused; the last one is always retried. */
const smallerSizes = [100, 50, 25];
const minSize = 25;
/** Sizes that services cut their pages to: so many records may be a page of more. */
export const commonSizes: readonly number[] = [10, 20, 25, 30, 40, 50, 100];
/** Where search engines stop to count, or to answer: a count of so many may be a limit. */
export const isRound = (count: number): boolean => [1_000, 10_000].includes(count);
/** Where lists that are not counted may stop: after whole pages of a usual size. */
export const mayBeCut = (rows: number, sizes: readonly number[] = [20, 25]): boolean =>
  rows >= 50 && sizes.some((size) => rows % size === 0);
/** Properties are learnt again after this time, in case the service has changed. */
const lifetimeMs = 24 * 60 * 60_000;

/** Properties of a route learnt from its responses; absent ones are unknown. */
export interface LearntTraits {
  /** When the first property was learnt, in milliseconds since the epoch. */
  readonly since: number;
  /** The largest size that worked. */
  readonly takenSize: number;
  /** The largest accepted size; `none` if the parameter itself is refused. */
  readonly maxSize?: number | 'none';
  /** Whether the offset parameter counts records, from 0. */
  readonly offset?: 'works' | 'ignored';
  /** Whether pages come with a total. */
  readonly isCounted?: boolean;
  /** `page`: the total is the number of rows of the page. */
  readonly counts?: 'all' | 'page';
  /** Whether a filter, a search text or a sort order has an effect, by parameter and fields. */
  readonly honoured: Readonly<Record<string, boolean>>;
  /** Requests that reading all records takes. */
  readonly pages?: number | 'uncounted';
  /** Of opportunities. */
  readonly probability?: ProbabilityScale;
  /** The fields that no record of a page has. */
  readonly missing?: readonly string[];
}

export type AnyPage = Page<ApiRecord>;

/**
 * The pages of a tenant's service: of the size that a route accepts, and with a total only where it is that of the list.
 * Which that is, and whether offsets work, is learnt from answers, by each process for itself.
 */
export class ServicePages {
  readonly pageParam: string | undefined;
  readonly #client: Pick<ApiClient, 'page'>;
  readonly #traits = new Map<Resource, LearntTraits>();
  /** Milliseconds by which the service's clock is ahead of ours. */
  #clockAheadMs = 0;

  constructor(client: Pick<ApiClient, 'page' | 'pageParam'>) {
    this.pageParam = client.pageParam;
    this.#client = client;
  }

  /** The time by the service's clock, as its last response told it, in milliseconds since the epoch. */
  get now(): number {
    return Date.now() + this.#clockAheadMs;
  }

  traits(resource: Resource): LearntTraits {
    const now = Date.now();
    const known = this.#traits.get(resource);
    const isKnown = known && now <= known.since + lifetimeMs;
    return isKnown ? known : { since: now, takenSize: 0, honoured: {} };
  }

  learn(resource: Resource, change: Partial<LearntTraits>): void {
    this.#traits.set(resource, { ...this.traits(resource), ...change });
  }

  /** Learns whether a filter, a search text or a sort order has an effect. */
  learnHonoured(resource: Resource, name: string, isHonoured: boolean): void {
    const { honoured } = this.traits(resource);
    this.learn(resource, { honoured: { ...honoured, [name]: isHonoured } });
  }

  /** Whether other pages than the first can be requested, as far as is known. */
  canPage(resource: Resource): boolean {
    return this.pageParam !== undefined && this.traits(resource).offset !== 'ignored';
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
    const page = await this.sized(resource, query, call);
    const { total, ...uncounted } = page;
    if (total === undefined) return uncounted;
    if (await this.#countsPage(resource, query, page, call)) return uncounted;
    const isMore = total > (query.from ?? 0) + page.records.length;
    if (isMore && this.traits(resource).counts !== 'all') this.learn(resource, { counts: 'all' });
    return isRound(total) ? { ...page, countIsLimit: true } : page;
  }

  /**
   * Whether the offset leads to the record at that place, by two small pages; `undefined` if there are too few records.
   * @throws ApiError
   */
  async offsetWorks(resource: Resource, call: Call): Promise<boolean | undefined> {
    const { offset } = this.traits(resource);
    if (offset !== undefined || this.pageParam === undefined) return offset === 'works';
    const keysFrom = async (from: number) => {
      const asked = this.sized(resource, { size: 2, from }, call);
      return recordKeys((await asked.catch(ignoreApiError('refused')))?.records ?? []);
    };
    const compare = async () => {
      const [[, second], [found]] = await Promise.all([keysFrom(0), keysFrom(1)]);
      return second === undefined ? undefined : second === found;
    };
    // Records that move meanwhile look like an offset that does not work, so it must be found twice.
    const found = await compare();
    const works = found === false ? await compare() : found;
    if (works !== undefined) this.learn(resource, { offset: works ? 'works' : 'ignored' });
    return works;
  }

  /** A page of the largest size, up to the requested one, that the route accepts, its total as sent. @throws ApiError */
  async sized<R extends Resource>(
    resource: R,
    query: PageQuery,
    call: Call,
  ): Promise<Page<RecordOf[R]>> {
    let refusal: ApiError | undefined;
    let size = sizeWithin(query.size, this.traits(resource));
    for (;;) {
      const { takenSize } = this.traits(resource);
      const probesSize = size !== undefined && size > Math.max(minSize, takenSize);
      const request = { ...query, size, probesSize };
      try {
        const page = await this.#client.page(resource, request, call);
        if (!refusal || !isInternalError(refusal))
          return this.#noteSize(resource, size, page, refusal !== undefined);
        // The 500 may also have been an outage that is over.
        const again = { ...query, probesSize: true };
        const whole = await this.#client.page(resource, again, call).catch(ignoreApiError());
        if (whole) return this.#noteSize(resource, query.size, whole, false);
        return this.#noteSize(resource, size, page, true);
      } catch (error) {
        const isSize =
          (probesSize && isInternalError(error)) || isAboutSize(error, size, takenSize);
        if (!isSize) throw refusal ?? error;
        refusal ??= error;
        size = smallerSizes.find((it) => it < Number(size));
      }
    }
  }

  #noteSize<P extends Page<unknown>>(
    resource: Resource,
    size: number | undefined,
    page: P,
    isLargest: boolean,
  ): P {
    const { takenSize: known } = this.traits(resource);
    if (page.answeredAt !== undefined) this.#clockAheadMs = page.answeredAt - Date.now();
    const takenSize = isLargest ? (size ?? 0) : Math.max(known, size ?? 0);
    const learnt = { takenSize, isCounted: page.total !== undefined };
    this.learn(resource, isLargest ? { ...learnt, maxSize: size ?? 'none' } : learnt);
    return size === undefined ? { ...page, withoutSize: true } : page;
  }

  /** Whether the total goes by the page, such as its number of rows, with or without a row or a page more. */
  async #countsPage(
    resource: Resource,
    { from = 0, ...query }: PageQuery,
    { total = 0, records }: AnyPage,
    call: Call,
  ): Promise<boolean> {
    const rows = records.length;
    const { counts, honoured } = this.traits(resource);
    if (counts === 'page') return true;
    const totals = totalsOf(rows, query.size).map((one) => one === total);
    // Rows that are not shown may have been taken out of the page.
    const isPageSize = rows >= 0.9 * query.size || commonSizes.includes(rows);
    const isUsual = counts === undefined && isPageSize;
    const mayGoByPage =
      from === 0 &&
      rows > 0 &&
      (total === rows ? isUsual : !honoured[trueTotals] && totals.includes(true));
    if (routes[resource].shape === 'tree' || !mayGoByPage)
      return counts === undefined && rows > 0 && total < from + rows;
    const size = Math.ceil(rows / 2);
    const smaller = await this.sized(resource, { ...query, size }, call);
    const shown = smaller.records.length;
    const goesByPage =
      shown < rows
        ? smaller.total !== total &&
          totalsOf(shown, size).some((one, at) => totals[at] && one === smaller.total)
        : total === rows && (await this.#hasMore(resource, query, records, call));
    if (goesByPage) this.learn(resource, { counts: 'page' });
    else if (total !== rows) this.learnHonoured(resource, trueTotals, true);
    return goesByPage;
  }

  /** Whether records follow these, of a service that ignores the size; only an offset that works shows that none do. */
  async #hasMore(
    resource: Resource,
    query: PageQuery,
    records: readonly ApiRecord[],
    call: Call,
  ): Promise<boolean> {
    // More rows than requested, and not a usual page size: the service sends everything at once.
    if (records.length > query.size && !commonSizes.includes(records.length)) return false;
    const asked = this.sized(resource, { ...query, from: records.length }, call);
    const after = (await asked.catch(ignoreApiError('refused')))?.records ?? [];
    const known = new Set(recordKeys(records));
    if (recordKeys(after).some((key) => !known.has(key))) return true;
    return (await this.offsetWorks(resource, call)) === false;
  }
}

/** The property of a route whose total is the number of records that a reading of all of them found. */
export const countsRecords = 'counts records';
/** The property of a route whose total was found not to go by the page. */
const trueTotals = 'true totals';
/**
 * Totals that are made from the page: its rows, with or without a row or a page more, or the size asked for. One page may
 * have such a total by chance; two pages with the same form of it do not.
 */
const totalsOf = (rows: number, size: number): number[] => [rows, rows + 1, rows + size, size];

/** The property of the route that says whether the rows of a list have the items of their quotes. */
const itemsInRows = 'items in rows';

/**
 * The rows of a list, or one record. Where none of them, and no row before, has items, their items are unknown rather than
 * absent, and rows are marked: those without the field, and where many rows have empty lists, all. Rows are copied.
 */
export function markUnknownItems<R extends ApiRecord>(
  resource: Resource,
  rows: readonly R[],
  pages: ServicePages,
): readonly R[] {
  if (resource !== 'quote' || pages.traits('quote').honoured[itemsInRows]) return rows;
  const isListed = ({ items, unreadable }: Quote) => items?.length || unreadable?.items;
  if (rows.some(isListed)) {
    pages.learnHonoured('quote', itemsInRows, true);
    return rows;
  }
  return rows.map((row: R & Quote) =>
    rows.length >= minRows || row.items === undefined ? marked(row) : row,
  );
}

function marked<R extends Quote>(row: R): R {
  const unreadable = { ...row.unreadable, items: 'left out' };
  return Object.freeze({ ...row, items: undefined, unreadable });
}

/** The size to ask for; `undefined`: without the parameter. */
const sizeWithin = (asked: number, { maxSize = asked }: LearntTraits): number | undefined =>
  maxSize === 'none' ? undefined : Math.min(asked, maxSize);

/** Whether a smaller size may be accepted after this refusal. */
function isAboutSize(
  error: unknown,
  size: number | undefined,
  takenSize: number,
): error is ApiError {
  if (size === undefined || !isApiError(error, 'refused')) return false;
  const { upstreamMessage = '' } = error.facts;
  if (/\b(size|limit)\b/i.test(upstreamMessage)) return true;
  // Without a message, the size is the likely cause unless it worked before.
  const isAboutAnother = /\b(filters?|query|sort|from|offset|skip|page)\b/i.test(upstreamMessage);
  return size > takenSize && !isAboutAnother;
}
