import type { Toolset } from '../tool-kit/define-tool.ts';
import { listings } from './listing.ts';

/** The tools that are listed where they are granted: those of the toolsets, and single ones. */
export interface ToolSelection {
  toolsets: ReadonlySet<Toolset>;
  tools: ReadonlySet<string>;
}

const toolNames: readonly string[] = listings.map(({ definition }) => definition.name);

/**
 * Checks exact names of tools.
 * @throws RangeError that names the nearest tool for each unknown name
 */
export function parseToolNames(names: readonly string[]): ReadonlySet<string> {
  const unknown = names.filter((name) => !toolNames.includes(name));
  if (unknown.length === 0) return new Set(names);
  const nearest = [...new Set(unknown.map(nearestTool))].join(', ');
  throw new RangeError(`unknown: ${unknown.join(', ')}. Nearest: ${nearest}`);
}

/** The names of the tools in a toolset. */
export const toolsIn = (toolset: Toolset): string[] =>
  listings.filter((one) => one.toolset === toolset).map(({ definition }) => definition.name);

function nearestTool(name: string): string {
  const by = (other: string) => editDistance(name.toLowerCase(), other);
  return toolNames.reduce((best, other) => (by(other) < by(best) ? other : best));
}

/** How many letters have to be added, removed or replaced (Levenshtein). */
function editDistance(from: string, to: string): number {
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
