import type { Collection } from './collection.ts';

export type CachedCollection = Collection<Record<string, unknown>>;

interface CacheEntry {
  readonly key: string;
  readonly collection: CachedCollection;
  /** Of the records, and of what was derived from them. */
  bytes: number;
}

const sampleSize = 40;
/** Of a parsed record in memory, for each character of its JSON: 1.1 to 1.7 were measured. */
const bytesPerCharacter = 2;

/**
 * Caches the collections of all tenants of a process, and pages of them, up to a number of bytes, and evicts the least
 * recently used. What is derived from a collection counts too. Entries belong to the object that set them: no name leads to
 * another tenant's.
 */
export class CollectionCache {
  readonly #maxBytes: number;
  /** The most recently used last. */
  readonly #entries = new Map<string, CacheEntry>();
  /** Keys, not entries: an entry refers to its records, and V8 frees such cycles of a weak map late. */
  readonly #keyOfRecords = new WeakMap<object, string>();
  readonly #owners = new WeakMap<object, number>();
  #bytes = 0;
  #nextOwner = 1;

  constructor(maxMegabytes: number) {
    this.#maxBytes = maxMegabytes * 1024 * 1024;
  }

  get(owner: object, name: string): CachedCollection | undefined {
    const key = this.#key(owner, name);
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.collection;
  }

  /** When the collection was read; this does not count as a use. */
  asOf(owner: object, name: string): Date | undefined {
    return this.#entries.get(this.#key(owner, name))?.collection.asOf;
  }

  /** @param bytes of the records; estimated if it is not given */
  set(
    owner: object,
    name: string,
    collection: CachedCollection,
    bytes = estimateBytes(collection.records),
  ): void {
    this.delete(owner, name);
    // It would evict all the others and then itself.
    if (bytes > this.#maxBytes) return;
    const entry = { key: this.#key(owner, name), collection, bytes };
    this.#entries.set(entry.key, entry);
    this.#keyOfRecords.set(collection.records, entry.key);
    this.#bytes += bytes;
    this.#evict();
  }

  /**
   * Counts a result that is kept as long as these readings are, with the first of them that is cached.
   * @returns a function to call when the result is dropped
   */
  countDerived(readings: readonly (object | undefined)[], bytes: number): () => void {
    const entry = readings
      .map((reading) => reading && this.#entryOf(reading))
      .find((it) => it !== undefined);
    if (!entry) return () => {};
    this.#resize(entry, bytes);
    this.#evict();
    return () => this.#resize(entry, -bytes);
  }

  #resize(entry: CacheEntry, bytes: number): void {
    if (!this.#isCached(entry)) return;
    entry.bytes += bytes;
    this.#bytes += bytes;
  }

  /** The entry of these records, if they are cached. */
  #entryOf(records: object): CacheEntry | undefined {
    const key = this.#keyOfRecords.get(records);
    const entry = key === undefined ? undefined : this.#entries.get(key);
    return entry?.collection.records === records ? entry : undefined;
  }

  #isCached(entry: CacheEntry): boolean {
    return this.#entries.get(entry.key) === entry;
  }

  #evict(): void {
    for (const key of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#remove(key);
    }
  }

  delete(owner: object, name: string): void {
    this.#remove(this.#key(owner, name));
  }

  deleteAll(owner: object): void {
    const prefix = this.#prefix(owner);
    for (const key of [...this.#entries.keys()]) if (key.startsWith(prefix)) this.#remove(key);
  }

  get bytes(): number {
    return this.#bytes;
  }

  #remove(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }

  #key(owner: object, name: string): string {
    return `${this.#prefix(owner)}${name}`;
  }

  #prefix(owner: object): string {
    let number = this.#owners.get(owner);
    if (number === undefined) {
      number = this.#nextOwner++;
      this.#owners.set(owner, number);
    }
    return `${number}/`;
  }
}

/** Estimated from a sample: to serialize all records would cost more than the figure is worth. */
function estimateBytes(records: readonly unknown[]): number {
  const step = Math.max(1, Math.floor(records.length / sampleSize));
  let characters = 0;
  let count = 0;
  for (let at = 0; at < records.length; at += step) {
    characters += JSON.stringify(records[at]).length;
    count += 1;
  }
  return count === 0 ? 0 : Math.ceil((characters / count) * records.length * bytesPerCharacter);
}
