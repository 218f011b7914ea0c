import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose';
import { ConfigError, type SettingName } from '../../config.ts';
import type { NameOf } from '../../setting-names.ts';
import { type Grant, grantNames, parseGrants } from '../../tenant/grants.ts';
import { bearerToken, invalidTokenError } from './bearer.ts';
import type { AuthStrategy } from './gate.ts';
import { HttpError, retryAfterHeader } from './http-error.ts';
import type { TenantRegistry } from './tenant-registry.ts';
import { isAccessToken } from './token-file.ts';

export interface OAuthOptions {
  issuer: string;
  /** Address of `/mcp` as callers know it: what their tokens are for. */
  resource: URL;
  /** Whom the tokens must be for, where the provider calls it otherwise. */
  audience?: string | undefined;
  /** Where the provider's keys are, where its metadata does not say. */
  jwksUrl?: URL | undefined;
  tenantClaim: string;
  scopePrefix: string;
  /** Grants that make sense to ask for. */
  grants(): readonly string[];
  tenants: TenantRegistry;
  /** The provider could not be asked, or what it said cannot be used. */
  onError(error: unknown): void;
}

/** Only signatures that the provider alone can make: with a shared secret, whoever checks could sign too. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const clockToleranceSeconds = 30;
const fetchMs = 5_000;
/** How long the provider is not asked again for its keys. */
const minReloadMs = 3_000;
/** Of metadata, and of a set of keys: those of the largest providers have some ten thousand. */
const maxBytes = 512 * 1024;
const retryAfterSeconds = 10;

/**
 * Callers with a token of an identity provider: an OAuth 2.1 resource server (RFC 6750, 9068, 9728).
 * @throws ConfigError for an address that tokens must not travel by
 */
export function oauthStrategy(options: OAuthOptions): AuthStrategy {
  const { issuer, resource, audience = resource.href, scopePrefix } = options;
  requireTls(new URL(issuer), (nameOf) => nameOf('oauthIssuer'));
  if (options.jwksUrl) requireTls(options.jwksUrl, (nameOf) => nameOf('oauthJwksUrl'));
  const keys = new ProviderKeys(issuer, options.jwksUrl);
  const metadataUrl = new URL(
    `${metadataPath}${resource.pathname}`.replace(/\/$/, ''),
    resource.origin,
  );
  const metadataParameter = `, resource_metadata="${metadataUrl.href}"`;
  const challenge = (needs: readonly string[]) =>
    new HttpError(403, `The access token lacks the scope ${toScopes(needs, scopePrefix)}.`, {
      headers: {
        'www-authenticate': `Bearer realm="cpq-mcp", error="insufficient_scope", scope="${toScopes(needs, scopePrefix)}"${metadataParameter}`,
      },
    });
  const expected = { issuer, audience, algorithms, clockTolerance: clockToleranceSeconds };
  const required = { ...expected, requiredClaims: ['exp', 'sub'] };
  const verify = (token: string) =>
    jwtVerify(token, keys.find, required).catch(verifyWithAnyKey(token, required));
  const verifyToken = async (token: string): Promise<JWTPayload> => {
    const cameAt = performance.now();
    try {
      const result = await verify(token).catch(async (error: unknown) => {
        if (!mayHaveNewKey(error, token)) throw error;
        await keys.readAfter(cameAt);
        return verify(token);
      });
      return result.payload;
    } catch (error) {
      const refusal = toHttpError(error, metadataParameter);
      if (!refusal.countsAsFailure) options.onError(error);
      throw refusal;
    }
  };
  return {
    wwwAuthenticate: `Bearer realm="cpq-mcp", scope="${toScopes(['read'], scopePrefix)}"${metadataParameter}`,
    async authenticate(request) {
      const token = bearerToken(request);
      if (token === undefined || isAccessToken(token)) return undefined;
      const claims = await verifyToken(token);
      if (claims.cnf !== undefined) throw invalidTokenError(boundTokenMessage, metadataParameter);
      if (!isText(claims.sub))
        throw invalidTokenError('The access token names nobody.', metadataParameter);
      const grants = grantsFromClaims(claims, scopePrefix);
      if (grants.size === 0) throw challenge(['read']);
      return { caller: callerName(claims), tenant: tenantOf(claims, options), grants, challenge };
    },
    metadata(path) {
      if (path !== metadataPath && path !== metadataUrl.pathname) return undefined;
      return {
        resource: resource.href,
        authorization_servers: [issuer],
        scopes_supported: options.grants().map((grant) => scopePrefix + grant),
        bearer_methods_supported: ['header'],
        resource_name: 'Quotes and pipeline',
      };
    },
  };
}

/** RFC 7800: whoever shows it must prove more than to have it, which no bearer does (RFC 9449, 8705). */
const boundTokenMessage =
  'The access token is bound to a key: it cannot be used as a bearer token.';

const metadataPath = '/.well-known/oauth-protected-resource';

/** Keys read over an unencrypted connection could be replaced on the way. */
function requireTls(url: URL, name: (nameOf: NameOf<SettingName>) => string): void {
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol === 'https:' || isLocal) return;
  throw new ConfigError((nameOf) => `${name(nameOf)} must be an https address`);
}

/** A token that does not say by which key it was signed may be signed by any that fits. */
const verifyWithAnyKey =
  (token: string, required: JWTVerifyOptions) =>
  async (error: unknown): Promise<JWTVerifyResult> => {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      const found = await jwtVerify(token, key, required).catch((other: unknown) => {
        if (!(other instanceof errors.JWSSignatureVerificationFailed)) throw other;
      });
      if (found) return found;
    }
    throw new errors.JWSSignatureVerificationFailed();
  };

/**
 * Whether the provider may have published, since its keys were read, the key that this was signed with: one
 * of another name, or any other for a token that names none.
 */
function mayHaveNewKey(error: unknown, token: string): boolean {
  if (error instanceof errors.JWKSNoMatchingKey) return true;
  const isForged = error instanceof errors.JWSSignatureVerificationFailed;
  return isForged && decodeProtectedHeader(token).kid === undefined;
}

/** The provider's keys, found when they are first needed, and read again when one is not among them. */
class ProviderKeys {
  readonly #issuer: string;
  #set: Promise<RemoteKeys> | undefined;
  #reading: Promise<void> | undefined;
  /** The reading that everybody waits for who came before it began. */
  #next: Promise<void> | undefined;
  /** When the last reading began, and the last one that succeeded, by `performance.now()`. */
  #askedAt = Number.NEGATIVE_INFINITY;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(issuer: string, jwksUrl: URL | undefined) {
    this.#issuer = issuer;
    if (jwksUrl) this.#set = Promise.resolve(remoteKeys(jwksUrl));
  }

  readonly find: JWTVerifyGetKey = async (header, token) => {
    const keys = await this.#keys();
    if (!keys.fresh) await this.#read();
    return keys(header, token);
  };

  /**
   * Sees to it that the keys were read after that moment (of `performance.now()`): once for all who wait,
   * and a few seconds after the last time at the soonest, however many bad tokens come.
   * @throws Error when the provider cannot be asked
   */
  async readAfter(moment: number): Promise<void> {
    if (this.#readAt > moment) return;
    this.#next ??= this.#readSoon();
    await this.#next;
  }

  async #readSoon(): Promise<void> {
    await pause(Math.max(0, this.#askedAt + minReloadMs - performance.now()));
    // Who comes from now on may have a token of a key that this reading does not find.
    this.#next = undefined;
    await this.#read();
  }

  #read(): Promise<void> {
    this.#reading ??= this.#reload().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #reload(): Promise<void> {
    const keys = await this.#keys();
    const beganAt = performance.now();
    this.#askedAt = beganAt;
    await keys.reload();
    this.#readAt = beganAt;
  }

  #keys(): Promise<RemoteKeys> {
    this.#set ??= this.#discover().catch((error: unknown) => {
      this.#set = undefined;
      throw error;
    });
    return this.#set;
  }

  async #discover(): Promise<RemoteKeys> {
    for (const url of metadataUrls(new URL(this.#issuer))) {
      const value = await readJson(url);
      if (value?.issuer !== this.#issuer || typeof value.jwks_uri !== 'string') continue;
      const jwks = new URL(value.jwks_uri);
      requireTls(jwks, () => 'jwks_uri');
      return remoteKeys(jwks);
    }
    throw new ProviderUnavailable('its metadata cannot be had');
  }
}

/** The provider cannot be asked: that says nothing about the token. */
class ProviderUnavailable extends Error {}

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>;

const remoteKeys = (url: URL): RemoteKeys =>
  createRemoteJWKSet(url, {
    timeoutDuration: fetchMs,
    cacheMaxAge: 600_000,
    // When they are read again for a key that is not among them is decided here.
    cooldownDuration: Number.POSITIVE_INFINITY,
    [customFetch]: fetchLimited,
  });

/** Follows no redirect, and reads no more than there can be to say. */
async function fetchLimited(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'error' });
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > maxBytes) throw new ProviderUnavailable(`${url} says more than ${maxBytes} bytes`);
    parts.push(part);
  }
  return new Response(Buffer.concat(parts), { status: response.status });
}

/** Where a provider describes itself: RFC 8414, then OpenID Connect Discovery. */
function metadataUrls({ origin, pathname }: URL): string[] {
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
}

async function readJson(url: string): Promise<Record<string, unknown> | undefined> {
  try {
    const response = await fetchLimited(url, { signal: AbortSignal.timeout(fetchMs) });
    return response.ok ? ((await response.json()) as Record<string, unknown>) : undefined;
  } catch {
    return undefined; // The other place may have it; if not, that is told.
  }
}

function toHttpError(error: unknown, metadataParameter: string): HttpError {
  if (error instanceof errors.JWTExpired)
    return invalidTokenError('The access token has expired.', metadataParameter);
  if (error instanceof errors.JWTClaimValidationFailed) {
    return invalidTokenError(
      `The access token is not for this server: ${error.claim}.`,
      metadataParameter,
    );
  }
  const aboutToken =
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported;
  if (aboutToken)
    return invalidTokenError(
      'The access token is not one of the identity provider.',
      metadataParameter,
    );
  // Whatever else it is, it is no reason to take the token for good, nor for bad.
  return new HttpError(503, 'The identity provider cannot be asked now.', {
    headers: retryAfterHeader(retryAfterSeconds),
  });
}

/** The grants among its scopes; what else it may be good for is not this server's business. */
function grantsFromClaims({ scope, scp }: JWTPayload, prefix: string): ReadonlySet<Grant> {
  const scopes = [scope, scp].flatMap((value) => {
    if (typeof value === 'string') return value.split(' ');
    return Array.isArray(value) ? value.filter((scopeName) => typeof scopeName === 'string') : [];
  });
  const names = scopes
    .filter((scopeName) => scopeName.startsWith(prefix))
    .map((scopeName) => scopeName.slice(prefix.length));
  return parseGrants(names.filter((name) => grantNames.includes(name)));
}

const toScopes = (grants: readonly string[], prefix: string): string =>
  grants.map((grant) => prefix + grant).join(' ');

const maxName = 120;

/**
 * Whom it was given to; a person may use several programs. Two of them never have the same name, however
 * long they are and whatever is in them.
 */
function callerName({ sub, client_id }: JWTPayload): string {
  const name = `oauth:${[sub, client_id].filter(isText).map(escapeName).join(' ')}`;
  if (name.length <= maxName) return name;
  const rest = createHash('sha256').update(name).digest('hex').slice(0, 32);
  return `${name.slice(0, maxName)}… ${rest}`;
}

const isText = (claim: unknown): claim is string => typeof claim === 'string' && claim !== '';

/** Without what would be taken for the end of a name, or not be seen. */
const escapeName = (text: string): string =>
  text.replace(/[^\x21-\x24\x26-\x7e]/gu, (it) => `%${Buffer.from(it).toString('hex')}`);

function tenantOf(claims: JWTPayload, { tenantClaim, tenants }: OAuthOptions) {
  const named = claims[tenantClaim];
  if (named === undefined || typeof named === 'string') {
    const tenant = tenants.find(named);
    if (tenant) return tenant;
  }
  throw new HttpError(
    403,
    named === undefined
      ? `The access token does not say which tenant it is for (claim "${tenantClaim}").`
      : 'The tenant of this access token is not served here.',
  );
}
