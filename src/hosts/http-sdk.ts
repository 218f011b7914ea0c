import type { IncomingMessage, ServerResponse } from 'node:http';
import { hostHeaderValidation, originValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { SdkServed } from './served.ts';

export interface SdkOptions {
  maxBodyBytes: number;
  onError(error: Error): void;
}

/** The SDK's way of serving HTTP. */
export interface SdkHandler {
  /** `caller`: who was let in, by a name that is no secret. */
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    caller: string | undefined,
  ): Promise<void>;
  close(): Promise<void>;
}

/**
 * Whether a request is addressed to one of these hostnames, and comes from where it may; if not it has
 * been answered.
 */
export const isAddressed = (
  names: string[],
  request: IncomingMessage,
  response: ServerResponse,
): boolean =>
  hostHeaderValidation(names)(request, response) && originValidation(names)(request, response);

export function sdkHandler(
  { server, followMoved }: SdkServed,
  { maxBodyBytes, onError }: SdkOptions,
): SdkHandler {
  const limits = { onerror: onError, maxRequestBodySize: maxBodyBytes };
  const mcp = createMcpHandler(server, limits);
  const stop = followMoved((uri) => mcp.notify.resourceUpdated(uri));
  // Its own type for a request forbids what Node's may be: undefined where there is no method.
  const handle = toNodeHandler(mcp, limits) as (
    request: IncomingMessage,
    response: ServerResponse,
  ) => Promise<void>;
  return {
    handle(request, response, caller) {
      // Handed on as the protocol's own note of who was let in; the credentials stay here.
      const auth =
        caller === undefined ? {} : { auth: { token: '', clientId: caller, scopes: [] } };
      return handle(Object.assign(request, auth), response);
    },
    close() {
      stop();
      return mcp.close();
    },
  };
}
