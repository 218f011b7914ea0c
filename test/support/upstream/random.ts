const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** The same sequence for the same seed, so that a failing run can be run again. */
export interface Random {
  /** 0 ≤ x < 1 */
  next(): number;
  /** A whole number, 0 ≤ x < limit. */
  below(limit: number): number;
  pick(words: readonly string[]): string;
  /** Twenty letters and digits. */
  id(): string;
  shuffled<T>(list: readonly T[]): T[];
}

export function random(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  const pick = (words: readonly string[]) => words[below(words.length)] ?? '';
  return {
    next,
    below,
    pick,
    id: () => Array.from({ length: 20 }, () => letters.charAt(below(letters.length))).join(''),
    shuffled: (list) =>
      list
        .map((item) => ({ item, key: next() }))
        .sort((a, b) => a.key - b.key)
        .map(({ item }) => item),
  };
}

/** A number that depends on every character of the text. */
export function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193) >>> 0;
  }
  return (sum ^ (sum >>> 15)) >>> 0;
}
