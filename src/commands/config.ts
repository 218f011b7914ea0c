import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { ConfigError, readCommandLine, readSettings } from '../config.ts';
import { isOneOf, messageOf } from '../values.ts';
import {
  type ConfigHost,
  type Entry,
  entryFor,
  entryText,
  hostNamed,
  hosts,
} from './config/hosts.ts';
import {
  authNames,
  baseUrlPlaceholder,
  type Launch,
  type LaunchOptions,
  serverName,
  toLaunch,
  variables,
} from './config/launch.ts';
import { writeEntry } from './config/write.ts';
import type { CommandContext } from './start.ts';
import { table } from './table.ts';

const usage = `Use: cpq-mcp config HOST [--write [--file PATH]] [--sandbox] [--base-url URL] [--grants LIST]
                           [--api-key-file PATH]
     cpq-mcp config HOST --http URL [--auth ${authNames.join('|')}] [--write [--file PATH]]`;

export const help = `${usage}
Hosts:
${table(Object.entries(hosts).map(([name, { title }]) => [`  ${name}`, title]))}Flags:
  --write              install the entry instead of printing it, and keep a copy of the file (.bak); not for files
                       with comments, nor hosts with a command of their own, which is printed
  --file PATH          edit this file instead of the user's, such as a project's
  --base-url URL       the tenant's API address; default: from ${variables.baseUrl}
  --grants LIST        granted permissions; default: from ${variables.grants}
  --api-key-file PATH  read the key from this file; default: from ${variables.keyFile}
  --sandbox            use the embedded tenant, without address and key
  --http URL           connect to a team's server instead of starting one
  --auth METHOD        how that server authenticates; default: token, on this machine none`;

interface ConfigRequest extends LaunchOptions {
  host: ConfigHost;
  /** Default: that of the user's own servers. */
  file: string | undefined;
}

/**
 * Prints the configuration of a host: the entry to stdout, so that it can be piped, everything else to
 * stderr. With --write the host's file is changed instead.
 */
export async function run(argv: readonly string[], context: CommandContext): Promise<void> {
  const { write, ...request } = parseRequest(argv, context);
  // Validates as the server does at its start.
  const { baseUrl, grants } = request;
  readSettings([], { [variables.baseUrl]: baseUrl, [variables.grants]: grants });
  const described = describe(request, context);
  if (write) return writeTo(described);
  show(described);
}

const connectInstead =
  'Or let cpq-mcp connect do this: it asks for address and key, checks them, and stores the key in a file of yours.\n';

function show(described: Described): void {
  const { host, file, entry, command, launch, steps, stdout, stderr } = described;
  const again = isWritable(host) ? ', or run this command again with --write' : '';
  stderr.write(`${host.title}: add this to ${file}${again}\n\n`);
  stdout.write(entryText(host, entry, host.inputs?.(launch)));
  const or = command === undefined ? '' : `\nOr run this command:\n  ${command}\n`;
  const connect = 'url' in launch || !launch.secret ? '' : connectInstead;
  stderr.write(`${or}\n${steps}\n${connect}`);
}

/** The file of the user's own servers. */
export const fileOf = (host: ConfigHost, { env, home }: CommandContext): string =>
  host.file({ env, home, platform: process.platform });

function describe(request: ConfigRequest, context: CommandContext) {
  const { host } = request;
  const { script, stdout, stderr } = context;
  const file = request.file ?? fileOf(host, context);
  const launch = toLaunch(request, script);
  const { entry, addCommand } = entryFor(host, launch, file);
  const command = addCommand?.map(shellWord).join(' ');
  const steps = nextSteps(host, launch, entry, addCommand);
  return { ...request, stdout, stderr, file, launch, entry, addCommand, command, steps };
}

type Described = ReturnType<typeof describe>;

/** Adds the entry by the host's own command, or to its file, or else prints it. */
export async function install(request: ConfigRequest, context: CommandContext): Promise<void> {
  const described = describe(request, context);
  if (isWritable(described.host)) return writeTo(described);
  const { addCommand: add = [], host } = described;
  const { env } = context;
  const succeeds = ([program = '', ...args]: readonly string[]) =>
    // On Windows it is a script, which only a shell can start.
    process.platform !== 'win32' &&
    spawnSync(program, args, { stdio: 'inherit', env }).status === 0;
  const replaces = () => host.removeCommand && succeeds(host.removeCommand) && succeeds(add);
  if (!succeeds(add) && !replaces()) return show(described);
  context.stdout.write(`${described.steps}\n`);
}

const ownFlags = {
  http: 'string',
  auth: 'string',
  file: 'string',
  'base-url': 'string',
  grants: 'string',
  'api-key-file': 'string',
  write: 'boolean',
  sandbox: 'boolean',
} as const;

/** @throws ConfigError with the usage, which lists the hosts */
function parseRequest(argv: readonly string[], { env }: CommandContext) {
  const { flags, words } = readCommandLine(argv, {}, ownFlags, []);
  const host = hostNamed(words, usage);
  const { auth, http } = flags;
  if (auth !== undefined && http === undefined)
    throw new ConfigError(`--auth is for a running server: name it with --http.\n${usage}`);
  if (auth !== undefined && !isOneOf(authNames, auth))
    throw new ConfigError(`--auth: "${auth}" is none of ${authNames.join(', ')}.\n${usage}`);
  // An empty variable is none, as for the server.
  const keyFile = flags['api-key-file'] ?? env[variables.keyFile];
  return {
    host,
    file: flags.file,
    write: flags.write !== undefined,
    http,
    auth,
    sandbox: flags.sandbox !== undefined,
    baseUrl: flags['base-url'] ?? (env[variables.baseUrl] || undefined),
    grants: flags.grants ?? (env[variables.grants] || undefined),
    apiKeyFile: keyFile ? resolve(keyFile) : undefined,
  };
}

/** Quotes a word for the user's shell, on Windows for PowerShell. */
function shellWord(word: string): string {
  const isWindows = process.platform === 'win32';
  const plain = isWindows ? /^[\w+=:./\\-]+$/ : /^[\w+=:./-]+$/;
  // PowerShell removes a bare `--` before a script, and passes double quotes on only after a backslash.
  if (plain.test(word) && !(isWindows && word === '--')) return word;
  return isWindows
    ? `'${word.replaceAll("'", "''").replaceAll('"', '\\"')}'`
    : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Whether its file is edited: not where the host's own command does that. */
const isWritable = ({ format, addCommand }: ConfigHost): boolean =>
  format === 'json' && addCommand === undefined;

async function writeTo(described: Described): Promise<void> {
  const { host, file, entry, command, kept, steps } = described;
  if (!isWritable(host)) {
    const how = command ? `run ${command}` : 'add the entry that is printed without it';
    throw new ConfigError(`--write does not edit the file of ${host.title}: ${how}`);
  }
  // Only an entry whose variables are kept is replaced.
  const isReplaced = kept !== undefined;
  const written = await writeEntry(file, host.root, entry, isReplaced).catch((error: unknown) => {
    const byHand = `It was not changed. Add this by hand:\n\n${entryText(host, entry)}`;
    throw new Error(`${file}: ${messageOf(error)}. ${byHand}`);
  });
  const backup = written?.backup ? `\nThe previous version is in ${written.backup}` : '';
  const added = `Added ${serverName} to ${file}.${backup}`;
  const done = written ? added : `${file} is already up to date.`;
  described.stdout.write(`${done}\n${steps}\n`);
}

/** What remains to be done by hand, one step a line. */
function nextSteps(
  host: ConfigHost,
  { secret }: Launch,
  entry: Entry,
  command: readonly string[] = [],
): string {
  const text = JSON.stringify(entry);
  const steps: string[] = [];
  if (text.includes(baseUrlPlaceholder))
    steps.push(`Replace ${baseUrlPlaceholder} with the tenant's API address.`);
  if (secret && text.includes(secret.placeholder))
    steps.push(`Replace ${secret.placeholder} with your ${secret.title}.`);
  else if (secret && host.inputs)
    steps.push(`${host.title} asks for the ${secret.title} once, and stores it securely.`);
  else if (secret && text.replaceAll('":', '').match(`${secret.variable}}?"`))
    steps.push(
      `The ${secret.title} is not in the file: start ${host.title} with ${secret.variable} in its environment${command.join().includes(secret.placeholder) ? `, or replace ${secret.placeholder} in the command` : ''}.`,
    );
  return [...steps, host.restart].join('\n');
}
