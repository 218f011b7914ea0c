import {
  createServer,
  type IncomingMessage,
  type Server as NodeServer,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import { HttpFastPath } from '../fast-path/http.ts';
import { parseJson, toError } from '../values.ts';
import type { Gate, Session } from './access/gate.ts';
import { HttpError, retryAfterHeader } from './access/http-error.ts';
import { refuseForwarded } from './access/proxies.ts';
import { reauthorizeWhileOpen } from './access/reauthorize.ts';
import type { Discovery } from './discovery.ts';
import type { SdkEndpoint, TenantEndpoint } from './endpoint.ts';
import type { FairQueue } from './fair-queue.ts';
import { hostName, loopbackNames, readBody, sendJson, sendRefusal, sendText } from './http-io.ts';
import type { SdkHandler } from './http-sdk.ts';
import { methodOf, toolOf } from './messages.ts';
import type { Metrics } from './metrics.ts';
import { addRequestFacts } from './request-context.ts';
import type { ServerObserver } from './server-observer.ts';
import type { OpenStreams } from './streams.ts';
import type { WebhookHandler } from './webhooks.ts';

export interface HttpOptions {
  host: string;
  port: number;
  /** Host names, without port, that are allowed in `Host` and `Origin`. */
  allowedHosts: string[];
  /** Whether requests that a proxy forwarded are refused; for servers without authentication. */
  localOnly?: boolean;
  maxBodyBytes: number;
  /** Whether messages may be answered without the SDK; default true. */
  fastPath?: boolean;
  /** Whether the interactive views are shown at `/preview`; for loopback only. */
  preview?: boolean;
  /** Handles requests below `/webhooks/`; without it they are answered with 404. */
  webhooks?: WebhookHandler;
  onError(error: Error): void;
  /** Answers requests for the public documents; without it there are none. */
  discovery?: Discovery;
  /** The answer of `/healthz`. */
  health(): Record<string, unknown>;
  /** The answer of `/readyz`; `stopping`: the server only finishes calls in flight. */
  readiness?(stopping: boolean): { status: number; body: Record<string, unknown> };
  /** Limits calls per caller; without it there is no limit. */
  queue?: Pick<FairQueue, 'acquire' | 'maxBatch'>;
  /** Limits open streams of updates; without it there is no limit. */
  streams?: Pick<OpenStreams, 'acquire'>;
  /** Timeouts for receiving the headers and the whole request. */
  slowSenders?: { headersMs: number; requestMs: number };
  /** Observes every request. */
  observer?: Pick<ServerObserver, 'onHttpRequest'>;
  /** The content of `/metrics` and who may read it; without it there is no such page. */
  metrics?: {
    /** @throws HttpError (429) for a sender that guesses tokens */
    mayRead(request: IncomingMessage): boolean;
  } & Pick<Metrics, 'render'>;
}

export interface HttpHost {
  url: string;
  close(): Promise<void>;
}

/** Supervisors usually wait this long before they kill a process. */
const drainMs = 8_000;
const idlePollMs = 100;
/**
 * Keep-alive timeout; longer than that of proxies (nginx: one minute), so that the server never closes a
 * connection just as the proxy reuses it.
 */
const keepAliveMs = 75_000;
/** Limits how long slow senders can hold sockets; it does not limit answers. */
const defaultSlowSenders = { headersMs: 15_000, requestMs: 30_000 };
/** Interval of the check for slow senders; Node's default is 30 seconds. */
const slowSendersCheckMs = 1_000;
/** Maximum batch size; only clients of protocol revision 2025-03-26 send batches. */
const maxBatch = 10;

/**
 * Serves `/mcp`, `/healthz` and `/readyz`. Stateless: any replica can answer any request. The gate
 * authenticates requests and selects the endpoint.
 */
export async function serveHttp(gate: Gate, options: HttpOptions): Promise<HttpHost> {
  const frontend = new HttpFrontend(gate, options);
  const { observer, slowSenders = defaultSlowSenders } = options;
  const limits = {
    headersTimeout: slowSenders.headersMs,
    requestTimeout: slowSenders.requestMs,
    connectionsCheckingInterval: slowSendersCheckMs,
    keepAliveTimeout: keepAliveMs,
  };
  const server = createServer(limits, (request, response) => {
    // Without this, keep-alive connections would keep sending requests until they are destroyed.
    if (frontend.closing) response.setHeader('connection', 'close');
    const handle = () => frontend.handle(request, response);
    if (observer) observer.onHttpRequest(request, response, handle);
    else handle();
  });
  const sockets = openSockets(server);
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  return { url: urlOf(options.host, port), close: () => close(server, frontend, sockets) };
}

/** Responders of one endpoint, shared by all callers with the same grants. */
interface Responders {
  /** Absent when the fast path is off. */
  fastPath: HttpFastPath | undefined;
  /** Loaded on first use. */
  sdk: Promise<SdkHandler> | undefined;
}

/** Routes a message to the fast path, or to the SDK. */
class HttpFrontend {
  closing = false;
  readonly #gate: Gate;
  readonly #options: HttpOptions;
  readonly #names: ReadonlySet<string>;
  readonly #responders = new Map<TenantEndpoint | SdkEndpoint, Responders>();

  constructor(gate: Gate, options: HttpOptions) {
    this.#gate = gate;
    this.#options = options;
    const allowed = options.allowedHosts.map((name) =>
      isIP(name) === 6 ? `[${name.toLowerCase()}]` : name.toLowerCase(),
    );
    this.#names = new Set([...loopbackNames, ...allowed]);
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    this.#route(request, response).catch((error: unknown) =>
      sendError(request, response, error, this.#options),
    );
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { health, discovery, webhooks } = this.#options;
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    if (path === '/healthz') return sendJson(response, 200, health());
    if (path === '/readyz') return this.#sendReadiness(response);
    if (discovery?.(path, request, response) || webhooks?.(path, request, response)) return;
    await this.#serve(path, request, response);
  }

  #sendReadiness(response: ServerResponse): void {
    const fallback = { status: this.closing ? 503 : 200, body: {} };
    const { status, body } = this.#options.readiness?.(this.closing) ?? fallback;
    sendJson(response, status, body);
  }

  async #serve(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#checkHostAndOrigin(request);
    if (this.#options.localOnly) refuseForwarded(request);
    if (this.#options.preview && path.startsWith('/preview')) {
      const { servePreview } = await import('./preview.ts');
      if (await servePreview(path, response)) return;
    }
    const { metrics } = this.#options;
    if (path === '/metrics' && metrics?.mayRead(request)) {
      const { contentType, body } = await metrics.render();
      response.writeHead(200, { 'content-type': contentType }).end(body);
      return;
    }
    const metadata = this.#gate.metadata?.(path);
    if (metadata) return sendJson(response, 200, metadata);
    if (path !== '/mcp') {
      return sendJson(response, 404, { error: 'Not found. MCP is served at /mcp.' });
    }
    const session = await this.#gate.admit(request);
    const { caller, tenant } = session;
    addRequestFacts({ ...(caller && { caller }), ...(tenant && { tenant }) });
    await this.#answer(session, request, response);
  }

  /**
   * Waits for the fair queue. A subscription counts as a call only until it is open.
   * @throws TooManyCalls
   */
  async #acquireCapacity(
    caller: string | undefined,
    { calls, listens, signal }: { calls: number; listens: boolean; signal: AbortSignal },
    response: ServerResponse,
  ): Promise<void> {
    const { queue } = this.#options;
    if (caller === undefined || !queue) return;
    const release = await queue.acquire(caller, signal, calls);
    if (response.closed || listens) release();
    else response.once('close', release);
  }

  async close(): Promise<void> {
    this.closing = true;
    await Promise.all([...this.#responders.keys()].map((endpoint) => this.#retire(endpoint)));
  }

  async #answer(
    session: Session,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { endpoint, caller } = session;
    const isPost = request.method === 'POST';
    const body = isPost ? await readBody(request, this.#options.maxBodyBytes) : undefined;
    // Invalid JSON is undefined, and reported by the SDK.
    const message = body && parseJson(body.toString('utf8'));
    const messages = this.#messagesOf(message);
    const listens = methodOf(message) === 'subscriptions/listen';
    const signal = disconnectSignal(response);
    const calls = messages.length || 1;
    if (isPost) await this.#acquireCapacity(caller, { calls, listens, signal }, response);
    if (listens) this.#authorizeStream(session, request, response);
    requireGrants(session, messages);
    const responders = this.#respondersFor(endpoint);
    const { headers } = request;
    const answer = body && (await responders.fastPath?.tryAnswer(message, { headers, signal }));
    if (answer !== undefined) return sendText(response, answer === '' ? 202 : 200, answer);
    const sdk = await this.#sdkOf(endpoint, responders);
    await sdk.handle({ request, body }, response, { caller, listens });
  }

  /** @throws HttpError for a batch that is too large */
  #messagesOf(message: unknown): readonly unknown[] {
    if (!Array.isArray(message)) return [message];
    const limit = Math.min(maxBatch, this.#options.queue?.maxBatch ?? maxBatch);
    if (message.length <= limit) return message;
    throw new HttpError(
      400,
      `A batch may hold at most ${limit} messages, this one holds ${message.length}: send them one by one.`,
    );
  }

  /** @throws HttpError when the tenant has been closed; TooManyStreams */
  #authorizeStream(
    { endpoint, caller }: Session,
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    if (endpoint.closed?.aborted) {
      throw new HttpError(503, 'This tenant has just changed.', { headers: retryAfterHeader(1) });
    }
    if (response.closed) return;
    const end = this.#options.streams?.acquire(caller, endpoint);
    if (end) response.once('close', end);
    if (caller !== undefined) reauthorizeWhileOpen(this.#gate, request, response);
  }

  /**
   * Checks `Host` and `Origin` against DNS rebinding and cross-origin requests.
   * @throws HttpError
   */
  #checkHostAndOrigin({ headers: { host = '', origin } }: IncomingMessage): void {
    if (!this.#names.has(hostName(host))) {
      throw new HttpError(403, 'The Host header does not name this server.');
    }
    const [, page = ''] = /^https?:\/\/(.+)$/i.exec(origin ?? '') ?? [];
    if (origin && !this.#names.has(hostName(page))) {
      throw new HttpError(403, 'That origin is not allowed.');
    }
  }

  #respondersFor(endpoint: TenantEndpoint | SdkEndpoint): Responders {
    const known = this.#responders.get(endpoint);
    if (known) return known;
    const { fastPath: isOn = true } = this.#options;
    const fastPath = isOn && 'parts' in endpoint ? new HttpFastPath(endpoint.parts) : undefined;
    const responders: Responders = { fastPath, sdk: undefined };
    if (endpoint.closed?.aborted) return responders; // Not cached: only for calls admitted earlier.
    this.#responders.set(endpoint, responders);
    const retire = () => this.#retire(endpoint).catch(this.#options.onError);
    endpoint.closed?.addEventListener('abort', retire, { once: true });
    return responders;
  }

  #sdkOf(endpoint: SdkEndpoint, responders: Responders): Promise<SdkHandler> {
    const { maxBodyBytes, onError } = this.#options;
    responders.sdk ??= import('./http-sdk.ts').then(({ sdkHandler }) =>
      sdkHandler(endpoint, { maxBodyBytes, onError }),
    );
    return responders.sdk;
  }

  async #retire(endpoint: TenantEndpoint | SdkEndpoint): Promise<void> {
    const responders = this.#responders.get(endpoint);
    this.#responders.delete(endpoint);
    await (await responders?.sdk)?.close();
  }
}

function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  options: HttpOptions,
): void {
  if (error instanceof HttpError) {
    sendRefusal(request, response, error);
    return;
  }
  if (response.destroyed) return; // The sender has disconnected.
  options.onError(toError(error));
  if (response.headersSent) response.destroy();
  else sendJson(response, 500, { error: 'Internal error' });
}

/** Aborted when the sender disconnects. */
function disconnectSignal(response: ServerResponse): AbortSignal {
  const abort = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) abort.abort(new Error('the host disconnected'));
  });
  return abort.signal;
}

/** @throws HttpError when a call needs a grant that the caller lacks */
function requireGrants({ challenge }: Session, messages: readonly unknown[]): void {
  for (const message of messages) {
    const denied = challenge?.(toolOf(message) ?? '');
    if (denied) throw denied;
  }
}

const urlOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}/mcp`;

/** @throws the system error, such as EADDRINUSE */
function listen(server: NodeServer, { host, port }: HttpOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function openSockets(server: NodeServer): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

/** Finishes calls in flight, ends subscriptions, and closes connections without a request. */
async function close(
  server: NodeServer,
  frontend: HttpFrontend,
  sockets: ReadonlySet<Socket>,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const closeUnused = () => {
    server.closeIdleConnections();
    // Node does not count a connection as idle before its first request; clients open some in advance.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  };
  closeUnused();
  // Connections that were busy when the stop began become idle once they are answered.
  const idle = setInterval(closeUnused, idlePollMs);
  const timeout = setTimeout(() => server.closeAllConnections(), drainMs);
  await frontend.close();
  await closed;
  clearInterval(idle);
  clearTimeout(timeout);
  // Calls that had not reached a responder yet may have created another.
  await frontend.close();
}
