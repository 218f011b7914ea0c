import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import type { Grant } from '../tenant/grants.ts';
import type { AnyTool } from '../tool-kit/define-tool.ts';
import { type Listing, listings } from './listing.ts';
import type { JsonSchema } from './schema.ts';
import type { ToolSelection } from './tool-selection.ts';

export interface SurfaceEntry {
  definition: ListedTool;
  input: JsonSchema;
  needs: readonly Grant[];
  /** Loads the tool; the first call loads all tools. */
  tool(): Promise<AnyTool>;
}

/** The tools for one caller, in fixed order. */
export interface Surface {
  list: readonly ListedTool[];
  find(name: string): SurfaceEntry | undefined;
}

async function loadTool(name: string): Promise<AnyTool> {
  const { toolByName } = await import('../../tools/catalog.ts');
  const tool = toolByName.get(name);
  if (!tool) throw new Error(`listed, but not in the catalogue: ${name}`);
  return tool;
}

function toEntry({ definition, needs }: Listing): SurfaceEntry {
  let tool: Promise<AnyTool> | undefined;
  const load = () => {
    tool ??= loadTool(definition.name);
    return tool;
  };
  return { definition, needs, input: definition.inputSchema as JsonSchema, tool: load };
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
  const byName = new Map(shown.map((listing) => [listing.definition.name, toEntry(listing)]));
  return {
    list: shown.map(({ definition }) => definition),
    find: (name) => byName.get(name),
  };
}

export const isReading = ({ definition }: SurfaceEntry): boolean =>
  definition.annotations?.readOnlyHint === true;

/** The tools whose rows can be exported. */
export const exportedTools = ({ list, find }: Surface): string[] =>
  list.flatMap(({ name }) => {
    const entry = find(name);
    return entry && isReading(entry) ? [name] : [];
  });
