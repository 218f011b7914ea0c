import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Gate } from './access/gate.ts';
import { HttpError } from './access/http-error.ts';

const streamLimits = { caller: 32, tenant: 1_024 };

/** Limits open streams per caller and per tenant. */
export class OpenStreams {
  /** Open streams by caller name and by tenant object. */
  readonly #counts = new Map<unknown, number>();
  open = 0;

  /**
   * Counts one more stream; without a caller only the tenant's limit applies.
   * @returns the function that releases it; call it once
   * @throws HttpError (429)
   */
  acquire(caller: string | undefined, tenant: object): () => void {
    this.#check(tenant, 'tenant');
    if (caller !== undefined) this.#check(caller, 'caller');
    this.#add(caller, tenant, 1);
    return () => this.#add(caller, tenant, -1);
  }

  #add(caller: string | undefined, tenant: object, by: number): void {
    this.open += by;
    for (const name of caller === undefined ? [tenant] : [tenant, caller]) {
      const count = (this.#counts.get(name) ?? 0) + by;
      if (count === 0) this.#counts.delete(name);
      else this.#counts.set(name, count);
    }
  }

  #check(name: unknown, by: keyof typeof streamLimits): void {
    if ((this.#counts.get(name) ?? 0) < streamLimits[by]) return;
    const whose = by === 'caller' ? 'You have' : 'This tenant has';
    const message = `${whose} reached the limit of open streams: close one first.`;
    throw new HttpError(429, message, { retryAfter: 60 });
  }
}

const reauthorizeMs = 60_000;

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
  const timer = setInterval(check, reauthorizeMs);
  timer.unref();
  response.once('close', () => clearInterval(timer));
}
