import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { NameOf } from './setting-names.ts';
import { fieldNames } from './tenant/changes/fields.ts';
import { type Grant, grantNames, parseGrants } from './tenant/grants.ts';
import { type Toolset, toolsets } from './tool-kit/toolsets.ts';

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
 * Reads the text of one setting, or throws a ConfigError that says what it must be. Functions rather than
 * schemas, because the settings are read at every start, and loading a library for them takes longer than
 * everything else of it.
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

const authStrategies = ['token', 'oauth', 'key'] as const;
export type AuthStrategyName = (typeof authStrategies)[number];

const parameterName: ParseValue<string> = (given) => {
  if (/^[\w.[\]-]{1,40}$/.test(given)) return given;
  throw new ConfigError('must be a parameter name');
};

interface Setting<T = unknown> {
  env: string;
  /** Absent for what must not show in a list of processes. */
  flag?: string;
  /** Takes no value on the command line. */
  bare?: boolean;
  /** What it is, for the documentation and for errors. */
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
    description: 'A file that holds the key, instead of CPQ_API_KEY',
    parse: parseText,
  }),
  grants: setting({
    env: 'CPQ_GRANTS',
    flag: 'grants',
    description: `What may be done: ${grantNames.join(', ')}`,
    fallback: 'read',
    parse: (given) => parseNames(parseList(given), parseGrants, grantNames),
  }),
  toolsets: setting({
    env: 'CPQ_TOOLSETS',
    flag: 'toolsets',
    description: `Which tools are listed: ${toolsets.join(', ')}; default routes,briefs, events where webhooks are received, and changes where a write is granted`,
    parse: (given) => parseNames(parseList(given), parseToolsets, toolsets),
  }),
  pageParam: setting({
    env: 'CPQ_PAGE_PARAM',
    flag: 'page-param',
    description: 'Name of the offset parameter of list routes, or none where there is none',
    fallback: 'from',
    parse: parameterName,
  }),
  stateDir: setting({
    env: 'CPQ_STATE_DIR',
    flag: 'state-dir',
    description:
      "Folder for what must be kept, such as the journal of changes; default: the user's state folder",
    parse: parseText,
  }),
  redisUrl: setting({
    env: 'CPQ_REDIS_URL',
    flag: 'redis-url',
    description:
      'Redis or Valkey that several processes share, as redis://host:6379 or rediss://…; one with a password belongs in the variable, because flags show in lists of processes',
    parse: redisUrlFrom,
  }),
  replicas: setting({
    env: 'CPQ_REPLICAS',
    flag: 'replicas',
    description:
      'How many processes share CPQ_REDIS_URL: while it is away each keeps to its part of the rate budget',
    fallback: '4',
    parse: wholeNumber(1, 1_000),
  }),
  webhookSecret: setting({
    env: 'CPQ_WEBHOOK_SECRET',
    description:
      'Secret that deliveries of webhooks carry, at least 16 characters; without one, and without a signing secret, none are taken',
    parse: parseSecret,
  }),
  webhookSecretFile: setting({
    env: 'CPQ_WEBHOOK_SECRET_FILE',
    flag: 'webhook-secret-file',
    description: 'A file that holds it, instead of CPQ_WEBHOOK_SECRET',
    parse: parseText,
  }),
  webhookSigningSecret: setting({
    env: 'CPQ_WEBHOOK_SIGNING_SECRET',
    description:
      'Secret that deliveries of webhooks are signed with (HMAC-SHA256), at least 16 characters',
    parse: parseSecret,
  }),
  webhookSigningSecretFile: setting({
    env: 'CPQ_WEBHOOK_SIGNING_SECRET_FILE',
    flag: 'webhook-signing-secret-file',
    description: 'A file that holds it, instead of CPQ_WEBHOOK_SIGNING_SECRET',
    parse: parseText,
  }),
  logLevel: setting({
    env: 'CPQ_LOG_LEVEL',
    flag: 'log-level',
    description: `How much is written to stderr: ${logLevels.join(', ')}`,
    fallback: 'warn',
    parse: oneOf(logLevels),
  }),
  rateLimit: setting({
    env: 'CPQ_RATE_LIMIT',
    flag: 'rate-limit',
    description: 'Requests that the tenant allows in ten minutes, all its programs together',
    fallback: '500',
    parse: wholeNumber(1, 1_000_000),
  }),
  freshSeconds: setting({
    env: 'CPQ_FRESH_SECONDS',
    flag: 'fresh-seconds',
    description: 'How long a collection that was read counts as fresh',
    fallback: '300',
    parse: wholeNumber(0, 86_400),
  }),
  cacheMegabytes: setting({
    env: 'CPQ_CACHE_MB',
    flag: 'cache-mb',
    description: 'Memory that collections may take in one process',
    fallback: '256',
    parse: wholeNumber(1, 65_536),
  }),
  consent: setting({
    env: 'CPQ_CONSENT',
    flag: 'consent',
    description:
      'Where a host cannot ask a person before a write: token lets the same call come back with a token of the preview, ask lets nothing be written',
    fallback: 'token',
    parse: oneOf(['token', 'ask']),
  }),
  writesPerHour: setting({
    env: 'CPQ_WRITES_PER_HOUR',
    flag: 'writes-per-hour',
    description: 'Most writes in any hour',
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
    parse: (names) =>
      names
        .split(';')
        .map((name) => name.trim())
        .filter(Boolean),
  }),
  sandbox: setting({
    env: 'CPQ_SANDBOX',
    flag: 'sandbox',
    bare: true,
    description: 'Serve the embedded tenant instead of a real one; needs no address and no key',
    fallback: '0',
    parse: parseBoolean,
  }),
  tenantsFile: setting({
    env: 'CPQ_TENANTS_FILE',
    flag: 'tenants-file',
    description:
      'A JSON file that describes the tenants that http serves, instead of CPQ_BASE_URL and CPQ_API_KEY; read again on SIGHUP',
    parse: parseText,
  }),
  auth: setting({
    env: 'CPQ_AUTH',
    flag: 'auth',
    description: `How callers of http show who they are, one or more of ${authStrategies.join(', ')}: token is one of this server's own, oauth one of an identity provider, key the caller's own key of the service; without any it listens on loopback addresses only`,
    fallback: '',
    parse: (given) => new Set(parseList(given).map(oneOf(authStrategies))),
  }),
  tokensFile: setting({
    env: 'CPQ_TOKENS_FILE',
    flag: 'tokens-file',
    description:
      "Where cpq-mcp token keeps what is known of the server's own tokens; default: tokens.json in the state folder",
    parse: parseText,
  }),
  publicUrl: setting({
    env: 'CPQ_PUBLIC_URL',
    flag: 'public-url',
    description: 'The address of /mcp as callers know it, such as https://mcp.example.com/mcp',
    parse: webAddress,
  }),
  allowedHosts: setting({
    env: 'CPQ_ALLOWED_HOSTS',
    flag: 'allowed-hosts',
    description:
      'Host names, without port, that requests to http may be addressed to, besides loopback and that of CPQ_PUBLIC_URL',
    fallback: '',
    parse: parseList,
  }),
  trustedProxies: setting({
    env: 'CPQ_TRUSTED_PROXIES',
    flag: 'trusted-proxies',
    description:
      'Addresses or networks, such as 10.0.0.0/8, of proxies whose X-Forwarded-For is believed',
    fallback: '',
    parse: parseList,
  }),
  oauthIssuer: setting({
    env: 'CPQ_OAUTH_ISSUER',
    flag: 'oauth-issuer',
    description: 'The identity provider whose tokens are taken, as it calls itself',
    parse: (given) => {
      webAddress(given);
      return given.trim(); // Compared letter by letter: a slash at the end counts.
    },
  }),
  oauthAudience: setting({
    env: 'CPQ_OAUTH_AUDIENCE',
    flag: 'oauth-audience',
    description: 'Whom its tokens must be for; default CPQ_PUBLIC_URL',
    parse: parseText,
  }),
  oauthJwksUrl: setting({
    env: 'CPQ_OAUTH_JWKS_URL',
    flag: 'oauth-jwks-url',
    description: 'Where its keys are, if its metadata does not say',
    parse: webAddress,
  }),
  oauthTenantClaim: setting({
    env: 'CPQ_OAUTH_TENANT_CLAIM',
    flag: 'oauth-tenant-claim',
    description: 'The claim that names the tenant; not needed where only one is served',
    fallback: 'tenant',
    parse: parseText,
  }),
  oauthScopePrefix: setting({
    env: 'CPQ_OAUTH_SCOPE_PREFIX',
    flag: 'oauth-scope-prefix',
    description: 'What stands before a grant in its scopes, such as cpq: in cpq:read',
    fallback: '',
    parse: parseText,
  }),
  keyBaseUrls: setting({
    env: 'CPQ_KEY_BASE_URLS',
    flag: 'key-base-urls',
    description:
      'Addresses of the service that callers may name when they bring their own key; * stands for a label, as in https://*.example.com',
    fallback: '',
    parse: parseList,
  }),
  allowPrivate: setting({
    env: 'CPQ_ALLOW_PRIVATE',
    flag: 'allow-private',
    bare: true,
    description: 'Let addresses that callers name lead to private networks',
    fallback: '0',
    parse: parseBoolean,
  }),
  callsPerMinute: setting({
    env: 'CPQ_CALLS_PER_MINUTE',
    flag: 'calls-per-minute',
    description: 'Calls over HTTP that one caller may make in a minute',
    fallback: '300',
    parse: wholeNumber(1, 1_000_000),
  }),
  callsAtOnce: setting({
    env: 'CPQ_CALLS_AT_ONCE',
    flag: 'calls-at-once',
    description:
      'Calls over HTTP of one caller that are worked on at once; more wait for their turn',
    fallback: '16',
    parse: wholeNumber(1, 100_000),
  }),
  callsInAll: setting({
    env: 'CPQ_CALLS_IN_ALL',
    flag: 'calls-in-all',
    description: 'Calls over HTTP that are worked on at once, of all callers together',
    fallback: '128',
    parse: wholeNumber(1, 100_000),
  }),
  streamsAtOnce: setting({
    env: 'CPQ_STREAMS_AT_ONCE',
    flag: 'streams-at-once',
    description: 'Streams of changes that one caller may have open over HTTP',
    fallback: '32',
    parse: wholeNumber(1, 1_024),
  }),
  metricsToken: setting({
    env: 'CPQ_METRICS_TOKEN',
    description:
      'What whoever reads /metrics must show as a bearer token, at least 16 characters; without one /metrics is there only where callers need not show who they are',
    parse: parseSecret,
  }),
  metricsTokenFile: setting({
    env: 'CPQ_METRICS_TOKEN_FILE',
    flag: 'metrics-token-file',
    description: 'A file that holds it, instead of CPQ_METRICS_TOKEN',
    parse: parseText,
  }),
  tracing: setting({
    env: 'CPQ_TRACING',
    flag: 'tracing',
    bare: true,
    description: 'Make spans for OpenTelemetry, for the SDK that node --import registers',
    fallback: '0',
    parse: parseBoolean,
  }),
  fastPath: setting({
    env: 'CPQ_FAST_PATH',
    flag: 'fast-path',
    description:
      'Whether frequent requests are answered without the SDK of the protocol; off rules it out where an answer is not as it should be',
    fallback: 'on',
    parse: oneOf(['on', 'off']),
  }),
  host: setting({
    env: 'CPQ_HTTP_HOST',
    flag: 'host',
    description: 'Address that http listens on',
    fallback: '127.0.0.1',
    parse: parseText,
  }),
  port: setting({
    env: 'CPQ_HTTP_PORT',
    flag: 'port',
    description: 'Port that http listens on; 0 takes any that is free',
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
 * Reads the settings, once.
 * @throws ConfigError that names the setting and the remedy, never a value of a key
 */
export function readSettings(
  argv: readonly string[],
  environment: Record<string, string | undefined>,
  allowed: readonly SettingName[] = Object.keys(settings) as SettingName[],
): Settings {
  const flags = readFlags(argv, allowed);
  const read: Record<string, unknown> = {};
  for (const name of Object.keys(settings) as SettingName[]) {
    const setting: Setting = settings[name];
    const fromFlag = setting.flag === undefined ? undefined : flags[setting.flag];
    const fromEnvironment = environment[setting.env];
    const given =
      fromFlag ?? (fromEnvironment === '' ? undefined : fromEnvironment) ?? setting.fallback;
    if (given !== undefined) read[name] = validate(name, given, fromFlag !== undefined);
  }
  return withSecretsFromFiles(read as Settings);
}

function readFlags(
  argv: readonly string[],
  allowed: readonly SettingName[],
): Record<string, string> {
  const options: Record<string, { type: 'string' | 'boolean' }> = {};
  for (const name of allowed) {
    const { flag, bare }: Setting = settings[name];
    if (flag !== undefined) options[flag] = { type: bare ? 'boolean' : 'string' };
  }
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
    throw new ConfigError(`${(error as Error).message.split('. ')[0]}. Try: cpq-mcp --help`);
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
  known: readonly string[],
): T {
  if (names.length === 0) throw new ConfigError('is empty');
  try {
    return parse(names);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ConfigError(`${error.message}. Known: ${known.join(', ')}`);
  }
}

function parseFields(names: readonly string[]): ReadonlySet<string> {
  const unknown = names.filter((name) => !fieldNames.includes(name));
  if (unknown.length > 0) throw new RangeError(`unknown: ${unknown.join(', ')}`);
  return new Set(names);
}

function parseToolsets(names: readonly string[]): ReadonlySet<Toolset> {
  const unknown = names.filter((name) => !(toolsets as readonly string[]).includes(name));
  if (unknown.length > 0) throw new RangeError(`unknown: ${unknown.join(', ')}`);
  return new Set(names as Toolset[]);
}

function webAddress(given: string): URL {
  const url = URL.canParse(given.trim()) ? new URL(given.trim()) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.hash) {
    throw new ConfigError('is not a web address such as https://mcp.example.com/mcp');
  }
  return url;
}

/** With or without `/public-api` and a slash behind it. */
export function baseUrlFrom(text: string): URL {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError('is not a web address such as https://tenant.example.com');
  }
  if (url.username || url.password) throw new ConfigError('must not hold a user name or password');
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

/** The message must not repeat it: it may hold a password. */
function redisUrlFrom(text: string): URL {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === '') {
    throw new ConfigError('is not an address such as redis://host:6379');
  }
  if (/%(?![0-9a-f]{2})/i.test(url.username + url.password)) {
    throw new ConfigError('holds a percent sign that stands for nothing: write %25');
  }
  return url;
}

const minSecret = 16;

/** It may stand in an address, and is compared as it is. */
function parseSecret(text: string): string {
  const trimmed = text.trim();
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    throw new ConfigError('holds a character that a secret cannot have, such as a space');
  }
  if (trimmed.length < minSecret) {
    throw new ConfigError(`is shorter than ${minSecret} characters`);
  }
  return trimmed;
}

/** The message must not repeat what may be most of a key. */
export function headerSafe(key: string): string {
  const trimmed = key.trim();
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    throw new ConfigError(
      'holds a character that a key cannot have, such as a space or a line break',
    );
  }
  return trimmed;
}

/** Each of them may stand in a file instead. */
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
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new ConfigError((nameOf) => `${nameOf(setting)}: ${path} cannot be read (${code})`);
  }
}

/** A real tenant's address and key. @throws ConfigError that says which is missing and where to get it */
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

/** Which tools are asked for, or else those that make sense with what was granted and is received. */
export function toolsetsOf(read: Settings): ReadonlySet<Toolset> {
  const writes = (read.grants as ReadonlySet<Grant>).has('opportunity:write');
  const usual: Toolset[] = ['routes', 'briefs'];
  if (receivesWebhooks(read)) usual.push('events');
  if (writes) usual.push('changes');
  return read.toolsets ?? new Set(usual);
}

/** Anyone could send them otherwise. */
export const receivesWebhooks = ({ webhookSecret, webhookSigningSecret }: Settings): boolean =>
  webhookSecret !== undefined || webhookSigningSecret !== undefined;
