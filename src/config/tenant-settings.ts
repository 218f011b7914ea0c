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
import { toolsets } from '../tool-kit/toolsets.ts';
import { isOneOf } from '../values.ts';
import { setting } from './setting.ts';

/** Of one tenant, and of the process that serves it. */
export const tenantSettings = {
  baseUrl: setting({
    env: 'CPQ_BASE_URL',
    description: "The tenant's API address, the part before /public-api",
    parse: baseUrlFrom,
  }),
  apiKey: setting({
    env: 'CPQ_API_KEY',
    secret: true,
    description: 'The key, issued under Settings → Integrations → API Key',
    parse: headerSafe,
  }),
  apiKeyFile: setting({
    env: 'CPQ_API_KEY_FILE',
    description: 'A file that contains the API key',
    parse: parseText,
  }),
  grants: setting({
    env: 'CPQ_GRANTS',
    description: `Granted permissions: ${grantNames.join(', ')}`,
    fallback: 'read',
    parse: (given) => parseNames(given, parseGrants),
  }),
  allowWrites: setting({
    env: 'CPQ_ALLOW_WRITES',
    bare: true,
    description: `Grant ${writeGrant} besides the granted permissions`,
    fallback: '0',
    parse: parseBoolean,
  }),
  toolsets: setting({
    env: 'CPQ_TOOLSETS',
    description: `Which tools are listed: ${toolsets.join(', ')}; default routes,briefs, events where webhooks are received, and changes where a write is granted`,
    parse: (given) => parseKnown(given, toolsets),
  }),
  tools: setting({
    env: 'CPQ_TOOLS',
    description:
      'Exact names of tools to list: these and no others, or besides those of the toolsets if toolsets are set too',
    parse: (given) => parseNames(given, parseToolNames),
  }),
  pageParam: setting({
    env: 'CPQ_PAGE_PARAM',
    description: 'Name of the offset parameter of list routes; none if there is none',
    fallback: 'from',
    parse: parameterName,
  }),
  stateDir: setting({
    env: 'CPQ_STATE_DIR',
    description:
      "Folder for persistent state, such as the journal of changes; default: the user's state folder",
    parse: parseText,
  }),
  redisUrl: setting({
    env: 'CPQ_REDIS_URL',
    description:
      'URL of the Redis or Valkey that several processes share, as redis://host:6379 or rediss://…; use the variable for a URL with a password, because flags show in process lists',
    parse: redisUrlFrom,
  }),
  replicas: setting({
    env: 'CPQ_REPLICAS',
    description:
      'Number of processes that share Redis; while Redis is unavailable each uses its share of the rate budget',
    fallback: '4',
    parse: wholeNumber(1, 1_000),
  }),
  webhookSecret: setting({
    env: 'CPQ_WEBHOOK_SECRET',
    secret: true,
    description:
      'Secret sent with webhook deliveries, at least 16 characters; webhooks are accepted only with this or a signing secret',
    parse: parseSecret,
  }),
  webhookSecretFile: setting({
    env: 'CPQ_WEBHOOK_SECRET_FILE',
    description: 'A file that contains the webhook secret',
    parse: parseText,
  }),
  webhookSigningSecret: setting({
    env: 'CPQ_WEBHOOK_SIGNING_SECRET',
    secret: true,
    description: 'Secret that signs webhook deliveries (HMAC-SHA256), at least 16 characters',
    parse: parseSecret,
  }),
  webhookSigningSecretFile: setting({
    env: 'CPQ_WEBHOOK_SIGNING_SECRET_FILE',
    description: 'A file that contains the signing secret',
    parse: parseText,
  }),
  logLevel: setting({
    env: 'CPQ_LOG_LEVEL',
    description: `Log level on stderr: ${logLevels.join(', ')}`,
    fallback: 'warn',
    parse: oneOf(logLevels),
  }),
  rateLimit: setting({
    env: 'CPQ_RATE_LIMIT',
    description: "The tenant's rate limit: requests in ten minutes, shared by all its programs",
    fallback: '500',
    parse: wholeNumber(1, 1_000_000),
  }),
  freshSeconds: setting({
    env: 'CPQ_FRESH_SECONDS',
    description: 'Seconds until a cached collection is read again',
    fallback: '300',
    parse: wholeNumber(0, 86_400),
  }),
  cacheMegabytes: setting({
    env: 'CPQ_CACHE_MB',
    description: 'Memory per process for cached collections and what is derived from them, in MB',
    fallback: '256',
    parse: wholeNumber(1, 65_536),
  }),
  historyDays: setting({
    env: 'CPQ_HISTORY_DAYS',
    description:
      'Days for which snapshots of the pipeline are kept, after 60 days one a week; 0 keeps none',
    fallback: '400',
    parse: wholeNumber(0, 3_650),
  }),
  consent: setting({
    env: 'CPQ_CONSENT',
    description:
      'Writes through hosts that cannot ask a person: token allows confirming a preview with a token, ask refuses the write',
    fallback: 'token',
    parse: oneOf(['token', 'ask']),
  }),
  writesPerHour: setting({
    env: 'CPQ_WRITES_PER_HOUR',
    description: 'Maximum writes per hour',
    fallback: '20',
    parse: wholeNumber(0, 100_000),
  }),
  writeFields: setting({
    env: 'CPQ_WRITE_FIELDS',
    description: `Fields of an opportunity that agents may write: ${fieldNames.join(', ')}; default all`,
    fallback: fieldNames.join(','),
    parse: (given) => parseKnown(given, fieldNames),
  }),
  barredStages: setting({
    env: 'CPQ_BARRED_STAGES',
    description: 'Stages that agents may not set, by name or id, separated by semicolons',
    fallback: '',
    parse: parseStages,
  }),
  allowedStages: setting({
    env: 'CPQ_ALLOWED_STAGES',
    description:
      'The only stages that agents may set, by name or id, separated by semicolons; default all',
    fallback: '',
    parse: parseStages,
  }),
  sandbox: setting({
    env: 'CPQ_SANDBOX',
    bare: true,
    description: 'Serve the embedded tenant; needs no address and no key',
    fallback: '0',
    parse: parseBoolean,
  }),
  fastPath: setting({
    env: 'CPQ_FAST_PATH',
    description:
      'Whether frequent requests are answered without the MCP SDK; off rules the fast path out when you look for a fault',
    fallback: 'on',
    parse: oneOf(['on', 'off']),
  }),
} as const;

/** The names of a list that are known. */
function parseKnown<T extends string>(given: string, known: readonly T[]): ReadonlySet<T> {
  const names = parseNames(given, (all) => all);
  const unknown = names.filter((name) => !isOneOf(known, name));
  if (unknown.length === 0) return new Set(known.filter((name) => names.includes(name)));
  throw new InvalidValue(`unknown: ${unknown.join(', ')}. Known: ${known.join(', ')}`);
}

/** @throws InvalidValue for no name, and where `parse` throws a RangeError */
function parseNames<T>(given: string, parse: (names: readonly string[]) => T): T {
  const names = parseList(given);
  if (names.length === 0) throw new InvalidValue('is empty');
  try {
    return parse(names);
  } catch (error) {
    throw error instanceof RangeError ? new InvalidValue(error.message) : error;
  }
}
