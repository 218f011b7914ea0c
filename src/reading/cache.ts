import { BoundedMap } from '../containers.ts';
import type { Collection } from './coverage.ts';
import type { Basis } from './update.ts';

export interface CachedCollection extends Collection<Record<string, unknown>> {
  /** From which it can be brought up to date; absent where the records do not say when they changed. */
  basis?: Basis;
  /** It has changed since: it may be brought up to date, but not be returned as it is. */
  isOutdated?: boolean;
}

/** Milliseconds since something was read; endless if that is in the future, since the clock was set back. */
export function ageOf(asOf: Date): number {
  const ageMs = Date.now() - asOf.getTime();
  return ageMs < 0 ? Number.POSITIVE_INFINITY : ageMs;
}

const sampleSize = 40;
/** Of a parsed record in memory, for each character of its JSON: 1.1 to 1.7 were measured. */
const bytesPerCharacter = 2;

/** Of all tenants of a process, with what is derived from them; the least recently used is dropped. */
export class CollectionCache {
  readonly #entries: BoundedMap<string, CachedCollection>;
  /** By records. Keys, not entries: an entry refers to its records, and V8 frees such cycles of a weak map late. */
  readonly #keys = new WeakMap<object, string>();
  #parts = 0;

  constructor(maxMegabytes: number) {
    this.#entries = new BoundedMap(maxMegabytes * 1024 * 1024);
  }

  /** The collections of one tenant, by names of its own: none leads to another tenant's. */
  part() {
    this.#parts += 1;
    const prefix = `${this.#parts}/`;
    const entries = this.#entries;
    const keys = this.#keys;
    return {
      get: (name: string) => entries.get(prefix + name),
      /** This does not count as a use. */
      peek: (name: string) => entries.peek(prefix + name),
      /** @returns false if it alone is larger than the cache; then it is not kept */
      set(name: string, collection: CachedCollection, bytes: number): boolean {
        keys.set(collection.records, prefix + name);
        return entries.set(prefix + name, collection, bytes);
      },
      clear: (passes: (name: string) => boolean) =>
        entries.clear((key) => key.startsWith(prefix) && passes(key.slice(prefix.length))),
    };
  }

  /**
   * Counts a result that is kept as long as these readings are, with the first of them that is cached.
   * @returns a function to call when the result is dropped
   */
  countDerived(readings: readonly (object | undefined)[], bytes: number): () => void {
    const isCached = (reading: object | undefined) =>
      reading !== undefined &&
      this.#entries.peek(this.#keys.get(reading) ?? '')?.records === reading;
    const reading = readings.find(isCached);
    const resize = (by: number) => {
      if (reading && isCached(reading)) this.#entries.resize(this.#keys.get(reading) ?? '', by);
    };
    resize(bytes);
    return () => resize(-bytes);
  }

  get bytes(): number {
    return this.#entries.size;
  }
}

export type CachePart = ReturnType<CollectionCache['part']>;

/** Estimated from a sample: to serialize all records would cost more than the figure is worth. */
export function estimateBytes(records: readonly unknown[]): number {
  const step = Math.max(1, Math.floor(records.length / sampleSize));
  let characters = 0;
  let count = 0;
  for (let at = 0; at < records.length; at += step) {
    characters += JSON.stringify(records[at]).length;
    count += 1;
  }
  return count === 0 ? 0 : Math.ceil((characters / count) * records.length * bytesPerCharacter);
}
