import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { isProtected } from '../../setting-values.ts';
import { shortHash } from '../../state/short-hash.ts';
import { type Grant, grantNames, parseGrants } from '../../tenant/grants.ts';
import { errorCode, fieldOf, messageOf } from '../../values.ts';
import { isAccessToken } from './access-tokens.ts';
import type { AuthStrategy, TenantRegistry } from './gate.ts';
import { bearerToken, HttpError, invalidTokenError } from './http-error.ts';

export interface OAuthOptions {
  issuer: string;
  /** Public URL of `/mcp`: the resource that tokens are issued for. */
  resource: URL;
  /** Expected audience of tokens; default: `resource`. */
  audience?: string | undefined;
  /** Claim with the name of the tenant; absent if there is only one, whose callers need no such claim. */
  tenantClaim?: string | undefined;
  scopePrefix: string;
  /** Grants that clients may request as scopes. */
  grants(): readonly string[];
  tenants: TenantRegistry;
  /** Called when the provider cannot be reached or its answer cannot be used. */
  onError(error: unknown): void;
}

const accessTokenTypes = ['jwt', 'at+jwt', 'application/at+jwt'];

/** Asymmetric signatures only: with a shared secret, every verifier could also sign. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
const fetchMs = 5_000;
/** The provider's keys are read again at most this often when a token has an unknown one. */
const cooldownDuration = 3_000;
const metadataPath = '/.well-known/oauth-protected-resource';

/**
 * Authenticates callers by tokens of an identity provider, as an OAuth 2.1 resource server (RFC 6750, 9068, 9728).
 */
export function oauthStrategy(options: OAuthOptions): AuthStrategy {
  const { issuer, resource, audience = resource.href, scopePrefix } = options;
  const keys = providerKeys(issuer);
  const metadataUrl = new URL(
    `${metadataPath}${resource.pathname}`.replace(/\/$/, ''),
    resource.origin,
  );
  const metadataParameter = `resource_metadata="${metadataUrl.href}"`;
  const invalid = (message: string, isGuess = false) =>
    invalidTokenError(message, `, ${metadataParameter}`, isGuess);
  const scope = `scope="${scopePrefix}read", ${metadataParameter}`;
  const lacksScope = () => {
    const challenge = `Bearer realm="cpq-mcp", error="insufficient_scope", ${scope}`;
    const headers = { 'www-authenticate': challenge };
    return new HttpError(403, `The access token lacks the scope ${scopePrefix}read.`, { headers });
  };
  const required = { issuer, audience, algorithms, clockTolerance: 30, requiredClaims: ['exp'] };
  const verify = async (token: string): Promise<JWTPayload> => {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys, required);
      // Such as a logout token. An access token has this type (RFC 9068, 2.1), or with many providers none.
      if (!accessTokenTypes.includes(protectedHeader.typ?.toLowerCase() ?? 'jwt'))
        throw invalid('The token is not an access token.');
      return payload;
    } catch (error) {
      if (error instanceof HttpError) throw error;
      const problem = tokenProblem(error);
      // Claims are checked after the signature.
      if (problem !== undefined) throw invalid(problem, fieldOf(error, 'claim') === undefined);
      options.onError(error);
      const message = 'The keys of the identity provider cannot be read now.';
      throw new HttpError(503, message, { retryAfter: 10 });
    }
  };
  return {
    // Without a scope, so that hosts request all that the metadata lists.
    wwwAuthenticate: `Bearer realm="cpq-mcp", ${metadataParameter}`,
    async authenticate(request) {
      const token = bearerToken(request);
      if (token === undefined || isAccessToken(token)) return undefined;
      const claims = await verify(token);
      if (claims.cnf !== undefined) throw invalid(boundTokenMessage);
      if (!isText(claims.sub)) throw invalid('The access token has no subject.');
      const grants = grantsFromClaims(claims, scopePrefix);
      if (grants.size === 0) throw lacksScope();
      return { caller: callerName(claims), tenant: tenantOf(claims, options), grants };
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

type ProviderKeys = Awaited<ReturnType<typeof discoverKeys>>;

/** Finds the provider's keys by its metadata on first use, and when they can no longer be read where they were. */
function providerKeys(issuer: string): JWTVerifyGetKey {
  let known: ProviderKeys | undefined;
  let discovery: Promise<ProviderKeys> | undefined;
  let discoveredAt = Number.NEGATIVE_INFINITY;
  const discover = async (): Promise<ProviderKeys> => {
    if (!discovery) discoveredAt = performance.now();
    discovery ??= discoverKeys(issuer).finally(() => {
      discovery = undefined;
    });
    const found = await discovery;
    // Those that are known already may still be used, although they cannot be read again now.
    if (known?.url !== found.url) known = found;
    return known;
  };
  return async (header, token) => {
    const keys = known ?? (await discover());
    try {
      return await keys.get(header, token);
    } catch (error) {
      if (tokenProblem(error) !== undefined) throw error;
      // Anybody can send a token that causes this.
      const isDue = performance.now() - discoveredAt >= cooldownDuration;
      if (discovery || isDue) await discover();
      if (known === undefined || known === keys) throw error;
      return known.get(header, token);
    }
  };
}

/** Where the provider's metadata say that its keys are. @throws Error that says why there are none */
export async function discoverKeys(issuer: string) {
  let cause: string | undefined;
  for (const url of metadataUrls(new URL(issuer))) {
    const reading = fetch(url, { redirect: 'error', signal: AbortSignal.timeout(fetchMs) });
    // The next URL is tried after an error.
    const metadata = await reading
      .then((it) => it.json())
      .catch((error: unknown) => {
        cause ??= errorCode(fieldOf(error, 'cause')) ?? messageOf(error);
      });
    const keysUrl = fieldOf(metadata, 'jwks_uri');
    const named = fieldOf(metadata, 'issuer');
    if (named !== issuer || !isText(keysUrl)) {
      if (named === issuer) cause = 'they have no jwks_uri';
      else if (isText(named)) cause = `they are of the issuer ${named}, the setting says ${issuer}`;
      continue;
    }
    if (isProtected(new URL(keysUrl))) {
      const limits = { timeoutDuration: fetchMs, cooldownDuration };
      return { url: keysUrl, get: createRemoteJWKSet(new URL(keysUrl), limits) };
    }
    cause = 'their jwks_uri is no https address';
  }
  throw new Error(
    `the metadata of the identity provider names no keys that can be read safely${cause ? `: ${cause}` : ''}`,
  );
}

/** URLs of the provider's metadata: RFC 8414, then OpenID Connect Discovery. */
function metadataUrls({ origin, pathname }: URL): string[] {
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
}

const notIssued = 'The access token was not issued by the configured identity provider.';
const tokenProblems: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: 'The access token has expired.',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS:
    'The access token does not name its key (kid), and the identity provider has several.',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: notIssued,
  ERR_JWS_INVALID: notIssued,
  ERR_JWT_INVALID: notIssued,
  ERR_JWKS_NO_MATCHING_KEY: notIssued,
  ERR_JOSE_ALG_NOT_ALLOWED: notIssued,
  ERR_JOSE_NOT_SUPPORTED: notIssued,
};

/** What is wrong with a token; undefined for an error that does not show whether it is valid. */
function tokenProblem(error: unknown): string | undefined {
  if (!(error instanceof errors.JWTClaimValidationFailed))
    return tokenProblems[errorCode(error) ?? ''];
  if (error.claim === 'nbf') return 'The access token is not valid yet.';
  return `The access token is not for this server: ${error.claim}.`;
}

/** The grants among the token's scopes; other scopes are ignored. */
function grantsFromClaims({ scope, scp }: JWTPayload, prefix: string): ReadonlySet<Grant> {
  const scopes = [scope, scp].flatMap((value) =>
    typeof value === 'string' ? value.split(' ') : value,
  );
  return parseGrants(grantNames.filter((name) => scopes.includes(prefix + name)));
}

const maxName = 120;

/** Subject and client, since a person may use several programs; printable and short, and no two pairs share a name. */
function callerName({ sub, client_id }: JWTPayload): string {
  const parts = [sub, client_id].filter(isText);
  const name = parts.map((text) => encodeURIComponent(text.toWellFormed())).join(' ');
  return `oauth:${name.length <= maxName ? name : shortHash(name)}`;
}

const isText = (claim: unknown): claim is string => typeof claim === 'string' && claim !== '';

/** A claim that is configured must be there, however many tenants are served at present. */
function tenantOf(claims: JWTPayload, { tenantClaim, tenants }: OAuthOptions) {
  const named = tenantClaim === undefined ? undefined : claims[tenantClaim];
  if (tenantClaim !== undefined && named === undefined) {
    const missing = `The access token does not say which tenant it is for (claim "${tenantClaim}").`;
    throw new HttpError(403, missing);
  }
  const tenant = named === undefined || isText(named) ? tenants.find(named) : undefined;
  if (tenant) return tenant;
  throw new HttpError(403, 'The tenant of this access token is not served here.');
}
