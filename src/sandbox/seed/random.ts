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

  /** A number whose logarithm is normally distributed: half are below the median, few far above. */
  logNormal(median: number, sigma: number): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.#next()));
    return median * Math.exp(sigma * radius * Math.cos(2 * Math.PI * this.#next()));
  }

  /** As `amount`, but numbers in the middle are more likely. */
  middling(low: number, high: number): number {
    return cents(low + ((this.#next() + this.#next()) / 2) * (high - low));
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
    return this.weighing(choices)();
  }

  /** Picks by weight, again and again. */
  weighing<T>(choices: readonly (readonly [T, number])[]): () => T {
    let total = 0;
    const ends = choices.map(([, weight]) => (total += weight));
    return () => {
      const at = this.#next() * total;
      return (choices[ends.findIndex((end) => end > at)] ?? this.pick(choices))[0];
    };
  }

  /** Up to `count` different values. */
  some<T>(values: readonly T[], count: number): T[] {
    const left = [...values];
    const taken: T[] = [];
    while (taken.length < count && left.length > 0) {
      const at = this.int(0, left.length - 1);
      taken.push(...left.slice(at, at + 1));
      // The order of what is left does not matter, and moving one value is faster than moving all behind it.
      const last = left.pop();
      if (at < left.length && last !== undefined) left[at] = last;
    }
    return taken;
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

/**
 * Chooses as many as the probabilities add up to, without random variation: of 20 deals with a probability of 0.4 eight
 * are won.
 */
export class Quota {
  #sum = 0.5;

  /** If this one is not possible, a later one is chosen instead. */
  next(probability: number, isPossible = true): boolean {
    this.#sum += probability;
    const isChosen = isPossible && this.#sum >= 1;
    if (isChosen) this.#sum -= 1;
    return isChosen;
  }
}

/** As many different texts as asked for: the plain ones in random order, then those again, each in a further version. */
export function uniqueNames<T extends { name: string }>(
  random: Random,
  plain: readonly T[],
  count: number,
  versionOf: (pass: number) => string | number = (pass) => pass + 1,
): T[] {
  const shuffled = random.some(plain, plain.length);
  return Array.from({ length: count }, (_, at) => {
    const pass = Math.floor(at / shuffled.length);
    const named = shuffled[at % shuffled.length] ?? random.pick(plain);
    return pass === 0 ? named : { ...named, name: `${named.name} ${versionOf(pass)}` };
  });
}

export function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group) group.push(value);
    else groups.set(keyOf(value), [value]);
  }
  return groups;
}
