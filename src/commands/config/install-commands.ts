import { type Entry, type Launch, secrets, serverName, variables } from './launch.ts';

const isPlain = (word: string): boolean => /^[\w+=:./\\-]+$/.test(word);

/** Quotes one word of a command line. */
const quotes = {
  posix: (word: string) => (isPlain(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`),
  cmd: (word: string) => (isPlain(word) ? word : `"${word.replaceAll('"', '\\"')}"`),
  // PowerShell removes a bare `--` before a script, and passes double quotes on only after a backslash.
  powershell: (word: string) =>
    isPlain(word) && word !== '--'
      ? word
      : `'${word.replaceAll("'", "''").replaceAll('"', '\\"')}'`,
} as const;

/** A command for the shells of the system, each with a heading. */
export function commandForms(
  words: readonly string[],
  { windows }: Launch,
): [heading: string, command: string][] {
  const inShell = (shell: keyof typeof quotes) => words.map(quotes[shell]).join(' ');
  if (!windows) return [['Or in one command', inShell('posix')]];
  return [
    ['Or in one command, in PowerShell', inShell('powershell')],
    ['Or in one command, in cmd', inShell('cmd')],
  ];
}

const environmentFlags = (flag: string, launch: Launch, key: string): string[] =>
  Object.entries({ ...launch.env, ...(launch.needsKey ? { [variables.key]: key } : {}) }).flatMap(
    ([name, value]) => [flag, `${name}=${value}`],
  );

const launchWords = ({ command, args }: Launch): string[] => ['--', command, ...args];

/** Header flags, with the secret as the host refers to it. */
function headerFlags({ remote }: Launch, refer: (variable: string) => string): string[] {
  const { login, headers = {} } = remote ?? {};
  const all = {
    ...(login && { [login.header]: `${login.prefix}${refer(login.secret.variable)}` }),
    ...headers,
  };
  return Object.entries(all).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
}

const placeholderOf = (variable: string): string =>
  Object.values(secrets).find((secret) => secret.variable === variable)?.placeholder ?? variable;

/** The name comes first, because everything between `--env` and `--` is parsed as variables. */
export function claudeMcpAdd(launch: Launch): string[] {
  const add = ['claude', 'mcp', 'add', '--scope', 'user'];
  if (launch.remote) {
    const headers = headerFlags(launch, placeholderOf);
    return [...add, '--transport', 'http', serverName, launch.remote.url, ...headers];
  }
  const env = environmentFlags('--env', launch, secrets.key.placeholder);
  return [...add, serverName, ...env, ...launchWords(launch)];
}

/** Its command has no flag for headers other than a bearer token. */
export function codexMcpAdd(launch: Launch): [heading: string, command: string][] {
  const add = ['codex', 'mcp', 'add', serverName];
  if (!launch.remote) {
    const env = environmentFlags('--env', launch, secrets.key.placeholder);
    return commandForms([...add, ...env, ...launchWords(launch)], launch).map(
      ([heading, command]) => [
        `${heading}${launch.needsKey ? ', with the key in the file' : ''}`,
        command,
      ],
    );
  }
  const { url, login } = launch.remote;
  if (login?.header === 'api-key') return [];
  const bearer = login ? ['--bearer-token-env-var', login.secret.variable] : [];
  return commandForms([...add, '--url', url, ...bearer], launch);
}

export function geminiMcpAdd(launch: Launch): string[] {
  const add = ['gemini', 'mcp', 'add', '--scope', 'user'];
  const refer = (variable: string) => `$${variable}`;
  if (launch.remote) {
    const headers = headerFlags(launch, refer);
    return [...add, '--transport', 'http', ...headers, serverName, launch.remote.url];
  }
  const env = environmentFlags('-e', launch, refer(variables.key));
  return [...add, ...env, serverName, launch.command, '--', ...launch.args];
}

const encodeEntry = (entry: Entry): string =>
  `name=${serverName}&config=${encodeURIComponent(Buffer.from(JSON.stringify(entry)).toString('base64'))}`;

export const installLinks = {
  cursor: (entry: Entry): string =>
    `cursor://anysphere.cursor-deeplink/mcp/install?${encodeEntry(entry)}`,
  lmStudio: (entry: Entry): string => `lmstudio://add_mcp?${encodeEntry(entry)}`,
} as const;
