import { stat } from 'node:fs/promises';
import { parseGrants } from '../../tenant/grants.ts';
import type { AuthStrategy, TenantRegistry } from './gate.ts';
import { bearerToken, HttpError, invalidTokenError } from './http-error.ts';
import { findToken, isAccessToken, isExpired, readTokens, type StoredToken } from './token-file.ts';

export interface AccessTokenOptions {
  path: string;
  tenants: TenantRegistry;
  /** Called when the file cannot be reloaded; the tokens read before stay valid. */
  onError(error: unknown): void;
}

/** Tokens that this server issued. @throws TokenFileError when the file cannot be read at the start */
export async function accessTokenStrategy(options: AccessTokenOptions): Promise<AuthStrategy> {
  const readStored = await tokenReader(options);
  return {
    wwwAuthenticate: 'Bearer realm="cpq-mcp"',
    async authenticate(request) {
      const token = bearerToken(request);
      if (token === undefined || !isAccessToken(token)) return undefined;
      const stored = findToken(token, await readStored());
      if (!stored) throw invalidTokenError('Unknown access token.');
      if (isExpired(stored)) {
        const message = `The access token "${stored.name}" has expired: ask for a new one.`;
        throw invalidTokenError(message, '', false);
      }
      const tenant = options.tenants.find(stored.tenant);
      if (!tenant) throw new HttpError(403, tenantMessage);
      return {
        caller: `token:${stored.name}`,
        tenant,
        grants: parseGrants(stored.grants),
        ...(stored.tools && { tools: new Set(stored.tools) }),
      };
    },
  };
}

const tenantMessage =
  'The tenant of this access token is not served here, or it names none of several: ask for another token.';

async function tokenReader({ path, onError }: AccessTokenOptions) {
  let [tokens, stamp, lastError] = [await readTokens(path), '', ''];
  return async (): Promise<readonly StoredToken[]> => {
    const found = await stat(path).catch(() => undefined);
    const now = found ? `${found.ino} ${found.size} ${found.mtimeMs}` : 'none';
    if (now === stamp) return tokens;
    try {
      tokens = await readTokens(path);
      [stamp, lastError] = [now, ''];
    } catch (error) {
      // A repeated error is reported once.
      if (String(error) !== lastError) onError(error);
      lastError = String(error);
    }
    return tokens;
  };
}
