import {
  createServer,
  type IncomingMessage,
  type Server as NodeServer,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Direct } from '../mcp/direct.ts';
import { answered, mayBePlain, readBody, unread } from './http-plain.ts';
import type { SdkHandler } from './http-sdk.ts';
import type { SdkServed, Served } from './served.ts';
import type { WebhookHandler } from './webhooks.ts';

export interface HttpOptions {
  host: string;
  port: number;
  /** Hostnames, without port, that requests may be addressed to and come from. */
  allowedHosts: string[];
  maxBodyBytes: number;
  /** Shows the interactive views at `/preview`, to whoever sits at this machine. */
  preview?: boolean;
  /** Takes what is sent below `/webhooks/`; without it nothing is. */
  webhooks?: WebhookHandler;
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

/**
 * Serves `/mcp` and `/healthz`. Stateless: any replica can answer any request. Without the parts of a
 * server nothing is answered but by the SDK.
 */
export async function serveHttp(
  served: Served | SdkServed,
  options: HttpOptions,
): Promise<HttpHost> {
  const front = new Front(served, options);
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0];
    if (path === '/healthz') return sendJson(response, 200, options.health());
    if (options.webhooks?.(path ?? '/', request, response)) return;
    void front
      .serve(path, request, response)
      .catch((error: unknown) => failed(response, error, options));
  });
  // Slow senders must not hold sockets; answers may take as long as a call.
  server.headersTimeout = 15_000;
  server.requestTimeout = 30_000;
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  return { url: urlOf(options.host, port), close: () => close(server, front) };
}

/** Answers what is plain; the SDK, loaded when it is first needed, answers everything else. */
class Front {
  readonly #served: SdkServed;
  readonly #options: HttpOptions;
  readonly #direct: Direct | undefined;
  readonly #names: readonly string[];
  #sdk: Promise<SdkHandler> | undefined;

  constructor(served: Served | SdkServed, options: HttpOptions) {
    this.#served = served;
    this.#options = options;
    this.#direct = 'parts' in served ? new Direct(served.parts, { lasts: false }) : undefined;
    this.#names = [...new Set([...loopbackNames, ...options.allowedHosts])];
  }

  async serve(
    path: string | undefined,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (!this.#admits(request) && !(await this.#sdkHandler()).admits(request, response)) return;
    if (this.#options.preview && path?.startsWith('/preview')) {
      const { servePreview } = await import('./preview.ts');
      if (await servePreview(path, response)) return;
    }
    if (path !== '/mcp') {
      return sendJson(response, 404, { error: 'Not found. MCP is served at /mcp.' });
    }
    if (!this.#direct || !mayBePlain(request, this.#options.maxBodyBytes)) {
      return (await this.#sdkHandler()).handle(request, response);
    }
    const body = await readBody(request);
    if (await answered(this.#direct, request, body, response)) return;
    await (await this.#sdkHandler()).handle(unread(request, body), response);
  }

  async close(): Promise<void> {
    await (await this.#sdk)?.close();
  }

  /** Surely addressed to us, and not sent by a page; who is not so sure is looked at more closely. */
  #admits({ headers: { host = '', origin } }: IncomingMessage): boolean {
    return origin === undefined && this.#names.includes(host.replace(/:\d{1,5}$/, ''));
  }

  #sdkHandler(): Promise<SdkHandler> {
    const { maxBodyBytes, onError } = this.#options;
    this.#sdk ??= import('./http-sdk.ts').then(({ sdkHandler }) =>
      sdkHandler(this.#served, { names: [...this.#names], maxBodyBytes, onError }),
    );
    return this.#sdk;
  }
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
