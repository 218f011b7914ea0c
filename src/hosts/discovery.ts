import type { IncomingMessage, ServerResponse } from 'node:http';
import { legacyRevisions, modernRevision, description as serverInfo } from '../mcp/identity.ts';
import { loopbackNames } from '../setting-values.ts';
import { registryName, version } from '../version.ts';
import { hostName } from './http-io.ts';

export interface DiscoveryOptions {
  /** Public URL of `/mcp`; without it the card is for programs on this machine only. */
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
 * Publishes what a program may know before it connects, as the server-card extension of the protocol describes it.
 * Nothing in it depends on the tenants.
 */
export const discovery =
  ({ publicUrl, auth }: DiscoveryOptions): Discovery =>
  (path, request, response) => {
    const endpoint = publicUrl ?? localEndpoint(request);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (path !== '/mcp/server-card' || !endpoint || !isRead) return false;
    response.writeHead(200, { ...headers, ...(publicUrl && pageHeaders) });
    response.end(JSON.stringify(serverCard(endpoint, auth)));
    return true;
  };

const headers = {
  'content-type': 'application/mcp-server-card+json',
  'cache-control': 'public, max-age=3600',
};
/** Pages of any site may read the card of a public server. */
const pageHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET',
};

/** The endpoint as a program on this machine reached it; undefined for other names, and for web pages. */
function localEndpoint({ headers: { host = '', origin } }: IncomingMessage): URL | undefined {
  const url = `http://${host}/mcp`;
  const isLocal = loopbackNames.includes(hostName(host)) && URL.canParse(url);
  return isLocal && origin === undefined ? new URL(url) : undefined;
}

function serverCard(endpoint: URL, auth: ReadonlySet<string>): object {
  const { title, icons } = serverInfo(version);
  const logins = [...auth].flatMap((method) => loginHeaders[method] ?? []);
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
        ...(logins.length > 0 && {
          headers: logins.map((one) => ({ ...one, isRequired: auth.size === 1, isSecret: true })),
        }),
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
