import {
  type CommandLine,
  ConfigError,
  environmentName,
  fileContent,
  readCommandLine,
  type Settings,
} from '../config.ts';
import {
  createToken,
  endingSoon,
  expiringTokens,
  graceDays,
  isExpired,
  type NewToken,
  readTokens,
  type StoredToken,
  updateTokens,
} from '../hosts/access/token-file.ts';
import { parseToolNames } from '../mcp/surface.ts';
import { InvalidValue, type ParseValue, parseNames, wholeNumber } from '../setting-values.ts';
import { parseGrants } from '../tenant/grants.ts';
import { isKeyOf, isOneOf } from '../values.ts';
import { tokensPath } from './auth-strategies.ts';
import { table } from './table.ts';
import { namesInFile } from './tenants.ts';

const usage = `Use: cpq-mcp token add NAME [--grants read,…] [--tools NAME,…] [--tenant T] [--days 90]
     cpq-mcp token add --csv FILE
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
  --csv FILE     add a token for each row, and print them as CSV: a header with name, and any of the flags above;
                 lists separated by blanks
  --json         print the list as JSON`;

const columns = ['name', 'tenant', 'grants', 'tools', 'days'] as const;
/** What is asked for, as text. */
type Wanted = Readonly<Partial<Record<(typeof columns)[number], string | undefined>>>;

const text = 'string';
const texts = { grants: text, tools: text, tenant: text, days: text, csv: text } as const;
const ownFlags = { ...texts, json: 'boolean' } as const;

export async function run(argv: readonly string[]): Promise<void> {
  const [verb, ...rest] = argv;
  if (verb === undefined || !isKeyOf(subcommands, verb)) throw new ConfigError(usage);
  const ofServer = ['tokensFile', 'tenantsFile', 'stateDir'] as const;
  await subcommands[verb](readCommandLine(rest, process.env, ownFlags, ofServer));
}

const subcommands = { add, renew, list, revoke };

async function add({ words, flags, settings: server }: CommandLine): Promise<void> {
  const { csv } = flags;
  if (csv !== undefined && words.length > 0) throw new ConfigError(usage);
  const wanted = csv === undefined ? [{ ...flags, name: singleName(words) }] : readRows(csv);
  const made = wanted.map((one) => createToken(toRequest(one, server)));
  await updateTokens(tokensPath(server), (tokens) =>
    made.reduce((all, { stored: { name }, stored }) => {
      if (all.some((one) => one.name === name && !isExpired(one)))
        throw new ConfigError(
          `The token "${name}" already exists. Renew or revoke it, or choose another name.`,
        );
      return [...all.filter((one) => one.name !== name), stored];
    }, tokens),
  );
  show(made, csv !== undefined);
}

type Created = ReturnType<typeof createToken>;

function show(made: readonly Created[], asCsv: boolean): void {
  for (const { stored } of made) {
    const { name, tenant, grants, tools, expires } = stored;
    const limit = tools === undefined ? '' : `, with ${tools.join(', ')} only`;
    const where = tenant === undefined ? '' : ` for ${tenant}`;
    process.stderr.write(
      `The token "${name}" grants ${grants.join(', ')}${where}${limit}. Expires ${expires.slice(0, 10)}. Copy it now: it is not shown again.\n`,
    );
  }
  const rows = made.map(({ token, stored }) =>
    asCsv ? `${stored.name},${token}\n` : `${token}\n`,
  );
  process.stdout.write(`${asCsv ? 'name,token\n' : ''}${rows.join('')}`);
}

/** @throws ConfigError */
function toRequest({ name = '', tenant, grants, tools, days }: Wanted, server: Settings): NewToken {
  const allowed = 'letters, digits, and . _ - @, at most 60 characters';
  if (!/^[\w.@-]{1,60}$/.test(name)) throw new ConfigError(`A name may contain ${allowed}.`);
  return {
    name,
    tenant: tenantOf(tenant, server),
    grants: parseFlag(
      '--grants',
      (given) => parseNames(given, (names) => parseGrants(names) && names),
      grants ?? 'read',
    ),
    tools:
      tools === undefined
        ? undefined
        : parseFlag('--tools', (given) => [...parseNames(given, parseToolNames)], tools),
    days: daysOf(days),
  };
}

const daysOf = (days = '90'): number => parseFlag('--days', wholeNumber(1, 3_650), days);

/** The rows of a CSV file without quotes; an empty cell is as none. @throws ConfigError */
function readRows(path: string): Wanted[] {
  const [header = '', ...rows] = fileContent('--csv', path)
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '');
  const names = header.split(',').map((name) => name.trim());
  const isKnown = names.includes('name') && names.every((name) => isOneOf(columns, name));
  if (!isKnown || rows.length === 0)
    throw new ConfigError(`${path}: needs rows below a header of ${columns.join(', ')}`);
  return rows.map((row) => {
    const cells = row.split(',').map((cell) => cell.trim().replaceAll(/\s+/g, ','));
    if (cells.length > names.length) throw new ConfigError(`${path}: too many cells in "${row}"`);
    return Object.fromEntries(names.map((name, at) => [name, cells[at] || undefined]));
  });
}

/** Adds a token with the rights of another, which stays valid while its owner replaces it. */
async function renew({ words, flags, settings: server }: CommandLine): Promise<void> {
  const name = singleName(words);
  const days = daysOf(flags.days);
  let made: Created | undefined;
  await updateTokens(tokensPath(server), (tokens) => {
    const [last] = tokens.filter((one) => one.name === name).slice(-1);
    if (!last) throw unknownToken(name, tokens);
    made = createToken({ ...last, days });
    return [...tokens.map((one) => (one.name === name ? endingSoon(one) : one)), made.stored];
  });
  if (made) show([made], false);
}

async function list({ words, flags, settings: server }: CommandLine): Promise<void> {
  if (words.length > 0) throw new ConfigError(usage);
  const tokens = await readTokens(tokensPath(server));
  const rows = tokens.map(({ id, hash, ...one }) => ({ ...one, expired: isExpired(one) }));
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
  const soon = expiringTokens(tokens);
  if (soon.length > 0)
    process.stderr.write(
      `${soon.length} of ${tokens.length} expire within ${graceDays} days: ${soon.join(', ')}. Renew them: cpq-mcp token renew NAME\n`,
    );
}

async function revoke({ words, settings: server }: CommandLine): Promise<void> {
  const name = singleName(words);
  await updateTokens(tokensPath(server), (tokens) => {
    const stored = tokens.filter((one) => one.name !== name);
    if (stored.length === tokens.length) throw unknownToken(name, tokens);
    return stored;
  });
  process.stderr.write(`The token "${name}" is revoked; servers refuse it within a second.\n`);
}

const unknownToken = (name: string, tokens: readonly StoredToken[]): ConfigError =>
  new ConfigError(
    `There is no token "${name}". Known: ${[...new Set(tokens.map((one) => one.name))].join(', ') || 'none'}`,
  );

function singleName([name, ...others]: readonly string[]): string {
  if (name === undefined || others.length > 0) throw new ConfigError(usage);
  return name;
}

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
  const known = namesInFile(server.tenantsFile);
  // Stored even if it is the only tenant, because another may replace it.
  const target = requested ?? (known.length === 1 ? known[0] : undefined);
  if (target !== undefined && known.includes(target)) return target;
  throw new ConfigError(
    `--tenant must be one of ${known.join(', ')} (see ${environmentName('tenantsFile')})`,
  );
}
