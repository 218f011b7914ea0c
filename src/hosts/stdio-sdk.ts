import { deserializeMessage, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { fieldOf, type JsonObject } from '../values.ts';
import type { SdkEndpoint } from './endpoint.ts';

export interface StdioSdkOptions {
  /** The opening messages, which have already been answered. */
  opening: readonly JsonObject[];
  write(message: object): void;
  onError(error: Error): void;
  /** Called when the SDK closes the connection. */
  onClose(): void;
}

/** The SDK on a connection whose lines are read and written by LineConnection. */
export type SdkConnection = ReturnType<typeof connectSdk>;

/** Starts the SDK on an open connection: replays the opening messages and discards the answers to them. */
export function connectSdk(
  factory: SdkEndpoint['server'],
  { opening, write, onError, onClose }: StdioSdkOptions,
) {
  const alreadyAnswered = new Set(opening.map(({ id }) => id));
  const transport: Transport = {
    async start() {},
    async send(message) {
      const isAnswer = !('method' in message);
      if (!(isAnswer && alreadyAnswered.delete(fieldOf(message, 'id')))) write(message);
    },
    async close() {
      onClose();
      transport.onclose?.();
    },
  };
  const connection = serveStdio(factory, { transport, onerror: onError });
  /** @throws SyntaxError for invalid JSON, ZodError for what is no message */
  const receive = (line: string) => transport.onmessage?.(deserializeMessage(line));
  for (const message of opening) receive(JSON.stringify(message));
  return { receive, close: () => connection.close() };
}
