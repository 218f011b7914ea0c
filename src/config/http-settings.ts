import {
  InvalidValue,
  loopbackNames,
  oneOf,
  parseAddressPatterns,
  parseBoolean,
  parseList,
  parseSecret,
  parseText,
  webAddress,
  wholeNumber,
} from '../setting-values.ts';
import { setting } from './setting.ts';

const authStrategies = ['token', 'oauth', 'key'] as const;
export type AuthStrategyName = (typeof authStrategies)[number];

/** Of a server over HTTP: its tenants, how callers authenticate, limits, and where it listens. */
export const httpSettings = {
  tenantsFile: setting({
    env: 'CPQ_TENANTS_FILE',
    description:
      'A JSON file with the tenants that http serves, instead of one address and key; reloaded on SIGHUP',
    parse: parseText,
  }),
  auth: setting({
    env: 'CPQ_AUTH',
    description: `How callers of http authenticate, one or more of ${authStrategies.join(', ')}: token is an access token of this server, oauth a token of an identity provider, key the caller's own API key; without it, http listens on loopback addresses only`,
    fallback: '',
    parse: (given) => new Set(parseList(given).map(oneOf(authStrategies))),
  }),
  tokensFile: setting({
    env: 'CPQ_TOKENS_FILE',
    description:
      'File of the access tokens created by cpq-mcp token; default: tokens.json in the state folder',
    parse: parseText,
  }),
  publicUrl: setting({
    env: 'CPQ_PUBLIC_URL',
    description: 'Public URL of /mcp, such as https://mcp.example.com/mcp',
    parse: webAddress,
  }),
  allowedHosts: setting({
    env: 'CPQ_ALLOWED_HOSTS',
    description:
      'Host names, without port, that are allowed in the Host header, besides loopback and the public URL',
    fallback: '',
    parse: parseList,
  }),
  trustedProxies: setting({
    env: 'CPQ_TRUSTED_PROXIES',
    description:
      'Addresses or networks, such as 10.0.0.0/8, of proxies whose X-Forwarded-For header is trusted',
    fallback: '',
    parse: parseList,
  }),
  oauthIssuer: setting({
    env: 'CPQ_OAUTH_ISSUER',
    description: 'Issuer whose tokens are accepted, exactly as in their iss claim',
    parse: (given) => {
      const { protocol, hostname } = webAddress(given);
      // Keys read over an unencrypted connection could be replaced on the way.
      if (protocol !== 'https:' && !loopbackNames.includes(hostname))
        throw new InvalidValue('must be an https address');
      return given.trim(); // Compared exactly, trailing slash included.
    },
  }),
  oauthAudience: setting({
    env: 'CPQ_OAUTH_AUDIENCE',
    description: 'Expected token audience; default: the public URL',
    parse: parseText,
  }),
  oauthTenantClaim: setting({
    env: 'CPQ_OAUTH_TENANT_CLAIM',
    description: 'Token claim with the tenant name; not needed if only one tenant is served',
    fallback: 'tenant',
    parse: parseText,
  }),
  oauthScopePrefix: setting({
    env: 'CPQ_OAUTH_SCOPE_PREFIX',
    description: 'Prefix of grants in OAuth scopes, such as cpq: in cpq:read',
    fallback: '',
    parse: parseText,
  }),
  keyBaseUrls: setting({
    env: 'CPQ_KEY_BASE_URLS',
    description:
      'Addresses of the service that callers with their own key may use; * matches one label, as in https://*.example.com',
    fallback: '',
    parse: parseAddressPatterns,
  }),
  allowPrivate: setting({
    env: 'CPQ_ALLOW_PRIVATE',
    bare: true,
    description: 'Allow callers to use addresses in private networks',
    fallback: '0',
    parse: parseBoolean,
  }),
  callsPerMinute: setting({
    env: 'CPQ_CALLS_PER_MINUTE',
    description: 'HTTP calls per caller and minute',
    fallback: '300',
    parse: wholeNumber(1, 1_000_000),
  }),
  callsAtOnce: setting({
    env: 'CPQ_CALLS_AT_ONCE',
    description: 'Concurrent HTTP calls per caller; further calls wait',
    fallback: '16',
    parse: wholeNumber(1, 100_000),
  }),
  metricsToken: setting({
    env: 'CPQ_METRICS_TOKEN',
    secret: true,
    description:
      'Bearer token for /metrics, at least 16 characters; without it, /metrics is available only if callers need no authentication',
    parse: parseSecret,
  }),
  metricsTokenFile: setting({
    env: 'CPQ_METRICS_TOKEN_FILE',
    description: 'A file that contains the metrics token',
    parse: parseText,
  }),
  host: setting({
    env: 'CPQ_HTTP_HOST',
    flag: 'host',
    description: 'Address on which http listens',
    fallback: '127.0.0.1',
    parse: parseText,
  }),
  port: setting({
    env: 'CPQ_HTTP_PORT',
    flag: 'port',
    description: 'Port on which http listens; 0 selects a free one',
    fallback: '3333',
    parse: wholeNumber(0, 65_535),
  }),
} as const;
