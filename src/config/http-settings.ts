import {
  InvalidValue,
  loopbackNames,
  oneOf,
  parseAddressPatterns,
  parseList,
  parseSecret,
  parseText,
  webAddress,
  wholeNumber,
} from '../setting-values.ts';
import { onOff, secret, setting, text } from './setting.ts';

const authStrategies = ['token', 'oauth', 'key'] as const;
export type AuthStrategyName = (typeof authStrategies)[number];

/** Of a server over HTTP: its tenants, how callers authenticate, limits, and where it listens. */
export const httpSettings = {
  tenantsFile: text(
    'A JSON file with the tenants that http serves, instead of one address and key; reloaded on SIGHUP',
  ),
  auth: setting(
    (given) => new Set(parseList(given).map(oneOf(authStrategies))),
    `How callers of http authenticate, one or more of ${authStrategies.join(', ')}: token is an access token of this server, oauth a token of an identity provider, key the caller's own API key; without it, http listens on loopback addresses only`,
    '',
  ),
  tokensFile: text(
    'File of the access tokens created by cpq-mcp token; default: tokens.json in the state folder',
  ),
  publicUrl: setting(webAddress, 'Public URL of /mcp, such as https://mcp.example.com/mcp'),
  allowedHosts: setting(
    parseList,
    'Host names, without port, that are allowed in the Host header, besides loopback and the public URL',
    '',
  ),
  trustedProxies: setting(
    parseList,
    'Addresses or networks, such as 10.0.0.0/8, of proxies whose X-Forwarded-For header is trusted',
    '',
  ),
  oauthIssuer: setting((given) => {
    const { protocol, hostname } = webAddress(given);
    // Keys read over an unencrypted connection could be replaced on the way.
    if (protocol !== 'https:' && !loopbackNames.includes(hostname))
      throw new InvalidValue('must be an https address');
    return given.trim(); // Compared exactly, trailing slash included.
  }, 'Issuer whose tokens are accepted, exactly as in their iss claim'),
  oauthAudience: text('Expected token audience; default: the public URL'),
  oauthTenantClaim: setting(
    parseText,
    'Token claim with the tenant name; not needed if only one tenant is served',
    'tenant',
  ),
  oauthScopePrefix: setting(
    parseText,
    'Prefix of grants in OAuth scopes, such as cpq: in cpq:read',
    '',
  ),
  keyBaseUrls: setting(
    parseAddressPatterns,
    'Addresses of the service that callers with their own key may use; * matches one label, as in https://*.example.com',
    '',
  ),
  allowPrivate: onOff('Allow callers to use addresses in private networks'),
  callsPerMinute: setting(wholeNumber(1, 1_000_000), 'HTTP calls per caller and minute', '300'),
  callsAtOnce: setting(
    wholeNumber(1, 100_000),
    'Concurrent HTTP calls per caller; further calls wait',
    '16',
  ),
  metricsToken: secret(
    parseSecret,
    'Bearer token for /metrics, at least 16 characters; without it, /metrics is available only if callers need no authentication',
  ),
  metricsTokenFile: text('A file that contains the metrics token'),
  host: {
    ...setting(parseText, 'Address on which http listens', '127.0.0.1'),
    env: 'CPQ_HTTP_HOST',
    flag: 'host',
  },
  port: {
    ...setting(wholeNumber(0, 65_535), 'Port on which http listens; 0 selects a free one', '3333'),
    env: 'CPQ_HTTP_PORT',
    flag: 'port',
  },
} as const;
