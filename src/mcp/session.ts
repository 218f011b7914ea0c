import { randomUUID } from 'node:crypto';
import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { ifUnavailable, type State } from '../state/port.ts';
import { fieldOf } from '../values.ts';
import { clientOf, clientOfMeta, type HostClient, unknownClient } from './client.ts';
import { modernRevision } from './identity.ts';
import { isSigned, signed } from './signature.ts';

/** In the legacy era only the first message of a connection describes it, or over HTTP the session id. */
export async function clientOfRequest(
  secret: Secret,
  server: Server,
  { mcpReq, http }: ServerContext,
): Promise<HostClient> {
  if (isModern(server)) return clientOfMeta(mcpReq.envelope);
  const session = http?.req?.headers.get(sessionHeader);
  if (session) return (await openSession(secret, session)) ?? unknownClient;
  return clientOf(server.getClientVersion(), server.getClientCapabilities());
}

export const isModern = (server: Server): boolean =>
  (server.getNegotiatedProtocolVersion() ?? '') >= modernRevision;

export const sessionHeader = 'mcp-session-id';

/** Names a call of one session. */
export const callIn = (session: unknown, requestId: unknown): string => `${session} ${requestId}`;

type Secret = Pick<State, 'secret'>;

/** `undefined` until the shared state was reached once: until then everything can be read and nothing written. */
const secretOf = (state: Secret) => state.secret().catch(ifUnavailable(() => undefined));

/**
 * The session id for a legacy client over HTTP: what the client says of itself, signed, so that every replica can read
 * it. It grants nothing. `undefined` for a client of which nothing needs to be known.
 */
export async function createSession(
  state: Secret,
  initialize: unknown,
): Promise<string | undefined> {
  const client = clientOf(fieldOf(initialize, 'clientInfo'), fieldOf(initialize, 'capabilities'));
  const secret = client.asks || client.showsViews ? await secretOf(state) : undefined;
  if (!secret) return undefined;
  // Two sessions of one program differ, so that neither can cancel a call of the other.
  const body = Buffer.from(JSON.stringify({ ...client, id: randomUUID() })).toString('base64url');
  return signed(secret, 'session', body);
}

/** The client of a session; `undefined` for an id that this server, or another with its state, did not give out. */
export async function openSession(state: Secret, id: string): Promise<HostClient | undefined> {
  const [body = ''] = id.split('.');
  const secret = await secretOf(state);
  if (!secret) return unknownClient;
  if (!isSigned(secret, 'session', body, id)) return undefined;
  return JSON.parse(Buffer.from(body, 'base64url').toString());
}
