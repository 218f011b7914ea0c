import { deserializeMessage, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { fieldOf, isObject, type JsonObject, toError } from '../values.ts';
import type { SdkEndpoint } from './endpoint.ts';

/** The SDK's transport for a connection whose lines are read and written by LineConnection. */
export interface SdkConnection {
  receive(line: string): void;
  /** Resolves when all received requests have been answered or cancelled. */
  answered(): Promise<void>;
  close(): Promise<void>;
}

export interface StdioSdkOptions {
  /** The opening messages, which have already been answered. */
  opening: readonly JsonObject[];
  write(message: object): void;
  onError(error: Error): void;
  /** Called when the SDK closes the connection. */
  onClose(): void;
}

/** Starts the SDK on an open connection: replays the opening messages and discards the answers to them. */
export function connectSdk(
  factory: SdkEndpoint['server'],
  { opening, write, onError, onClose }: StdioSdkOptions,
): SdkConnection {
  const alreadyAnswered = new Set(opening.map(({ id }) => id));
  const pending = new PendingRequests();
  const transport: Transport = {
    async start() {},
    async send(message) {
      const id = fieldOf(message, 'id');
      if (!isAnswer(message)) {
        pending.noteHostRequest(message);
        return write(message);
      }
      if (!alreadyAnswered.delete(id)) write(message);
      pending.settle(id);
    },
    async close() {
      onClose();
      transport.onclose?.();
    },
  };
  const connection = serveStdio(factory, { transport, onerror: onError });
  const receive = (line: string) => {
    try {
      const message = deserializeMessage(line);
      pending.noteRequest(message);
      transport.onmessage?.(message);
    } catch (error) {
      // Invalid JSON is ignored.
      if (!(error instanceof SyntaxError)) onError(toError(error));
    }
  };
  for (const message of opening) receive(JSON.stringify(message));
  return { receive, answered: () => pending.answered(), close: () => connection.close() };
}

/** The requests that the SDK has not answered yet. */
class PendingRequests {
  readonly #ids = new Set<unknown>();
  /** Unanswered requests to the host; each blocks one request of the host. */
  readonly #hostRequests = new Set<unknown>();
  readonly #waiters: (() => void)[] = [];

  noteRequest(message: JsonObject): void {
    const { id, method, params } = message;
    if (isAnswer(message)) this.#hostRequests.delete(id);
    else if (method === 'notifications/cancelled')
      this.settle(isObject(params) && params.requestId);
    // A subscription is answered when the connection ends.
    else if (id !== undefined && method !== 'subscriptions/listen') this.#ids.add(id);
  }

  noteHostRequest({ id }: JsonObject): void {
    if (id !== undefined) this.#hostRequests.add(id);
    this.#check();
  }

  settle(id: unknown): void {
    this.#ids.delete(id);
    this.#check();
  }

  /** Resolves when nothing is left to answer, after input has ended. Requests that wait for the host do not count. */
  async answered(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiters.push(resolve);
      this.#check();
    });
  }

  #check(): void {
    if (this.#ids.size > this.#hostRequests.size) return;
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}

const isAnswer = (message: object): boolean =>
  isObject(message) && ('result' in message || 'error' in message);
