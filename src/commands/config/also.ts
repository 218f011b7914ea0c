import type { Entry } from './hosts.ts';
import { placeholders, serverName, type Wanted } from './launch.ts';

/** One word of a command line, so that a shell leaves it as it is. */
function quote(word: string, windows: boolean): string {
  if (/^[\w@%+=:,./\\-]+$/.test(word)) return word;
  return windows ? `"${word.replaceAll('"', '\\"')}"` : `'${word.replaceAll("'", `'\\''`)}'`;
}

const line = (words: readonly string[], { windows }: Wanted): string =>
  words.map((word) => quote(word, windows)).join(' ');

const variables = (flag: string, wanted: Wanted, key: string): string[] =>
  Object.entries({ ...wanted.env, ...(wanted.needsKey ? { CPQ_API_KEY: key } : {}) }).flatMap(
    ([name, value]) => [flag, `${name}=${value}`],
  );

const launch = ({ command, args }: Wanted): string[] => ['--', command, ...args];

/** The name comes first: what follows `--env` is read as variables up to the two hyphens. */
export function claudeMcpAdd(wanted: Wanted): string {
  const add = ['claude', 'mcp', 'add', '--scope', 'user'];
  const words =
    wanted.http === undefined
      ? [...add, serverName, ...variables('--env', wanted, placeholders.key), ...launch(wanted)]
      : [...add, '--transport', 'http', serverName, wanted.http];
  return line(words, wanted);
}

export function codexMcpAdd(wanted: Wanted): string {
  const add = ['codex', 'mcp', 'add', serverName];
  const words =
    wanted.http === undefined
      ? [...add, ...variables('--env', wanted, placeholders.key), ...launch(wanted)]
      : [...add, '--url', wanted.http];
  return line(words, wanted);
}

export function geminiMcpAdd(wanted: Wanted): string {
  const add = ['gemini', 'mcp', 'add', '--scope', 'user'];
  const words =
    wanted.http === undefined
      ? [
          ...add,
          ...variables('-e', wanted, '$CPQ_API_KEY'),
          serverName,
          wanted.command,
          '--',
          ...wanted.args,
        ]
      : [...add, '--transport', 'http', serverName, wanted.http];
  return line(words, wanted);
}

export function addToVsCode(wanted: Wanted, entry: Entry, inputs: Entry[]): [string, string][] {
  const all = { name: serverName, ...entry, ...(wanted.http === undefined && { inputs }) };
  const text = JSON.stringify(all);
  return [
    ['Or open this link', `vscode:mcp/install?${encodeURIComponent(text)}`],
    ['Or in one command', line(['code', '--add-mcp', text], wanted)],
  ];
}

const inLink = (entry: Entry): string =>
  `name=${serverName}&config=${encodeURIComponent(Buffer.from(JSON.stringify(entry)).toString('base64'))}`;

export const installLinks = {
  cursor: (entry: Entry): string =>
    `cursor://anysphere.cursor-deeplink/mcp/install?${inLink(entry)}`,
  lmStudio: (entry: Entry): string => `lmstudio://add_mcp?${inLink(entry)}`,
} as const;
