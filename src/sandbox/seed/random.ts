const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Hashes a text into the four numbers that the generator starts from (xmur3). */
function hash(text: string): () => number {
  let h = 1779033703 ^ text.length;
  for (let at = 0; at < text.length; at++) {
    h = Math.imul(h ^ text.charCodeAt(at), 3432918353);
    h = (h << 13) | (h >>> 19);
  }
  return () => {
    h = Math.imul(h ^ (h >>> 16), 2246822507);
    h = Math.imul(h ^ (h >>> 13), 3266489909);
    h ^= h >>> 16;
    return h >>> 0;
  };
}

/** The sfc32 generator: small, fast and deterministic. */
function sfc32(next: () => number): () => number {
  let [a, b, c, d] = [next(), next(), next(), next()];
  return () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return (t >>> 0) / 4294967296;
  };
}

/** Random choices that repeat for the same seed text. */
export class Random {
  readonly #seed: string;
  readonly #next: () => number;

  constructor(seed: string) {
    this.#seed = seed;
    this.#next = sfc32(hash(seed));
  }

  /** A separate generator for one part of the data, so that changes in one part do not affect others. */
  fork(part: string): Random {
    return new Random(`${this.#seed}/${part}`);
  }

  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.#next() * (high - low + 1));
  }

  /** A number with two decimals from `low` up to `high`. */
  amount(low: number, high: number): number {
    return cents(low + this.#next() * (high - low));
  }

  chance(probability: number): boolean {
    return this.#next() < probability;
  }

  /** @throws RangeError when there is nothing to pick from. */
  pick<T>(values: readonly T[]): T {
    const value = values[Math.floor(this.#next() * values.length)];
    if (value === undefined) throw new RangeError('Nothing to pick from');
    return value;
  }

  weighted<T>(choices: readonly (readonly [T, number])[]): T {
    const total = choices.reduce((sum, [, weight]) => sum + weight, 0);
    let left = this.#next() * total;
    for (const [value, weight] of choices) {
      left -= weight;
      if (left < 0) return value;
    }
    return this.pick(choices)[0];
  }

  /** Up to `count` different values. */
  some<T>(values: readonly T[], count: number): T[] {
    const left = [...values];
    return Array.from({ length: Math.min(count, left.length) }, () =>
      left.splice(this.int(0, left.length - 1), 1),
    ).flat();
  }

  /** An opaque identifier of 20 letters and digits. */
  id(): string {
    let text = '';
    for (let at = 0; at < 20; at++) text += LETTERS.charAt(this.int(0, 61));
    return text;
  }
}

export function cents(value: number): number {
  return Math.round(value * 100) / 100;
}
