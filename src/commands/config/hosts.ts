import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { addToVsCode, claudeMcpAdd, codexMcpAdd, geminiMcpAdd, installLinks } from './also.ts';
import { placeholders, type Wanted } from './launch.ts';

export interface Where {
  platform: NodeJS.Platform;
  home: string;
  environment: Record<string, string | undefined>;
}

export type Entry = Record<string, unknown>;

/** How one host is told about a server. */
export interface Host {
  title: string;
  /** The file that holds the user's own servers. */
  file(where: Where): string;
  format: 'json' | 'toml';
  /** The object in it that names the servers. */
  root: string;
  /** What stands where the key belongs; nothing where the host passes the variable on by its name. */
  key(file: string): string | undefined;
  stdio(wanted: Wanted, key: string | undefined): Entry;
  /** Absent where the file knows servers only that the host starts itself. */
  http?(url: string): Entry;
  /** Questions that the host asks the person once, and whose answers it keeps. */
  inputs?(wanted: Wanted): Entry[];
  /** Other ways to the same, each with its heading. */
  also(wanted: Wanted, entry: Entry): [string, string][];
  /** When it takes notice of a changed file. */
  restart: string;
}

const plain = (wanted: Wanted, key: string | undefined): Entry => ({
  command: wanted.command,
  args: wanted.args,
  ...environment(wanted, key),
});

function environment(wanted: Wanted, key: string | undefined): Entry {
  const env = { ...wanted.env, ...(wanted.needsKey && key !== undefined && { CPQ_API_KEY: key }) };
  return Object.keys(env).length === 0 ? {} : { env };
}

/** Where desktop programs keep a user's settings. */
function applicationData({ platform, home, environment: env }: Where): string {
  if (platform === 'win32') return env.APPDATA ?? join(home, 'AppData', 'Roaming');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  return env.XDG_CONFIG_HOME || join(home, '.config');
}

/** LM Studio may have been moved; it leaves a note of where to. */
function lmStudioHome(home: string): string {
  const pointer = join(home, '.lmstudio-home-pointer');
  return existsSync(pointer) ? readFileSync(pointer, 'utf8').trim() : join(home, '.lmstudio');
}

/** What most hosts put a value in for. */
const reference = (name: string): string => `\${${name}}`;

const inputs = { baseUrl: reference('input:cpq-base-url'), key: reference('input:cpq-api-key') };

/** VS Code asks for what it was not told. */
const asked = (wanted: Wanted): Wanted =>
  wanted.env.CPQ_BASE_URL === placeholders.baseUrl
    ? { ...wanted, env: { ...wanted.env, CPQ_BASE_URL: inputs.baseUrl } }
    : wanted;

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

const vsCodeInputs = (wanted: Wanted): Entry[] => [
  ...(asked(wanted) === wanted ? [] : [baseUrlInput]),
  ...(wanted.needsKey ? [keyInput] : []),
];

/** The bundle has no SQLite for the embedded tenant, of which alone no address is told. */
const desktopBundle = ({ env }: Wanted): [string, string][] => {
  const how =
    'open cpq-mcp.mcpb with Claude Desktop; it asks for the address and keeps the key safe';
  return env.CPQ_BASE_URL === undefined ? [] : [['Or without a file', how]];
};

export const hosts: Readonly<Record<string, Host>> = {
  'claude-desktop': {
    title: 'Claude Desktop',
    file: (where) => join(applicationData(where), 'Claude', 'claude_desktop_config.json'),
    format: 'json',
    root: 'mcpServers',
    key: () => placeholders.key,
    stdio: plain,
    also: desktopBundle,
    restart: 'Then quit Claude Desktop and start it again.',
  },
  'claude-code': {
    title: 'Claude Code',
    file: ({ home, environment: env }) => join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
    format: 'json',
    root: 'mcpServers',
    // A project's file is shared, and there variables are put in; in the user's own they are not.
    key: (file) => (basename(file) === '.mcp.json' ? reference('CPQ_API_KEY') : placeholders.key),
    stdio: (wanted, key) => ({ type: 'stdio', ...plain(wanted, key) }),
    http: (url) => ({ type: 'http', url }),
    also: (wanted) => [['Or in one command', claudeMcpAdd(wanted)]],
    restart: 'See it with /mcp in a new session.',
  },
  vscode: {
    title: 'VS Code',
    file: (where) => join(applicationData(where), 'Code', 'User', 'mcp.json'),
    format: 'json',
    root: 'servers',
    key: () => inputs.key,
    stdio: (wanted, key) => ({ type: 'stdio', ...plain(asked(wanted), key) }),
    http: (url) => ({ type: 'http', url }),
    inputs: vsCodeInputs,
    also: (wanted, entry) => addToVsCode(wanted, entry, vsCodeInputs(wanted)),
    restart: 'Start it with the command MCP: List Servers.',
  },
  cursor: {
    title: 'Cursor',
    file: ({ home }) => join(home, '.cursor', 'mcp.json'),
    format: 'json',
    root: 'mcpServers',
    key: () => reference('env:CPQ_API_KEY'),
    stdio: plain,
    http: (url) => ({ url }),
    also: (_, entry) => [['Or open this link', installLinks.cursor(entry)]],
    restart: 'Cursor takes notice at once, or after a restart.',
  },
  codex: {
    title: 'Codex',
    file: ({ home, environment: env }) =>
      join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    format: 'toml',
    root: 'mcp_servers',
    key: () => undefined,
    stdio: (wanted) => ({
      ...plain(wanted, undefined),
      ...(wanted.needsKey ? { env_vars: ['CPQ_API_KEY'] } : {}),
    }),
    http: (url) => ({ url }),
    also: (wanted) => [['Or in one command, with the key in the file', codexMcpAdd(wanted)]],
    restart: 'See it with /mcp in a new session.',
  },
  gemini: {
    title: 'Gemini CLI',
    file: ({ home }) => join(home, '.gemini', 'settings.json'),
    format: 'json',
    root: 'mcpServers',
    // Named on purpose: Gemini CLI keeps variables that look like secrets from servers otherwise.
    key: () => '$CPQ_API_KEY',
    stdio: plain,
    http: (url) => ({ httpUrl: url }),
    also: (wanted) => [['Or in one command', geminiMcpAdd(wanted)]],
    restart: 'See it with /mcp in a new session.',
  },
  'lm-studio': {
    title: 'LM Studio',
    file: ({ home }) => join(lmStudioHome(home), 'mcp.json'),
    format: 'json',
    root: 'mcpServers',
    key: () => placeholders.key,
    stdio: plain,
    http: (url) => ({ url }),
    also: (_, entry) => [['Or open this link', installLinks.lmStudio(entry)]],
    restart: 'LM Studio loads the file when it is saved.',
  },
  windsurf: {
    title: 'Windsurf',
    file: ({ home }) => join(home, '.codeium', 'windsurf', 'mcp_config.json'),
    format: 'json',
    root: 'mcpServers',
    key: () => reference('env:CPQ_API_KEY'),
    stdio: plain,
    http: (url) => ({ serverUrl: url }),
    also: () => [],
    restart: 'Press Refresh among the MCP servers.',
  },
};

/** What a person has still to do so that an entry works. */
export function stepsAfter(host: Host, entry: Entry): string {
  const { env = {}, env_vars: passedOn = [] } = entry as {
    env?: Record<string, unknown>;
    env_vars?: unknown[];
  };
  const { CPQ_BASE_URL: baseUrl, CPQ_API_KEY: key } = env;
  const steps: string[] = [];
  if (baseUrl === placeholders.baseUrl)
    steps.push(`Put the tenant's API address in place of ${baseUrl}.`);
  if (key === placeholders.key) steps.push(`Put your key in place of ${key}.`);
  else if (key === inputs.key)
    steps.push('The key is asked for at the first start, and kept safe.');
  else if (String(key).startsWith('$') || passedOn.includes('CPQ_API_KEY')) {
    steps.push(
      `The key is not in the file: start ${host.title} with CPQ_API_KEY in its environment.`,
    );
  }
  return [...steps, host.restart].join('\n');
}
