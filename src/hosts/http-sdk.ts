import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { SdkEndpoint } from './endpoint.ts';

export type SdkHandler = ReturnType<typeof sdkHandler>;
type Handle = (request: IncomingMessage, response: ServerResponse, body: unknown) => Promise<void>;

/** Serves HTTP requests by the SDK, with the parsed body and the name of the authenticated caller. */
export function sdkHandler({ server }: SdkEndpoint, onerror: (error: Error) => void) {
  // The SDK's request type does not allow an undefined method, which Node's type does.
  const answer = toNodeHandler(createMcpHandler(server, { onerror }), { onerror }) as Handle;
  return async (
    request: IncomingMessage,
    response: ServerResponse,
    message: unknown,
    caller: string | undefined,
  ) => {
    // Passes on the caller's name only; credentials stay here.
    const auth = caller === undefined ? {} : { auth: { token: '', clientId: caller, scopes: [] } };
    return answer(Object.assign(request, auth), response, message);
  };
}
