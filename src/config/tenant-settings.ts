import { fieldNames } from '../changes/writable-fields.ts';
import { logLevels } from '../log.ts';
import { parseToolNames } from '../mcp/surface.ts';
import {
  baseUrlFrom,
  headerSafe,
  InvalidValue,
  oneOf,
  parameterName,
  parseBoolean,
  parseList,
  parseSecret,
  parseStages,
  parseText,
  redisUrlFrom,
  wholeNumber,
} from '../setting-values.ts';
import { grantNames, parseGrants, writeGrant } from '../tenant/grants.ts';
import { type Toolset, toolsets } from '../tool-kit/toolsets.ts';
import { isOneOf } from '../values.ts';
import { setting } from './setting.ts';

/** Of one tenant, and of the process that serves it. */
export const tenantSettings = {
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
} as const;

function parseNames<T>(
  names: readonly string[],
  parse: (names: readonly string[]) => T,
  known: readonly string[] = [],
): T {
  if (names.length === 0) throw new InvalidValue('is empty');
  try {
    return parse(names);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const all = known.length > 0 ? `. Known: ${known.join(', ')}` : '';
    throw new InvalidValue(error.message + all);
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
