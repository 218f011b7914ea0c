/** Of numbers in any order. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Of the quotients of what was measured side by side: what slows the machine slows both. */
export const pairedMedian = (ours, others) => median(ours.map((value, at) => value / others[at]));

export const minimum = (numbers) => Math.min(...numbers);
export const maximum = (numbers) => Math.max(...numbers);
export const rounded = (number, digits = 2) => Number(number.toFixed(digits));
