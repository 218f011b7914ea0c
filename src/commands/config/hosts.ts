import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { claudeMcpAdd, codexMcpAdd, geminiMcpAdd } from './add-commands.ts';
import {
  baseUrlPlaceholder,
  type Entry,
  inputId,
  type Launch,
  type Remote,
  type Secret,
  secrets,
  serverName,
  variables,
} from './launch.ts';

interface HostEnvironment {
  platform: NodeJS.Platform;
  home: string;
  environment: Record<string, string | undefined>;
}

/** How a host is configured. */
export interface ConfigHost {
  title: string;
  /** The file that holds the user's own servers. */
  file(where: HostEnvironment): string;
  format: 'json' | 'toml' | 'yaml';
  /** The object in the file that contains the servers. */
  root: string;
  /** The value in place of a secret; undefined if the host reads the variable by its name. */
  secret(secret: Secret, file: string): string | undefined;
  stdio(launch: Launch, key: string | undefined): Entry;
  /** Undefined if the host takes a URL only in its settings dialog. */
  http(remote: Remote, headers: Entry, launch: Launch): Entry | undefined;
  /** Inputs that the host prompts for once and stores. */
  inputs?(launch: Launch): Entry[];
  /** The host's own command that adds the entry, word by word; undefined if it cannot express the entry. */
  addCommand?(launch: Launch, entry: Entry): string[] | undefined;
  /** Another way to install it, with a heading. */
  alternative?(launch: Launch, entry: Entry): [heading: string, what: string] | undefined;
  /** How to make the host load the changed file. */
  restart: string;
}

const commandEntry = (launch: Launch, key: string | undefined): Entry => ({
  command: launch.command,
  args: launch.args,
  ...environment('env', launch, key),
});

function environment(field: string, launch: Launch, key: string | undefined): Entry {
  const withKey = launch.needsKey && key !== undefined;
  const env = { ...launch.env, ...(withKey && { [variables.key]: key }) };
  return Object.keys(env).length === 0 ? {} : { [field]: env };
}

/** An entry with a URL, as most hosts write it. */
const urlEntry =
  (more: Entry = {}, field = 'url') =>
  ({ url }: Remote, headers: Entry): Entry => ({ ...more, [field]: url, ...headers });

/** The headers of an entry: the secret ones where the host keeps secrets. */
export function headersFor({ secret }: ConfigHost, { login, headers }: Remote, file: string) {
  const value = login && secret(login.secret, file);
  const all = {
    ...(value !== undefined && { [login?.header ?? '']: `${login?.prefix}${value}` }),
    ...headers,
  };
  return Object.keys(all).length === 0 ? {} : { headers: all };
}

/** The folder of application settings. */
function applicationData({ platform, home, environment: env }: HostEnvironment): string {
  if (platform === 'win32') return env.APPDATA ?? join(home, 'AppData', 'Roaming');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  return settingsFolder({ home, environment: env });
}

/** The folder of settings of programs that use the same one on macOS and Linux. */
const settingsFolder = ({ home, environment: env }: Omit<HostEnvironment, 'platform'>): string =>
  env.XDG_CONFIG_HOME || join(home, '.config');

const vsCodeUserFolder = (where: HostEnvironment): string =>
  join(applicationData(where), 'Code', 'User');

/** LM Studio's folder may have been moved; a pointer file contains its path. */
function lmStudioHome(home: string): string {
  const pointer = join(home, '.lmstudio-home-pointer');
  return existsSync(pointer) ? readFileSync(pointer, 'utf8').trim() : join(home, '.lmstudio');
}

/** Hosts that expand no variables: the user writes the secret into the file. */
const inFile = (secret: Secret): string => secret.placeholder;
/** A variable reference, as most hosts write it. */
const reference = (name: string): string => `\${${name}}`;
const inVariable = (secret: Secret): string => reference(secret.variable);
const inEnvVariable = (secret: Secret): string => reference(`env:${secret.variable}`);
const byName = (): undefined => undefined;

const inputReference = (id: string): string => reference(`input:${id}`);

const baseUrlInput = {
  type: 'promptString',
  id: 'cpq-base-url',
  description: "The tenant's API address, the part before /public-api",
};
const secretInput = (secret: Secret): Entry => ({
  type: 'promptString',
  id: inputId(secret),
  description: secret.question,
  password: true,
});

/** VS Code prompts for a missing address. */
const promptedEntry = (launch: Launch): Launch =>
  launch.env[variables.baseUrl] === baseUrlPlaceholder
    ? { ...launch, env: { ...launch.env, [variables.baseUrl]: inputReference(baseUrlInput.id) } }
    : launch;

function vsCodeInputs(launch: Launch): Entry[] {
  if (launch.remote) return launch.remote.login ? [secretInput(launch.remote.login.secret)] : [];
  return [
    ...(promptedEntry(launch) === launch ? [] : [baseUrlInput]),
    ...(launch.needsKey ? [secretInput(secrets.key)] : []),
  ];
}

const vsCodeEntry = (launch: Launch, entry: Entry): string => {
  const inputs = vsCodeInputs(launch);
  return JSON.stringify({ name: serverName, ...entry, ...(inputs.length > 0 && { inputs }) });
};

const linkTo = (what: string): [string, string] => ['Or open this link', what];
const encodeEntry = (entry: Entry): string =>
  `name=${serverName}&config=${encodeURIComponent(Buffer.from(JSON.stringify(entry)).toString('base64'))}`;

/** Connects programs that only start servers; tested with this version. */
const bridge = 'mcp-remote@0.15.1';

/**
 * Claude Desktop's file holds only servers that it starts, and its dialog takes no headers. The secret is in a variable
 * because Claude Desktop on Windows splits arguments at spaces.
 */
function bridged(
  { url, login, headers }: Remote,
  _: Entry,
  { windows }: Launch,
): Entry | undefined {
  if (!login) return undefined;
  const npx = windows ? ['cmd', '/c', 'npx'] : ['npx'];
  const lines = { [login.header]: reference(variables.login), ...headers };
  const [command, ...args] = [
    ...npx,
    ...['-y', bridge, url],
    ...Object.entries(lines).flatMap(([name, value]) => ['--header', `${name}:${value}`]),
  ];
  return {
    command,
    args,
    env: { [variables.login]: `${login.prefix}${login.secret.placeholder}` },
  };
}

const gooseExtension = { name: serverName, enabled: true, timeout: 300 };

/** A host with the usual form of configuration: a JSON file with plain entries under `mcpServers`. */
const host = (
  differences: Partial<ConfigHost> & Pick<ConfigHost, 'title' | 'file' | 'restart'>,
): ConfigHost => ({
  format: 'json',
  root: 'mcpServers',
  secret: inFile,
  stdio: commandEntry,
  http: urlEntry(),
  ...differences,
});

export const hosts: Readonly<Record<string, ConfigHost>> = {
  'claude-desktop': host({
    title: 'Claude Desktop',
    file: (where) => join(applicationData(where), 'Claude', 'claude_desktop_config.json'),
    http: bridged,
    // Not for the embedded tenant (no address): the bundle contains no SQLite.
    alternative: ({ env, remote }) =>
      remote || env[variables.baseUrl] === undefined
        ? undefined
        : [
            'Or without a file',
            'open cpq-mcp.mcpb with Claude Desktop; it asks for the address and stores the key securely',
          ],
    restart: 'Then quit Claude Desktop and start it again.',
  }),
  'claude-code': host({
    title: 'Claude Code',
    file: ({ home, environment: env }) => join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
    // Variables are expanded in a project's file, which is shared, but not in the user's own.
    secret: (secret, file) =>
      basename(file) === '.mcp.json' ? inVariable(secret) : inFile(secret),
    stdio: (launch, key) => ({ type: 'stdio', ...commandEntry(launch, key) }),
    http: urlEntry({ type: 'http' }),
    addCommand: claudeMcpAdd,
    restart: 'Check it with /mcp in a new session.',
  }),
  vscode: host({
    title: 'VS Code',
    file: (where) => join(vsCodeUserFolder(where), 'mcp.json'),
    root: 'servers',
    secret: (secret) => inputReference(inputId(secret)),
    stdio: (launch, key) => ({ type: 'stdio', ...commandEntry(promptedEntry(launch), key) }),
    http: urlEntry({ type: 'http' }),
    inputs: vsCodeInputs,
    addCommand: (launch, entry) => ['code', '--add-mcp', vsCodeEntry(launch, entry)],
    alternative: (launch, entry) =>
      linkTo(`vscode:mcp/install?${encodeURIComponent(vsCodeEntry(launch, entry))}`),
    restart: 'Start it with the command MCP: List Servers.',
  }),
  cursor: host({
    title: 'Cursor',
    file: ({ home }) => join(home, '.cursor', 'mcp.json'),
    secret: inEnvVariable,
    alternative: (_, entry) =>
      linkTo(`cursor://anysphere.cursor-deeplink/mcp/install?${encodeEntry(entry)}`),
    restart: 'Cursor loads the file at once, or after a restart.',
  }),
  codex: host({
    title: 'Codex',
    file: ({ home, environment: env }) =>
      join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    format: 'toml',
    root: 'mcp_servers',
    secret: byName,
    stdio: (launch) => ({
      ...commandEntry(launch, undefined),
      ...(launch.needsKey ? { env_vars: [variables.key] } : {}),
    }),
    http: ({ url, login, headers }) => ({
      url,
      ...(login?.prefix === 'Bearer ' && { bearer_token_env_var: login.secret.variable }),
      ...(login?.prefix === '' && { env_http_headers: { [login.header]: login.secret.variable } }),
      ...(Object.keys(headers).length > 0 && { http_headers: headers }),
    }),
    addCommand: codexMcpAdd,
    restart: 'Check it with /mcp in a new session.',
  }),
  gemini: host({
    title: 'Gemini CLI',
    file: ({ home }) => join(home, '.gemini', 'settings.json'),
    // Listed explicitly: otherwise Gemini CLI hides variables that look like secrets from servers.
    secret: ({ variable }) => `$${variable}`,
    http: urlEntry({}, 'httpUrl'),
    addCommand: geminiMcpAdd,
    restart:
      'Check it with /mcp in a new session. Gemini CLI starts servers only in folders that you trust: see /permissions.',
  }),
  'lm-studio': host({
    title: 'LM Studio',
    file: ({ home }) => join(lmStudioHome(home), 'mcp.json'),
    alternative: (_, entry) => linkTo(`lmstudio://add_mcp?${encodeEntry(entry)}`),
    restart: 'LM Studio loads the file when it is saved.',
  }),
  windsurf: host({
    title: 'Windsurf',
    file: ({ home }) => join(home, '.codeium', 'windsurf', 'mcp_config.json'),
    secret: inEnvVariable,
    http: urlEntry({}, 'serverUrl'),
    restart: 'Press Refresh in the list of MCP servers.',
  }),
  zed: host({
    title: 'Zed',
    file: (where) =>
      where.platform === 'win32'
        ? join(applicationData(where), 'Zed', 'settings.json')
        : join(settingsFolder(where), 'zed', 'settings.json'),
    root: 'context_servers',
    restart: 'Zed loads the file when it is saved; check it under Settings → AI → MCP Servers.',
  }),
  jetbrains: host({
    title: 'JetBrains Junie',
    file: ({ home }) => join(home, '.junie', 'mcp', 'mcp.json'),
    alternative: () => [
      'Or in AI Assistant',
      'paste it under Settings → Tools → AI Assistant → Model Context Protocol (MCP) → Add',
    ],
    restart: 'Check it under Settings → Tools → Junie → MCP Settings.',
  }),
  cline: host({
    title: 'Cline',
    file: (where) =>
      where.environment.CLINE_MCP_SETTINGS_PATH ||
      join(
        vsCodeUserFolder(where),
        ...['globalStorage', 'saoudrizwan.claude-dev', 'settings', 'cline_mcp_settings.json'],
      ),
    http: urlEntry({ type: 'streamableHttp' }),
    alternative: () => [
      'Or for its command line',
      'add --file ~/.cline/data/settings/cline_mcp_settings.json',
    ],
    restart: 'Cline loads the file when it is saved.',
  }),
  'copilot-cli': host({
    title: 'Copilot CLI',
    file: ({ home, environment: env }) =>
      join(env.COPILOT_HOME || join(home, '.copilot'), 'mcp-config.json'),
    secret: inVariable,
    stdio: (launch, key) => ({ type: 'stdio', ...commandEntry(launch, key), tools: ['*'] }),
    http: urlEntry({ type: 'http', tools: ['*'] }),
    restart: 'Check it with /mcp show in a new session.',
  }),
  goose: host({
    title: 'Goose',
    file: (where) =>
      where.platform === 'win32'
        ? join(applicationData(where), 'Block', 'goose', 'config', 'config.yaml')
        : join(settingsFolder(where), 'goose', 'config.yaml'),
    format: 'yaml',
    root: 'extensions',
    secret: inVariable,
    stdio: (launch) => ({
      ...gooseExtension,
      type: 'stdio',
      cmd: launch.command,
      args: launch.args,
      ...environment('envs', launch, undefined),
      ...(launch.needsKey && { env_keys: [variables.key] }),
    }),
    http: ({ url, login }, headers) => ({
      ...gooseExtension,
      type: 'streamable_http',
      uri: url,
      ...headers,
      ...(login && { env_keys: [login.secret.variable] }),
    }),
    restart: 'Goose loads the file with the next session.',
  }),
  opencode: host({
    title: 'OpenCode',
    file: (where) => openCodeFile(join(settingsFolder(where), 'opencode')),
    root: 'mcp',
    secret: ({ variable }) => `{env:${variable}}`,
    stdio: (launch, key) => ({
      type: 'local',
      command: [launch.command, ...launch.args],
      ...environment('environment', launch, key),
    }),
    http: urlEntry({ type: 'remote' }),
    restart: 'Check it with opencode mcp list.',
  }),
  kiro: host({
    title: 'Kiro',
    file: ({ home }) => join(home, '.kiro', 'settings', 'mcp.json'),
    secret: inVariable,
    restart:
      'Kiro loads the file when it is saved, and asks once whether it may read the variable.',
  }),
};

function openCodeFile(folder: string): string {
  const withComments = join(folder, 'opencode.jsonc');
  return existsSync(withComments) ? withComments : join(folder, 'opencode.json');
}
