import type { ApiRecord } from '../service/records/records.ts';
import { ReadTime } from './age.ts';
import { type CachePart, type CollectionCache, estimateBytes } from './cache.ts';
import type { Collection } from './collection.ts';

/** The pages of a search come from one reading for this time; after it the search is read again. */
const freshMs = 60_000;

interface Search {
  found: Collection<ApiRecord>;
  readAt: ReadTime;
}

/** Complete results of the latest searches whose pages the service does not provide. */
export class RecentSearches {
  readonly #searches: CachePart<Search>;

  constructor(cache: CollectionCache) {
    this.#searches = cache.part();
  }

  /** @returns undefined when the search was never read, or too long ago */
  get(search: string): Collection<ApiRecord> | undefined {
    const { found, readAt } = this.#searches.get(search) ?? {};
    if (readAt && readAt.ageMs < freshMs) return found;
    this.#searches.delete(search);
    return undefined;
  }

  set(search: string, found: Collection<ApiRecord>): void {
    const { records } = found;
    this.#searches.set(search, { found, readAt: new ReadTime() }, estimateBytes(records), records);
  }

  clear(): void {
    this.#searches.clear();
  }
}
