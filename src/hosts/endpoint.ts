import type { McpServer, Server } from '@modelcontextprotocol/server';
import type { ServerDescription } from '../mcp/surface.ts';
import type { CallParts } from '../mcp/tool-run.ts';

/** A server factory for hosts that use the SDK only. */
export interface SdkEndpoint {
  server(): Promise<Server | McpServer>;
}

/** What serves one client over a connection. The tenant is opened when it is first needed. */
export interface LineEndpoint extends SdkEndpoint {
  description: ServerDescription;
  callParts(): Promise<CallParts>;
}

/** The parts of a server, and a factory for the SDK's server, which is loaded on first use. */
export interface TenantEndpoint extends SdkEndpoint {
  parts: CallParts;
}
