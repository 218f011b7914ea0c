import type { IncomingMessage, ServerResponse } from 'node:http';
import { legacyRevisions, modernRevision, description as serverInfo } from '../mcp/identity.ts';
import { registryName, version } from '../version.ts';

export interface DiscoveryOptions {
  /** Public URL of `/mcp`; without it there is no card. */
  publicUrl: URL | undefined;
  /** How callers authenticate: `token`, `oauth`, `key`. */
  auth: ReadonlySet<string>;
}

/** Answers requests for the public server card. @returns whether the request was for it */
export type Discovery = (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
) => boolean;

/**
 * Publishes what a program, or a page of any site, may know before it connects, as the server-card extension of the
 * protocol describes it. Nothing in it depends on the tenants.
 */
export const discovery =
  ({ publicUrl, auth }: DiscoveryOptions): Discovery =>
  (path, { method = '' }, response) => {
    if (path !== '/mcp/server-card' || !publicUrl || !['GET', 'HEAD'].includes(method))
      return false;
    const headers = {
      'content-type': 'application/mcp-server-card+json',
      'cache-control': 'public, max-age=3600',
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET',
    };
    response.writeHead(200, headers).end(JSON.stringify(serverCard(publicUrl, auth)));
    return true;
  };

function serverCard(endpoint: URL, auth: ReadonlySet<string>): object {
  const { title, icons } = serverInfo(version);
  const headers = [...auth]
    .flatMap((method) => loginHeaders[method] ?? [])
    .map((header) => ({ ...header, isRequired: auth.size === 1, isSecret: true }));
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: registryName,
    version,
    title,
    description: 'Companies, opportunities, products and quotes of a quoting service',
    icons,
    remotes: [
      {
        type: 'streamable-http',
        url: endpoint.href,
        ...(headers.length > 0 && { headers }),
        supportedProtocolVersions: [modernRevision, ...legacyRevisions],
      },
    ],
  };
}

/** Where callers sign in at an identity provider, the protocol's own discovery says so. */
const loginHeaders: Readonly<Record<string, { name: string; description: string }>> = {
  token: { name: 'Authorization', description: 'Bearer and an access token of this server' },
  key: { name: 'api-key', description: "The caller's own API key" },
};
