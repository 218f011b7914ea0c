import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Gate } from './gate.ts';
import { HttpError } from './http-error.ts';

const intervalMs = 60_000;

/**
 * Ends an answer that goes on for long soon after whoever listens to it would be let in no more: a token
 * that was revoked, or has expired, must not be good for as long as a connection holds.
 */
export function reauthorizeWhileOpen(
  gate: Gate,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const check = () =>
    gate.admit(request).catch((error: unknown) => {
      // That somebody cannot be asked just now, or asks too often, is no reason.
      const isRevoked =
        error instanceof HttpError && (error.status === 401 || error.status === 403);
      if (isRevoked) response.end();
    });
  const timer = setInterval(check, intervalMs);
  timer.unref();
  response.once('close', () => clearInterval(timer));
}
