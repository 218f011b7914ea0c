import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { SdkEndpoint } from './endpoint.ts';

export interface HttpSdkOptions {
  maxBodyBytes: number;
  onError(error: Error): void;
}

/** The SDK's way of serving HTTP. */
export interface SdkHandler {
  /** `body`: what was read of the request, if it was. `caller`: who was let in, by a name that is no secret; `listens`: to what moves, for long. */
  handle(
    sent: { request: IncomingMessage; body: Buffer | undefined },
    response: ServerResponse,
    auth: { caller: string | undefined; listens: boolean },
  ): Promise<void>;
  /** Ends what is listened to; calls come to their own end. */
  close(): Promise<void>;
}

/** The SDK makes a `Request` of every request, which the Fetch standard forbids for this one. */
const isUnsupportedMethod = ({ method }: IncomingMessage): boolean => method === 'TRACE';

function notAllowed(response: ServerResponse): void {
  response.writeHead(405, { allow: 'GET, POST, DELETE', connection: 'close' }).end();
}

/** The same request before its body was read. */
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
  { server, onResourceUpdated: followMoved }: SdkEndpoint,
  { maxBodyBytes, onError }: HttpSdkOptions,
): SdkHandler {
  const limits = { onerror: onError, maxRequestBodySize: maxBodyBytes };
  // Its own type for a request forbids what Node's may be: undefined where there is no method.
  const handlerOf = (mcp: McpHandler) => toNodeHandler(mcp, limits) as Handle;
  // Two of them, because one that is closed breaks off all that it is answering.
  // Who may open how many is checked before.
  const streams = createMcpHandler(server, { ...limits, maxSubscriptions: Infinity });
  const answerCall = handlerOf(createMcpHandler(server, limits));
  const answerListener = handlerOf(streams);
  let stop: (() => void) | undefined;
  return {
    async handle({ request, body }, response, { caller, listens }) {
      if (isUnsupportedMethod(request)) return notAllowed(response);
      if (listens) stop ??= followMoved((uri) => streams.notify.resourceUpdated(uri));
      // Handed on as the protocol's own note of who was let in; the credentials stay here.
      const auth =
        caller === undefined ? {} : { auth: { token: '', clientId: caller, scopes: [] } };
      const unread = body ? withBody(request, body) : request;
      return (listens ? answerListener : answerCall)(Object.assign(unread, auth), response);
    },
    close() {
      stop?.();
      return streams.close();
    },
  };
}
