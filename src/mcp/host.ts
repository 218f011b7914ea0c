import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { visible } from '../text/characters.ts';
import { modernRevision } from './protocol.ts';

/** The client program, as it describes itself. */
export interface ClientHost {
  /** Name and version. */
  name: string;
  /** Whether it supports form elicitation. */
  canAsk: boolean;
}

interface Envelope {
  [CLIENT_INFO_META_KEY]?: Implementation;
  [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
}

/**
 * In the modern era every request describes its client; in the legacy era only the first message of a
 * connection does, and stateless HTTP requests have no description.
 */
export function clientHost(server: Server, { mcpReq }: ServerContext): ClientHost {
  const isModern = (server.getNegotiatedProtocolVersion() ?? '') >= modernRevision;
  // Already validated by the SDK, whose type lacks the key names.
  const envelope = isModern ? (mcpReq.envelope as Envelope | undefined) : undefined;
  const info = envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion();
  const capabilities = isModern
    ? envelope?.[CLIENT_CAPABILITIES_META_KEY]
    : server.getClientCapabilities();
  const elicitation = capabilities?.elicitation;
  return {
    name: info ? visible(`${info.name} ${info.version}`).slice(0, 120) : 'unknown host',
    // Older hosts declare form support by an empty object.
    canAsk:
      elicitation !== undefined && ('form' in elicitation || Object.keys(elicitation).length === 0),
  };
}
