import type { IncomingMessage } from 'node:http';
import { Denied } from './denied.ts';

/** The token of `Authorization: Bearer …` (RFC 6750); an address is no place for one. */
export function bearerOf({ headers }: IncomingMessage): string | undefined {
  const [, token] = /^Bearer +([\w.~+/-]+=*) *$/i.exec(headers.authorization ?? '') ?? [];
  return token;
}

/** A token that is not right. `more` is what the challenge says beside that. */
export const wrongBearer = (message: string, more = ''): Denied =>
  new Denied(401, message, {
    guessed: true,
    headers: { 'www-authenticate': `Bearer realm="cpq-mcp", error="invalid_token"${more}` },
  });
