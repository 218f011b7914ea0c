import {
  createServer,
  type IncomingMessage,
  type Server as NodeServer,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostHeaderValidation, originValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type Server } from '@modelcontextprotocol/server';

export interface HttpOptions {
  host: string;
  port: number;
  /** Hostnames, without port, that requests may be addressed to and come from. */
  allowedHosts: string[];
  maxBodyBytes: number;
  onError(error: Error): void;
  /** What `/healthz` says. */
  health(): Record<string, unknown>;
}

export interface HttpHost {
  url: string;
  close(): Promise<void>;
}

/** What a supervisor usually waits before it kills. */
const drainMs = 8_000;
const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

/** Serves `/mcp` and `/healthz`. Stateless: any replica can answer any request. */
export async function serveHttp(factory: () => Server, options: HttpOptions): Promise<HttpHost> {
  const mcp = createMcpHandler(factory, {
    onerror: options.onError,
    maxRequestBodySize: options.maxBodyBytes,
  });
  // Its own type for a request forbids what Node's may be: undefined where there is no method.
  const handle = toNodeHandler(mcp, {
    onerror: options.onError,
    maxRequestBodySize: options.maxBodyBytes,
  }) as (i: IncomingMessage, o: ServerResponse) => Promise<void>;
  const names = [...new Set([...loopbackNames, ...options.allowedHosts])];
  const hostIsAllowed = hostHeaderValidation(names);
  const originIsAllowed = originValidation(names);
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0];
    if (path === '/healthz') return sendJson(response, 200, options.health());
    if (!hostIsAllowed(request, response) || !originIsAllowed(request, response)) return;
    if (path !== '/mcp')
      return sendJson(response, 404, { error: 'Not found. MCP is served at /mcp.' });
    void handle(request, response).catch((error: unknown) => failed(response, error, options));
  });
  // Slow senders must not hold sockets; answers may take as long as a call.
  server.headersTimeout = 15_000;
  server.requestTimeout = 30_000;
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  return { url: urlOf(options.host, port), close: () => close(server, mcp) };
}

function failed(
  response: ServerResponse<IncomingMessage>,
  error: unknown,
  options: HttpOptions,
): void {
  options.onError(error instanceof Error ? error : new Error(String(error)));
  if (response.headersSent) response.destroy();
  else sendJson(response, 500, { error: 'Internal error' });
}

function sendJson(response: ServerResponse, status: number, body: Record<string, unknown>): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const urlOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}/mcp`;

/** @throws the system's error, as when the port is taken */
function listen(server: NodeServer, { host, port }: HttpOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Calls in flight are answered; connections that wait for nothing are closed. */
async function close(server: NodeServer, mcp: { close(): Promise<void> }): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const patience = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearTimeout(patience);
  await mcp.close();
}
