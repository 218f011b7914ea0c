import {
  type CommandLine,
  ConfigError,
  environmentName,
  readCommandLine,
  type Settings,
} from '../config.ts';
import {
  createToken,
  isExpired,
  readTokens,
  type StoredToken,
  updateTokens,
} from '../hosts/access/token-file.ts';
import { parseToolNames } from '../mcp/surface.ts';
import { InvalidValue, type ParseValue, parseNames, wholeNumber } from '../setting-values.ts';
import { parseGrants } from '../tenant/grants.ts';
import { isKeyOf } from '../values.ts';
import { tokensPath } from './auth-strategies.ts';
import { readTenants } from './tenants.ts';

const usage = `Use: cpq-mcp token add NAME [--grants read,…] [--tools NAME,…] [--tenant T] [--days 90]
     cpq-mcp token list [--json]
     cpq-mcp token revoke NAME
The file is ${environmentName('tokensFile')} or --tokens-file; default: tokens.json in the state folder.`;

/** The usage with what each flag means. */
export const help = `${usage}
Flags:
  --grants LIST  what the caller may do; the server's own grants still apply; default: read
  --tools LIST   list these tools and no others
  --tenant T     the tenant, needed if the server has several
  --days N       days until the token expires; default: 90
  --json         print the list as JSON`;

const text = 'string';
const ownFlags = { grants: text, tools: text, tenant: text, days: text, json: 'boolean' } as const;

/** Adds, lists and revokes the server's own access tokens. */
export async function run(argv: readonly string[]): Promise<void> {
  const [verb, ...rest] = argv;
  if (verb === undefined || !isKeyOf(subcommands, verb)) throw new ConfigError(usage);
  const ofServer = ['tokensFile', 'tenantsFile', 'stateDir'] as const;
  await subcommands[verb](readCommandLine(rest, process.env, ownFlags, ofServer));
}

const subcommands = { add, list, revoke };

async function add({ words, flags, settings: server }: CommandLine): Promise<void> {
  const name = singleName(words);
  const allowed = 'letters, digits, and . _ - @, at most 60 characters';
  if (!/^[\w.@-]{1,60}$/.test(name)) throw new ConfigError(`A name may contain ${allowed}.`);
  const path = tokensPath(server);
  const requested = {
    name,
    tenant: tenantOf(flags.tenant, server),
    grants: parseFlag('--grants', grantNamesIn, flags.grants ?? 'read'),
    tools: flags.tools === undefined ? undefined : parseFlag('--tools', toolNamesIn, flags.tools),
    days: parseFlag('--days', wholeNumber(1, 3_650), flags.days ?? '90'),
  };
  const { token: made, stored } = createToken(requested);
  await updateTokens(path, (tokens) => {
    if (tokens.some((one) => one.name === name && !isExpired(one))) {
      throw new ConfigError(
        `The token "${name}" already exists. Revoke it, or choose another name.`,
      );
    }
    return [...tokens.filter((one) => one.name !== name), stored];
  });
  const limit = requested.tools === undefined ? '' : `, with ${requested.tools.join(', ')} only`;
  process.stderr.write(
    `The token "${name}" grants ${requested.grants.join(', ')}${requested.tenant === undefined ? '' : ` for ${requested.tenant}`}${limit}. Expires ${stored.expires.slice(0, 10)}. Copy it now: it is not shown again.\n`,
  );
  process.stdout.write(`${made}\n`);
}

async function list({ words, flags, settings: server }: CommandLine): Promise<void> {
  if (words.length > 0) throw new ConfigError(usage);
  const tokens = await readTokens(tokensPath(server));
  const rows = tokens.map((one) => ({ ...publicFields(one), expired: isExpired(one) }));
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(rows)}\n`);
    return;
  }
  if (rows.length === 0) {
    process.stdout.write('No tokens. Add one: cpq-mcp token add NAME\n');
    return;
  }
  const cells = rows.map(({ expired, ...row }) => [
    ...[row.name, row.tenant ?? '', row.grants.join(','), row.tools?.join(',') ?? 'all'],
    row.created.slice(0, 10),
    row.expires.slice(0, 10) + (expired ? ' (expired)' : ''),
  ]);
  const header = ['name', 'tenant', 'grants', 'tools', 'created', 'expires'];
  process.stdout.write(table([header, ...cells]));
}

/** Without id and hash. */
const publicFields = ({ id, hash, ...rest }: StoredToken): Omit<StoredToken, 'id' | 'hash'> => rest;

async function revoke({ words, settings: server }: CommandLine): Promise<void> {
  const name = singleName(words);
  await updateTokens(tokensPath(server), (tokens) => {
    const stored = tokens.filter((one) => one.name !== name);
    if (stored.length === tokens.length) {
      const known = tokens.map((one) => one.name).join(', ') || 'none';
      throw new ConfigError(`There is no token "${name}". Known: ${known}`);
    }
    return stored;
  });
  process.stderr.write(`The token "${name}" is revoked; servers refuse it within a second.\n`);
}

function singleName([name, ...others]: readonly string[]): string {
  if (name === undefined || others.length > 0) throw new ConfigError(usage);
  return name;
}

const toolNamesIn = (given: string): string[] => [...parseNames(given, parseToolNames)];

const grantNamesIn = (given: string): readonly string[] =>
  parseNames(given, (names) => {
    parseGrants(names);
    return names;
  });

/** @throws ConfigError */
function parseFlag<T>(flag: string, parse: ParseValue<T>, given: string): T {
  try {
    return parse(given);
  } catch (error) {
    throw error instanceof InvalidValue ? new ConfigError(`${flag}: ${error.message}`) : error;
  }
}

/** Rejects a tenant that the server does not serve, because every call would be refused. */
function tenantOf(requested: string | undefined, server: Settings): string | undefined {
  if (server.tenantsFile === undefined) return requested;
  const known = [...readTenants(server.tenantsFile, server).keys()];
  // Stored even if it is the only tenant, because another may replace it.
  const target = requested ?? (known.length === 1 ? known[0] : undefined);
  if (target !== undefined && known.includes(target)) return target;
  throw new ConfigError(
    `--tenant must be one of ${known.join(', ')} (see ${environmentName('tenantsFile')})`,
  );
}

function table(rows: readonly (readonly string[])[]): string {
  const widthOf = (at: number) => Math.max(...rows.map((row) => row[at]?.length ?? 0));
  const line = (row: readonly string[]) =>
    row.map((cell, at) => cell.padEnd(widthOf(at))).join('  ');
  return rows.map((row) => `${line(row).trimEnd()}\n`).join('');
}
