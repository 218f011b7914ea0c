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
import { loopbackNames } from '../http-io.ts';
import { bearerToken, invalidTokenError } from './bearer.ts';
import type { AuthStrategy } from './gate.ts';
import { HttpError, retryAfterHeader } from './http-error.ts';
import type { TenantRegistry } from './tenant-registry.ts';
import { isAccessToken } from './token-file.ts';

export interface OAuthOptions {
  issuer: string;
  /** Public URL of `/mcp`: the resource that tokens are issued for. */
  resource: URL;
  /** Expected audience of tokens; default: `resource`. */
  audience?: string | undefined;
  /** URL of the provider's keys, if its metadata has none. */
  jwksUrl?: URL | undefined;
  tenantClaim: string;
  scopePrefix: string;
  /** Grants that clients may request as scopes. */
  grants(): readonly string[];
  tenants: TenantRegistry;
  /** Called when the provider cannot be reached or its answer cannot be used. */
  onError(error: unknown): void;
}

/** Asymmetric signatures only: with a shared secret, every verifier could also sign. */
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
/** Minimum time between two requests for the provider's keys. */
const minReloadMs = 3_000;
/** Maximum size of metadata and key sets; those of large providers have about 10,000 bytes. */
const maxBytes = 512 * 1024;
const retryAfterSeconds = 10;

/**
 * Authenticates callers by tokens of an identity provider, as an OAuth 2.1 resource server (RFC 6750, 9068,
 * 9728).
 * @throws ConfigError for an address without TLS
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
        throw invalidTokenError('The access token has no subject.', metadataParameter);
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

/** Sender-constrained tokens (RFC 7800) need a proof of possession (RFC 9449, 8705), which is not supported. */
const boundTokenMessage =
  'The access token is bound to a key: it cannot be used as a bearer token.';

const metadataPath = '/.well-known/oauth-protected-resource';

/** Keys read over an unencrypted connection could be replaced on the way. */
function requireTls(url: URL, name: (nameOf: NameOf<SettingName>) => string): void {
  const isLocal = loopbackNames.includes(url.hostname);
  if (url.protocol === 'https:' || isLocal) return;
  throw new ConfigError((nameOf) => `${name(nameOf)} must be an https address`);
}

/** A token without a key id is verified with every key that fits its algorithm. */
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
 * Whether the token may be signed with a key that was published after the keys were last read: an unknown key
 * id, or no key id and no key that verifies it.
 */
function mayHaveNewKey(error: unknown, token: string): boolean {
  if (error instanceof errors.JWKSNoMatchingKey) return true;
  const isForged = error instanceof errors.JWSSignatureVerificationFailed;
  return isForged && decodeProtectedHeader(token).kid === undefined;
}

/** The provider's keys, loaded on first use and reloaded when a key is missing. */
class ProviderKeys {
  readonly #issuer: string;
  #set: Promise<RemoteKeys> | undefined;
  #reading: Promise<void> | undefined;
  /** The scheduled reload, shared by all who wait for it. */
  #next: Promise<void> | undefined;
  /** Start times (`performance.now()`) of the last reload and of the last successful one. */
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
   * Ensures that the keys were read after `moment` (of `performance.now()`). Concurrent callers share one
   * reload, and reloads are at least `minReloadMs` apart, so that bad tokens cannot cause many requests.
   * @throws Error when the provider cannot be reached
   */
  async readAfter(moment: number): Promise<void> {
    if (this.#readAt > moment) return;
    this.#next ??= this.#readSoon();
    await this.#next;
  }

  async #readSoon(): Promise<void> {
    await pause(Math.max(0, this.#askedAt + minReloadMs - performance.now()));
    // Later callers need a new reload: their key may be published after this one starts.
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
    throw new ProviderUnavailable('its metadata cannot be read');
  }
}

/** The provider cannot be reached; the token may still be valid. */
class ProviderUnavailable extends Error {}

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>;

const remoteKeys = (url: URL): RemoteKeys =>
  createRemoteJWKSet(url, {
    timeoutDuration: fetchMs,
    cacheMaxAge: 600_000,
    // ProviderKeys decides when to reload.
    cooldownDuration: Number.POSITIVE_INFINITY,
    [customFetch]: fetchLimited,
  });

/** Does not follow redirects and reads at most `maxBytes`. */
async function fetchLimited(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'error' });
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > maxBytes) throw new ProviderUnavailable(`${url} sent more than ${maxBytes} bytes`);
    parts.push(part);
  }
  return new Response(Buffer.concat(parts), { status: response.status });
}

/** URLs of the provider's metadata: RFC 8414, then OpenID Connect Discovery. */
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
    return undefined; // The next metadata URL is tried; if none works, #discover throws.
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
      'The access token was not issued by the configured identity provider.',
      metadataParameter,
    );
  // Any other error does not show whether the token is valid.
  return new HttpError(503, 'The identity provider cannot be reached now.', {
    headers: retryAfterHeader(retryAfterSeconds),
  });
}

/** The grants among the token's scopes; other scopes are ignored. */
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
 * The caller's name: subject and client, since a person may use several programs. Different pairs never share
 * a name: characters are escaped, and long names end in a hash.
 */
function callerName({ sub, client_id }: JWTPayload): string {
  const name = `oauth:${[sub, client_id].filter(isText).map(escapeName).join(' ')}`;
  if (name.length <= maxName) return name;
  const rest = createHash('sha256').update(name).digest('hex').slice(0, 32);
  return `${name.slice(0, maxName)}… ${rest}`;
}

const isText = (claim: unknown): claim is string => typeof claim === 'string' && claim !== '';

/** Escapes spaces, percent signs and non-printable characters. */
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
