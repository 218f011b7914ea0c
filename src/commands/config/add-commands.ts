import { type Launch, secrets, serverName, variables } from './launch.ts';

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

/** A command for the shells of the system, each with the name of the shell where there are several. */
export function commandForms(
  words: readonly string[],
  { windows }: Launch,
): [shell: string, command: string][] {
  const inShell = (shell: keyof typeof quotes) => words.map(quotes[shell]).join(' ');
  if (!windows) return [['', inShell('posix')]];
  return [
    [' in PowerShell', inShell('powershell')],
    [' in cmd', inShell('cmd')],
  ];
}

const variableFlags = (flag: string, { env, needsKey }: Launch, key: string): string[] =>
  Object.entries({ ...env, ...(needsKey && { [variables.key]: key }) }).flatMap(([name, value]) => [
    flag,
    `${name}=${value}`,
  ]);

/** Header flags, with the secret as the host refers to it. */
const headerFlags = ({ remote }: Launch, secret: string): string[] => {
  const { login, headers = {} } = remote ?? {};
  const all = { ...(login && { [login.header]: `${login.prefix}${secret}` }), ...headers };
  return Object.entries(all).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
};

/** The name comes first, because everything between `--env` and `--` is parsed as variables. */
export function claudeMcpAdd(launch: Launch): string[] {
  const { remote, command, args } = launch;
  const add = ['claude', 'mcp', 'add', '--scope', 'user'];
  if (remote) {
    const headers = headerFlags(launch, remote.login?.secret.placeholder ?? '');
    return [...add, '--transport', 'http', serverName, remote.url, ...headers];
  }
  const env = variableFlags('--env', launch, secrets.key.placeholder);
  return [...add, serverName, ...env, '--', command, ...args];
}

/** Undefined for a header other than a bearer token, for which it has no flag. */
export function codexMcpAdd(launch: Launch): string[] | undefined {
  const { remote, command, args } = launch;
  const add = ['codex', 'mcp', 'add', serverName];
  if (!remote) {
    const env = variableFlags('--env', launch, secrets.key.placeholder);
    return [...add, ...env, '--', command, ...args];
  }
  const { url, login } = remote;
  if (login?.header === 'api-key') return undefined;
  return [
    ...add,
    '--url',
    url,
    ...(login ? ['--bearer-token-env-var', login.secret.variable] : []),
  ];
}

export function geminiMcpAdd(launch: Launch): string[] {
  const { remote, command, args } = launch;
  const add = ['gemini', 'mcp', 'add', '--scope', 'user'];
  if (remote) {
    const headers = headerFlags(launch, `$${remote.login?.secret.variable}`);
    return [...add, '--transport', 'http', ...headers, serverName, remote.url];
  }
  const env = variableFlags('-e', launch, `$${variables.key}`);
  return [...add, ...env, serverName, command, '--', ...args];
}
