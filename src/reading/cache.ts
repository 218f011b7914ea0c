import { BoundedMap } from '../containers.ts';

/** An entry, and whose results count with it. */
interface CacheEntry {
  readonly value: object;
  /** What results are derived from, such as the records of a collection. */
  readonly reading: object;
}

const sampleSize = 40;
/** Of a parsed record in memory, for each character of its JSON: 1.1 to 1.7 were measured. */
const bytesPerCharacter = 2;

/**
 * What is kept in memory of the records of all tenants of a process, up to a number of bytes: the least recently used is
 * dropped. What is derived from a collection counts too.
 */
export class CollectionCache {
  readonly #entries: BoundedMap<string, CacheEntry>;
  /** Keys, not entries: an entry refers to its records, and V8 frees such cycles of a weak map late. */
  readonly #keyOfReading = new WeakMap<object, string>();
  #parts = 0;

  constructor(maxMegabytes: number) {
    this.#entries = new BoundedMap(maxMegabytes * 1024 * 1024);
  }

  /** A part with names of its own: no name leads to another tenant's. */
  part<T extends object>(): CachePart<T> {
    this.#parts += 1;
    return new CachePart(this.#entries, this.#keyOfReading, `${this.#parts}/`);
  }

  /**
   * Counts a result that is kept as long as these readings are, with the first of them that is cached.
   * @returns a function to call when the result is dropped
   */
  countDerived(readings: readonly (object | undefined)[], bytes: number): () => void {
    const reading = readings.find((each) => each && this.#keyOf(each) !== undefined);
    const resize = (by: number) => {
      const key = reading && this.#keyOf(reading);
      if (key !== undefined) this.#entries.resize(key, by);
    };
    resize(bytes);
    return () => resize(-bytes);
  }

  get bytes(): number {
    return this.#entries.size;
  }

  /** The key of these records, if they are cached. */
  #keyOf(reading: object): string | undefined {
    const key = this.#keyOfReading.get(reading);
    return key !== undefined && this.#entries.peek(key)?.reading === reading ? key : undefined;
  }
}

/** The cached values of one owner, by name. */
export class CachePart<T extends object> {
  readonly #entries: BoundedMap<string, CacheEntry>;
  readonly #keyOfReading: WeakMap<object, string>;
  readonly #prefix: string;

  constructor(
    entries: BoundedMap<string, CacheEntry>,
    keyOfReading: WeakMap<object, string>,
    prefix: string,
  ) {
    this.#entries = entries;
    this.#keyOfReading = keyOfReading;
    this.#prefix = prefix;
  }

  get(name: string): T | undefined {
    return this.#entries.get(this.#prefix + name)?.value as T | undefined;
  }

  /** This does not count as a use. */
  peek(name: string): T | undefined {
    return this.#entries.peek(this.#prefix + name)?.value as T | undefined;
  }

  /**
   * @param reading what results are derived from
   * @returns false if it alone is larger than the cache; then it is not kept
   */
  set(name: string, value: T, bytes: number, reading: object = value): boolean {
    const key = this.#prefix + name;
    this.#keyOfReading.set(reading, key);
    return this.#entries.set(key, { value, reading }, bytes);
  }

  delete(name: string): void {
    this.#entries.delete(this.#prefix + name);
  }

  /** Deletes the entries whose name passes; default: all. */
  clear(passes: (name: string) => boolean = () => true): void {
    const prefix = this.#prefix;
    this.#entries.clear((key) => key.startsWith(prefix) && passes(key.slice(prefix.length)));
  }
}

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
