import type { McpRequestContext, Server } from '@modelcontextprotocol/server';
import type { Tenant } from '../tenant/tenant.ts';
import { onResourceUpdated } from './resource-updates.ts';

/** As the SDK says how a server is going to be used. */
export type Connection = Pick<McpRequestContext, 'era' | 'requestInfo'>;

const maxSubscriptions = 1_024;

/** Whether a connection lasts; over HTTP every request has a server of its own. */
const isPersistent = (connection: Connection): boolean => connection.requestInfo === undefined;

/** Over HTTP the older era has nowhere to be told anything; the newer one listens to the handler. */
export const canSubscribe = (connection: Connection): boolean =>
  connection.era === 'modern' || isPersistent(connection);

/** Tells a connection that lasts what moves: in the newer era the SDK picks what was listened for. */
export function forwardUpdates(server: Server, tenant: Tenant, connection: Connection): void {
  if (!isPersistent(connection)) return;
  const subscribed = connection.era === 'legacy' ? subscriptionsOf(server) : undefined;
  const unsubscribe = onResourceUpdated(tenant, (uri) => {
    // A host that went away does not want to hear it.
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
