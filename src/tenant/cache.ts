import { LRUCache } from 'lru-cache';
import type { Resource } from '../api/records.ts';
import type { Coverage } from './reading/coverage.ts';

export interface CachedCollection {
  records: readonly Record<string, unknown>[];
  coverage: Coverage;
  asOf: Date;
}

const sampleSize = 40;
/** Of a parsed record in memory, for each character of its JSON; measured, and rounded up. */
const bytesPerCharacter = 3;

/**
 * Holds collections of all tenants of a process up to a number of bytes; the one that was not asked for
 * the longest goes first. Entries belong to the object that put them there: no name, and so no mistake
 * in one, leads to another tenant's.
 */
export class CollectionCache {
  /** One that is larger than all together may be drives out no other. */
  readonly #entries: LRUCache<string, CachedCollection>;
  readonly #owners = new WeakMap<object, number>();
  #nextOwner = 1;

  constructor(maxMegabytes: number) {
    this.#entries = new LRUCache({
      maxSize: Math.max(1, Math.floor(maxMegabytes * 1024 * 1024)),
      sizeCalculation: ({ records }) => estimateBytes(records),
    });
  }

  get(owner: object, resource: Resource): CachedCollection | undefined {
    return this.#entries.get(this.#key(owner, resource));
  }

  /** When it was read, without counting as being asked for. */
  asOf(owner: object, resource: Resource): Date | undefined {
    return this.#entries.peek(this.#key(owner, resource))?.asOf;
  }

  set(owner: object, resource: Resource, collection: CachedCollection): void {
    this.#entries.set(this.#key(owner, resource), collection);
  }

  delete(owner: object, resource: Resource): void {
    this.#entries.delete(this.#key(owner, resource));
  }

  deleteAll(owner: object): void {
    const prefix = this.#key(owner, '' as Resource);
    for (const key of [...this.#entries.keys()]) {
      if (key.startsWith(prefix)) this.#entries.delete(key);
    }
  }

  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  #key(owner: object, resource: Resource): string {
    let number = this.#owners.get(owner);
    if (number === undefined) {
      number = this.#nextOwner++;
      this.#owners.set(owner, number);
    }
    return `${number}/${resource}`;
  }
}

/** Weighs a sample spread over the records: writing all of them out would cost more than it tells. */
function estimateBytes(records: readonly unknown[]): number {
  const step = Math.max(1, Math.floor(records.length / sampleSize));
  let characters = 0;
  let count = 0;
  for (let at = 0; at < records.length; at += step) {
    characters += JSON.stringify(records[at]).length;
    count += 1;
  }
  // One that is empty is held, too, and weighs something.
  return count === 0 ? 1 : Math.ceil((characters / count) * records.length * bytesPerCharacter);
}
