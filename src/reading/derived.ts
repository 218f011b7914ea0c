/** Results that are computed from readings of collections, and kept as long as all of these are. */

import { BoundedMap } from '../containers.ts';

/** Results of the same readings. The least recently used go first. */
const maxResults = 40;

/** Of an entry of a map of names; rounded up. */
const bytesOfEntry = 100;
const bytesOfMap = (value: unknown): number =>
  value instanceof Map ? value.size * bytesOfEntry : 0;

/** Of a record in memory that is a copy of another with some fields replaced; measured, and rounded up. */
const bytesOfCopy = 400;

interface Result {
  readonly value: unknown;
  /** Stops counting its memory. */
  release: () => void;
}

/** The results of some readings, and those of these and further ones. */
class Results {
  readonly further = new WeakMap<object, Results>();
  readonly byName = new BoundedMap<string, Result>(maxResults, ({ release }) => release());
}

type Readings = readonly (object | undefined)[];

export class DerivedResults {
  readonly #ofNothing = new Results();
  /** The readings of which others are versions, such as the same records with their references named. */
  readonly #originals = new WeakMap<object, object>();
  readonly #count: (readings: Readings, bytes: number) => () => void;

  /** @param count counts the memory of a result, and returns a function that stops counting it */
  constructor(count: (readings: Readings, bytes: number) => () => void) {
    this.#count = count;
  }

  /**
   * The result of the same name from the same readings, or that of `work`. A promise that is rejected is not kept.
   * `undefined` stands for a collection that may not be read.
   * @param bytesOf estimates the memory of the result; default: of a map, its entries; of others too little to be counted
   */
  get<T>(
    readings: Readings,
    name: string,
    work: () => T,
    bytesOf: (result: Awaited<T>) => number = bytesOfMap,
  ): T {
    const { byName } = this.#resultsOf(readings);
    const known = byName.get(name);
    if (known) return known.value as T;
    const value = work();
    const result: Result = { value, release: () => {} };
    byName.set(name, result);
    const count = (settled: Awaited<T>) => {
      if (byName.peek(name) !== result) return;
      const originals = readings.map((each) => this.#original(each));
      result.release = this.#count(originals, bytesOf(settled));
    };
    if (value instanceof Promise) value.then(count, () => byName.delete(name));
    else count(value as Awaited<T>);
    return value;
  }

  /**
   * Another version of the records of the first reading, by `get`. What is derived from it is counted with that reading.
   * @param work returns these records themselves where there is nothing to change
   */
  async version<T extends object>(
    [records, ...others]: readonly [readonly T[], ...Readings],
    name: string,
    work: () => Promise<readonly T[]>,
  ): Promise<readonly T[]> {
    const bytesOf = (version: readonly T[]) =>
      version === records ? 0 : version.length * bytesOfCopy;
    const found = await this.get([records, ...others], name, work, bytesOf);
    if (found !== records) this.#originals.set(found, this.#original(records));
    return found;
  }

  #original<T extends object | undefined>(reading: T): object | T {
    return (reading && this.#originals.get(reading)) ?? reading;
  }

  #resultsOf(readings: Readings): Results {
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
