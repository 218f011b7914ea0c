import { deserializeMessage, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { isObject } from '../api/envelope.ts';
import type { TenantEndpoint } from './endpoint.ts';

type Row = Record<string, unknown>;

/** The SDK's side of a connection whose lines are read and written by us. */
export interface SdkConnection {
  receive(line: string): void;
  /** Resolves once every request that was taken has been answered or cancelled. */
  answered(): Promise<void>;
  close(): Promise<void>;
}

export interface StdioSdkOptions {
  /** What the host opened the connection with, and has had its answers to. */
  opening: readonly Row[];
  write(message: object): void;
  onError(error: Error): void;
  /** The SDK wants no more of it. */
  onClose(): void;
}

/** Starts the SDK in the middle of a connection: it is shown how it was opened, and its answers to that are kept back. */
export function connectSdk(
  factory: TenantEndpoint['server'],
  { opening, write, onError, onClose }: StdioSdkOptions,
): SdkConnection {
  const alreadyAnswered = new Set(opening.map(({ id }) => id));
  const pending = new PendingRequests();
  const transport: Transport = {
    async start() {},
    async send(message) {
      const { id } = message as { id?: unknown };
      if (!isAnswer(message)) {
        pending.noteQuestion(message as Row);
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
  const take = (line: string) => {
    try {
      const message = deserializeMessage(line);
      pending.note(message);
      transport.onmessage?.(message);
    } catch (error) {
      // What is not JSON at all is passed over.
      if (!(error instanceof SyntaxError)) onError(error as Error);
    }
  };
  for (const message of opening) take(JSON.stringify(message));
  return { receive: take, answered: () => pending.answered(), close: () => connection.close() };
}

/** The requests that the SDK has not answered yet. */
class PendingRequests {
  readonly #ids = new Set<unknown>();
  /** What the host was asked meanwhile, and has not answered: each keeps one request waiting. */
  readonly #questions = new Set<unknown>();
  readonly #waiters: (() => void)[] = [];

  note(message: Row): void {
    const { id, method, params } = message;
    if (isAnswer(message)) this.#questions.delete(id);
    else if (method === 'notifications/cancelled')
      this.settle(isObject(params) && params.requestId);
    // A subscription is answered when the connection ends.
    else if (id !== undefined && method !== 'subscriptions/listen') this.#ids.add(id);
  }

  noteQuestion({ id }: Row): void {
    if (id !== undefined) this.#questions.add(id);
    this.#check();
  }

  settle(id: unknown): void {
    this.#ids.delete(id);
    this.#check();
  }

  /** Asked once no more is read of the host: what waits for its answer waits in vain. */
  async answered(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiters.push(resolve);
      this.#check();
    });
  }

  #check(): void {
    if (this.#ids.size > this.#questions.size) return;
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}

const isAnswer = (message: object): boolean =>
  isObject(message) && ('result' in message || 'error' in message);
