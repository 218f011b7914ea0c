import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Gate } from './gate.ts';
import { HttpError } from './http-error.ts';

const intervalMs = 60_000;

/**
 * Re-authorizes an open stream every minute and ends it when the caller is no longer authorized, so that a
 * revoked or expired token does not stay valid for the life of a connection.
 */
export function reauthorizeWhileOpen(
  gate: Gate,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const check = () =>
    gate.admit(request).catch((error: unknown) => {
      // Unavailable providers and rate limits do not end a stream.
      const isRevoked =
        error instanceof HttpError && (error.status === 401 || error.status === 403);
      if (isRevoked) response.end();
    });
  const timer = setInterval(check, intervalMs);
  timer.unref();
  response.once('close', () => clearInterval(timer));
}
