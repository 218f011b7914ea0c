import { nearestOf } from '../text/nearest.ts';
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
  const nearest = [
    ...new Set(unknown.map((name) => nearestOf(name.toLowerCase(), toolNames))),
  ].join(', ');
  throw new RangeError(`unknown: ${unknown.join(', ')}. Nearest: ${nearest}`);
}

/** The names of the tools in a toolset. */
export const toolsIn = (toolset: Toolset): string[] =>
  listings.filter((one) => one.toolset === toolset).map(({ definition }) => definition.name);
