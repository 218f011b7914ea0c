import { createHash } from 'node:crypto';
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

interface PublicDocument {
  type: string;
  content: (endpoint: URL, auth: ReadonlySet<string>) => object;
}

const cardType = 'application/mcp-server-card+json';

/** By path: the server card of the endpoint, and the catalog of the domain, which names the card. */
const documents: Readonly<Record<string, PublicDocument>> = {
  '/mcp/server-card': { type: cardType, content: serverCard },
  '/.well-known/ai-catalog.json': { type: 'application/ai-catalog+json', content: catalog },
};

/**
 * Publishes what a program may know before it connects, as the server-card extension of the protocol describes it.
 * Nothing in it depends on the tenants.
 */
export const discovery =
  ({ publicUrl, auth }: DiscoveryOptions): Discovery =>
  (path, request, response) => {
    const document = documents[path];
    if (!document || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
    const endpoint = publicUrl ?? localEndpoint(request);
    if (!endpoint) return false;
    const text = JSON.stringify(document.content(endpoint, auth));
    const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
    const headers = { ...cacheHeaders, ...(publicUrl && pageHeaders), etag };
    if (request.headers['if-none-match'] === etag) response.writeHead(304, headers).end();
    else {
      const body = Buffer.from(text);
      const described = { 'content-type': document.type, 'content-length': body.length };
      response.writeHead(200, { ...headers, ...described }).end(body);
    }
    return true;
  };

const cacheHeaders = { 'cache-control': 'public, max-age=3600' };
/** Pages of any site may read the documents of a public server. */
const pageHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET',
  'access-control-allow-headers': 'Content-Type, If-None-Match',
  'access-control-expose-headers': 'ETag',
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
