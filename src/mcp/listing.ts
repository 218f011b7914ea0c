import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import { catalog } from '../../tools/catalog.ts';
import type { Grant } from '../tenant/grants.ts';
import type { AnyTool, Toolset } from '../tool-kit/define-tool.ts';
import { toJsonSchema } from './schema.ts';
import { viewMeta } from './views.ts';

/** Everything of a tool but how it is run. */
export interface Listing {
  toolset: Toolset;
  needs: readonly Grant[];
  definition: ListedTool;
}

function toListing(tool: AnyTool): Listing {
  return {
    toolset: tool.toolset,
    needs: tool.needs,
    definition: {
      name: tool.name,
      title: tool.title,
      description: tool.description,
      inputSchema: toJsonSchema(tool.input, 'input') as ListedTool['inputSchema'],
      outputSchema: toJsonSchema(tool.output, 'output') as ListedTool['inputSchema'],
      annotations: { ...tool.hints },
      ...(tool.view ? { _meta: viewMeta(tool.view) } : {}),
    },
  };
}

/**
 * The catalogue as it is listed. The build puts the value of this in its place, so that a server that is
 * only asked what it can do loads neither the tools nor the library of their schemas.
 */
export const listings: readonly Listing[] = catalog.map(toListing);
