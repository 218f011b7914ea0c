import { hasUnknownItems } from '../figures/quote-totals.ts';
import type { Call } from '../service/call.ts';
import { isApiError } from '../service/errors.ts';
import type { ApiRecord, Quote, QuoteItem, Resource } from '../service/records/records.ts';
import { type Wording, wording } from '../text/untrusted-text.ts';
import { type CachePart, type CollectionCache, estimateBytes } from './cache.ts';
import { ReadTime } from './collection.ts';
import type { DerivedResults } from './derived.ts';
import type { ServicePages } from './service-pages.ts';

/** Requests for single quotes at a time. */
const maxParallel = 6;
/** Maximum quotes read for one call, because all share the rate budget. The next call continues. */
const maxReads = 200;
/** Quotes read to find out whether rows lack the items of their quotes. */
const maxProbes = 3;
const rememberedMs = 30 * 60_000;

interface Remembered {
  items: readonly QuoteItem[];
  updatedAt: string;
  readAt: ReadTime;
}

/**
 * The items of quotes, for services whose list rows leave them out. Such rows are marked, so that their items are
 * unknown rather than absent, and completed for answers that need items. Rows are copied, not changed.
 */
export class QuoteItems {
  readonly #pages: Pick<ServicePages, 'traits' | 'learn'>;
  readonly #readQuote: (id: string, call: Call) => Promise<Quote>;
  readonly #remembered: CachePart<Remembered>;
  readonly #derived: DerivedResults;
  /** Another number as soon as the items of further quotes are known. */
  #version = 0;

  constructor(
    pages: Pick<ServicePages, 'traits' | 'learn'>,
    readQuote: (id: string, call: Call) => Promise<Quote>,
    cache: CollectionCache,
    derived: DerivedResults,
  ) {
    this.#remembered = cache.part();
    this.#derived = derived;
    this.#pages = pages;
    this.#readQuote = readQuote;
  }

  clear(): void {
    this.#remembered.clear();
  }

  /**
   * The rows of a list, of which quotes with unknown items are marked.
   * @throws the signal's reason when the call was cancelled
   */
  async marked<R extends ApiRecord>(
    resource: Resource,
    rows: readonly R[],
    call: Call,
  ): Promise<readonly R[]> {
    if (resource !== 'quote' || rows.length === 0) return rows;
    if (rows.some(hasItems)) {
      this.#pages.learn('quote', { items: 'in rows' });
      return rows;
    }
    const { items } = this.#pages.traits('quote');
    if (items === 'in rows' || (items === undefined && (await this.#haveNone(rows, call))))
      return rows;
    return rows.map((row) => this.#withKnownItems(marked(row)) as R);
  }

  /** These quotes, with the items that were read by id since; made once for each reading. */
  known(quotes: readonly Quote[]): Promise<readonly Quote[]> {
    return this.#derived.version([quotes], `items ${this.#version}`, async () => {
      if (!quotes.some(hasUnknownItems)) return quotes;
      return quotes.map((quote) => this.#withKnownItems(quote));
    });
  }

  /** The quote with its items, where these are unknown and were read since. */
  #withKnownItems(quote: Quote): Quote {
    if (!hasUnknownItems(quote) || quote.id === undefined) return quote;
    const known = this.#remembered.get(quote.id);
    const isCurrent = known?.updatedAt === quote.updatedAt;
    const isKnown = known && isCurrent && known.readAt.ageMs < rememberedMs;
    return isKnown ? withItems(quote, known.items) : quote;
  }

  /**
   * Reads the unknown items of the wanted quotes by id, as far as budget and time allow.
   * @returns all the quotes with these items, and how many of the wanted are still unknown
   * @throws the signal's reason when the call was cancelled
   */
  async complete(
    quotes: readonly Quote[],
    wanted: readonly Quote[],
    call: Call,
  ): Promise<{ quotes: readonly Quote[]; missing: number }> {
    const completed = new Map(wanted.map((quote) => [quote, this.#withKnownItems(quote)]));
    const unread = wanted.filter((quote) => hasUnknownItems(completed.get(quote) ?? quote));
    const queue = unread.slice(0, maxReads).values();
    let stopped = false;
    const work = async () => {
      for (const quote of queue) {
        if (stopped) return;
        const items = await this.#readItems(quote, call);
        if (items === 'stop') stopped = true;
        else if (items) completed.set(quote, withItems(quote, items));
      }
    };
    await Promise.all(Array.from({ length: maxParallel }, work));
    return {
      quotes: quotes.map((quote) => completed.get(quote) ?? quote),
      missing: wanted.filter((quote) => hasUnknownItems(completed.get(quote) ?? quote)).length,
    };
  }

  /** Whether none of a few quotes has items. Drafts are read last, because they may have none yet. */
  async #haveNone(rows: readonly Quote[], call: Call): Promise<boolean> {
    const likely = rows.toSorted(
      (a, b) => Number(a.status === 'draft') - Number(b.status === 'draft'),
    );
    const probed = likely.slice(0, maxProbes);
    const read = await Promise.all(probed.map((row) => this.#readItems(row, call)));
    if (read.some((items) => items && items !== 'stop' && items.length > 0)) {
      this.#pages.learn('quote', { items: 'by id' });
      return false;
    }
    return read.every((items) => items !== undefined && items !== 'stop');
  }

  /** `undefined` if this quote cannot be read, `stop` if no other can be either. */
  async #readItems(
    { id, updatedAt }: Quote,
    call: Call,
  ): Promise<readonly QuoteItem[] | 'stop' | undefined> {
    if (id === undefined) return undefined;
    try {
      const record = await this.#readQuote(id, call);
      if (hasUnknownItems(record)) return undefined;
      const items = record.items ?? [];
      if (updatedAt !== undefined) {
        const remembered = { items, updatedAt, readAt: new ReadTime() };
        this.#remembered.set(id, remembered, estimateBytes([items]));
        this.#version += 1;
      }
      return items;
    } catch (error) {
      if (!isApiError(error)) throw error;
      return isApiError(error, 'not-found', 'refused', 'unexpected') ? undefined : 'stop';
    }
  }
}

/** Why totals are missing, where rows have unknown items. */
export const describeUnknownItems = (rows: readonly ApiRecord[]): Wording[] =>
  rows.some(hasUnknownItems)
    ? [
        wording`The service's lists leave out the items of quotes, so totals are missing here: cpq_brief_quote reads one quote with its items.`,
      ]
    : [];

const hasItems = ({ items, unreadable }: Quote): boolean =>
  (items !== undefined && items.length > 0) || unreadable?.items !== undefined;

const marked = ({ items: _, unreadable, ...row }: Quote): Quote =>
  Object.freeze({ ...row, unreadable: { ...unreadable, items: 'only in the record by id' } });

function withItems({ unreadable, ...quote }: Quote, items: readonly QuoteItem[]): Quote {
  const { items: _, ...others } = unreadable ?? {};
  const isRest = Object.keys(others).length > 0;
  return Object.freeze({ ...quote, items, ...(isRest && { unreadable: others }) });
}
