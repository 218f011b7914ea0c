/** Amounts at equal distances as the points of an SVG polyline; the axis begins at 0, so that no small change looks large. */
export function pointsOf(
  amounts: readonly number[],
  { width, height }: { width: number; height: number },
): string {
  const [low, high] = [Math.min(...amounts, 0), Math.max(...amounts, 0)];
  const inset = 2;
  const space = height - 2 * inset;
  const step = width / Math.max(1, amounts.length - 1);
  const places = amounts.map((amount, at) => {
    const share = high > low ? (amount - low) / (high - low) : 0;
    return `${round(at * step)},${round(height - inset - share * space)}`;
  });
  return places.join(' ');
}

const round = (value: number): number => Math.round(value * 100) / 100;

/** Width of a bar in percent; amounts above 0 stay visible. */
export const shareOf = (amount: number, most: number): number =>
  most <= 0 || amount <= 0 ? 0 : Math.max(1, (amount / most) * 100);
