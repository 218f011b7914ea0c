import type { IncomingMessage, ServerResponse } from 'node:http';
import { hostHeaderValidation, originValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { SdkServed } from './served.ts';

export interface SdkOptions {
  /** Hostnames, without port, that requests may be addressed to and come from. */
  names: string[];
  maxBodyBytes: number;
  onError(error: Error): void;
}

/** The SDK's way of serving HTTP. */
export interface SdkHandler {
  /** Whether the request is addressed to us, and comes from where it may; if not it has been answered. */
  admits(request: IncomingMessage, response: ServerResponse): boolean;
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): Promise<void>;
}

export function sdkHandler(
  { server, followMoved }: SdkServed,
  { names, maxBodyBytes, onError }: SdkOptions,
): SdkHandler {
  const limits = { onerror: onError, maxRequestBodySize: maxBodyBytes };
  const mcp = createMcpHandler(server, limits);
  const stop = followMoved((uri) => mcp.notify.resourceUpdated(uri));
  const hostIsAllowed = hostHeaderValidation(names);
  const originIsAllowed = originValidation(names);
  return {
    admits: (request, response) =>
      hostIsAllowed(request, response) && originIsAllowed(request, response),
    // Its own type for a request forbids what Node's may be: undefined where there is no method.
    handle: toNodeHandler(mcp, limits) as SdkHandler['handle'],
    close() {
      stop();
      return mcp.close();
    },
  };
}
