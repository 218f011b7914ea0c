import { clientOf, type HostClient } from '../mcp/client.ts';
import { fieldOf, isObject, type JsonObject, toError } from '../values.ts';
import {
  type Era,
  FastPath,
  type FastPathParts,
  type FastRequest,
  readRequest,
} from './fast-path.ts';

/** The connection of the messages. */
interface Connection {
  /** Writes the answer to a request. */
  answer(id: FastRequest['id'], line: string): void;
  /** Writes a notification. */
  write(line: string): void;
  onError(error: Error): void;
}

/** The fast path of a persistent connection. A connection with an unusual opening is served by the SDK alone. */
export class ConnectionFastPath {
  readonly #fastPath: FastPath;
  readonly #connection: Connection;
  readonly #calls = new Map<unknown, AbortController>();
  /** Answered opening messages, to be replayed to the SDK when it starts. */
  readonly opening: JsonObject[] = [];
  #era: Era | undefined;
  /** After `server/discover` alone, the client may still fall back to the legacy era. */
  #isNegotiated = false;
  #client: HostClient | undefined;
  /** Whether the fast path is active; off once the connection is opened again or was never negotiated. */
  #isOn = true;
  #sdkStarted = false;

  constructor(parts: FastPathParts, connection: Connection) {
    this.#fastPath = new FastPath(parts, true);
    this.#connection = connection;
  }

  /** @returns whether the message is handled here; if not, the SDK must handle it */
  tryAnswer(message: unknown): boolean {
    const method = fieldOf(message, 'method');
    if (method === 'notifications/cancelled' && this.#cancels(message)) return true;
    const request = this.#isOn ? readRequest(message) : undefined;
    if (request && this.#fits(request) && this.#fastPath.canHandle(request)) {
      if (!this.#isNegotiated) this.#open(request);
      void this.#answer(request);
      return true;
    }
    if (this.#isSilent(message)) return true;
    this.#sdkStarted = true;
    if (isOpening(method) || !this.#isNegotiated) this.#isOn = false;
    return false;
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

  #open({ id, method, era, params }: FastRequest): void {
    if (!this.#era) {
      this.#era = era;
      this.#client = clientOf(params.clientInfo, params.capabilities);
      this.opening.push({ jsonrpc: '2.0', id, method, params });
    } else if (!isOpening(method)) {
      // Completes the negotiation of the era when it is replayed; its answer is discarded.
      const negotiation = {
        id: 'cpq-mcp-settles',
        method: 'tools/list',
        params: { _meta: params._meta },
      };
      this.opening.push({ jsonrpc: '2.0', ...negotiation });
    }
    this.#isNegotiated = this.#era === 'legacy' || this.opening.length > 1;
  }

  async #answer(request: FastRequest): Promise<void> {
    const { write, answer, onError } = this.#connection;
    const call = new AbortController();
    this.#calls.set(request.id, call);
    const { signal } = call;
    const notify = (method: string, params: JsonObject) =>
      write(JSON.stringify({ method, params, jsonrpc: '2.0' }));
    try {
      const line = await this.#fastPath.answer(request, {
        signal,
        notify,
        client: this.#client,
      });
      if (!signal.aborted) answer(request.id, line);
    } catch (error) {
      if (signal.aborted) return; // Cancelled calls are not answered.
      onError(toError(error)); // A fault of this server, such as a file of it that was removed.
      const internal = { code: -32603, message: 'Internal error' };
      answer(request.id, JSON.stringify({ jsonrpc: '2.0', id: request.id, error: internal }));
    } finally {
      if (this.#calls.get(request.id) === call) this.#calls.delete(request.id);
    }
  }

  #cancels(message: unknown): boolean {
    const call = this.#calls.get(fieldOf(fieldOf(message, 'params'), 'requestId'));
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
