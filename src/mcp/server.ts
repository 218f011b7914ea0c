import { Server } from '@modelcontextprotocol/server';
import { type CallParts, callTool } from './calls.ts';
import { instructions } from './instructions.ts';

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
  const { surface, version } = parts;
  const server = new Server(
    { name: 'cpq-mcp', title: 'Quotes and pipeline', version },
    {
      capabilities: { tools: {}, resources: {}, prompts: {} },
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
  server.setRequestHandler('tools/list', () => ({ tools: [...surface.list] }));
  server.setRequestHandler('tools/call', ({ params }, ctx) => callTool(parts, server, params, ctx));
  server.setRequestHandler('resources/list', () => ({ resources: [] }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('prompts/list', () => ({ prompts: [] }));
  return server;
}
