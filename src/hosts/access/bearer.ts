import type { IncomingMessage } from 'node:http';
import { HttpError } from './http-error.ts';

/**
 * The token of `Authorization: Bearer …` (RFC 6750); an address is no place for one. Of two such headers
 * nobody knows which one a proxy looked at: neither counts.
 */
export function bearerToken({ headers, headersDistinct }: IncomingMessage): string | undefined {
  if ((headersDistinct.authorization?.length ?? 0) > 1) return undefined;
  const [, token] = /^Bearer +([\w.~+/-]+=*) *$/i.exec(headers.authorization ?? '') ?? [];
  return token;
}

/** A token that is not right. `more` is what the challenge says beside that. */
export const invalidTokenError = (message: string, more = ''): HttpError =>
  new HttpError(401, message, {
    countsAsFailure: true,
    headers: { 'www-authenticate': `Bearer realm="cpq-mcp", error="invalid_token"${more}` },
  });
