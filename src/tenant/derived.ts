/** Results that are computed from readings of collections, and kept as long as all of these are. */

import { setLatest } from '../state/set-latest.ts';

/** Results of the same readings. The least recently used go first. */
const maxResults = 40;

/** The results of some readings, and those of these and further ones. */
class Results {
  readonly further = new WeakMap<object, Results>();
  /** The most recently used last. */
  readonly byName = new Map<string, unknown>();
}

export class DerivedResults {
  readonly #ofNothing = new Results();

  /**
   * The result of the same name from the same readings, or that of `work`. A promise that is rejected is not kept.
   * `undefined` stands for a collection that may not be read.
   */
  get<T>(readings: readonly (object | undefined)[], name: string, work: () => T): T {
    const { byName } = this.#resultsOf(readings);
    const isKnown = byName.has(name);
    const value = isKnown ? (byName.get(name) as T) : work();
    setLatest(byName, name, value, maxResults);
    if (value instanceof Promise && !isKnown) value.catch(() => byName.delete(name));
    return value;
  }

  #resultsOf(readings: readonly (object | undefined)[]): Results {
    let results = this.#ofNothing;
    for (const reading of readings) {
      const further = results.further.get(reading ?? nothing) ?? new Results();
      results.further.set(reading ?? nothing, further);
      results = further;
    }
    return results;
  }
}

const nothing = {};
