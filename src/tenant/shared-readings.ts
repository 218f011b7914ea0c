import type { Resource } from '../api/records.ts';
import type { SharedCollections } from '../state/port.ts';
import type { Held } from './cache.ts';
import type { Coverage } from './reading/coverage.ts';

/** The collections of one key of one tenant, where other processes hold them too. */
export class SharedReadings {
  readonly #collections: SharedCollections;
  readonly #tenant: string;
  readonly #reader: string;

  constructor(collections: SharedCollections, tenant: string, reader: string) {
    this.#collections = collections;
    this.#tenant = tenant;
    this.#reader = reader;
  }

  /**
   * What another process has read, if it is younger than `freshMs`; otherwise what `read` reads, which
   * the others then get.
   * @throws what `read` throws; the signal's reason
   */
  async obtain(
    resource: Resource,
    freshMs: number,
    keepMs: { complete: number; incomplete: number },
    read: () => Promise<Held>,
    signal: AbortSignal,
  ): Promise<Held> {
    let own: Held | undefined;
    const readHere = async () => {
      own = await read();
      const { asOf, ...value } = own;
      const kept = own.coverage.complete ? keepMs.complete : keepMs.incomplete;
      return { value, ageMs: Date.now() - asOf.getTime(), keepMs: kept };
    };
    const place = { tenant: this.#tenant, reader: this.#reader, collection: resource };
    const { value, ageMs } = await this.#collections.obtain(place, freshMs, readHere, signal);
    // What was read here need not be taken apart and put together again.
    if (own) return own;
    const { records, coverage } = value as { records: Held['records']; coverage: Coverage };
    return { records, coverage, asOf: new Date(Date.now() - ageMs) };
  }
}
