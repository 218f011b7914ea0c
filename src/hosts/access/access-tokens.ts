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

/**
 * Authenticates callers by an access token that this server issued.
 * @throws TokenFileError when the file cannot be read
 */
export async function accessTokenStrategy({
  path,
  tenants,
  onError,
}: AccessTokenOptions): Promise<AuthStrategy> {
  const file = new TokenFileReader(path, onError);
  await file.reload();
  return {
    wwwAuthenticate: 'Bearer realm="cpq-mcp"',
    async authenticate(request) {
      const token = bearerToken(request);
      if (token === undefined || !isAccessToken(token)) return undefined;
      const stored = findToken(token, await file.tokens());
      if (!stored) throw invalidTokenError('Unknown access token.');
      if (isExpired(stored)) {
        throw invalidTokenError(
          `The access token "${stored.name}" has expired: ask for a new one.`,
        );
      }
      const tenant = tenants.find(stored.tenant);
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

/** Reads the file again when it has changed. */
class TokenFileReader {
  readonly #path: string;
  readonly #onError: (error: unknown) => void;
  #tokens: readonly StoredToken[] = [];
  #stamp = '';
  #lastError = '';

  constructor(path: string, onError: (error: unknown) => void) {
    this.#path = path;
    this.#onError = onError;
  }

  async tokens(): Promise<readonly StoredToken[]> {
    await this.reload().catch((error: unknown) => {
      // A repeated error is reported once.
      if (String(error) !== this.#lastError) this.#onError(error);
      this.#lastError = String(error);
    });
    return this.#tokens;
  }

  /** @throws TokenFileError */
  async reload(): Promise<void> {
    const found = await stat(this.#path).catch(() => undefined);
    const stamp = found ? `${found.ino} ${found.size} ${found.mtimeMs}` : 'none';
    if (stamp === this.#stamp) return;
    this.#tokens = await readTokens(this.#path);
    this.#stamp = stamp;
    this.#lastError = '';
  }
}
