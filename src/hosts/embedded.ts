import { createMcpHandler, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { TenantEndpoint } from './endpoint.ts';

/** Serves connections of an embedding program, which provides the transports. */
export interface EmbeddedHost {
  /** Serves one connection, in either era of the protocol. */
  connect(transport: Transport): { close(): Promise<void> };
  fetch(request: Request): Promise<Response>;
  /** Ends every connection. */
  close(): Promise<void>;
}

export function embeddedHost(
  { server, onResourceUpdated: followMoved }: TenantEndpoint,
  onError: (error: Error) => void,
): EmbeddedHost {
  const http = createMcpHandler(server, { onerror: onError });
  const stop = followMoved((uri) => http.notify.resourceUpdated(uri));
  const open = new Set<{ close(): Promise<void> }>();
  return {
    connect(transport) {
      const connection = serveStdio(server, { transport, onerror: onError });
      open.add(connection);
      const { onclose } = transport;
      transport.onclose = () => {
        open.delete(connection);
        onclose?.();
      };
      return {
        async close() {
          open.delete(connection);
          await connection.close();
        },
      };
    },
    fetch: (request) => http.fetch(request),
    async close() {
      await Promise.all([...open].map((connection) => connection.close()));
      open.clear();
      stop();
      await http.close();
    },
  };
}
