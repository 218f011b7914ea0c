import type { McpServer, Server } from '@modelcontextprotocol/server';
import type { ServerParts } from '../mcp/server.ts';
import type { Connection } from '../mcp/subscriptions.ts';

/** What is plugged in where the SDK answers everything. */
export interface SdkEndpoint {
  server(connection?: Connection): Promise<Server | McpServer>;
  /** Calls the listener with the address of every resource that moves, until the result is called. */
  onResourceUpdated(listener: (uri: string) => void): () => void;
  /** Aborted when it is served no more: what it holds open must end soon. */
  closed?: AbortSignal;
}

/** What is plugged in: the parts of a server, and the SDK's own over them, loaded when it is needed. */
export interface TenantEndpoint extends SdkEndpoint {
  parts: ServerParts;
}
