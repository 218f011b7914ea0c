import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { poll } from '../../state/delay.ts';
import { ifMissing, replaceFile, tryLock } from '../../state/files/files.ts';
import { grantNames, parseGrants } from '../../tenant/grants.ts';
import { errorCode, fieldOf, isObject, parseJson } from '../../values.ts';
import type { AuthStrategy, TenantRegistry } from './gate.ts';
import { bearerToken, HttpError, invalidTokenError } from './http-error.ts';

/** A stored token; the token itself cannot be derived from it. Times are ISO 8601. */
export interface StoredToken {
  /** Part of the token, so that it can be looked up without comparing all hashes. */
  id: string;
  name: string;
  /** SHA-256 of the whole token, in hexadecimal. The token has 256 random bits, so no salt is needed. */
  hash: string;
  /** The tenant's name; absent if only one tenant is served. */
  tenant?: string | undefined;
  grants: readonly string[];
  /** The only tools that it lists; absent for all. */
  tools?: readonly string[] | undefined;
  created: string;
  expires: string;
}

/** The token file is unreadable or invalid; the message says what to do. */
export class TokenFileError extends Error {
  override readonly name = 'TokenFileError';
}

const tokenPattern = /^cpq_([a-z0-9]{12})_[A-Za-z0-9_-]{43}$/;

/** Whether a text has the form of this server's own tokens; it may still be invalid. */
export const isAccessToken = (text: string): boolean => text.startsWith('cpq_');

export interface NewToken extends Pick<StoredToken, 'name' | 'tenant' | 'grants' | 'tools'> {
  /** Days until it expires. */
  days: number;
}

const dayMs = 86_400_000;

/** Creates a token and its stored form. The token cannot be recovered later. */
export function createToken({ name, tenant, grants, tools, days }: NewToken) {
  const id = randomBytes(6).toString('hex');
  const token = `cpq_${id}_${randomBytes(32).toString('base64url')}`;
  const now = Date.now();
  const stored: StoredToken = {
    id,
    name,
    hash: hashOf(token).toString('hex'),
    tenant,
    grants,
    tools,
    created: new Date(now).toISOString(),
    expires: new Date(now + days * dayMs).toISOString(),
  };
  return { token, stored };
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Finds the stored form of a token, expired or not, comparing hashes in constant time. */
function findToken(token: string, stored: readonly StoredToken[]): StoredToken | undefined {
  const [, id] = tokenPattern.exec(token) ?? [];
  const candidate = id === undefined ? undefined : stored.find((one) => one.id === id);
  const known = Buffer.from(candidate?.hash ?? '', 'hex');
  return candidate && timingSafeEqual(known, hashOf(token)) ? candidate : undefined;
}

/** Days for which a renewed token stays valid. */
export const graceDays = 14;

/** The token, valid for the days of grace at most. */
export function endingSoon(token: StoredToken): StoredToken {
  const end = Date.now() + graceDays * dayMs;
  return isExpired(token, end) ? token : { ...token, expires: new Date(end).toISOString() };
}

export const isExpired = ({ expires }: { expires: string }, now = Date.now()): boolean =>
  !(Date.parse(expires) > now);

/** An absent file has no tokens. @throws TokenFileError when the file cannot be read or is invalid */
export async function readTokens(path: string): Promise<readonly StoredToken[]> {
  const text = await readFile(path, 'utf8')
    .catch(ifMissing(undefined))
    .catch((error: unknown) => {
      throw new TokenFileError(`${path} cannot be read (${errorCode(error)})`);
    });
  if (text === undefined) return [];
  const tokens = fieldOf(parseJson(text), 'tokens');
  if (!Array.isArray(tokens) || !tokens.every(isStoredToken)) {
    throw new TokenFileError(
      `${path} is not a token file written by cpq-mcp token. Correct it, or remove it and create the tokens again.`,
    );
  }
  return tokens;
}

function isStoredToken(entry: unknown): entry is StoredToken {
  if (!isObject(entry)) return false;
  const { id, name, hash, tenant, grants, tools = [], created, expires } = entry;
  const texts = [id, name, hash, created, expires, tenant ?? ''];
  return (
    texts.every((text) => typeof text === 'string') &&
    /^[0-9a-f]{64}$/.test(String(hash)) &&
    Number.isFinite(Date.parse(String(expires))) &&
    Array.isArray(grants) &&
    grants.every((grant) => grantNames.includes(grant)) &&
    Array.isArray(tools) &&
    tools.every((tool) => typeof tool === 'string')
  );
}

/** Under a lock; readers see the old or the new file. @throws TokenFileError, or what `change` throws */
export async function updateTokens(
  path: string,
  change: (tokens: readonly StoredToken[]) => readonly StoredToken[],
): Promise<void> {
  const lock = await poll(() => tryLock(`${path}.lock`), new AbortController().signal);
  try {
    const text = JSON.stringify({ version: 1, tokens: change(await readTokens(path)) }, null, 2);
    await replaceFile(path, `${text}\n`).catch((error: unknown) => {
      throw new TokenFileError(`${path} cannot be written (${errorCode(error)})`);
    });
  } finally {
    await lock.release();
  }
}

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
