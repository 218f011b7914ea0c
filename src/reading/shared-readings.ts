import type { Resource } from '../service/records/records.ts';
import { forEachInSlices } from '../slices.ts';
import type { SharedCollections } from '../state/port.ts';
import { ReadTime } from './age.ts';
import type { CachedCollection } from './collection.ts';
import { RecordFreezer } from './frozen-records.ts';

/** The collections of one tenant and key that are shared between processes. */
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
   * Returns the shared copy if it is younger than `freshMs`; otherwise calls `load` and shares its result.
   * @throws the error of `load`; the signal's reason
   */
  async getOrLoad(
    resource: Resource,
    freshMs: number,
    keepMs: { complete: number; incomplete: number },
    load: () => Promise<CachedCollection>,
    signal: AbortSignal,
  ): Promise<CachedCollection> {
    let local: CachedCollection | undefined;
    const loadHere = async () => {
      local = await load();
      const { asOf: _, readAt, ...value } = local;
      const lifetimeMs = local.coverage.complete ? keepMs.complete : keepMs.incomplete;
      return { value, ageMs: readAt.ageMs, keepMs: lifetimeMs };
    };
    const key = { tenant: this.#tenant, reader: this.#reader, collection: resource };
    const { value, ageMs } = await this.#collections.getOrLoad(key, freshMs, loadHere, signal);
    // Loaded in this process: the objects can be used as they are.
    if (local) return local;
    const shared = value as Omit<CachedCollection, 'asOf' | 'readAt'>;
    const freezer = new RecordFreezer();
    await forEachInSlices(shared.records, (record) => freezer.freeze(record));
    const readAt = new ReadTime(ageMs);
    return { ...shared, asOf: readAt.date, readAt };
  }
}
