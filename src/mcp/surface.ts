import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import { catalog } from '../../tools/catalog.ts';
import type { AnyTool, Toolset } from '../../tools/define.ts';
import type { Grant } from '../tenant/grants.ts';
import { type JsonSchema, toJsonSchema } from './schema.ts';

interface Entry {
  tool: AnyTool;
  input: JsonSchema;
  listed: ListedTool;
}

/** The tools that one set of grants and toolsets shows; the same, in the same order, for its whole life. */
export interface Surface {
  list: readonly ListedTool[];
  find(name: string): Entry | undefined;
}

const entries = new WeakMap<AnyTool, Entry>();

/** Derived from the tool alone, so it is made once for the process. */
function entryOf(tool: AnyTool): Entry {
  let entry = entries.get(tool);
  if (!entry) {
    const input = toJsonSchema(tool.input, 'input');
    entry = { tool, input, listed: listingOf(tool, input) };
    entries.set(tool, entry);
  }
  return entry;
}

function listingOf(tool: AnyTool, input: JsonSchema): ListedTool {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: input as ListedTool['inputSchema'],
    outputSchema: toJsonSchema(tool.output, 'output') as ListedTool['inputSchema'],
    annotations: { ...tool.hints },
  };
}

/** What is asked for and may be used, in the catalogue's order. */
export function surfaceOf(grants: ReadonlySet<Grant>, toolsets: ReadonlySet<Toolset>): Surface {
  const shown = catalog.filter(
    (tool) => toolsets.has(tool.toolset) && tool.needs.every((grant) => grants.has(grant)),
  );
  const byName = new Map(shown.map((tool) => [tool.name, entryOf(tool)]));
  return {
    list: [...byName.values()].map((entry) => entry.listed),
    find: (name) => byName.get(name),
  };
}
