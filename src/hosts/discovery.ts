import type { IncomingMessage, ServerResponse } from 'node:http';
import { legacyRevisions, modernRevision, description as serverInfo } from '../mcp/identity.ts';
import { loopbackNames } from '../setting-values.ts';
import { registryName, version } from '../version.ts';
import { hostName } from './http-io.ts';

export interface DiscoveryOptions {
  /** Public URL of `/mcp`; without it the documents are for programs on this machine only. */
  publicUrl: URL | undefined;
  /** How callers authenticate: `token`, `oauth`, `key`. */
  auth: ReadonlySet<string>;
}

/** Answers requests for the public documents. @returns whether the request was for one of them */
export type Discovery = (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
) => boolean;

const cardType = 'application/mcp-server-card+json';
const catalogType = 'application/ai-catalog+json';

/**
 * Publishes what a program may know before it connects, as the server-card extension of the protocol describes it: the
 * card of the endpoint, and the catalog of the domain, which names the card. Nothing in it depends on the tenants.
 */
export const discovery =
  ({ publicUrl, auth }: DiscoveryOptions): Discovery =>
  (path, request, response) => {
    const isCard = path === '/mcp/server-card';
    if (!isCard && path !== '/.well-known/ai-catalog.json') return false;
    const endpoint = publicUrl ?? localEndpoint(request);
    if (!endpoint || !['GET', 'HEAD'].includes(request.method ?? '')) return false;
    const text = JSON.stringify(isCard ? serverCard(endpoint, auth) : catalog(endpoint));
    const type = { 'content-type': isCard ? cardType : catalogType };
    response.writeHead(200, { ...cacheHeaders, ...(publicUrl && pageHeaders), ...type }).end(text);
    return true;
  };

const cacheHeaders = { 'cache-control': 'public, max-age=3600' };
/** Pages of any site may read the documents of a public server. */
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
  const headers = [...auth].flatMap((method) => loginHeaders[method] ?? []);
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
        ...(headers.length > 0 && {
          headers: headers.map((one) => ({ ...one, isRequired: auth.size === 1, isSecret: true })),
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

function catalog(endpoint: URL): object {
  const [, name] = registryName.split('/');
  return {
    specVersion: '1.0',
    entries: [
      {
        // Without a namespace or a kind, whose order drafts of the catalog disagree on.
        identifier: `urn:air:${endpoint.hostname}:${name}`,
        displayName: serverInfo(version).title,
        type: cardType,
        url: `${endpoint.href}/server-card`,
      },
    ],
  };
}
