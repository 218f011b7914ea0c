import { basename, join } from 'node:path';
import { ConfigError } from '../../config.ts';
import { isObject } from '../../values.ts';
import { type Launch, type Secret, serverName } from './launch.ts';

/** What a host's configuration holds about one server. */
export type Entry = Record<string, unknown>;
/** Variables or headers, with a value for the secret among them. */
type Values = Readonly<Record<string, string>>;

interface HostEnvironment {
  platform: NodeJS.Platform;
  home: string;
  env: NodeJS.ProcessEnv;
}

export interface ConfigHost {
  title: string;
  /** The file that holds the user's own servers. */
  file(where: HostEnvironment): string;
  format: 'json' | 'toml';
  /** The object in the file that contains the servers. */
  root: string;
  /** The value in place of a secret. */
  secret(secret: Secret, file: string): string;
  /** The fields of an entry. @param values the variables or headers, with the secret one */
  entry(launch: Launch, values: Values): Entry;
  /** What stands beside the servers of a host that prompts for secrets once, and stores them. */
  inputs?(launch: Launch): Entry;
  /** The host's own command that adds the entry, word by word; undefined if it cannot express the entry. */
  addCommand?(launch: Launch, values: Values, entry: Entry): string[] | undefined;
  /** Removes an entry of this name, which `addCommand` does not replace. */
  removeCommand?: readonly string[];
  /** How to make the host load the changed file. */
  restart: string;
}

export function entryFor(host: ConfigHost, launch: Launch, file: string) {
  const { secret } = launch;
  const held = secret && { [secret.field]: `${secret.prefix}${host.secret(secret, file)}` };
  const values = 'url' in launch ? { ...held, ...launch.values } : { ...launch.values, ...held };
  const entry = host.entry(launch, values);
  return { entry, addCommand: host.addCommand?.(launch, values, entry) };
}

function vsCodeInputs({ secret }: Launch): Entry {
  if (secret === undefined) return {};
  const shown = { id: inputId(secret), description: secret.title };
  return { inputs: [{ type: 'promptString', ...shown, password: true }] };
}

const inputId = ({ variable }: Secret): string => variable.toLowerCase().replaceAll('_', '-');

const field = (name: string, values: Values): Entry =>
  Object.keys(values).length === 0 ? {} : { [name]: values };

/** @param url the host's name of the field. @param remote other fields of a running server. @param program of others */
const entries =
  (url: string, remote: Entry = {}, program: Entry = {}): ConfigHost['entry'] =>
  (launch, values) =>
    'url' in launch
      ? { ...remote, [url]: launch.url, ...field('headers', values) }
      : { ...program, command: launch.command, args: launch.args, ...field('env', values) };

/** The form of hosts that name the transport. */
const typedEntries = (more: Entry = {}): ConfigHost['entry'] =>
  entries('url', { type: 'http', ...more }, { type: 'stdio', ...more });

const flags = (flag: string, separator: string, values: Values): string[] =>
  Object.entries(values).flatMap(([name, value]) => [flag, `${name}${separator}${value}`]);

const inHome =
  (path: string) =>
  ({ home }: HostEnvironment): string =>
    join(home, path);

export const inApplicationData =
  (path: string) =>
  ({ platform, home, env }: HostEnvironment): string => {
    if (platform === 'win32') return join(env.APPDATA ?? join(home, 'AppData', 'Roaming'), path);
    if (platform === 'darwin') return join(home, 'Library', 'Application Support', path);
    return join(env.XDG_CONFIG_HOME || join(home, '.config'), path);
  };

const inVariable = ({ variable }: Secret): string => `\${${variable}}`;
const inEnvVariable = ({ variable }: Secret): string => `\${env:${variable}}`;

/** Read by the bridge of a host that sends no headers itself. */
export const loginVariable = 'CPQ_LOGIN';

/**
 * Claude Desktop's file holds only servers that it starts: a bridge connects to others. The login is in a variable
 * because Claude Desktop on Windows splits arguments at spaces.
 */
function bridged(launch: Launch, headers: Values): Entry {
  if (!('url' in launch)) return entries('url')(launch, headers);
  const { url, secret, values } = launch;
  const lines = { ...(secret && { [secret.field]: `\${${loginVariable}}` }), ...values };
  const args = ['-y', 'mcp-remote@0.15.1', url, ...flags('--header', ':', lines)];
  return {
    // On Windows npx is a script, which only cmd can start.
    ...(process.platform === 'win32'
      ? { command: 'cmd', args: ['/c', 'npx', ...args] }
      : { command: 'npx', args }),
    ...(secret && { env: { [loginVariable]: headers[secret.field] } }),
  };
}

/** Codex has the names of variables with secrets, not their values. */
function codexEntry(launch: Launch): Entry {
  const { secret, values } = launch;
  if (!('url' in launch)) {
    const names = secret && { env_vars: [secret.variable] };
    return { ...entries('url')(launch, values), ...names };
  }
  const inHeader = secret?.prefix
    ? { bearer_token_env_var: secret.variable }
    : secret && { env_http_headers: { [secret.field]: secret.variable } };
  return { url: launch.url, ...inHeader, ...field('http_headers', values) };
}

/** A host with the usual form of configuration: a JSON file with plain entries under `mcpServers`. */
const host = (
  differences: Partial<ConfigHost> & Pick<ConfigHost, 'title' | 'file' | 'restart'>,
): ConfigHost => ({
  format: 'json',
  root: 'mcpServers',
  // Most expand no variables: the user writes the secret into the file.
  secret: ({ placeholder }) => placeholder,
  entry: entries('url'),
  ...differences,
});

export const hosts: Readonly<Record<string, ConfigHost>> = {
  'claude-desktop': host({
    title: 'Claude Desktop',
    file: inApplicationData('Claude/claude_desktop_config.json'),
    entry: bridged,
    restart: 'Then quit Claude Desktop and start it again.',
  }),
  'claude-code': host({
    title: 'Claude Code',
    file: ({ home, env }) => join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
    // Variables are expanded in a project's file, which is shared, but not in the user's own.
    secret: (secret, file) =>
      basename(file) === '.mcp.json' ? inVariable(secret) : secret.placeholder,
    entry: typedEntries(),
    addCommand: (launch, values) => [
      ...['claude', 'mcp', 'add', '--scope', 'user'],
      // The name comes first, because everything between `--env` and `--` is parsed as variables.
      ...('url' in launch
        ? ['--transport', 'http', serverName, launch.url, ...flags('--header', ': ', values)]
        : [serverName, ...flags('--env', '=', values), '--', launch.command, ...launch.args]),
    ],
    removeCommand: ['claude', 'mcp', 'remove', '--scope', 'user', serverName],
    restart: 'Check it with /mcp in a new session.',
  }),
  vscode: host({
    title: 'VS Code',
    file: inApplicationData('Code/User/mcp.json'),
    root: 'servers',
    secret: (secret) => `\${input:${inputId(secret)}}`,
    entry: typedEntries(),
    inputs: vsCodeInputs,
    addCommand: (launch, _, entry) => {
      const added = { name: serverName, ...entry, ...vsCodeInputs(launch) };
      return ['code', '--add-mcp', JSON.stringify(added)];
    },
    restart: 'Start it with the command MCP: List Servers.',
  }),
  cursor: host({
    title: 'Cursor',
    file: inHome('.cursor/mcp.json'),
    secret: inEnvVariable,
    restart: 'Cursor loads the file at once, or after a restart.',
  }),
  codex: host({
    title: 'Codex',
    file: ({ home, env }) => join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    format: 'toml',
    root: 'mcp_servers',
    entry: codexEntry,
    addCommand: (launch, values) => {
      const add = ['codex', 'mcp', 'add', serverName];
      if (!('url' in launch))
        return [...add, ...flags('--env', '=', values), '--', launch.command, ...launch.args];
      const { url, secret } = launch;
      // It has no flag for another header than a bearer token.
      if (secret?.prefix === '') return undefined;
      return [...add, '--url', url, ...(secret ? ['--bearer-token-env-var', secret.variable] : [])];
    },
    restart: 'Check it with /mcp in a new session.',
  }),
  gemini: host({
    title: 'Gemini CLI',
    file: inHome('.gemini/settings.json'),
    // Listed explicitly: otherwise Gemini CLI hides variables that look like secrets from servers.
    secret: ({ variable }) => `$${variable}`,
    entry: entries('httpUrl'),
    addCommand: (launch, values) => [
      ...['gemini', 'mcp', 'add', '--scope', 'user'],
      ...('url' in launch
        ? ['--transport', 'http', ...flags('--header', ': ', values), serverName, launch.url]
        : [...flags('-e', '=', values), serverName, launch.command, '--', ...launch.args]),
    ],
    restart:
      'Check it with /mcp in a new session. Gemini CLI starts servers only in folders that you trust: see /permissions.',
  }),
  'lm-studio': host({
    title: 'LM Studio',
    file: inHome('.lmstudio/mcp.json'),
    restart: 'LM Studio loads the file when it is saved.',
  }),
  windsurf: host({
    title: 'Windsurf',
    file: inHome('.codeium/windsurf/mcp_config.json'),
    secret: inEnvVariable,
    entry: entries('serverUrl'),
    restart: 'Press Refresh in the list of MCP servers.',
  }),
  zed: host({
    title: 'Zed',
    file: (where) =>
      where.platform === 'win32'
        ? inApplicationData('Zed/settings.json')(where)
        : inApplicationData('zed/settings.json')({ ...where, platform: 'linux' }),
    root: 'context_servers',
    restart: 'Zed loads the file when it is saved; check it under Settings → AI → MCP Servers.',
  }),
  cline: host({
    title: 'Cline',
    file: inApplicationData(
      'Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
    ),
    entry: entries('url', { type: 'streamableHttp' }),
    restart: 'Cline loads the file when it is saved.',
  }),
  'copilot-cli': host({
    title: 'Copilot CLI',
    file: ({ home, env }) => join(env.COPILOT_HOME || join(home, '.copilot'), 'mcp-config.json'),
    secret: inVariable,
    entry: typedEntries({ tools: ['*'] }),
    restart: 'Check it with /mcp show in a new session.',
  }),
};

/** An entry in the format of the host's file, with the objects around it and the inputs that it refers to. */
export function entryText(
  { format, root }: Pick<ConfigHost, 'format' | 'root'>,
  entry: Entry,
  inputs: Entry = {},
): string {
  if (format === 'toml') return toml([root, serverName], entry);
  return `${JSON.stringify({ ...inputs, [root]: { [serverName]: entry } }, undefined, 2)}\n`;
}

/** A table, and after its values those inside it. Texts and lists of texts are written in TOML as in JSON. */
function toml(path: readonly string[], table: Entry): string {
  const lines = Object.entries(table).map(([name, value]) =>
    isObject(value) ? '' : `${name} = ${JSON.stringify(value)}\n`,
  );
  const inner = Object.entries(table).map(([name, value]) =>
    isObject(value) ? `\n${toml([...path, name], value)}` : '',
  );
  return `[${path.join('.')}]\n${[...lines, ...inner].join('')}`;
}

/** @throws ConfigError with the hosts and the usage */
export function hostNamed([name = '', ...more]: readonly string[], usage: string): ConfigHost {
  const host = Object.hasOwn(hosts, name) && more.length === 0 ? hosts[name] : undefined;
  if (host) return host;
  const wrong = name === '' || more.length > 0 ? 'Name one host' : `There is no host "${name}"`;
  throw new ConfigError(`${wrong}. Known: ${Object.keys(hosts).join(', ')}\n${usage}`);
}
