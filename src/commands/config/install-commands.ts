import { type Entry, type Launch, placeholders, serverName, variables } from './launch.ts';

/** Quotes one word of a command line for the shell. */
function shellQuote(word: string, windows: boolean): string {
  if (/^[\w@%+=:,./\\-]+$/.test(word)) return word;
  return windows ? `"${word.replaceAll('"', '\\"')}"` : `'${word.replaceAll("'", `'\\''`)}'`;
}

const commandText = (words: readonly string[], { windows }: Launch): string =>
  words.map((word) => shellQuote(word, windows)).join(' ');

const environmentFlags = (flag: string, launch: Launch, key: string): string[] =>
  Object.entries({ ...launch.env, ...(launch.needsKey ? { [variables.key]: key } : {}) }).flatMap(
    ([name, value]) => [flag, `${name}=${value}`],
  );

const launchWords = ({ command, args }: Launch): string[] => ['--', command, ...args];

/** The name comes first, because everything between `--env` and `--` is parsed as variables. */
export function claudeMcpAdd(launch: Launch): string {
  const add = ['claude', 'mcp', 'add', '--scope', 'user'];
  const words =
    launch.http === undefined
      ? [
          ...add,
          serverName,
          ...environmentFlags('--env', launch, placeholders.key),
          ...launchWords(launch),
        ]
      : [...add, '--transport', 'http', serverName, launch.http];
  return commandText(words, launch);
}

export function codexMcpAdd(launch: Launch): string {
  const add = ['codex', 'mcp', 'add', serverName];
  const words =
    launch.http === undefined
      ? [...add, ...environmentFlags('--env', launch, placeholders.key), ...launchWords(launch)]
      : [...add, '--url', launch.http];
  return commandText(words, launch);
}

export function geminiMcpAdd(launch: Launch): string {
  const add = ['gemini', 'mcp', 'add', '--scope', 'user'];
  const words =
    launch.http === undefined
      ? [
          ...add,
          ...environmentFlags('-e', launch, `$${variables.key}`),
          serverName,
          launch.command,
          '--',
          ...launch.args,
        ]
      : [...add, '--transport', 'http', serverName, launch.http];
  return commandText(words, launch);
}

export function addToVsCode(launch: Launch, entry: Entry, inputs: Entry[]): [string, string][] {
  const all = { name: serverName, ...entry, ...(launch.http === undefined && { inputs }) };
  const text = JSON.stringify(all);
  return [
    ['Or open this link', `vscode:mcp/install?${encodeURIComponent(text)}`],
    ['Or in one command', commandText(['code', '--add-mcp', text], launch)],
  ];
}

const encodeEntry = (entry: Entry): string =>
  `name=${serverName}&config=${encodeURIComponent(Buffer.from(JSON.stringify(entry)).toString('base64'))}`;

export const installLinks = {
  cursor: (entry: Entry): string =>
    `cursor://anysphere.cursor-deeplink/mcp/install?${encodeEntry(entry)}`,
  lmStudio: (entry: Entry): string => `lmstudio://add_mcp?${encodeEntry(entry)}`,
} as const;
