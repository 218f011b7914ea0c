import type { Server } from '@modelcontextprotocol/server';
import type { ServerParts } from '../mcp/server.ts';

/** What is plugged in: the parts of a server, and the SDK's own over them, loaded when it is needed. */
export interface Served {
  parts: ServerParts;
  server(): Promise<Server>;
}
