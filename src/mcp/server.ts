import { Server, type ServerContext } from '@modelcontextprotocol/server';
import { type CallParts, callTool, toolCall } from './calls.ts';
import { complete } from './completion.ts';
import { instructions } from './instructions.ts';
import { getPrompt, listPrompts } from './prompts.ts';
import { listResources, listTemplates, readResource } from './resources.ts';

export interface ServerParts extends CallParts {
  version: string;
}

const hour = 3_600_000;
/** The lists never change while the server runs, but may differ with what a caller is allowed. */
const longLived = { ttlMs: hour, cacheScope: 'private' as const };

/**
 * A protocol server over one tenant; cheap, because over HTTP there is one for every request. It keeps
 * nothing: what lives longer is in the parts.
 */
export function createServer(parts: ServerParts): Server {
  const { surface, tenant, version } = parts;
  const server = new Server(
    { name: 'cpq-mcp', title: 'Quotes and pipeline', version },
    {
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
      instructions,
      cacheHints: {
        'tools/list': longLived,
        'prompts/list': longLived,
        'resources/list': longLived,
        'resources/templates/list': longLived,
        'server/discover': longLived,
      },
    },
  );
  const call = (ctx: ServerContext) => toolCall(parts, server, ctx, undefined);
  server.setRequestHandler('tools/list', () => ({ tools: [...surface.list] }));
  server.setRequestHandler('tools/call', ({ params }, ctx) => callTool(parts, server, params, ctx));
  server.setRequestHandler('resources/list', listResources);
  server.setRequestHandler('resources/templates/list', () => listTemplates(tenant));
  server.setRequestHandler('resources/read', ({ params }, ctx) =>
    readResource(tenant, params.uri, call(ctx)),
  );
  server.setRequestHandler('prompts/list', () => listPrompts(tenant));
  server.setRequestHandler('prompts/get', ({ params }) =>
    getPrompt(tenant, params.name, params.arguments),
  );
  server.setRequestHandler('completion/complete', ({ params }, ctx) =>
    complete(tenant, params, call(ctx)),
  );
  return server;
}
