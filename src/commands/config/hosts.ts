import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fieldOf } from '../../values.ts';
import {
  addToVsCode,
  claudeMcpAdd,
  codexMcpAdd,
  geminiMcpAdd,
  installLinks,
} from './install-commands.ts';
import { type Entry, type Launch, placeholders, variables } from './launch.ts';

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
  format: 'json' | 'toml';
  /** The object in the file that contains the servers. */
  root: string;
  /** The value in place of the key; undefined if the host passes the variable on by name. */
  key(file: string): string | undefined;
  stdio(launch: Launch, key: string | undefined): Entry;
  /** Absent if the file supports only servers that the host starts. */
  http?(url: string): Entry;
  /** Inputs that the host prompts for once and stores. */
  inputs?(launch: Launch): Entry[];
  /** Alternative installations, each with a heading. */
  alternatives(launch: Launch, entry: Entry): [string, string][];
  /** How to make the host load the changed file. */
  restart: string;
}

const commandEntry = (launch: Launch, key: string | undefined): Entry => ({
  command: launch.command,
  args: launch.args,
  ...environment(launch, key),
});

function environment(launch: Launch, key: string | undefined): Entry {
  const withKey = launch.needsKey && key !== undefined;
  const env = { ...launch.env, ...(withKey && { [variables.key]: key }) };
  return Object.keys(env).length === 0 ? {} : { env };
}

/** The folder of application settings. */
function applicationData({ platform, home, environment: env }: HostEnvironment): string {
  if (platform === 'win32') return env.APPDATA ?? join(home, 'AppData', 'Roaming');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  return env.XDG_CONFIG_HOME || join(home, '.config');
}

/** LM Studio's folder may have been moved; a pointer file contains its path. */
function lmStudioHome(home: string): string {
  const pointer = join(home, '.lmstudio-home-pointer');
  return existsSync(pointer) ? readFileSync(pointer, 'utf8').trim() : join(home, '.lmstudio');
}

/** A variable reference, as most hosts write it. */
const inputReference = (name: string): string => `\${${name}}`;

const inputs = {
  baseUrl: inputReference('input:cpq-base-url'),
  key: inputReference('input:cpq-api-key'),
};

/** VS Code prompts for a missing address. */
const promptedEntry = (launch: Launch): Launch =>
  launch.env[variables.baseUrl] === placeholders.baseUrl
    ? { ...launch, env: { ...launch.env, [variables.baseUrl]: inputs.baseUrl } }
    : launch;

const baseUrlInput = {
  type: 'promptString',
  id: 'cpq-base-url',
  description: "The tenant's API address, the part before /public-api",
};
const keyInput = {
  type: 'promptString',
  id: 'cpq-api-key',
  description: 'API key (Settings → Integrations → API Key)',
  password: true,
};

const vsCodeInputs = (launch: Launch): Entry[] => [
  ...(promptedEntry(launch) === launch ? [] : [baseUrlInput]),
  ...(launch.needsKey ? [keyInput] : []),
];

/** Not offered for the embedded tenant (no address): the bundle contains no SQLite. */
const desktopBundle = ({ env }: Launch): [string, string][] => {
  const how =
    'open cpq-mcp.mcpb with Claude Desktop; it asks for the address and stores the key securely';
  return env[variables.baseUrl] === undefined ? [] : [['Or without a file', how]];
};

export const hosts: Readonly<Record<string, ConfigHost>> = {
  'claude-desktop': {
    title: 'Claude Desktop',
    file: (where) => join(applicationData(where), 'Claude', 'claude_desktop_config.json'),
    format: 'json',
    root: 'mcpServers',
    key: () => placeholders.key,
    stdio: commandEntry,
    alternatives: desktopBundle,
    restart: 'Then quit Claude Desktop and start it again.',
  },
  'claude-code': {
    title: 'Claude Code',
    file: ({ home, environment: env }) => join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
    format: 'json',
    root: 'mcpServers',
    // Variables are expanded in a project's file, which is shared, but not in the user's own.
    key: (file) =>
      basename(file) === '.mcp.json' ? inputReference(variables.key) : placeholders.key,
    stdio: (launch, key) => ({ type: 'stdio', ...commandEntry(launch, key) }),
    http: (url) => ({ type: 'http', url }),
    alternatives: (launch) => [['Or in one command', claudeMcpAdd(launch)]],
    restart: 'Check it with /mcp in a new session.',
  },
  vscode: {
    title: 'VS Code',
    file: (where) => join(applicationData(where), 'Code', 'User', 'mcp.json'),
    format: 'json',
    root: 'servers',
    key: () => inputs.key,
    stdio: (launch, key) => ({ type: 'stdio', ...commandEntry(promptedEntry(launch), key) }),
    http: (url) => ({ type: 'http', url }),
    inputs: vsCodeInputs,
    alternatives: (launch, entry) => addToVsCode(launch, entry, vsCodeInputs(launch)),
    restart: 'Start it with the command MCP: List Servers.',
  },
  cursor: {
    title: 'Cursor',
    file: ({ home }) => join(home, '.cursor', 'mcp.json'),
    format: 'json',
    root: 'mcpServers',
    key: () => inputReference(`env:${variables.key}`),
    stdio: commandEntry,
    http: (url) => ({ url }),
    alternatives: (_, entry) => [['Or open this link', installLinks.cursor(entry)]],
    restart: 'Cursor loads the file at once, or after a restart.',
  },
  codex: {
    title: 'Codex',
    file: ({ home, environment: env }) =>
      join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    format: 'toml',
    root: 'mcp_servers',
    key: () => undefined,
    stdio: (launch) => ({
      ...commandEntry(launch, undefined),
      ...(launch.needsKey ? { env_vars: [variables.key] } : {}),
    }),
    http: (url) => ({ url }),
    alternatives: (launch) => [
      ['Or in one command, with the key in the file', codexMcpAdd(launch)],
    ],
    restart: 'Check it with /mcp in a new session.',
  },
  gemini: {
    title: 'Gemini CLI',
    file: ({ home }) => join(home, '.gemini', 'settings.json'),
    format: 'json',
    root: 'mcpServers',
    // Listed explicitly: otherwise Gemini CLI hides variables that look like secrets from servers.
    key: () => `$${variables.key}`,
    stdio: commandEntry,
    http: (url) => ({ httpUrl: url }),
    alternatives: (launch) => [['Or in one command', geminiMcpAdd(launch)]],
    restart: 'Check it with /mcp in a new session.',
  },
  'lm-studio': {
    title: 'LM Studio',
    file: ({ home }) => join(lmStudioHome(home), 'mcp.json'),
    format: 'json',
    root: 'mcpServers',
    key: () => placeholders.key,
    stdio: commandEntry,
    http: (url) => ({ url }),
    alternatives: (_, entry) => [['Or open this link', installLinks.lmStudio(entry)]],
    restart: 'LM Studio loads the file when it is saved.',
  },
  windsurf: {
    title: 'Windsurf',
    file: ({ home }) => join(home, '.codeium', 'windsurf', 'mcp_config.json'),
    format: 'json',
    root: 'mcpServers',
    key: () => inputReference(`env:${variables.key}`),
    stdio: commandEntry,
    http: (url) => ({ serverUrl: url }),
    alternatives: () => [],
    restart: 'Press Refresh in the list of MCP servers.',
  },
};

/** Remaining manual steps. */
export function nextSteps(host: ConfigHost, entry: Entry): string {
  const { env, env_vars: passedOn } = entry;
  const baseUrl = fieldOf(env, variables.baseUrl);
  const key = fieldOf(env, variables.key);
  const steps: string[] = [];
  if (baseUrl === placeholders.baseUrl)
    steps.push(`Replace ${baseUrl} with the tenant's API address.`);
  if (key === placeholders.key) steps.push(`Replace ${key} with your key.`);
  else if (key === inputs.key)
    steps.push('VS Code asks for the key at the first start and stores it securely.');
  else if (
    String(key).startsWith('$') ||
    (Array.isArray(passedOn) && passedOn.includes(variables.key))
  ) {
    steps.push(
      `The key is not in the file: start ${host.title} with ${variables.key} in its environment.`,
    );
  }
  if (entry.disabled === true || entry.enabled === false)
    steps.push(`The entry is disabled in the file: enable it, or ${host.title} does not start it.`);
  return [...steps, host.restart].join('\n');
}
