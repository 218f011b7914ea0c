/** The median of numbers in any order. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The median quotient of values measured side by side, so that a slow machine affects both. */
export const pairedMedian = (values, baseline) =>
  median(values.map((value, at) => value / baseline[at]));

export const minimum = (numbers) => Math.min(...numbers);
export const maximum = (numbers) => Math.max(...numbers);
export const rounded = (number, digits = 2) => Number(number.toFixed(digits));
