import type { McpRequestContext, Server } from '@modelcontextprotocol/server';
import type { Update } from '../state/port.ts';
import type { ResourceTemplate } from '../tool-kit/resources.ts';
import { readableTemplates } from './resources.ts';
import type { CallParts } from './tool-run.ts';

/** Calls the listener with the URI of every updated resource. @returns a function that unsubscribes */
export const onResourceUpdated = (
  { tenant, surface }: Pick<CallParts, 'tenant' | 'surface'>,
  listener: (uri: string) => void,
): (() => void) =>
  tenant.updates.subscribe((update) => {
    const readable = readableTemplates({ grants: tenant.grants, surface });
    for (const uri of updatedUris(readable, update)) listener(uri);
  });

/** URIs by each id, encoded and unencoded, because some hosts do not encode. */
function updatedUris(
  readable: readonly ResourceTemplate[],
  { collection, names = [] }: Update,
): Set<string> {
  const templates = readable.filter(({ resource }) => resource === collection);
  // Half of a surrogate pair cannot be encoded.
  const wellFormed = names.map((name) => name.toWellFormed());
  const spellings = wellFormed.flatMap((name) => [encodeURIComponent(name), name]);
  return new Set(
    templates.flatMap(({ uriTemplate }) =>
      spellings.map((name) => uriTemplate.replace('{id}', () => name)),
    ),
  );
}

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
