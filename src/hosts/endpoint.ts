import type { McpServer, Server } from '@modelcontextprotocol/server';
import type { Connection } from '../mcp/resource-updates.ts';
import type { ServerParts } from '../mcp/server.ts';
import type { ServerDescription } from '../mcp/surface.ts';
import type { CallParts } from '../mcp/tool-run.ts';

/** A server factory for hosts that use the SDK only. */
export interface SdkEndpoint {
  server(connection?: Connection): Promise<Server | McpServer>;
  /** Calls the listener with the URI of every updated resource. @returns a function that unsubscribes */
  onResourceUpdated(listener: (uri: string) => void): () => void;
  /** Aborted when the tenant is closed: open streams must end. */
  closed?: AbortSignal;
}

/** What serves one client over a connection. The tenant is opened when it is first needed. */
export interface LineEndpoint extends Pick<SdkEndpoint, 'server'> {
  description: ServerDescription;
  callParts(): Promise<CallParts>;
}

/** The parts of a server, and a factory for the SDK's server, which is loaded on first use. */
export interface TenantEndpoint extends SdkEndpoint {
  parts: ServerParts;
}
