import { createMcpHandler, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { TenantEndpoint } from './endpoint.ts';

/** Serves connections of an embedding program, which provides the transports. */
export interface EmbeddedHost {
  /** Serves one connection, in either era of the protocol. */
  connect(transport: Transport): { close(): Promise<void> };
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

export function embeddedHost(
  { server }: TenantEndpoint,
  onError: (error: Error) => void,
): EmbeddedHost {
  const http = createMcpHandler(server, { onerror: onError });
  const connections = new Set<{ close(): Promise<void> }>();
  return {
    connect(transport) {
      const connection = serveStdio(server, { transport, onerror: onError });
      connections.add(connection);
      const { onclose } = transport;
      transport.onclose = () => {
        connections.delete(connection);
        onclose?.();
      };
      return connection;
    },
    fetch: (request) => http.fetch(request),
    async close() {
      await Promise.all([...connections].map((connection) => connection.close()));
      connections.clear();
      await http.close();
    },
  };
}
