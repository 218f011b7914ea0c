/** Fields of answers: what is unknown, blank, empty or zero is left out. */

/** Makes fields that may be `undefined` optional. */
export type Compact<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Removes every field that is `undefined`. */
export function compact<T extends object>(fields: T): Compact<T> {
  const kept: Record<string, unknown> = {};
  for (const name in fields) if (fields[name] !== undefined) kept[name] = fields[name];
  return kept as Compact<T>;
}

/** A text without the space around it; `undefined` when it is blank, or no text. */
export const nonBlank = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.trim() || undefined : undefined;

/** A count, or `undefined` when it is 0, because zero counts are omitted. */
export const nonZero = (count: number): number | undefined => count || undefined;

/** Counts by reason without zeros; `undefined` when none remain. */
export function nonZeroCounts<K extends string>(
  counts: Readonly<Record<K, number>>,
): Partial<Record<K, number>> | undefined {
  const kept = Object.entries<number>(counts).filter(([, count]) => count > 0);
  return nonEmpty(Object.fromEntries(kept) as Partial<Record<K, number>>);
}

export const nonEmpty = <T extends object>(fields: T): T | undefined =>
  Object.keys(fields).length > 0 ? fields : undefined;
