import { fieldNames } from '../changes/writable-fields.ts';
import { logLevels } from '../log.ts';
import { parseToolNames } from '../mcp/surface.ts';
import {
  baseUrlFrom,
  headerSafe,
  InvalidValue,
  oneOf,
  parameterName,
  parseNames,
  parseSecret,
  parseStages,
  redisUrlFrom,
  wholeNumber,
} from '../setting-values.ts';
import { grantNames, parseGrants, writeGrant } from '../tenant/grants.ts';
import { toolsets } from '../tool-kit/toolsets.ts';
import { isOneOf } from '../values.ts';
import { onOff, secret, setting, text } from './setting.ts';

/** Of one tenant, and of the process that serves it. */
export const tenantSettings = {
  baseUrl: setting(baseUrlFrom, "The tenant's API address, the part before /public-api"),
  apiKey: secret(headerSafe, 'The key, issued under Settings → Integrations → API Key'),
  apiKeyFile: text('A file that contains the API key'),
  grants: setting(
    (given) => parseNames(given, parseGrants),
    `Granted permissions: ${grantNames.join(', ')}`,
    'read',
  ),
  allowWrites: onOff(`Grant ${writeGrant} besides the granted permissions`),
  toolsets: setting(
    (given) => parseKnown(given, toolsets),
    `Which tools are listed: ${toolsets.join(', ')}; default routes,briefs, events where webhooks are received, and changes where a write is granted`,
  ),
  tools: setting(
    (given) => parseNames(given, parseToolNames),
    'Exact names of tools to list: these and no others, or besides those of the toolsets if toolsets are set too',
  ),
  pageParam: setting(
    parameterName,
    'Name of the offset parameter of list routes; none if there is none',
    'from',
  ),
  stateDir: text(
    "Folder for persistent state, such as the journal of changes; default: the user's state folder",
  ),
  redisUrl: setting(
    redisUrlFrom,
    'URL of the Redis or Valkey that several processes share, as redis://host:6379 or rediss://…; use the variable for a URL with a password, because flags show in process lists',
  ),
  replicas: setting(
    wholeNumber(1, 1_000),
    'Number of processes that share Redis; while Redis is unavailable each uses its share of the rate budget',
    '4',
  ),
  webhookSecret: secret(
    parseSecret,
    'Secret sent with webhook deliveries, at least 16 characters; webhooks are accepted only with this or a signing secret',
  ),
  webhookSecretFile: text('A file that contains the webhook secret'),
  webhookSigningSecret: secret(
    parseSecret,
    'Secret that signs webhook deliveries (HMAC-SHA256), at least 16 characters',
  ),
  webhookSigningSecretFile: text('A file that contains the signing secret'),
  logLevel: setting(oneOf(logLevels), `Log level on stderr: ${logLevels.join(', ')}`, 'warn'),
  rateLimit: setting(
    wholeNumber(1, 1_000_000),
    "The tenant's rate limit: requests in ten minutes, shared by all its programs",
    '500',
  ),
  freshSeconds: setting(
    wholeNumber(0, 86_400),
    'Seconds until a cached collection is read again',
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
  historyDays: setting(
    wholeNumber(0, 3_650),
    'Days for which snapshots of the pipeline are kept, after 60 days one a week; 0 keeps none',
    '400',
  ),
  consent: setting(
    oneOf(['token', 'ask']),
    'Writes through hosts that cannot ask a person: token allows confirming a preview with a token, ask refuses the write',
    'token',
  ),
  writesPerHour: setting(wholeNumber(0, 100_000), 'Maximum writes per hour', '20'),
  writeFields: setting(
    (given) => parseKnown(given, fieldNames),
    `Fields of an opportunity that agents may write: ${fieldNames.join(', ')}; default all`,
    fieldNames.join(','),
  ),
  barredStages: setting(
    parseStages,
    'Stages that agents may not set, by name or id, separated by semicolons',
    '',
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

/** The names of a list that are known. */
function parseKnown<T extends string>(given: string, known: readonly T[]): ReadonlySet<T> {
  const names = parseNames(given, (all) => all);
  const unknown = names.filter((name) => !isOneOf(known, name));
  if (unknown.length === 0) return new Set(known.filter((name) => names.includes(name)));
  throw new InvalidValue(`unknown: ${unknown.join(', ')}. Known: ${known.join(', ')}`);
}
