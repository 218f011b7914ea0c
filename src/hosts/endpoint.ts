import type { McpServer, Server } from '@modelcontextprotocol/server';
import type { FastPathParts } from '../fast-path/fast-path.ts';
import type { ServerParts } from '../mcp/server.ts';

/** A server factory for hosts that use the SDK only. */
export interface SdkEndpoint {
  server(): Promise<Server | McpServer>;
}

/** What serves one client over a connection. The tenant is opened when it is first needed. */
export interface LineEndpoint extends SdkEndpoint, FastPathParts {}

/** The parts of a server, and a factory for the SDK's server, which is loaded on first use. */
export interface TenantEndpoint extends SdkEndpoint {
  parts: ServerParts;
}
