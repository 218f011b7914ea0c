import type { IncomingMessage } from 'node:http';
import { Denied } from './denied.ts';

/**
 * The token of `Authorization: Bearer …` (RFC 6750); an address is no place for one. Of two such headers
 * nobody knows which one a proxy looked at: neither counts.
 */
export function bearerOf({ headers, headersDistinct }: IncomingMessage): string | undefined {
  if ((headersDistinct.authorization?.length ?? 0) > 1) return undefined;
  const [, token] = /^Bearer +([\w.~+/-]+=*) *$/i.exec(headers.authorization ?? '') ?? [];
  return token;
}

/** A token that is not right. `more` is what the challenge says beside that. */
export const wrongBearer = (message: string, more = ''): Denied =>
  new Denied(401, message, {
    guessed: true,
    headers: { 'www-authenticate': `Bearer realm="cpq-mcp", error="invalid_token"${more}` },
  });
