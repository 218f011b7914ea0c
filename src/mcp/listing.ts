import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import { catalog } from '../../tools/catalog.ts';
import type { Grant } from '../tenant/grants.ts';
import type { AnyTool, Toolset } from '../tool-kit/define-tool.ts';
import { type JsonSchema, toJsonSchema } from './schema.ts';
import { viewMeta } from './views.ts';

/** A tool without its implementation. */
export interface Listing {
  toolset: Toolset;
  needs: readonly Grant[];
  view: AnyTool['view'];
  definition: ListedTool & { inputSchema: JsonSchema };
}

const schemaOf = (...of: Parameters<typeof toJsonSchema>) =>
  toJsonSchema(...of) as Listing['definition']['inputSchema'];

function toListing(tool: AnyTool): Listing {
  return {
    toolset: tool.toolset,
    needs: tool.needs,
    view: tool.view,
    definition: {
      name: tool.name,
      title: tool.title,
      description: tool.description,
      inputSchema: schemaOf(tool.input, 'input'),
      outputSchema: schemaOf(tool.output, 'output'),
      annotations: { ...tool.hints },
      ...(tool.view ? { _meta: viewMeta(tool.view, tool.forView) } : {}),
    },
  };
}

/** The build replaces this module by its value, so that listing tools loads neither the tools nor zod. */
export const listings: readonly Listing[] = catalog.map(toListing);
