import type { McpRequestContext, Server } from '@modelcontextprotocol/server';
import type { Tenant } from '../tenant/tenant.ts';
import { followMoved } from './moved.ts';

/** As the SDK says how a server is going to be used. */
export type Connection = Pick<McpRequestContext, 'era' | 'requestInfo'>;

const mostSubscriptions = 1_024;

/** Whether a connection lasts; over HTTP every request has a server of its own. */
const lasts = (connection: Connection): boolean => connection.requestInfo === undefined;

/** Over HTTP the older era has nowhere to be told anything; the newer one listens to the handler. */
export const canSubscribe = (connection: Connection): boolean =>
  connection.era === 'modern' || lasts(connection);

/** Tells a connection that lasts what moves: in the newer era the SDK picks what was listened for. */
export function tellMoved(server: Server, tenant: Tenant, connection: Connection): void {
  if (!lasts(connection)) return;
  const subscribed = connection.era === 'legacy' ? subscriptionsOf(server) : undefined;
  const stop = followMoved(tenant, (uri) => {
    // A host that went away does not want to hear it.
    if (subscribed?.has(uri) ?? true) server.sendResourceUpdated({ uri }).catch(() => {});
  });
  server.onclose = stop;
}

function subscriptionsOf(server: Server): ReadonlySet<string> {
  const subscribed = new Set<string>();
  server.setRequestHandler('resources/subscribe', ({ params }) => {
    if (subscribed.size < mostSubscriptions) subscribed.add(params.uri);
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  return subscribed;
}
