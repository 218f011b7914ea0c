/** How many letters have to be added, removed or replaced (Levenshtein). */
export function editDistance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [row, letter] of [...from].entries()) {
    const line = [row + 1];
    for (let at = 0; at < to.length; at++) {
      const replaced = (above[at] ?? 0) + (to[at] === letter ? 0 : 1);
      line.push(Math.min(replaced, (above[at + 1] ?? 0) + 1, (line[at] ?? 0) + 1));
    }
    above = line;
  }
  return above.at(-1) ?? 0;
}

/** The most similar of these names. */
export const nearestOf = (name: string, names: readonly string[]): string | undefined =>
  names
    .map((other) => ({ other, distance: editDistance(name, other) }))
    .sort((one, two) => one.distance - two.distance)[0]?.other;
