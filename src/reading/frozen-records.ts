import { isObject } from '../values.ts';

/** Shorter texts are shared by the parser already. */
const minLength = 11;
/** A quote, its items, and what these refer to. */
const maxDepth = 4;
/** Texts remembered at a time: most repetitions are near each other, and all ids would be a collection of their own. */
const maxTexts = 20_000;

/**
 * Prepares the records of a reading to be kept and shared: freezes them, and replaces equal texts by one, because names and
 * descriptions repeat, and each response has its own copies.
 */
export class RecordFreezer {
  readonly #known = new Map<string, string>();

  /** In place. Values that are nested deeper stay as they are. */
  freeze(record: unknown, depth = maxDepth): void {
    if (depth === 0 || Object.isFrozen(record)) return;
    if (Array.isArray(record)) for (const entry of record) this.freeze(entry, depth);
    else if (isObject(record)) this.#shareFields(record, depth);
    Object.freeze(record);
  }

  #shareFields(record: Record<string, unknown>, depth: number): void {
    for (const name in record) {
      const value = record[name];
      if (typeof value !== 'string') this.freeze(value, depth - 1);
      else if (value.length >= minLength) record[name] = this.#shared(value);
    }
  }

  #shared(text: string): string {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (this.#known.size >= maxTexts) this.#known.clear();
    this.#known.set(text, text);
    return text;
  }
}
