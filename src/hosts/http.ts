import {
  createServer,
  type IncomingMessage,
  type Server as NodeServer,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { HttpFastPath } from '../fast-path/http.ts';
import type { Gate, Session } from './access/gate.ts';
import { HttpError, retryAfterHeader } from './access/http-error.ts';
import { reauthorizeWhileOpen } from './access/reauthorize.ts';
import type { SdkEndpoint, TenantEndpoint } from './endpoint.ts';
import type { FairQueue } from './fair-queue.ts';
import { readBody, sendJson, sendRefusal, sendText } from './http-io.ts';
import type { SdkHandler } from './http-sdk.ts';
import { methodOf, parseMessage, toolOf } from './messages.ts';
import { addRequestFacts } from './request-context.ts';
import type { ServerObserver } from './server-observer.ts';
import type { OpenStreams } from './streams.ts';
import type { WebhookHandler } from './webhooks.ts';

export interface HttpOptions {
  host: string;
  port: number;
  /** Hostnames, without port, that requests may be addressed to and come from. */
  allowedHosts: string[];
  maxBodyBytes: number;
  /** Whether messages may be answered without the SDK; default true. */
  fastPath?: boolean;
  /** Shows the interactive views at `/preview`, to whoever sits at this machine. */
  preview?: boolean;
  /** Takes what is sent below `/webhooks/`; without it nothing is. */
  webhooks?: WebhookHandler;
  onError(error: Error): void;
  /** What `/healthz` says. */
  health(): Record<string, unknown>;
  /** What `/readyz` answers; `stopping`: calls under way are only being brought to their end. */
  readiness?(stopping: boolean): { status: number; body: Record<string, unknown> };
  /** Callers wait for their turn; without it nobody does. */
  queue?: Pick<FairQueue, 'acquire' | 'maxBatch'>;
  /** Limits the streams of changes; without it there is no limit. */
  streams?: Pick<OpenStreams, 'acquire'>;
  /** How long a sender may take for the headers, and for all of a request. */
  slowSenders?: { headersMs: number; requestMs: number };
  /** Watches every request. */
  observer?: Pick<ServerObserver, 'onHttpRequest'>;
  /** What `/metrics` answers, and to whom; without it there is no such page. */
  metrics?: {
    /** @throws Denied for a sender that guesses */
    mayRead(request: IncomingMessage): boolean;
  } & Pick<ServerObserver, 'render'>;
}

export interface HttpHost {
  url: string;
  close(): Promise<void>;
}

/** What a supervisor usually waits before it kills. */
const drainMs = 8_000;
const idlePollMs = 100;
/**
 * How long a connection waits for its next request: longer than a proxy keeps it (nginx: a minute), so that
 * it is never closed here at the moment at which it is used again.
 */
const keepAliveMs = 75_000;
/** Slow senders must not hold sockets; answers may take as long as a call. */
const defaultSlowSenders = { headersMs: 15_000, requestMs: 30_000 };
/** How often slow senders are looked for: Node would only look twice a minute. */
const slowSendersCheckMs = 1_000;
/** Messages in a batch, which only hosts of one old revision of the protocol send. */
const maxBatch = 10;
const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Serves `/mcp`, `/healthz` and `/readyz`. Stateless: any replica can answer any request. Who is let in,
 * and what is served to them, is the gate's to say.
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
    // Kept connections would bring one request after the other until they are cut.
    if (frontend.closing) response.setHeader('connection', 'close');
    const handle = () => frontend.handle(request, response);
    if (observer) observer.onHttpRequest(request, response, handle);
    else handle();
  });
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  return { url: urlOf(options.host, port), close: () => close(server, frontend) };
}

/** Who is in the same position is answered by the same. */
interface Responders {
  /** Absent where nothing may be answered but by the SDK. */
  fastPath: HttpFastPath | undefined;
  /** Loaded when it is first needed. */
  sdk: Promise<SdkHandler> | undefined;
}

/** The fast path answers what it can; the SDK answers everything else. */
class HttpFrontend {
  closing = false;
  readonly #gate: Gate;
  readonly #options: HttpOptions;
  readonly #names: ReadonlySet<string>;
  readonly #responders = new Map<TenantEndpoint | SdkEndpoint, Responders>();

  constructor(gate: Gate, options: HttpOptions) {
    this.#gate = gate;
    this.#options = options;
    const allowed = options.allowedHosts.map((name) => name.toLowerCase());
    this.#names = new Set([...loopbackNames, ...allowed]);
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const options = this.#options;
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    if (path === '/healthz') sendJson(response, 200, options.health());
    else if (path === '/readyz') this.#sendReadiness(response);
    else if (!options.webhooks?.(path, request, response)) {
      this.#serve(path, request, response).catch((error: unknown) =>
        sendError(request, response, error, options),
      );
    }
  }

  #sendReadiness(response: ServerResponse): void {
    const fallback = { status: this.closing ? 503 : 200, body: {} };
    const { status, body } = this.#options.readiness?.(this.closing) ?? fallback;
    sendJson(response, status, body);
  }

  async #serve(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#checkAddressed(request);
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
   * Waits for the caller's turn. What is listened to for long is a call only until it has begun.
   * @throws TooManyCalls
   */
  async #acquireTurn(
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
    const message = body && parseMessage(body.toString('utf8'));
    const messages = this.#messagesOf(message);
    const listens = methodOf(message) === 'subscriptions/listen';
    const signal = goneSignal(response);
    const calls = messages.length || 1;
    if (isPost) await this.#acquireTurn(caller, { calls, listens, signal }, response);
    if (listens) this.#authorizeStream(session, request, response);
    challenge(session, messages);
    const responders = this.#respondersFor(endpoint);
    const { headers } = request;
    const answer = body && (await responders.fastPath?.tryAnswer(message, { headers, signal }));
    if (answer) return sendText(response, answer.status, answer.body);
    const sdk = await this.#sdkOf(endpoint, responders);
    await sdk.handle({ request, body }, response, { caller, listens });
  }

  /** @throws Denied for a batch of too many */
  #messagesOf(message: unknown): readonly unknown[] {
    if (!Array.isArray(message)) return [message];
    const most = Math.min(maxBatch, this.#options.queue?.maxBatch ?? maxBatch);
    if (message.length <= most) return message;
    throw new HttpError(
      400,
      `A batch may hold at most ${most} messages, this one holds ${message.length}: send them one by one.`,
    );
  }

  /**
   * @throws Denied where what would be listened to has ended; TooManyStreams
   */
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
   * Whether it is addressed to this server by its name, and not sent by a page from elsewhere: both are
   * compared letter by letter, since a parser of addresses finds `localhost` in `evil.com@localhost`.
   * @throws Denied
   */
  #checkAddressed({ headers: { host = '', origin } }: IncomingMessage): void {
    if (!this.#names.has(hostName(host))) {
      throw new HttpError(403, 'The Host header names another server than this one.');
    }
    const [, page = ''] = /^https?:\/\/(.+)$/i.exec(origin ?? '') ?? [];
    if (origin && !this.#names.has(hostName(page))) {
      throw new HttpError(403, 'Pages of that origin may not use this server.');
    }
  }

  #respondersFor(endpoint: TenantEndpoint | SdkEndpoint): Responders {
    const known = this.#responders.get(endpoint);
    if (known) return known;
    const { fastPath: isOn = true } = this.#options;
    const fastPath = isOn && 'parts' in endpoint ? new HttpFastPath(endpoint.parts) : undefined;
    const responders: Responders = { fastPath, sdk: undefined };
    if (endpoint.closed?.aborted) return responders; // For calls that were let in before.
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
  if (response.destroyed) return; // The sender has gone away.
  options.onError(error instanceof Error ? error : new Error(String(error)));
  if (response.headersSent) response.destroy();
  else sendJson(response, 500, { error: 'Internal error' });
}

/** Aborted when the sender has gone away. */
function goneSignal(response: ServerResponse): AbortSignal {
  const abort = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) abort.abort(new Error('the host went away'));
  });
  return abort.signal;
}

/** @throws Denied where one of the calls needs more than the caller was given */
function challenge({ challenge }: Session, messages: readonly unknown[]): void {
  for (const message of messages) {
    const denied = challenge?.(toolOf(message) ?? '');
    if (denied) throw denied;
  }
}

/** Of `name` or `name:port`. */
const hostName = (address: string): string => address.toLowerCase().replace(/:\d{1,5}$/, '');

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
async function close(server: NodeServer, frontend: HttpFrontend): Promise<void> {
  frontend.closing = true;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  // Those that were at work when the stop began wait for a next request once they are answered.
  const idle = setInterval(() => server.closeIdleConnections(), idlePollMs);
  const timeout = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearInterval(idle);
  clearTimeout(timeout);
  await frontend.close();
}
