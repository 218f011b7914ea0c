/** Amounts at equal distances as the points of an SVG polyline, from the lowest at the bottom to the highest at the top. */
export function pointsOf(
  amounts: readonly number[],
  { width, height }: { width: number; height: number },
): string {
  const [low, high] = [Math.min(...amounts), Math.max(...amounts)];
  const inset = 2;
  const space = height - 2 * inset;
  const step = width / Math.max(1, amounts.length - 1);
  const places = amounts.map((amount, at) => {
    const share = high > low ? (amount - low) / (high - low) : 0.5;
    return `${round(at * step)},${round(height - inset - share * space)}`;
  });
  return places.join(' ');
}

const round = (value: number): number => Math.round(value * 100) / 100;
