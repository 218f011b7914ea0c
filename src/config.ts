import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fieldNames } from './changes/writable-fields.ts';
import { retiredSettings } from './config/retired.ts';
import { isOfService, unknownVariables } from './config/unknown-variables.ts';
import { parseToolNames, type ToolSelection } from './mcp/tool-selection.ts';
import type { NameOf } from './setting-names.ts';
import { type Grant, grantNames, parseGrants, writeGrant } from './tenant/grants.ts';
import { type Toolset, toolsets } from './tool-kit/toolsets.ts';
import { errorCode, isOneOf, keysOf, messageOf } from './values.ts';

/**
 * Wrong use or configuration; commands print it to stderr and exit with status 2. A text that names settings
 * is a function of `nameOf`; `message` names them as environment variables.
 */
export class ConfigError extends Error {
  readonly #text: ConfigErrorText;

  constructor(text: ConfigErrorText) {
    super(typeof text === 'string' ? text : text(environmentName));
    this.#text = text;
  }

  messageNaming(nameOf: NameOf<SettingName>): string {
    return typeof this.#text === 'string' ? this.#text : this.#text(nameOf);
  }
}

type ConfigErrorText = string | ((nameOf: NameOf<SettingName>) => string);

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Parses the text of one setting, or throws a ConfigError that says what it must be. Plain functions instead
 * of schemas, because loading a schema library would take longer than the rest of the start.
 */
type ParseValue<T> = (text: string) => T;

const parseText: ParseValue<string> = (given) => given;

const oneOf =
  <const W extends readonly string[]>(words: W): ParseValue<W[number]> =>
  (given) => {
    if (words.includes(given)) return given;
    throw new ConfigError(`must be one of ${words.join(', ')}`);
  };

const wholeNumber =
  (least: number, most: number): ParseValue<number> =>
  (given) => {
    const number = given.trim() === '' ? Number.NaN : Number(given);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw new ConfigError(`must be a whole number from ${least} to ${most}`);
  };

const trueWords = ['1', 'true', 'yes', 'on'];
const parseBoolean: ParseValue<boolean> = (given) => {
  oneOf([...trueWords, '0', 'false', 'no', 'off', ''])(given);
  return trueWords.includes(given);
};

const parseList: ParseValue<string[]> = (names) =>
  names.split(/[\s,]+/).filter((name) => name !== '');

const parseStages: ParseValue<string[]> = (names) =>
  names
    .split(';')
    .map((name) => name.trim())
    .filter(Boolean);

const authStrategies = ['token', 'oauth', 'key'] as const;
export type AuthStrategyName = (typeof authStrategies)[number];

const parameterName: ParseValue<string> = (given) => {
  if (/^[\w.[\]-]{1,40}$/.test(given)) return given;
  throw new ConfigError('must be a parameter name');
};

interface Setting<T = unknown> {
  env: string;
  /** Absent for secrets, because flags show in process lists. */
  flag?: string;
  /** Takes no value on the command line. */
  bare?: boolean;
  /** For the documentation and error messages. */
  description: string;
  fallback?: string;
  parse: ParseValue<T>;
}

const setting = <const S extends Setting>(setting: S): S => setting;

/** Every setting; a flag wins over the environment. */
export const settings = {
  baseUrl: setting({
    env: 'CPQ_BASE_URL',
    flag: 'base-url',
    description: "The tenant's API address, the part before /public-api",
    parse: baseUrlFrom,
  }),
  apiKey: setting({
    env: 'CPQ_API_KEY',
    description: 'The key, issued under Settings → Integrations → API Key',
    parse: headerSafe,
  }),
  apiKeyFile: setting({
    env: 'CPQ_API_KEY_FILE',
    flag: 'api-key-file',
    description: 'A file that contains the API key',
    parse: parseText,
  }),
  grants: setting({
    env: 'CPQ_GRANTS',
    flag: 'grants',
    description: `Granted permissions: ${grantNames.join(', ')}`,
    fallback: 'read',
    parse: (given) => parseNames(parseList(given), parseGrants, grantNames),
  }),
  allowWrites: setting({
    env: 'CPQ_ALLOW_WRITES',
    flag: 'allow-writes',
    bare: true,
    description: `Grant ${writeGrant} besides the granted permissions`,
    fallback: '0',
    parse: parseBoolean,
  }),
  toolsets: setting({
    env: 'CPQ_TOOLSETS',
    flag: 'toolsets',
    description: `Which tools are listed: ${toolsets.join(', ')}; default routes,briefs, events where webhooks are received, and changes where a write is granted`,
    parse: (given) => parseNames(parseList(given), parseToolsets, toolsets),
  }),
  tools: setting({
    env: 'CPQ_TOOLS',
    flag: 'tools',
    description:
      'Exact names of tools to list: these and no others, or besides those of the toolsets if toolsets are set too',
    parse: (given) => parseNames(parseList(given), parseToolNames),
  }),
  pageParam: setting({
    env: 'CPQ_PAGE_PARAM',
    flag: 'page-param',
    description: 'Name of the offset parameter of list routes; none if there is none',
    fallback: 'from',
    parse: parameterName,
  }),
  stateDir: setting({
    env: 'CPQ_STATE_DIR',
    flag: 'state-dir',
    description:
      "Folder for persistent state, such as the journal of changes; default: the user's state folder",
    parse: parseText,
  }),
  redisUrl: setting({
    env: 'CPQ_REDIS_URL',
    flag: 'redis-url',
    description:
      'URL of the Redis or Valkey that several processes share, as redis://host:6379 or rediss://…; use the variable for a URL with a password, because flags show in process lists',
    parse: redisUrlFrom,
  }),
  replicas: setting({
    env: 'CPQ_REPLICAS',
    flag: 'replicas',
    description:
      'Number of processes that share Redis; while Redis is unavailable each uses its share of the rate budget',
    fallback: '4',
    parse: wholeNumber(1, 1_000),
  }),
  webhookSecret: setting({
    env: 'CPQ_WEBHOOK_SECRET',
    description:
      'Secret sent with webhook deliveries, at least 16 characters; webhooks are accepted only with this or a signing secret',
    parse: parseSecret,
  }),
  webhookSecretFile: setting({
    env: 'CPQ_WEBHOOK_SECRET_FILE',
    flag: 'webhook-secret-file',
    description: 'A file that contains the webhook secret',
    parse: parseText,
  }),
  webhookSigningSecret: setting({
    env: 'CPQ_WEBHOOK_SIGNING_SECRET',
    description: 'Secret that signs webhook deliveries (HMAC-SHA256), at least 16 characters',
    parse: parseSecret,
  }),
  webhookSigningSecretFile: setting({
    env: 'CPQ_WEBHOOK_SIGNING_SECRET_FILE',
    flag: 'webhook-signing-secret-file',
    description: 'A file that contains the signing secret',
    parse: parseText,
  }),
  logLevel: setting({
    env: 'CPQ_LOG_LEVEL',
    flag: 'log-level',
    description: `Log level on stderr: ${logLevels.join(', ')}`,
    fallback: 'warn',
    parse: oneOf(logLevels),
  }),
  rateLimit: setting({
    env: 'CPQ_RATE_LIMIT',
    flag: 'rate-limit',
    description: "The tenant's rate limit: requests in ten minutes, shared by all its programs",
    fallback: '500',
    parse: wholeNumber(1, 1_000_000),
  }),
  freshSeconds: setting({
    env: 'CPQ_FRESH_SECONDS',
    flag: 'fresh-seconds',
    description: 'Seconds until a cached collection is read again',
    fallback: '300',
    parse: wholeNumber(0, 86_400),
  }),
  cacheMegabytes: setting({
    env: 'CPQ_CACHE_MB',
    flag: 'cache-mb',
    description: 'Memory per process for cached collections and what is derived from them, in MB',
    fallback: '256',
    parse: wholeNumber(1, 65_536),
  }),
  historyDays: setting({
    env: 'CPQ_HISTORY_DAYS',
    flag: 'history-days',
    description:
      'Days for which snapshots of the pipeline are kept, after 60 days one a week; 0 keeps none',
    fallback: '400',
    parse: wholeNumber(0, 3_650),
  }),
  consent: setting({
    env: 'CPQ_CONSENT',
    flag: 'consent',
    description:
      'Writes through hosts that cannot ask a person: token allows confirming a preview with a token, ask refuses the write',
    fallback: 'token',
    parse: oneOf(['token', 'ask']),
  }),
  writesPerHour: setting({
    env: 'CPQ_WRITES_PER_HOUR',
    flag: 'writes-per-hour',
    description: 'Maximum writes per hour',
    fallback: '20',
    parse: wholeNumber(0, 100_000),
  }),
  writeFields: setting({
    env: 'CPQ_WRITE_FIELDS',
    flag: 'write-fields',
    description: `Fields of an opportunity that agents may write: ${fieldNames.join(', ')}; default all`,
    fallback: fieldNames.join(','),
    parse: (given) => parseNames(parseList(given), parseFields, fieldNames),
  }),
  barredStages: setting({
    env: 'CPQ_BARRED_STAGES',
    flag: 'barred-stages',
    description: 'Stages that agents may not set, by name or id, separated by semicolons',
    fallback: '',
    parse: parseStages,
  }),
  allowedStages: setting({
    env: 'CPQ_ALLOWED_STAGES',
    flag: 'allowed-stages',
    description:
      'The only stages that agents may set, by name or id, separated by semicolons; default all',
    fallback: '',
    parse: parseStages,
  }),
  sandbox: setting({
    env: 'CPQ_SANDBOX',
    flag: 'sandbox',
    bare: true,
    description: 'Serve the embedded tenant; needs no address and no key',
    fallback: '0',
    parse: parseBoolean,
  }),
  tenantsFile: setting({
    env: 'CPQ_TENANTS_FILE',
    flag: 'tenants-file',
    description:
      'A JSON file with the tenants that http serves, instead of one address and key; reloaded on SIGHUP',
    parse: parseText,
  }),
  auth: setting({
    env: 'CPQ_AUTH',
    flag: 'auth',
    description: `How callers of http authenticate, one or more of ${authStrategies.join(', ')}: token is an access token of this server, oauth a token of an identity provider, key the caller's own API key; without it, http listens on loopback addresses only`,
    fallback: '',
    parse: (given) => new Set(parseList(given).map(oneOf(authStrategies))),
  }),
  tokensFile: setting({
    env: 'CPQ_TOKENS_FILE',
    flag: 'tokens-file',
    description:
      'File of the access tokens created by cpq-mcp token; default: tokens.json in the state folder',
    parse: parseText,
  }),
  publicUrl: setting({
    env: 'CPQ_PUBLIC_URL',
    flag: 'public-url',
    description: 'Public URL of /mcp, such as https://mcp.example.com/mcp',
    parse: webAddress,
  }),
  allowedHosts: setting({
    env: 'CPQ_ALLOWED_HOSTS',
    flag: 'allowed-hosts',
    description:
      'Host names, without port, that are allowed in the Host header, besides loopback and the public URL',
    fallback: '',
    parse: parseList,
  }),
  trustedProxies: setting({
    env: 'CPQ_TRUSTED_PROXIES',
    flag: 'trusted-proxies',
    description:
      'Addresses or networks, such as 10.0.0.0/8, of proxies whose X-Forwarded-For header is trusted',
    fallback: '',
    parse: parseList,
  }),
  oauthIssuer: setting({
    env: 'CPQ_OAUTH_ISSUER',
    flag: 'oauth-issuer',
    description: 'Issuer whose tokens are accepted, exactly as in their iss claim',
    parse: (given) => {
      webAddress(given);
      return given.trim(); // Compared exactly, trailing slash included.
    },
  }),
  oauthAudience: setting({
    env: 'CPQ_OAUTH_AUDIENCE',
    flag: 'oauth-audience',
    description: 'Expected token audience; default: the public URL',
    parse: parseText,
  }),
  oauthJwksUrl: setting({
    env: 'CPQ_OAUTH_JWKS_URL',
    flag: 'oauth-jwks-url',
    description: "URL of the issuer's keys (JWKS), if its metadata has none",
    parse: webAddress,
  }),
  oauthTenantClaim: setting({
    env: 'CPQ_OAUTH_TENANT_CLAIM',
    flag: 'oauth-tenant-claim',
    description: 'Token claim with the tenant name; not needed if only one tenant is served',
    fallback: 'tenant',
    parse: parseText,
  }),
  oauthScopePrefix: setting({
    env: 'CPQ_OAUTH_SCOPE_PREFIX',
    flag: 'oauth-scope-prefix',
    description: 'Prefix of grants in OAuth scopes, such as cpq: in cpq:read',
    fallback: '',
    parse: parseText,
  }),
  keyBaseUrls: setting({
    env: 'CPQ_KEY_BASE_URLS',
    flag: 'key-base-urls',
    description:
      'Addresses of the service that callers with their own key may use; * matches one label, as in https://*.example.com',
    fallback: '',
    parse: parseAddressPatterns,
  }),
  allowPrivate: setting({
    env: 'CPQ_ALLOW_PRIVATE',
    flag: 'allow-private',
    bare: true,
    description: 'Allow callers to use addresses in private networks',
    fallback: '0',
    parse: parseBoolean,
  }),
  callsPerMinute: setting({
    env: 'CPQ_CALLS_PER_MINUTE',
    flag: 'calls-per-minute',
    description: 'HTTP calls per caller and minute',
    fallback: '300',
    parse: wholeNumber(1, 1_000_000),
  }),
  callsAtOnce: setting({
    env: 'CPQ_CALLS_AT_ONCE',
    flag: 'calls-at-once',
    description: 'Concurrent HTTP calls per caller; further calls wait',
    fallback: '16',
    parse: wholeNumber(1, 100_000),
  }),
  metricsToken: setting({
    env: 'CPQ_METRICS_TOKEN',
    description:
      'Bearer token for /metrics, at least 16 characters; without it, /metrics is available only if callers need no authentication',
    parse: parseSecret,
  }),
  metricsTokenFile: setting({
    env: 'CPQ_METRICS_TOKEN_FILE',
    flag: 'metrics-token-file',
    description: 'A file that contains the metrics token',
    parse: parseText,
  }),
  tracing: setting({
    env: 'CPQ_TRACING',
    flag: 'tracing',
    bare: true,
    description: 'Create OpenTelemetry spans, with the SDK that node --import registers',
    fallback: '0',
    parse: parseBoolean,
  }),
  fastPath: setting({
    env: 'CPQ_FAST_PATH',
    flag: 'fast-path',
    description:
      'Whether frequent requests are answered without the MCP SDK; off rules the fast path out when you look for a fault',
    fallback: 'on',
    parse: oneOf(['on', 'off']),
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

export type SettingName = keyof typeof settings;

/** The environment variable of a setting, with the flag of a switch. */
export const environmentName: NameOf<SettingName> = (name) => {
  const { env, flag, bare }: Setting = settings[name];
  return bare ? `${env} (--${flag})` : env;
};

export type Settings = {
  [N in SettingName]: (typeof settings)[N] extends { fallback: string }
    ? ReturnType<(typeof settings)[N]['parse']>
    : ReturnType<(typeof settings)[N]['parse']> | undefined;
};

/**
 * Reads and validates all settings.
 * @throws ConfigError that names the setting and the remedy, never a secret
 */
export function readSettings(
  argv: readonly string[],
  environment: Record<string, string | undefined>,
  allowed: readonly SettingName[] = keysOf(settings),
): Settings {
  refuseUnknown(environment);
  const flags = readFlags(argv, allowed);
  const read: Record<string, unknown> = {};
  for (const name of keysOf(settings)) {
    const setting: Setting = settings[name];
    const fromFlag = setting.flag === undefined ? undefined : flags[setting.flag];
    const given = fromFlag ?? givenIn(setting.env, environment[setting.env]) ?? setting.fallback;
    if (given !== undefined) read[name] = validate(name, given, fromFlag !== undefined);
  }
  return withSecretsFromFiles(withWrites(read as Settings));
}

const withWrites = (read: Settings): Settings =>
  read.allowWrites ? { ...read, grants: parseGrants([...read.grants, writeGrant]) } : read;

const variableNames = [
  ...Object.values<Setting>(settings).map(({ env }) => env),
  ...retiredSettings.map(({ env }) => env),
];

/** @throws ConfigError that names every variable that was probably meant as a setting */
function refuseUnknown(environment: Record<string, string | undefined>): void {
  const { refused } = unknownVariables(environment, variableNames);
  if (refused.length > 0)
    throw new ConfigError(`${refused.join('. ')}. Every setting: cpq-mcp http --help`);
}

/** What has no effect among flags and variables: settings of earlier versions, and names that are no settings. */
export function settingWarnings(
  argv: readonly string[],
  environment: Record<string, string | undefined>,
): string[] {
  const { ignored } = unknownVariables(environment, variableNames);
  const isFlagOf = (flag: string) => (word: string) => word.split('=')[0] === `--${flag}`;
  const retired = retiredSettings.flatMap(({ env, flag, remedy }) => [
    ...(environment[env] === undefined ? [] : [`${env} has no effect any more: ${remedy}`]),
    ...(argv.some(isFlagOf(flag)) ? [`--${flag} has no effect any more: ${remedy}`] : []),
  ]);
  const others =
    ignored.length > 0 ? [`ignored, as they are no settings: ${ignored.join(', ')}`] : [];
  return [...retired, ...others];
}

/** For an optional field without a value, a desktop host passes the placeholder of its manifest. */
const givenIn = (name: string, value: string | undefined): string | undefined =>
  value === '' || /^\$\{user_config\.\w+\}$/.test(value ?? '') || isOfService(name, value)
    ? undefined
    : value;

function readFlags(
  argv: readonly string[],
  allowed: readonly SettingName[],
): Record<string, string> {
  const options: Record<string, { type: 'string' | 'boolean' }> = {};
  for (const name of allowed) {
    const { flag, bare }: Setting = settings[name];
    if (flag !== undefined) options[flag] = { type: bare ? 'boolean' : 'string' };
  }
  for (const { flag } of retiredSettings) options[flag] = { type: 'string' };
  try {
    const { values } = parseArgs({ args: [...argv], options, allowPositionals: false });
    return Object.fromEntries(Object.entries(values).map(([flag, value]) => [flag, String(value)]));
  } catch (error) {
    if (argv.some((word) => /^--api-key(=|$)/.test(word))) {
      throw new ConfigError(
        (nameOf) =>
          `There is no flag --api-key: it would show the key in lists of processes. Set ${nameOf('apiKey')} or ${nameOf('apiKeyFile')}.`,
      );
    }
    throw new ConfigError(`${messageOf(error).split('. ')[0]}. Try: cpq-mcp --help`);
  }
}

function validate(name: SettingName, given: string, byFlag: boolean): unknown {
  const setting: Setting = settings[name];
  try {
    return setting.parse(given);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problem = `${error.message}. ${setting.description}.`;
    throw new ConfigError((nameOf) => `${byFlag ? `--${setting.flag}` : nameOf(name)}: ${problem}`);
  }
}

function parseNames<T>(
  names: readonly string[],
  parse: (names: readonly string[]) => T,
  known: readonly string[] = [],
): T {
  if (names.length === 0) throw new ConfigError('is empty');
  try {
    return parse(names);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const all = known.length > 0 ? `. Known: ${known.join(', ')}` : '';
    throw new ConfigError(error.message + all);
  }
}

function parseFields(names: readonly string[]): ReadonlySet<string> {
  const unknown = names.filter((name) => !fieldNames.includes(name));
  if (unknown.length > 0) throw new RangeError(`unknown: ${unknown.join(', ')}`);
  return new Set(names);
}

function parseToolsets(names: readonly string[]): ReadonlySet<Toolset> {
  const unknown = names.filter((name) => !isOneOf(toolsets, name));
  if (unknown.length > 0) throw new RangeError(`unknown: ${unknown.join(', ')}`);
  return new Set(names.filter((name) => isOneOf(toolsets, name)));
}

function webAddress(given: string): URL {
  refusePlaceholder(given);
  const url = URL.canParse(given.trim()) ? new URL(given.trim()) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.hash) {
    throw new ConfigError('is not a web address such as https://mcp.example.com/mcp');
  }
  return url;
}

/** What examples and the command `config` write where a person has to fill in a value. */
const placeholder = /YOUR[-_]|\$\{|^\$\w+$|^%\w+%$|^\{\w+:.*\}$|^<.*>$/;

/** Before anything is connected: a placeholder may be an address or a key that somebody else can use. */
function refusePlaceholder(given: string): void {
  if (placeholder.test(given.trim())) {
    throw new ConfigError('is a placeholder that was not replaced by your value');
  }
}

function parseAddressPatterns(given: string): string[] {
  const patterns = parseList(given);
  for (const pattern of patterns) baseUrlFrom(pattern.replaceAll('*', 'any'));
  return patterns;
}

/** Parses the API address, with or without `/public-api` and a trailing slash. */
export function baseUrlFrom(text: string): URL {
  refusePlaceholder(text);
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError('is not a web address such as https://tenant.example.com');
  }
  if (url.username || url.password)
    throw new ConfigError('must not contain a user name or password');
  url.pathname = withoutSlashesAtEnd(url.pathname).replace(/\/public-api$/, '');
  url.search = '';
  url.hash = '';
  return url;
}

function withoutSlashesAtEnd(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

/** Error messages must not repeat the URL: it may contain a password. */
function redisUrlFrom(text: string): URL {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === '') {
    throw new ConfigError('is not an address such as redis://host:6379');
  }
  if (/%(?![0-9a-f]{2})/i.test(url.username + url.password)) {
    throw new ConfigError('contains an invalid percent encoding: write a percent sign as %25');
  }
  return url;
}

const minSecret = 16;

/** Printable ASCII only, because secrets may be part of a URL path. */
function parseSecret(text: string): string {
  refusePlaceholder(text);
  const trimmed = text.trim();
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    throw new ConfigError('contains an invalid character, such as a space');
  }
  if (trimmed.length < minSecret) {
    throw new ConfigError(`is shorter than ${minSecret} characters`);
  }
  return trimmed;
}

/** Parses a key for use in a header. Error messages must not repeat it. */
export function headerSafe(key: string): string {
  refusePlaceholder(key);
  const trimmed = key.trim();
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    throw new ConfigError(
      'holds a character that a key cannot have, such as a space or a line break',
    );
  }
  return trimmed;
}

/** Secrets that can be read from a file. */
const secretFileNames = [
  ['apiKey', 'apiKeyFile'],
  ['webhookSecret', 'webhookSecretFile'],
  ['webhookSigningSecret', 'webhookSigningSecretFile'],
  ['metricsToken', 'metricsTokenFile'],
] as const;

function withSecretsFromFiles(read: Settings): Settings {
  const found: Partial<Record<(typeof secretFileNames)[number][0], string>> = {};
  for (const [name, fileName] of secretFileNames) {
    const path = read[fileName];
    if (path === undefined || read[name] !== undefined) continue;
    const content = fileContent(fileName, path);
    found[name] = validate(name, content, false) as string;
  }
  return { ...read, ...found };
}

/** The text of a file that a setting names. @throws ConfigError when it cannot be read */
export function fileContent(setting: SettingName, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = errorCode(error) ?? 'unreadable';
    throw new ConfigError((nameOf) => `${nameOf(setting)}: ${path} cannot be read (${code})`);
  }
}

/** The tenant's address and key. @throws ConfigError that says which is missing and where to get it */
export function requireTenant(read: Settings): { baseUrl: URL; key: string } {
  const { baseUrl, apiKey } = read;
  if (baseUrl !== undefined && apiKey !== undefined) return { baseUrl, key: apiKey };
  throw new ConfigError((nameOf) => {
    const missing = [
      ...(baseUrl === undefined ? [`${nameOf('baseUrl')} (the tenant's API address)`] : []),
      ...(apiKey === undefined ? [`${nameOf('apiKey')} or ${nameOf('apiKeyFile')} (the key)`] : []),
    ];
    return `Missing: ${missing.join(' and ')}. A key is issued in the product under Settings → Integrations → API Key. To try it without either, set ${nameOf('sandbox')}.`;
  });
}

/** The configured tools; default: routes and briefs, with events and changes if they can be used. */
export function toolSelectionOf(read: Settings): ToolSelection {
  const tools = read.tools ?? new Set();
  if (read.tools && !read.toolsets) return { tools, toolsets: new Set() };
  const writes = (read.grants as ReadonlySet<Grant>).has('opportunity:write');
  const usual: Toolset[] = ['routes', 'briefs'];
  if (receivesWebhooks(read)) usual.push('events');
  if (writes) usual.push('changes');
  return { tools, toolsets: read.toolsets ?? new Set(usual) };
}

/** Whether webhooks are accepted: only with a secret, since anyone could send them otherwise. */
export const receivesWebhooks = ({ webhookSecret, webhookSigningSecret }: Settings): boolean =>
  webhookSecret !== undefined || webhookSigningSecret !== undefined;
