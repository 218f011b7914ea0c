import { isObject, type JsonObject, toError } from '../values.ts';
import { FastPath, type FastPathParts } from './fast-path.ts';
import { type ClientInfo, type Era, type FastRequest, isClient, readRequest } from './requests.ts';

/** The connection of a message. */
export interface ConnectionContext {
  write(line: string): void;
  onError(error: Error): void;
}

/** The fast path of a persistent connection. A connection with an unusual opening is served by the SDK alone. */
export class ConnectionFastPath {
  readonly #fastPath: FastPath;
  readonly #calls = new Map<unknown, AbortController>();
  readonly #answering = new Set<Promise<void>>();
  /** Answered opening messages, to be replayed to the SDK when it starts. */
  readonly opening: JsonObject[] = [];
  #era: Era | undefined;
  #client: ClientInfo | undefined;
  /** Whether the fast path is active; off once the connection is opened again or was never negotiated. */
  #isOn = true;
  #sdkStarted = false;

  constructor(parts: FastPathParts) {
    this.#fastPath = new FastPath(parts, true);
  }

  /** @returns whether the message is handled here; if not, the SDK must handle it */
  tryAnswer(message: unknown, context: ConnectionContext): boolean {
    if (this.#cancels(message)) return true;
    const request = this.#isOn ? readRequest(message) : undefined;
    const fits = request && this.#fits(request) && this.#fastPath.canHandle(request);
    if (fits && isObject(message)) {
      this.#open(request, message);
      const answering = this.#answer(request, context);
      this.#answering.add(answering);
      void answering.finally(() => this.#answering.delete(answering));
      return true;
    }
    if (this.#isSilent(message)) return true;
    this.#sdkStarted = true;
    const reopens = isObject(message) && isOpening(message.method);
    if (reopens || !this.#isNegotiated) this.#isOn = false;
    return false;
  }

  /** Resolves when all handled requests have been answered or cancelled. */
  async answered(): Promise<void> {
    await Promise.allSettled(this.#answering);
  }

  /** Cancels every call. */
  close(): void {
    this.#isOn = false;
    for (const call of this.#calls.values()) call.abort(new Error('the connection ended'));
  }

  /** Whether the request opens the connection or fits its era. */
  #fits({ method, era }: FastRequest): boolean {
    return this.#era ? era === this.#era && method !== 'initialize' : isOpening(method);
  }

  #open({ method, era, client, params }: FastRequest, message: JsonObject): void {
    const { clientInfo, _meta } = params;
    if (!this.#era) {
      this.#era = era;
      this.#client = isClient(clientInfo) ? clientInfo : client;
      this.opening.push(message);
    } else if (!this.#isNegotiated && !isOpening(method)) {
      // Completes the negotiation of the era when it is replayed; its answer is discarded.
      const negotiation = { id: 'cpq-mcp-settles', method: 'tools/list', params: { _meta } };
      this.opening.push({ jsonrpc: '2.0', ...negotiation });
    }
  }

  /** After `server/discover` alone, the client may still fall back to the legacy era. */
  get #isNegotiated(): boolean {
    return this.#era === 'legacy' || this.opening.length > 1;
  }

  async #answer(request: FastRequest, { write, onError }: ConnectionContext): Promise<void> {
    const call = new AbortController();
    this.#calls.set(request.id, call);
    const { signal } = call;
    const notify = (method: string, params: JsonObject) =>
      write(JSON.stringify({ method, params, jsonrpc: '2.0' }));
    try {
      const context = { signal, client: this.#client, notify };
      const answer = await this.#fastPath.answer(request, context);
      if (!signal.aborted) write(answer);
    } catch (error) {
      if (signal.aborted) return; // Cancelled calls are not answered.
      onError(toError(error)); // A fault of this server, such as a file of it that was removed.
      const internal = { code: -32603, message: 'Internal error' };
      write(JSON.stringify({ jsonrpc: '2.0', id: request.id, error: internal }));
    } finally {
      if (this.#calls.get(request.id) === call) this.#calls.delete(request.id);
    }
  }

  #cancels(message: unknown): boolean {
    if (!isObject(message) || message.method !== 'notifications/cancelled') return false;
    const id = isObject(message.params) ? message.params.requestId : undefined;
    const call = this.#calls.get(id);
    call?.abort(new Error('cancelled by the host'));
    return call !== undefined;
  }

  /** Whether the message needs no handling: a notification, after negotiation and before the SDK has started. */
  #isSilent(message: unknown): boolean {
    if (this.#sdkStarted || !this.#era) return false;
    const isNotification = isObject(message) && !('id' in message);
    return message === undefined || (isNotification && this.#isNegotiated);
  }
}

const isOpening = (method: unknown): boolean =>
  method === 'initialize' || method === 'server/discover';
