import { setLatest } from '../containers.ts';
import type { ApiRecord } from '../service/records/records.ts';
import type { Collection } from './collection.ts';

const maxSearches = 10;
/** The pages of a search come from one reading for this time; after it the search is read again. */
const freshMs = 60_000;

/** Complete results of the latest searches whose pages the service does not provide. */
export class RecentSearches {
  /** The latest last. */
  readonly #found = new Map<string, Collection<ApiRecord>>();

  /** @returns undefined when the search was never read, or too long ago */
  get(search: string): Collection<ApiRecord> | undefined {
    const found = this.#found.get(search);
    return found && Date.now() - found.asOf.getTime() < freshMs ? found : undefined;
  }

  set(search: string, found: Collection<ApiRecord>): void {
    setLatest(this.#found, search, found, maxSearches);
  }

  clear(): void {
    this.#found.clear();
  }
}
