import { environmentName, type Settings } from '../config/settings.ts';
import { type CommandLine, ConfigError, parseAs, readCommandLine } from '../config.ts';
import {
  createToken,
  endingSoon,
  graceDays,
  isExpired,
  type NewToken,
  readTokens,
  type StoredToken,
  updateTokens,
} from '../hosts/access/access-tokens.ts';
import { createSurface, onlyExcludes } from '../mcp/surface.ts';
import { parseList, wholeNumber } from '../setting-values.ts';
import { parseGrants } from '../tenant/grants.ts';
import { toolsets } from '../tool-kit/toolsets.ts';
import { isKeyOf } from '../values.ts';
import { tokensPath } from './auth-strategies.ts';
import type { CommandContext } from './start.ts';
import { table } from './table.ts';
import { namesInFile } from './tenants.ts';

const usage = `Use: cpq-mcp token add NAME [--grants read,…] [--tools NAME,…] [--tenant T] [--days 90]
     cpq-mcp token renew NAME [--days 90]
     cpq-mcp token list [--json]
     cpq-mcp token revoke NAME
The file is ${environmentName('tokensFile')} or --tokens-file; default: tokens.json in the state folder.`;

export const help = `${usage}
"renew" prints another token with the same rights; the present one stays valid for ${graceDays} days at most.
Flags:
  --grants LIST  what the caller may do; the server's own grants still apply; default: read
  --tools LIST   list these tools and no others
  --tenant T     the tenant, needed if the server has several
  --days N       days until the token expires; default: 90
  --json         print the list as JSON`;

const ownFlags = { tenant: 'string', days: 'string', json: 'boolean' } as const;

export async function run(argv: readonly string[], context: CommandContext): Promise<void> {
  const [verb, ...rest] = argv;
  if (verb === undefined || !isKeyOf(subcommands, verb)) throw new ConfigError(usage);
  const ofServer = ['tokensFile', 'tenantsFile', 'stateDir', 'grants', 'tools'] as const;
  const line = readCommandLine(rest, context.env, ownFlags, ofServer);
  await subcommands[verb]({ ...line, ...context });
}

const subcommands = { add, renew, list, revoke };

type Given = CommandLine & CommandContext;

async function add({ words, flags, settings: server, ...context }: Given): Promise<void> {
  const name = singleName(words);
  const made = createToken(toRequest(name, flags, server));
  await updateTokens(tokensPath(server, context.env), (tokens) => {
    if (tokens.some((one) => one.name === name && !isExpired(one)))
      throw new ConfigError(
        `The token "${name}" already exists. Renew or revoke it, or choose another name.`,
      );
    return [...tokens.filter((one) => one.name !== name), made.stored];
  });
  show(made, context);
}

type Created = ReturnType<typeof createToken>;

function show({ token, stored }: Created, { stdout, stderr }: CommandContext): void {
  const { name, tenant, grants, tools, expires } = stored;
  const limit = tools === undefined ? '' : `, with ${inWords(tools)}`;
  const where = tenant === undefined ? '' : ` for ${tenant}`;
  stderr.write(
    `The token "${name}" grants ${grants.join(', ')}${where}${limit}. Expires ${expires.slice(0, 10)}. Copy it now: it is not shown again.\n`,
  );
  stdout.write(`${token}\n`);
}

const inWords = (tools: readonly string[]): string =>
  onlyExcludes(new Set(tools))
    ? `all tools but ${tools.map((name) => name.slice(1)).join(', ')}`
    : `${tools.join(', ')} only`;

/** The grants and tools among the flags are valid settings. @throws ConfigError */
function toRequest(
  name: string,
  { tenant, grants = 'read', tools, days }: CommandLine['flags'],
  server: Settings,
): NewToken {
  const allowed = 'letters, digits, and . _ - @, at most 60 characters';
  if (!/^[\w.@-]{1,60}$/.test(name)) throw new ConfigError(`A name may contain ${allowed}.`);
  const only = tools === undefined ? undefined : server.tools;
  const all = { toolsets: new Set(toolsets), tools: new Set<string>() };
  const usable = createSurface(parseGrants(parseList(grants)), all, only);
  if (usable.list.length === 0)
    throw new ConfigError(`--grants ${grants} allows none of these tools: add what they need.`);
  return {
    name,
    tenant: tenantOf(tenant, server),
    grants: parseList(grants),
    tools: only && [...only],
    days: daysOf(days),
  };
}

const daysOf = (given = '90'): number => parseAs('--days', () => wholeNumber(1, 3_650)(given));

/** Adds a token with the rights of another, which stays valid while its owner replaces it. */
async function renew({ words, flags, settings: server, ...context }: Given): Promise<void> {
  const name = singleName(words);
  if ([flags.grants, flags.tools, flags.tenant].some(Boolean))
    throw new ConfigError(
      'A renewed token has the rights of the present one: leave --grants, --tools and --tenant out.',
    );
  const days = daysOf(flags.days);
  let made: Created | undefined;
  await updateTokens(tokensPath(server, context.env), (tokens) => {
    const present = tokens.find((one) => one.name === name);
    if (!present) throw unknownToken(name, tokens);
    made = createToken({ ...present, days });
    return [...tokens.map((one) => (one.name === name ? endingSoon(one) : one)), made.stored];
  });
  if (made) show(made, context);
}

async function list({ words, flags, settings: server, env, stdout }: Given): Promise<void> {
  if (words.length > 0) throw new ConfigError(usage);
  const tokens = await readTokens(tokensPath(server, env));
  const rows = tokens.map(({ id, hash, ...one }) => ({ ...one, expired: isExpired(one) }));
  if (flags.json) {
    stdout.write(`${JSON.stringify(rows)}\n`);
    return;
  }
  if (rows.length === 0) {
    stdout.write('No tokens. Add one: cpq-mcp token add NAME\n');
    return;
  }
  const cells = rows.map(({ expired, ...row }) => [
    ...[row.name, row.tenant ?? '', row.grants.join(','), row.tools?.join(',') ?? 'all'],
    row.created.slice(0, 10),
    row.expires.slice(0, 10) + (expired ? ' (expired)' : ''),
  ]);
  const header = ['name', 'tenant', 'grants', 'tools', 'created', 'expires'];
  stdout.write(table([header, ...cells]));
}

async function revoke({ words, settings: server, env, stderr }: Given): Promise<void> {
  const name = singleName(words);
  await updateTokens(tokensPath(server, env), (tokens) => {
    const stored = tokens.filter((one) => one.name !== name);
    if (stored.length === tokens.length) throw unknownToken(name, tokens);
    return stored;
  });
  stderr.write(`The token "${name}" is revoked; servers refuse it within a second.\n`);
}

const unknownToken = (name: string, tokens: readonly StoredToken[]): ConfigError =>
  new ConfigError(
    `There is no token "${name}". Known: ${[...new Set(tokens.map((one) => one.name))].join(', ') || 'none'}`,
  );

function singleName([name, ...others]: readonly string[]): string {
  if (name === undefined || others.length > 0) throw new ConfigError(usage);
  return name;
}

/** Rejects a tenant that the server does not serve, because every call would be refused. */
function tenantOf(requested: string | undefined, server: Settings): string | undefined {
  if (server.tenantsFile === undefined) {
    if (requested === undefined) return undefined;
    const file = environmentName('tenantsFile');
    throw new ConfigError(`--tenant: set ${file} as the server has it, or leave --tenant out.`);
  }
  const known = namesInFile(server.tenantsFile);
  // Stored even if it is the only tenant, because another may replace it.
  const target = requested ?? (known.length === 1 ? known[0] : undefined);
  if (target !== undefined && known.includes(target)) return target;
  throw new ConfigError(
    `--tenant must be one of ${known.join(', ')} (see ${environmentName('tenantsFile')})`,
  );
}
