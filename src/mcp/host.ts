import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { visible } from './text.ts';

/** The program on the other side of the protocol, as far as it says. */
export interface Host {
  /** Name and version. */
  name: string;
  /** Whether it can put a form before a person. */
  canAsk: boolean;
}

interface Envelope {
  [CLIENT_INFO_META_KEY]?: Implementation;
  [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
}

/**
 * Every request of the modern era says who sends it; in the older one the connection's first message
 * did, and a stateless HTTP request knows neither.
 */
export function hostOf(server: Server, { mcpReq }: ServerContext): Host {
  // Checked by the SDK before the call gets here; its type leaves the names of the keys out.
  const envelope = mcpReq.envelope as Envelope | undefined;
  const info = envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion();
  const said = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  const elicitation = said?.elicitation;
  return {
    name: info ? visible(`${info.name} ${info.version}`).slice(0, 120) : 'unknown host',
    // Forms are declared by name, or by an empty object as older hosts do.
    canAsk:
      elicitation !== undefined && ('form' in elicitation || Object.keys(elicitation).length === 0),
  };
}
