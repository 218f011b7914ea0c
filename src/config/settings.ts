import { fieldNames } from '../changes/writable-fields.ts';
import { logLevels } from '../log.ts';
import { parseToolNames } from '../mcp/surface.ts';
import type { NameOf } from '../setting-names.ts';
import {
  baseUrlFrom,
  headerSafe,
  InvalidValue,
  isProtected,
  type ParseValue,
  parseList,
  redisUrlFrom,
  webAddress,
  wholeNumber,
} from '../setting-values.ts';
import { grantNames, parseGrants, writeGrant } from '../tenant/grants.ts';
import { toolsets } from '../tool-kit/toolsets.ts';
import { isOneOf } from '../values.ts';

export interface Setting<T = unknown> {
  parse: ParseValue<T>;
  description: string;
  fallback?: string;
  /** Has no flag, because flags show in process lists. */
  secret?: boolean;
  /** Takes no value on the command line. */
  bare?: boolean;
  /** Names a file, whose content is the value. */
  isFile?: boolean;
  /** Default: from the name, as `CPQ_BASE_URL` of `baseUrl`. */
  env?: string;
  /** Default: from the variable, as `--base-url`. */
  flag?: string;
}

type Defaulted<T> = Setting<T> & { fallback: string };

function setting<T>(parse: ParseValue<T>, description: string, fallback: string): Defaulted<T>;
function setting<T>(parse: ParseValue<T>, description: string): Setting<T>;
function setting<T>(parse: ParseValue<T>, description: string, fallback?: string) {
  return { parse, description, ...(fallback !== undefined && { fallback }) };
}

const parseText: ParseValue<string> = (given) => given;

const oneOf =
  <const W extends readonly string[]>(words: W): ParseValue<W[number]> =>
  (given) => {
    if (words.includes(given)) return given;
    throw new InvalidValue(`must be one of ${words.join(', ')}`);
  };

const trueWords = ['1', 'true', 'yes', 'on'];
const parseBoolean: ParseValue<boolean> = (given) => {
  if (given !== '') oneOf([...trueWords, '0', 'false', 'no', 'off'])(given);
  return trueWords.includes(given);
};

const parameterName: ParseValue<string> = (given) => {
  if (/^[\w.[\]-]{1,40}$/.test(given)) return given;
  throw new InvalidValue('must be a parameter name');
};

const text = (description: string): Setting<string> => setting(parseText, description);

const secret = (parse: ParseValue<string>, description: string): Setting<string> => ({
  ...setting(parse, description),
  secret: true,
});

const onOff = (description: string): Defaulted<boolean> => ({
  ...setting(parseBoolean, description, '0'),
  bare: true,
});

/** Of one tenant, and of the process that serves it. */
const tenantSettings = {
  baseUrl: setting(baseUrlFrom, "The tenant's API address, the part before /public-api"),
  apiKey: secret(headerSafe, 'The key, issued under Settings → Integrations → API Key'),
  apiKeyFile: text('A file that contains the API key'),
  grants: setting(
    (given) => parseGrants(parseNames(given)),
    `Granted permissions: ${grantNames.join(', ')}`,
    'read',
  ),
  allowWrites: onOff(`Grant ${writeGrant} besides the granted permissions`),
  toolsets: setting(
    (given) => parseKnown(given, toolsets),
    `Which tools are listed: ${toolsets.join(', ')}; default routes,briefs, events where webhooks are received, and changes where a write is granted`,
  ),
  tools: setting(
    (given) => parseToolNames(parseNames(given)),
    'Exact names of tools to list: these and no others, or besides those of the toolsets if toolsets are set too; with a hyphen before a name (-cpq_find) all but these',
  ),
  pageParam: setting(parameterName, 'Name of the offset parameter of list routes, or none', 'from'),
  fieldsFile: {
    ...setting(
      parseText,
      'A file that says where fields are that are not as documented, in lines such as opportunity.closedAt = closeDate and won = statusId in [4, 7]',
    ),
    isFile: true,
  },
  recordUrl: setting(
    recordAddress,
    'Page of a record in the product, such as https://app.example.com/{resource}/{id}, which answers about one record link to',
  ),
  stateDir: text(
    "Folder for persistent state, such as the journal of changes; default: the user's state folder",
  ),
  redisUrl: setting(
    redisUrlFrom,
    'URL of the Redis or Valkey that several processes share, as redis://host:6379 or rediss://…; use the variable for a URL with a password, because flags show in process lists',
  ),
  webhookSecret: secret(
    parseSecret,
    'Secret sent with webhook deliveries, at least 16 characters; without it no webhook is accepted',
  ),
  webhookSecretFile: text('A file that contains the webhook secret'),
  logLevel: setting(oneOf(logLevels), `Log level on stderr: ${logLevels.join(', ')}`, 'warn'),
  rateLimit: setting(
    wholeNumber(1, 1_000_000),
    "The tenant's rate limit: requests in ten minutes, shared by all its programs",
    '500',
  ),
  freshSeconds: setting(
    wholeNumber(0, 86_400),
    'Seconds until a cached collection is brought up to date; twelve times as many for one that cannot be sorted',
    '300',
  ),
  cacheMegabytes: {
    ...setting(
      wholeNumber(1, 65_536),
      'Memory per process for cached collections and what is derived from them, in MB',
      '256',
    ),
    env: 'CPQ_CACHE_MB',
  },
  keepCollections: setting(
    oneOf(['on', 'off']),
    'Whether collections are kept for a day, in the state folder or Redis, for other processes and the next start',
    'on',
  ),
  historyDays: setting(
    wholeNumber(0, 3_650),
    'Days for which snapshots of the pipeline are kept, after 60 days one a week; 0 keeps none',
    '400',
  ),
  consent: setting(
    oneOf(['view', 'ask', 'token']),
    'How a person agrees to a write: in a form of the host, or if it has none in a view (view); in a form only (ask); or, where there is neither, by a token that the assistant sends back: only for hosts that ask a person before every call themselves (token)',
    'view',
  ),
  writesPerHour: setting(wholeNumber(0, 100_000), 'Maximum writes per hour', '20'),
  writeFields: setting(
    (given) => parseKnown(given, fieldNames),
    `Fields of an opportunity that agents may write: ${fieldNames.join(', ')}; default all`,
    fieldNames.join(','),
  ),
  allowedStages: setting(
    parseStages,
    'The only stages that agents may set, by name or id, separated by semicolons; default all',
    '',
  ),
  sandbox: onOff('Serve the embedded tenant; needs no address and no key'),
  fastPath: setting(
    oneOf(['on', 'off']),
    'Whether frequent requests are answered without the MCP SDK; off rules the fast path out when you look for a fault',
    'on',
  ),
} as const;

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
    parseHostNames,
    'Host names, without port, that are allowed in the Host header, besides loopback and the public URL',
    '',
  ),
  trustedProxies: setting(
    parseList,
    'Addresses or networks, such as 10.0.0.0/8, of proxies whose X-Forwarded-For header is trusted',
    '',
  ),
  oauthIssuer: setting((given) => {
    if (!isProtected(webAddress(given))) throw new InvalidValue('must be an https address');
    return given.trim(); // Compared exactly, trailing slash included.
  }, 'Issuer whose tokens are accepted, exactly as in their iss claim'),
  oauthAudience: text('Expected token audience; default: the public URL'),
  oauthTenantClaim: text(
    'Token claim with the name of the tenant; default: tenant with a tenants file, otherwise none',
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

/** Every setting; a flag wins over the environment. */
export const settings = { ...tenantSettings, ...httpSettings } as const;

export type SettingName = keyof typeof settings;

export type Settings = {
  [N in SettingName]: (typeof settings)[N] extends { fallback: string }
    ? ReturnType<(typeof settings)[N]['parse']>
    : ReturnType<(typeof settings)[N]['parse']> | undefined;
};

export function variableOf(name: SettingName): string {
  const { env }: Setting = settings[name];
  return env ?? `CPQ_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
}

/** The flag of a setting without its hyphens; undefined for a secret. */
export function flagOf(name: SettingName): string | undefined {
  const { secret, flag }: Setting = settings[name];
  if (secret) return undefined;
  return flag ?? variableOf(name).slice('CPQ_'.length).toLowerCase().replaceAll('_', '-');
}

/** The environment variable of a setting, with the flag of a switch. */
export const environmentName: NameOf<SettingName> = (name) => {
  const { bare }: Setting = settings[name];
  return bare ? `${variableOf(name)} (--${flagOf(name)})` : variableOf(name);
};

function parseKnown<T extends string>(given: string, known: readonly T[]): ReadonlySet<T> {
  const names = parseNames(given);
  const unknown = names.filter((name) => !isOneOf(known, name));
  if (unknown.length === 0) return new Set(known.filter((name) => names.includes(name)));
  throw new InvalidValue(`unknown: ${unknown.join(', ')}`);
}

/** @throws InvalidValue for no name */
function parseNames(given: string): string[] {
  const names = parseList(given);
  if (names.length === 0) throw new InvalidValue('is empty');
  return names;
}

/** Names, or addresses of either family, as they are in a Host header without its port. */
function parseHostNames(given: string): string[] {
  const names = parseList(given);
  if (!names.some((name) => /[/*]|^[^:]*:[^:]*$/.test(name))) return names;
  throw new InvalidValue('must be host names, without https://, port and wildcards');
}

/** @throws InvalidValue for separators alone, which would allow every stage */
function parseStages(given: string): string[] {
  const names = given
    .split(';')
    .map((name) => name.trim())
    .filter(Boolean);
  if (names.length > 0 || given === '') return names;
  throw new InvalidValue('is empty');
}

/** An address with `{id}`, and `{resource}` if it needs the kind of the record. */
function recordAddress(given: string): string {
  webAddress(given.replaceAll(/\{(id|resource)\}/g, '$1'));
  if (given.includes('{id}')) return given.trim();
  throw new InvalidValue('must contain {id}');
}

function parseAddressPatterns(given: string): string[] {
  const patterns = parseList(given);
  for (const pattern of patterns) baseUrlFrom(pattern.replaceAll('*', 'any'));
  return patterns;
}

/** Printable ASCII only, because secrets may be part of a URL path. */
function parseSecret(text: string): string {
  const secret = headerSafe(text);
  if (secret.length >= 16) return secret;
  throw new InvalidValue('is shorter than 16 characters');
}
