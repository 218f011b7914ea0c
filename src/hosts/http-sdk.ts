import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { SdkEndpoint } from './endpoint.ts';

export interface HttpSdkOptions {
  maxBodyBytes: number;
  onError(error: Error): void;
}

/** Serves HTTP requests by the SDK. */
export interface SdkHandler {
  /** `body`: the parsed body, if it was read. `caller`: the authenticated caller. `listens`: whether it opens a stream of updates. */
  handle(
    sent: { request: IncomingMessage; body: Buffer | undefined },
    response: ServerResponse,
    auth: { caller: string | undefined; listens: boolean },
  ): Promise<void>;
  /** Ends open streams; calls in flight are finished. */
  close(): Promise<void>;
}

/** The SDK creates a Fetch `Request`, which does not allow this method. */
const isUnsupportedMethod = ({ method }: IncomingMessage): boolean => method === 'TRACE';

function notAllowed(response: ServerResponse): void {
  response.writeHead(405, { allow: 'GET, POST, DELETE', connection: 'close' }).end();
}

/** A request whose body can be read again: the SDK reads it, and it was read before. */
function withBody({ method, url, headers }: IncomingMessage, body: Buffer): IncomingMessage {
  return Object.assign(Readable.from([body]), {
    method,
    url,
    headers,
  }) as unknown as IncomingMessage;
}

type McpHandler = ReturnType<typeof createMcpHandler>;
type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export function sdkHandler(
  { server, onResourceUpdated }: SdkEndpoint,
  { maxBodyBytes, onError }: HttpSdkOptions,
): SdkHandler {
  const limits = { onerror: onError, maxRequestBodySize: maxBodyBytes };
  // The SDK's request type does not allow an undefined method, which Node's type does.
  const handlerOf = (mcp: McpHandler) => toNodeHandler(mcp, limits) as Handle;
  // Two handlers, because closing one aborts everything that it is answering.
  // OpenStreams limits subscriptions before this.
  const streams = createMcpHandler(server, { ...limits, maxSubscriptions: Infinity });
  const answerCall = handlerOf(createMcpHandler(server, limits));
  const answerListener = handlerOf(streams);
  let unsubscribe: (() => void) | undefined;
  return {
    async handle({ request, body }, response, { caller, listens }) {
      if (isUnsupportedMethod(request)) return notAllowed(response);
      if (listens) unsubscribe ??= onResourceUpdated((uri) => streams.notify.resourceUpdated(uri));
      // Passes on the caller's name only; credentials stay here.
      const auth =
        caller === undefined ? {} : { auth: { token: '', clientId: caller, scopes: [] } };
      const unread = body ? withBody(request, body) : request;
      return (listens ? answerListener : answerCall)(Object.assign(unread, auth), response);
    },
    close() {
      unsubscribe?.();
      return streams.close();
    },
  };
}
