import type { IncomingMessage, ServerResponse } from 'node:http';
import { Denied } from './denied.ts';
import type { Gate } from './gate.ts';

const everyMs = 60_000;

/**
 * Ends an answer that goes on for long soon after whoever listens to it would be let in no more: a token
 * that was revoked, or has expired, must not be good for as long as a connection holds.
 */
export function whileAdmitted(
  gate: Gate,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const look = () =>
    gate.admit(request).catch((error: unknown) => {
      // That somebody cannot be asked just now, or asks too often, is no reason.
      const isOut = error instanceof Denied && (error.status === 401 || error.status === 403);
      if (isOut) response.end();
    });
  const looking = setInterval(look, everyMs);
  looking.unref();
  response.once('close', () => clearInterval(looking));
}
