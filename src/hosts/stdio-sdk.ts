import { deserializeMessage, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { isRow, type Row } from '../mcp/plain.ts';
import type { Served } from './served.ts';

/** The SDK's side of a connection whose lines are read and written by us. */
export interface SdkConnection {
  take(line: string): void;
  close(): Promise<void>;
}

export interface SdkOptions {
  /** What the host opened the connection with, and has had its answers to. */
  opening: readonly Row[];
  write(message: object): void;
  onError(error: Error): void;
  /** The SDK wants no more of it. */
  onClose(): void;
}

/** Starts the SDK in the middle of a connection: it is shown how it was opened, and its answers to that are kept back. */
export function connectSdk(
  factory: Served['server'],
  { opening, write, onError, onClose }: SdkOptions,
): SdkConnection {
  const answered = new Set(opening.map(({ id }) => id));
  const transport: Transport = {
    async start() {},
    async send(message) {
      const { id } = message as { id?: unknown };
      if (isAnswer(message) && answered.delete(id)) return;
      write(message);
    },
    async close() {
      onClose();
      transport.onclose?.();
    },
  };
  const connection = serveStdio(factory, { transport, onerror: onError });
  const take = (line: string) => {
    try {
      transport.onmessage?.(deserializeMessage(line));
    } catch (error) {
      // What is not JSON at all is passed over.
      if (!(error instanceof SyntaxError)) onError(error as Error);
    }
  };
  for (const message of opening) take(JSON.stringify(message));
  return { take, close: () => connection.close() };
}

const isAnswer = (message: object): boolean =>
  isRow(message) && ('result' in message || 'error' in message);
