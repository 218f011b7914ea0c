import type { Resource } from '../records/records.ts';
import type { Collection } from './collection.ts';

export type CachedCollection = Collection<Record<string, unknown>>;

interface CacheEntry {
  collection: CachedCollection;
  bytes: number;
}

const sampleSize = 40;
/** Of a parsed record in memory, for each character of its JSON; measured, and rounded up. */
const bytesPerCharacter = 3;

/**
 * Caches the collections of all tenants of a process up to a number of bytes, and evicts the least recently
 * used. Entries belong to the object that set them: no name leads to another tenant's.
 */
export class CollectionCache {
  readonly #maxBytes: number;
  /** The most recently used last. */
  readonly #entries = new Map<string, CacheEntry>();
  readonly #owners = new WeakMap<object, number>();
  #bytes = 0;
  #nextOwner = 1;

  constructor(maxMegabytes: number) {
    this.#maxBytes = maxMegabytes * 1024 * 1024;
  }

  get(owner: object, resource: Resource): CachedCollection | undefined {
    const key = this.#key(owner, resource);
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.collection;
  }

  /** When the collection was read; this does not count as a use. */
  asOf(owner: object, resource: Resource): Date | undefined {
    return this.#entries.get(this.#key(owner, resource))?.collection.asOf;
  }

  set(owner: object, resource: Resource, collection: CachedCollection): void {
    this.delete(owner, resource);
    const bytes = estimateBytes(collection.records);
    // It would evict all the others and then itself.
    if (bytes > this.#maxBytes) return;
    this.#entries.set(this.#key(owner, resource), { collection, bytes });
    this.#bytes += bytes;
    for (const key of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#remove(key);
    }
  }

  delete(owner: object, resource: Resource): void {
    this.#remove(this.#key(owner, resource));
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

  #key(owner: object, resource: Resource): string {
    return `${this.#prefix(owner)}${resource}`;
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
