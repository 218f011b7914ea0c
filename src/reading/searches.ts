import { type CallContext, interactiveCall } from '../service/call.ts';
import type { Search } from '../service/page.ts';
import type { RecordOf, Resource } from '../service/records/records.ts';
import { ReadTime } from './age.ts';
import { type CachePart, type CollectionCache, estimateBytes } from './cache.ts';
import type { CachedCollection, Collection } from './collection.ts';
import { readToEnd } from './collections.ts';
import type { Progress } from './pass.ts';
import type { QuoteItems } from './quote-items.ts';
import { type ServicePages, searchText } from './service-pages.ts';
import { readCollection } from './walk.ts';

/** The pages of a search come from one reading for this time; after it the search is read again. */
const freshMs = 60_000;

/** Complete results of searches whose pages the service does not provide. */
export class Searches {
  readonly #pages: ServicePages;
  readonly #items: QuoteItems;
  readonly #latest: CachePart<CachedCollection>;

  constructor(pages: ServicePages, items: QuoteItems, cache: CollectionCache) {
    this.#pages = pages;
    this.#items = items;
    this.#latest = cache.part();
  }

  /**
   * Everything that a search finds.
   * @throws ApiError
   */
  async read<R extends Resource>(
    resource: R,
    search: Search,
    call: CallContext,
  ): Promise<Collection<RecordOf[R]>> {
    const name = `${resource} ${searchText(search)}`;
    const known = this.#latest.get(name) as
      | (CachedCollection & Collection<RecordOf[R]>)
      | undefined;
    if (known && known.readAt.ageMs < freshMs) return known;
    const asOf = new Date();
    const apiCall = interactiveCall(call);
    const reading = readCollection(this.#pages, resource, search, apiCall);
    const report = ({ read, total }: Progress) => call.progress(read, total, resource);
    const found = await readToEnd(reading, report);
    const records = await this.#items.marked(resource, found.records, apiCall);
    const read = { ...found, records, asOf, readAt: new ReadTime() };
    this.#latest.set(name, read, estimateBytes(records), records);
    return read;
  }

  clear(): void {
    this.#latest.clear();
  }
}
