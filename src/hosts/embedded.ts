import { createMcpHandler, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { TenantEndpoint } from './endpoint.ts';

/** Serves connections of an embedding program, which provides the transports. */
export function embeddedHost({ server }: TenantEndpoint, onError: (error: Error) => void) {
  const http = createMcpHandler(server, { onerror: onError });
  const connections = new Set<{ close(): Promise<void> }>();
  let closed = false;
  return {
    /** Serves one connection, in either era of the protocol. @throws Error when closed */
    connect(transport: Transport): { close(): Promise<void> } {
      if (closed) throw new Error('the server is closed');
      const connection = serveStdio(server, { transport, onerror: onError });
      connections.add(connection);
      const { onclose } = transport;
      transport.onclose = () => {
        connections.delete(connection);
        onclose?.();
      };
      return connection;
    },
    async fetch(request: Request): Promise<Response> {
      if (!closed) return http.fetch(request);
      const error = { code: -32000, message: 'The server is closed' };
      return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 503 });
    },
    async close(): Promise<void> {
      closed = true;
      await Promise.all([...connections].map((connection) => connection.close()));
      connections.clear();
      await http.close();
    },
  };
}
