import { once } from 'node:events';
import { createServer, type RequestListener, type ServerOptions } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** An HTTP server of a test, on a free port of this machine. */
export interface LocalServer {
  url: string;
  /** Connections, also those without a request. */
  openSockets(): number;
  /** Ends its connections too. */
  close(): Promise<void>;
}

export async function listen(
  answer: RequestListener,
  options: ServerOptions = {},
): Promise<LocalServer> {
  const server = createServer(options, answer);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    openSockets: () => sockets.size,
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
