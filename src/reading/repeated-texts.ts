import { isObject } from '../values.ts';

/** Shorter texts are shared by the parser already. */
const minLength = 11;
/** A quote, its items, and what these refer to. */
const maxDepth = 4;
/** Texts remembered at a time: most repetitions are near each other, and all ids would be a collection of their own. */
const maxTexts = 20_000;

/** Replaces equal texts of records by one: names and descriptions repeat, and each response has its own copies. */
export class RepeatedTexts {
  readonly #known = new Map<string, string>();

  /** In place. */
  shareIn(record: unknown, depth = maxDepth): void {
    if (depth === 0) return;
    if (Array.isArray(record)) for (const entry of record) this.shareIn(entry, depth);
    else if (isObject(record)) this.#shareFields(record, depth);
  }

  #shareFields(record: Record<string, unknown>, depth: number): void {
    for (const name in record) {
      const value = record[name];
      if (typeof value !== 'string') this.shareIn(value, depth - 1);
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
