import type { McpRequestContext, Server } from '@modelcontextprotocol/server';
import { onResourceUpdated } from './resource-updates.ts';
import type { CallParts } from './tool-run.ts';

/** The SDK's context of a server instance. */
export type Connection = Pick<McpRequestContext, 'era' | 'requestInfo'>;

const maxSubscriptions = 1_024;

/** Whether the connection outlives a request; over HTTP every request has its own server. */
const isPersistent = (connection: Connection): boolean => connection.requestInfo === undefined;

/** Over HTTP, legacy clients cannot receive updates; modern ones subscribe through the handler. */
export const canSubscribe = (connection: Connection): boolean =>
  connection.era === 'modern' || isPersistent(connection);

/** Forwards updates to a persistent connection; in the modern era the SDK filters by subscription. */
export function forwardUpdates(
  server: Server,
  parts: Pick<CallParts, 'tenant' | 'surface'>,
  connection: Connection,
): void {
  if (!isPersistent(connection)) return;
  const subscribed = connection.era === 'legacy' ? subscriptionsOf(server) : undefined;
  const unsubscribe = onResourceUpdated(parts, (uri) => {
    // The host has disconnected.
    if (subscribed?.has(uri) ?? true) server.sendResourceUpdated({ uri }).catch(() => {});
  });
  server.onclose = unsubscribe;
}

function subscriptionsOf(server: Server): ReadonlySet<string> {
  const subscribed = new Set<string>();
  server.setRequestHandler('resources/subscribe', ({ params }) => {
    if (subscribed.size < maxSubscriptions) subscribed.add(params.uri);
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  return subscribed;
}
