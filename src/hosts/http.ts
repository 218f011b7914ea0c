import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type HttpFastPath, httpFastPath } from '../fast-path/http.ts';
import type { HostClient } from '../mcp/client.ts';
import { modernRevision, refusalToListen } from '../mcp/identity.ts';
import { callIn, createSession, openSession, sessionHeader } from '../mcp/session.ts';
import { loopbackNames } from '../setting-values.ts';
import { type Health, ifUnavailable, type Update } from '../state/port.ts';
import { writeGrant } from '../tenant/grants.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { fieldOf, isObject, parseJson, toError } from '../values.ts';
import { version } from '../version.ts';
import type { Gate, Session } from './access/gate.ts';
import { HttpError } from './access/http-error.ts';
import { refuseForwarded } from './access/networks.ts';
import type { SdkEndpoint, TenantEndpoint } from './endpoint.ts';
import { FairQueue } from './fair-queue.ts';
import { hostName, readBody, sendJson, sendRefusal, sendText } from './http-io.ts';
import type { SdkHandler } from './http-sdk.ts';
import { addRequestFacts, type ServerObserver } from './observer.ts';
import type { WebhookHandler } from './webhooks.ts';

export interface HttpOptions {
  host: string;
  port: number;
  /** Host names, without port, that are allowed in `Host` and `Origin`. */
  allowedHosts: string[];
  /** Whether requests that a proxy forwarded are refused; for servers without authentication. */
  localOnly: boolean;
  /** Whether messages may be answered without the SDK. */
  fastPath: boolean;
  /** Whether the interactive views are shown at `/preview`; for loopback only. */
  preview: boolean;
  webhooks: WebhookHandler;
  onError(error: Error): void;
  /** Of the state. */
  health(): Promise<Health>;
  /** Limits calls per caller; absent without authentication. */
  queue: FairQueue | undefined;
  observer: Pick<ServerObserver, 'onHttpRequest' | 'render'>;
  /** Whether the sender may read `/metrics`. @throws HttpError (429) for a sender that guesses tokens */
  mayReadMetrics(request: IncomingMessage): boolean;
}

/** Supervisors usually wait this long before they kill a process. */
const drainMs = 8_000;
/** For which a proxy may still reuse its idle connections: an answer tells it that this one ends. */
const proxyMs = 1_000;

const connectionLimits = {
  // Slow senders cannot hold sockets for longer; answers are not limited.
  headersTimeout: 15_000,
  requestTimeout: 30_000,
  /** Interval of the check for slow senders; Node's default is 30 seconds. */
  connectionsCheckingInterval: 1_000,
  // Longer than that of proxies (nginx: one minute), so that the server never closes a connection just as the proxy
  // reuses it.
  keepAliveTimeout: 75_000,
};

/** Stateless: any replica can answer any request. @throws the system error, such as EADDRINUSE */
export async function serveHttp(gate: Gate, options: HttpOptions) {
  const frontend = new HttpFrontend(gate, options);
  let unanswered = 0;
  const closeIfAnswered = () => {
    if (!server.listening && unanswered === 0) server.closeAllConnections();
  };
  const server = createServer(connectionLimits, (request, response) => {
    // Without this, keep-alive connections would keep sending requests until they are destroyed.
    if (frontend.closing) response.setHeader('connection', 'close');
    unanswered += 1;
    response.once('close', () => {
      unanswered -= 1;
      closeIfAnswered();
    });
    options.observer.onHttpRequest(request, response, () => frontend.handle(request, response));
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  /** Finishes calls in flight, and closes all connections. */
  const close = async () => {
    const closed = once(server, 'close');
    const timeout = setTimeout(() => server.closeAllConnections(), drainMs);
    frontend.closing = true;
    if (!options.localOnly) await pause(proxyMs);
    server.close();
    closeIfAnswered();
    await closed;
    clearTimeout(timeout);
  };
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return { url: `http://${host}:${port}/mcp`, close };
}

/** Bytes; the arguments of hardly any call are longer. */
const smallBody = 32 * 1024;
/** Longer bodies are read before their calls are limited. */
const largeBodies = {
  ...{ concurrentPerCaller: 16, concurrent: Number.POSITIVE_INFINITY },
  ...{ callsPerMinute: Number.POSITIVE_INFINITY, queuedPerCaller: 0, waitMs: 1_000 },
};

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
  readonly #largeBodies = new FairQueue(largeBodies);
  readonly #responders = new WeakMap<TenantEndpoint | SdkEndpoint, Responders>();

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
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    if (path === '/healthz') return sendJson(response, 200, { status: 'ok', version });
    if (path === '/readyz') return this.#answerReadyz(response);
    if (this.#options.webhooks(path, request, response)) return;
    await this.#serve(path, request, response);
  }

  async #serve(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { localOnly, preview, health } = this.#options;
    this.#checkHostAndOrigin(request);
    if (localOnly) refuseForwarded(request);
    if (preview && path.startsWith('/preview')) {
      const { servePreview } = await import('./preview.ts');
      if (await servePreview(path, response)) return;
    }
    if (path === '/metrics' && this.#options.mayReadMetrics(request)) {
      const { observer, queue } = this.#options;
      const queued = queue?.occupancy.queued ?? 0;
      const { contentType, body } = await observer.render(queued, await health());
      response.writeHead(200, { 'content-type': contentType }).end(body);
      return;
    }
    const metadata = this.#gate.metadata?.(path);
    if (metadata) return sendJson(response, 200, metadata);
    if (path !== '/mcp') {
      return sendJson(response, 404, { error: 'Not found. MCP is served at /mcp.' });
    }
    const session = await this.#gate.admit(request);
    const { endpoint: _, ...facts } = session;
    addRequestFacts(facts);
    await this.#answer(session, request, response);
  }

  /** Ready without the shared state, because reads still work. Names no tenant and no address: anybody may read it. */
  async #answerReadyz(response: ServerResponse): Promise<void> {
    const state = await this.#options.health();
    const reasons = ['the server is stopping'];
    if (this.closing) sendJson(response, 503, { status: 'not ready', reasons });
    else if (state.ok) sendJson(response, 200, { status: 'ready' });
    else sendJson(response, 200, { status: 'degraded', reasons: [unavailableReason(state)] });
  }

  async #answer(
    session: Session,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { endpoint, caller } = session;
    const signal = disconnectSignal(response);
    const message = await this.#read(caller, request, signal);
    const { headers } = request;
    const client = await sessionOf(endpoint, headers, message, response);
    const given = answerOf(client, message, headers[sessionHeader]);
    if (given && 'parts' in endpoint) {
      // Not in the queue, in which the calls that ask may be all that run.
      if (caller !== undefined) this.#options.queue?.count(caller);
      await passAnswer(endpoint.parts.tenant, given, caller);
      return sendText(response, 202, '');
    }
    if (caller !== undefined) {
      const release = await this.#options.queue?.acquire(caller, signal);
      if (response.closed) release?.();
      else if (release) response.once('close', release);
    }
    const responders = this.#respondersFor(endpoint);
    const refusal = refusalToListen(message);
    if (refusal) return sendJson(response, 404, refusal);
    const answer = await responders.fastPath?.tryAnswer(message, { headers, client, signal });
    if (answer !== undefined) return sendText(response, answer === '' ? 202 : 200, answer);
    responders.sdk ??= import('./http-sdk.ts').then(({ sdkHandler }) =>
      sdkHandler(endpoint, this.#options.onError),
    );
    const handle = await responders.sdk;
    await handle(request, response, message, caller);
  }

  async #read(caller: string | undefined, request: IncomingMessage, signal: AbortSignal) {
    const isSmall = Number(request.headers['content-length']) <= smallBody;
    if (caller === undefined || isSmall) return readMessage(request);
    const release = await this.#largeBodies.acquire(caller, signal);
    return readMessage(request).finally(release);
  }

  /** Against DNS rebinding and cross-origin requests. @throws HttpError */
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
    const isFast = this.#options.fastPath && 'parts' in endpoint;
    const fastPath = isFast ? httpFastPath(endpoint.parts) : undefined;
    const responders: Responders = { fastPath, sdk: undefined };
    this.#responders.set(endpoint, responders);
    return responders;
  }
}

/**
 * What the client of a legacy session said of itself. An answer to `initialize` gives the session's id, if something has
 * to be known later: how a person can agree to a write.
 * @throws HttpError for an id that was not given out
 */
async function sessionOf(
  endpoint: TenantEndpoint | SdkEndpoint,
  { 'mcp-session-id': id, 'mcp-protocol-version': revision }: IncomingHttpHeaders,
  message: unknown,
  response: ServerResponse,
): Promise<HostClient | undefined> {
  if (!('parts' in endpoint)) return undefined;
  const { surface, tenant } = endpoint.parts;
  const { tokens } = tenant.writes;
  const writes = surface.list.some(({ annotations }) => !annotations?.readOnlyHint);
  if (fieldOf(message, 'method') === 'initialize') {
    const created = writes ? await createSession(tokens, fieldOf(message, 'params')) : undefined;
    if (created !== undefined) response.setHeader(sessionHeader, created);
  } else if (id !== undefined && revision !== modernRevision) {
    const client = await openSession(tokens, String(id));
    if (!client) throw new HttpError(404, 'There is no such session: initialize again.');
    return client;
  }
  return undefined;
}

/** In characters: a form has one box to tick, and every replica gets the answer. */
const maxAnswer = 4_000;

/** A host's answer to a form, without a result if it is an error, or cancels the call that asks. */
type FormResponse = Omit<NonNullable<Update['answer']>, 'from'>;

/**
 * The answer to a form that a message is, of a host that is asked in forms; `undefined` for any other message.
 * @param session the id of the session that sent it
 */
export function answerOf(
  client: HostClient | undefined,
  message: unknown,
  session?: unknown,
): FormResponse | undefined {
  if (!client?.asks || !isObject(message)) return undefined;
  const { id, method, params, result } = message;
  if (method === 'notifications/cancelled')
    return { to: callIn(session, fieldOf(params, 'requestId')), result: undefined };
  return typeof id === 'string' && method === undefined ? { to: id, result } : undefined;
}

/**
 * Passes an answer to the call that asked, in whichever replica it waits; it is taken from the caller of that call only.
 * @throws HttpError for one that is too long, or of a caller who may not write, or that cannot be passed on
 */
export async function passAnswer(
  { grants, updates }: Pick<Tenant, 'grants' | 'updates'>,
  message: FormResponse,
  from: string | undefined,
): Promise<void> {
  if (JSON.stringify(message).length > maxAnswer)
    throw new HttpError(413, 'The answer is too long.');
  if (!grants.has(writeGrant))
    throw new HttpError(403, `${writeGrant} is not granted here, so nothing is written.`);
  const notPassedOn = () => {
    const problem = 'The answer may not have arrived: send it again if the call goes on.';
    throw new HttpError(503, problem, { retryAfter: 5 });
  };
  await updates.publish({ answer: { ...message, from } }).catch(ifUnavailable(notPassedOn));
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

/** The message in the body; undefined for invalid JSON, which the SDK reports. @throws HttpError */
async function readMessage(request: IncomingMessage): Promise<unknown> {
  if (request.method !== 'POST')
    throw new HttpError(405, 'Send messages with POST.', { headers: { allow: 'POST' } });
  const message = parseJson(new TextDecoder().decode(await readBody(request)));
  if (Array.isArray(message)) throw new HttpError(400, 'Send messages one by one, not in a list.');
  return message;
}

function disconnectSignal(response: ServerResponse): AbortSignal {
  const abort = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) abort.abort(new Error('the host disconnected'));
  });
  return abort.signal;
}

function unavailableReason({ kind, fault, since }: Health): string {
  const what = fault === 'unwritable' ? 'written' : 'reached';
  const when = since === undefined ? '' : ` since ${since}`;
  return `the ${kind} state cannot be ${what}${when}: writes and webhooks are refused`;
}
