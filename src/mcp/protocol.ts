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
