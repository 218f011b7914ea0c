import { createMcpHandler, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { TenantEndpoint } from './endpoint.ts';

export type EmbeddedHost = ReturnType<typeof embeddedHost>;

/** Serves connections of an embedding program, which provides the transports. */
export function embeddedHost({ server }: TenantEndpoint, onError: (error: Error) => void) {
  const http = createMcpHandler(server, { onerror: onError });
  const connections = new Set<{ close(): Promise<void> }>();
  return {
    /** Serves one connection, in either era of the protocol. */
    connect(transport: Transport): { close(): Promise<void> } {
      const connection = serveStdio(server, { transport, onerror: onError });
      connections.add(connection);
      const { onclose } = transport;
      transport.onclose = () => {
        connections.delete(connection);
        onclose?.();
      };
      return connection;
    },
    fetch: (request: Request): Promise<Response> => http.fetch(request),
    async close(): Promise<void> {
      await Promise.all([...connections].map((connection) => connection.close()));
      connections.clear();
      await http.close();
    },
  };
}
