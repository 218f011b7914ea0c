import {
  type Client,
  InMemoryTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { environmentName } from '../../src/config/settings.ts';
import { createServer } from '../../src/mcp/server.ts';
import { createSurface } from '../../src/mcp/surface.ts';
import type { CallParts } from '../../src/mcp/tool-run.ts';
import type { Tenant } from '../../src/tenant/tenant.ts';
import { toolsets } from '../../src/tool-kit/define-tool.ts';
import { type ClientOptions, connectClient } from './clients.ts';
import { closing } from './shared.ts';

export interface ConnectOptions extends ClientOptions {
  transport?: 'pipe' | 'http';
}

/** A server in this process over one tenant, with all tools. */
export interface TenantServer {
  /** The other end of a new connection, for hosts that no client of an SDK plays. */
  pipe(): Transport;
  /** Answers HTTP requests without sessions of its own. */
  fetch(request: Request): Promise<Response>;
  /** A real client, by default over a pipe; closed after the tests of the file, if it was not before. */
  connect(options?: ConnectOptions): Promise<Client>;
}

/** What a call of a server over that tenant needs; errors of our own are ignored. */
export const partsOf = (tenant: Tenant, more: Partial<CallParts> = {}): CallParts => ({
  surface: createSurface(tenant.grants, { toolsets: new Set(toolsets), tools: new Set() }),
  grants: tenant.grants,
  tenant,
  log: { failed: () => {} },
  nameOf: environmentName,
  consent: 'token',
  ...more,
});

export function serve(tenant: Tenant, more: Partial<CallParts> = {}): TenantServer {
  const parts = partsOf(tenant, more);
  const make = () => createServer(parts);
  const pipe = (): Transport => {
    const [mine, theirs] = InMemoryTransport.createLinkedPair();
    const transport = theirs as NonNullable<Parameters<typeof serveStdio>[1]>['transport'];
    closing(serveStdio(make, transport === undefined ? {} : { transport }));
    return mine;
  };
  let handler: ReturnType<typeof createMcpHandler> | undefined;
  const fetch = (request: Request): Promise<Response> => {
    handler ??= closing(createMcpHandler(make));
    return handler.fetch(request);
  };
  const overHttp = () =>
    new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
      fetch: (input, init) => fetch(new Request(input, init)),
    });
  return {
    pipe,
    fetch,
    connect: async ({ transport = 'pipe', ...options } = {}) =>
      closing(await connectClient(transport === 'pipe' ? pipe() : overHttp(), options)),
  };
}
