import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { SdkEndpoint } from './endpoint.ts';

/** What is known of a request before the SDK has it. */
interface Received {
  /** The parsed body; undefined if it was not read, or is no JSON. */
  message: unknown;
  /** The authenticated caller. */
  caller: string | undefined;
  /** Whether it opens a stream of updates. */
  listens: boolean;
}

export type SdkHandler = ReturnType<typeof sdkHandler>;
type McpHandler = ReturnType<typeof createMcpHandler>;
type Handle = (request: IncomingMessage, response: ServerResponse, body: unknown) => Promise<void>;

/** Serves HTTP requests by the SDK. `close` ends open streams; calls in flight are finished. */
export function sdkHandler(
  { server, onResourceUpdated }: SdkEndpoint,
  onerror: (error: Error) => void,
) {
  // The SDK's request type does not allow an undefined method, which Node's type does.
  const handlerOf = (mcp: McpHandler) => toNodeHandler(mcp, { onerror }) as Handle;
  // Two handlers, because closing one aborts everything that it is answering.
  // OpenStreams limits subscriptions before this.
  const streams = createMcpHandler(server, { onerror, maxSubscriptions: Infinity });
  const answerCall = handlerOf(createMcpHandler(server, { onerror }));
  const answerListener = handlerOf(streams);
  let unsubscribe: (() => void) | undefined;
  return {
    async handle(
      request: IncomingMessage,
      response: ServerResponse,
      { message, caller, listens }: Received,
    ) {
      if (listens) unsubscribe ??= onResourceUpdated((uri) => streams.notify.resourceUpdated(uri));
      // Passes on the caller's name only; credentials stay here.
      const auth =
        caller === undefined ? {} : { auth: { token: '', clientId: caller, scopes: [] } };
      const answer = listens ? answerListener : answerCall;
      return answer(Object.assign(request, auth), response, message);
    },
    close() {
      unsubscribe?.();
      return streams.close();
    },
  };
}
