import { Server } from '@modelcontextprotocol/server';
import type { Tenant } from '../tenant/tenant.ts';
import { type CallLog, callTool } from './calls.ts';
import { instructions } from './instructions.ts';
import type { Surface } from './surface.ts';

export interface ServerParts {
  surface: Surface;
  tenant: Tenant;
  version: string;
  log: CallLog;
}

const hour = 3_600_000;
/** The lists never change while the server runs, but may differ with what a caller is allowed. */
const longLived = { ttlMs: hour, cacheScope: 'private' as const };

/**
 * A protocol server over one tenant; cheap, because over HTTP there is one for every request. It keeps
 * nothing: what lives longer is in the parts.
 */
export function createServer({ surface, tenant, version, log }: ServerParts): Server {
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
  server.setRequestHandler('tools/call', ({ params }, ctx) =>
    callTool(surface, tenant, params, ctx, log),
  );
  server.setRequestHandler('resources/list', () => ({ resources: [] }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('prompts/list', () => ({ prompts: [] }));
  return server;
}
