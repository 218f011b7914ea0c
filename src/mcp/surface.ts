import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import type { Grant } from '../tenant/grants.ts';
import { nearestOf } from '../text/nearest.ts';
import type { AnyTool, Toolset } from '../tool-kit/define-tool.ts';
import { type Listing, listings } from './listing.ts';
import type { JsonSchema } from './schema.ts';

/** The tools that are listed where they are granted: those of the toolsets, and single ones. */
export interface ToolSelection {
  toolsets: ReadonlySet<Toolset>;
  tools: ReadonlySet<string>;
}

export interface SurfaceEntry {
  definition: ListedTool;
  input: JsonSchema;
  needs: readonly Grant[];
  /** Set by its first call. */
  tool?: Promise<AnyTool>;
}

/** The tools for one caller, in fixed order. */
export interface Surface {
  list: readonly ListedTool[];
  byName: ReadonlyMap<string, SurfaceEntry>;
}

/** The first call loads all tools. */
export async function loadTool(name: string): Promise<AnyTool> {
  const { catalog } = await import('../../tools/catalog.ts');
  const tool = catalog.find((one) => one.name === name);
  if (!tool) throw new Error(`listed, but not in the catalogue: ${name}`);
  return tool;
}

const toEntry = ({ definition, needs }: Listing): SurfaceEntry => ({
  definition,
  needs,
  input: definition.inputSchema as JsonSchema,
});

/** What a caller may use: nothing is served that none of the tools serves. */
export interface Access {
  grants: ReadonlySet<Grant>;
  surface: Surface;
}

/** What a server says of itself, and lists. It is known before the tenant is opened. */
export interface ServerDescription extends Access {
  version: string;
  /** Whether record updates are received, so that hosts can subscribe to them. */
  receivesUpdates?: boolean;
  /** The tenant is the embedded one, whose records are invented. */
  isMadeUp?: boolean;
}

/**
 * Tools that are selected and granted, in catalog order.
 * @param only the tools of the caller's access token; default all
 */
export function createSurface(
  grants: ReadonlySet<Grant>,
  { toolsets, tools }: ToolSelection,
  only?: ReadonlySet<string>,
): Surface {
  const shown = listings.filter(
    ({ toolset, needs, definition: { name } }) =>
      (toolsets.has(toolset) || tools.has(name)) &&
      needs.every((grant) => grants.has(grant)) &&
      (only === undefined || only.has(name)),
  );
  return {
    list: shown.map(({ definition }) => definition),
    byName: new Map(shown.map((listing) => [listing.definition.name, toEntry(listing)])),
  };
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
