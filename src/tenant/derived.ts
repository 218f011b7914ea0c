/** Results that are computed from readings of collections and kept as long as these. */

interface Kept {
  from: readonly object[];
  value: unknown;
}

/** Results of one reading. The least recently used go first. */
const maxResults = 40;

export class DerivedResults {
  /** By the first of the readings, so that its results go with it. */
  readonly #results = new WeakMap<object, Map<string, Kept>>();

  /**
   * The result of the same name from the same readings, or that of `work`. A promise that is rejected is not kept.
   * `undefined` stands for a collection that may not be read.
   */
  get<T>(readings: readonly (object | undefined)[], name: string, work: () => T): T {
    const from = readings.map((reading) => reading ?? nothing);
    const [first = nothing] = from;
    const results = this.#results.get(first) ?? new Map<string, Kept>();
    this.#results.set(first, results);
    const known = results.get(name);
    const isSame = known?.from.every((reading, at) => reading === from[at]);
    const value = known && isSame ? (known.value as T) : work();
    results.delete(name);
    results.set(name, { from, value });
    const [oldest] = results.keys();
    if (results.size > maxResults && oldest !== undefined) results.delete(oldest);
    if (value instanceof Promise && !isSame) value.catch(() => results.delete(name));
    return value;
  }
}

const nothing = {};
