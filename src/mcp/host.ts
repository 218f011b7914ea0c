import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { visible } from '../text/characters.ts';

/** The program on the other side of the protocol, as far as it says. */
export interface ClientHost {
  /** Name and version. */
  name: string;
  /** Whether it can put a form before a person. */
  canAsk: boolean;
}

interface Envelope {
  [CLIENT_INFO_META_KEY]?: Implementation;
  [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
}

/** The first version in which every request says who sends it. */
const firstModernVersion = '2026-07-28';

/**
 * Every request of the modern era says who sends it; in the older one the connection's first message
 * did, whatever a request says beside that, and a stateless HTTP request knows neither.
 */
export function clientHost(server: Server, { mcpReq }: ServerContext): ClientHost {
  const isModern = (server.getNegotiatedProtocolVersion() ?? '') >= firstModernVersion;
  // Checked by the SDK before the call gets here; its type leaves the names of the keys out.
  const envelope = isModern ? (mcpReq.envelope as Envelope | undefined) : undefined;
  const info = envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion();
  const capabilities = isModern
    ? envelope?.[CLIENT_CAPABILITIES_META_KEY]
    : server.getClientCapabilities();
  const elicitation = capabilities?.elicitation;
  return {
    name: info ? visible(`${info.name} ${info.version}`).slice(0, 120) : 'unknown host',
    // Forms are declared by name, or by an empty object as older hosts do.
    canAsk:
      elicitation !== undefined && ('form' in elicitation || Object.keys(elicitation).length === 0),
  };
}
