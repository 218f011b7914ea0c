/** The middle of some numbers, or the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

/** `places` decimals, half up; `undefined` without any. */
export function meanDays(days: readonly number[], places = 0): number | undefined {
  if (days.length === 0) return undefined;
  const sum = days.reduce((total, one) => total + one, 0);
  return Math.round((sum * 10 ** places) / days.length) / 10 ** places;
}

/** `n`: how many are known. */
export const daySpread = (days: readonly number[]) =>
  days.length === 0 ? undefined : { median: median(days), mean: meanDays(days, 1), n: days.length };
