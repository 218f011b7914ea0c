import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import type { Grant } from '../tenant/grants.ts';
import { nearestOf } from '../text/nearest.ts';
import type { AnyTool, Toolset } from '../tool-kit/define-tool.ts';
import { fieldOf } from '../values.ts';
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
  /** The same, with the tools that views call and models do not, for hosts that show views. */
  listWithViews: readonly ListedTool[];
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

/** Whether only views call a tool: it answers what a tool that writes asked a person in a view. */
export const isForView = ({ _meta }: ListedTool): boolean =>
  fieldOf(_meta?.ui, 'visibility') !== undefined;

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
    ({ toolset, needs, definition }) =>
      !isForView(definition) &&
      (toolsets.has(toolset) || tools.has(definition.name)) &&
      needs.every((grant) => grants.has(grant)) &&
      (only === undefined || only.has(definition.name)),
  );
  const writes = shown.some(({ definition }) => !definition.annotations?.readOnlyHint);
  const forViews = listings.filter(({ definition }) => writes && isForView(definition));
  const all = [...shown, ...forViews];
  return {
    list: shown.map(({ definition }) => definition),
    listWithViews: all.map(({ definition }) => definition),
    byName: new Map(all.map((listing) => [listing.definition.name, toEntry(listing)])),
  };
}

const toolNames: readonly string[] = listings
  .filter(({ definition }) => !isForView(definition))
  .map(({ definition }) => definition.name);

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
  listings
    .filter((one) => one.toolset === toolset && !isForView(one.definition))
    .map(({ definition }) => definition.name);
