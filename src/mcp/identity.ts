import { fieldOf } from '../values.ts';
import { icon, version } from '../version.ts';

/** The server's name and version, which every modern answer contains. */
export const identity = { name: 'cpq-mcp', title: 'Quotes and pipeline', version };

/** What the server says of itself when a connection is opened. */
export const description = {
  ...identity,
  // In the answer, so that no host has to fetch anything to show it.
  icons: [{ src: `data:image/png;base64,${icon}`, mimeType: 'image/png', sizes: ['64x64'] }],
};

/** The extension by which hosts say that they show interactive views (MCP Apps), and the MIME type of those. */
export const viewExtension = 'io.modelcontextprotocol/ui';
export const viewMimeType = 'text/html;profile=mcp-app';

export const capabilities = {
  tools: {},
  resources: {},
  prompts: {},
  completions: {},
  extensions: { [viewExtension]: {} },
};

/** Refuses a request to listen, which the SDK would keep open: these capabilities announce nothing. */
export function refusalToListen(message: unknown): object | undefined {
  const [id, method] = [fieldOf(message, 'id'), fieldOf(message, 'method')];
  if (id === undefined || method !== 'subscriptions/listen') return undefined;
  return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
}

/** For an hour: lists never change while the server runs, but depend on the caller's grants. */
export const listCacheHints = { ttlMs: 3_600_000, cacheScope: 'private' as const };

/** The only revision of the modern era so far; in it every request describes its client. */
export const modernRevision = '2026-07-28';

/** Revisions of the legacy era, newest first; a connection starts with a handshake. */
export const legacyRevisions: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
];

/** Prefix of the keys in `_meta` that belong to the protocol. */
export const reservedPrefix = 'io.modelcontextprotocol/';

/** Keys in `_meta`. Written out, because the SDK that exports them is loaded only when needed. */
export const metaKeys = {
  revision: `${reservedPrefix}protocolVersion`,
  client: `${reservedPrefix}clientInfo`,
  capabilities: `${reservedPrefix}clientCapabilities`,
  server: `${reservedPrefix}serverInfo`,
} as const;
