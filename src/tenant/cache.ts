import type { Resource } from '../api/records.ts';
import type { Coverage } from './reading/coverage.ts';

export interface Held {
  records: readonly Record<string, unknown>[];
  coverage: Coverage;
  asOf: Date;
}

interface Entry {
  held: Held;
  bytes: number;
}

const sampled = 40;
/** Of a parsed record in memory, for each character of its JSON; measured, and rounded up. */
const bytesPerCharacter = 3;

/**
 * Holds collections of all tenants of a process up to a number of bytes; the one that was not asked for
 * the longest goes first. Entries belong to the object that put them there: no name, and so no mistake
 * in one, leads to another tenant's.
 */
export class CollectionCache {
  readonly #maxBytes: number;
  /** In order of use, the latest last. */
  readonly #entries = new Map<string, Entry>();
  readonly #owners = new WeakMap<object, number>();
  #bytes = 0;
  #nextOwner = 1;

  constructor(maxMegabytes: number) {
    this.#maxBytes = maxMegabytes * 1024 * 1024;
  }

  get(owner: object, resource: Resource): Held | undefined {
    const key = this.#key(owner, resource);
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.held;
  }

  /** When it was read, without counting as being asked for. */
  asOf(owner: object, resource: Resource): Date | undefined {
    return this.#entries.get(this.#key(owner, resource))?.held.asOf;
  }

  set(owner: object, resource: Resource, held: Held): void {
    this.delete(owner, resource);
    const bytes = weigh(held.records);
    // It would drive out all the others, and then itself.
    if (bytes > this.#maxBytes) return;
    this.#entries.set(this.#key(owner, resource), { held, bytes });
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
    const prefix = this.#key(owner, '' as Resource);
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
    let number = this.#owners.get(owner);
    if (number === undefined) {
      number = this.#nextOwner++;
      this.#owners.set(owner, number);
    }
    return `${number}/${resource}`;
  }
}

/** Weighs a sample spread over the records: writing all of them out would cost more than it tells. */
function weigh(records: readonly unknown[]): number {
  const step = Math.max(1, Math.floor(records.length / sampled));
  let characters = 0;
  let count = 0;
  for (let at = 0; at < records.length; at += step) {
    characters += JSON.stringify(records[at]).length;
    count += 1;
  }
  return count === 0 ? 0 : Math.ceil((characters / count) * records.length * bytesPerCharacter);
}
