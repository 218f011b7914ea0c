import type { IncomingMessage } from 'node:http';
import { HttpError } from './http-error.ts';

/**
 * The token of `Authorization: Bearer …` (RFC 6750); tokens in the URL are not accepted. A request with two
 * Authorization headers is treated as having none, because a proxy may have checked the other one.
 */
export function bearerToken({ headers, headersDistinct }: IncomingMessage): string | undefined {
  if ((headersDistinct.authorization?.length ?? 0) > 1) return undefined;
  const [, token] = /^Bearer +([\w.~+/-]+=*) *$/i.exec(headers.authorization ?? '') ?? [];
  return token;
}

/** A 401 for an invalid token. `more` is appended to the challenge. */
export const invalidTokenError = (message: string, more = ''): HttpError =>
  new HttpError(401, message, {
    countsAsFailure: true,
    headers: { 'www-authenticate': `Bearer realm="cpq-mcp", error="invalid_token"${more}` },
  });
