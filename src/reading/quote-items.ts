import { setLatest } from '../containers.ts';
import { hasUnknownItems } from '../figures/quote-totals.ts';
import type { Call } from '../service/call.ts';
import { isApiError } from '../service/errors.ts';
import type { ApiRecord, Quote, QuoteItem, Resource } from '../service/records/records.ts';
import { type Wording, wording } from '../text/untrusted-text.ts';
import type { ServicePages } from './service-pages.ts';

/** Requests for single quotes at a time. */
const maxParallel = 6;
/** Maximum quotes read for one call, because all share the rate budget. The next call continues. */
const maxReads = 200;
/** Quotes read to find out whether rows lack the items of their quotes. */
const maxProbes = 3;
/** Maximum number of quotes whose items are cached. */
const maxRemembered = 5_000;
const rememberedMs = 30 * 60_000;

interface Remembered {
  items: QuoteItem[];
  updatedAt: string;
  at: number;
}

/**
 * The items of quotes, for services whose list rows leave them out. Such rows are marked, so that their items are
 * unknown rather than absent, and completed for answers that need items.
 */
export class QuoteItems {
  readonly #pages: Pick<ServicePages, 'traits' | 'learn'>;
  readonly #readQuote: (id: string, call: Call) => Promise<Quote>;
  readonly #remembered = new Map<string, Remembered>();

  constructor(
    pages: Pick<ServicePages, 'traits' | 'learn'>,
    readQuote: (id: string, call: Call) => Promise<Quote>,
  ) {
    this.#pages = pages;
    this.#readQuote = readQuote;
  }

  /**
   * Marks the rows of a list of quotes whose items are unknown, in place.
   * @throws the signal's reason when the call was cancelled
   */
  async markIn(resource: Resource, rows: readonly ApiRecord[], call: Call): Promise<void> {
    if (resource === 'quote' && rows.length > 0) await this.#mark(rows, call);
  }

  async #mark(rows: readonly Quote[], call: Call): Promise<void> {
    if (rows.some(hasItems)) return this.#pages.learn('quote', { items: 'in rows' });
    const { items } = this.#pages.traits('quote');
    if (items === 'in rows' || (items === undefined && (await this.#haveNone(rows, call)))) return;
    for (const row of rows) this.#markRow(row);
  }

  /**
   * Reads the items of the marked quotes by id, in place, as far as budget and time allow.
   * @returns how many quotes' items are still unknown
   * @throws the signal's reason when the call was cancelled
   */
  async complete(quotes: readonly Quote[], call: Call): Promise<number> {
    const unread = quotes.filter(hasUnknownItems);
    const queue = unread.slice(0, maxReads).values();
    let stopped = false;
    const work = async () => {
      for (const quote of queue) {
        if (stopped) return;
        stopped = !(await this.#completeOne(quote, call));
      }
    };
    await Promise.all(Array.from({ length: maxParallel }, work));
    return unread.filter(hasUnknownItems).length;
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

  #markRow(row: Quote): void {
    delete row.items;
    row.unreadable = { ...row.unreadable, items: 'only in the record by id' };
    const known = row.id === undefined ? undefined : this.#remembered.get(row.id);
    const isCurrent = known?.updatedAt === row.updatedAt;
    if (known && isCurrent && Date.now() < known.at + rememberedMs) setItems(row, known.items);
  }

  /** Reads the items of one quote. @returns whether others can be read */
  async #completeOne(quote: Quote, call: Call): Promise<boolean> {
    const items = await this.#readItems(quote, call);
    if (items === 'stop') return false;
    if (items) setItems(quote, items);
    return true;
  }

  /** `undefined` if this quote cannot be read, `stop` if no other can be either. */
  async #readItems(
    { id, updatedAt }: Quote,
    call: Call,
  ): Promise<QuoteItem[] | 'stop' | undefined> {
    if (id === undefined) return undefined;
    try {
      const record = await this.#readQuote(id, call);
      if (hasUnknownItems(record)) return undefined;
      const items = record.items ?? [];
      if (updatedAt !== undefined) {
        const remembered = { items, updatedAt, at: Date.now() };
        setLatest(this.#remembered, id, remembered, maxRemembered);
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

function setItems(quote: Quote, items: QuoteItem[]): void {
  const { items: _, ...others } = quote.unreadable ?? {};
  quote.items = items;
  if (Object.keys(others).length > 0) quote.unreadable = others;
  else delete quote.unreadable;
}
