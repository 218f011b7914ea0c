import { copyFile, mkdir, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ifMissing, replaceFile } from '../../state/files/files.ts';
import { isObject, isOneOf, parseJson, valueAt } from '../../values.ts';
import { type Entry, loginVariable } from './hosts.ts';
import { serverName, variables } from './launch.ts';

/** Variables of an entry that belong to the address and key which another entry replaces. */
const { baseUrl, key, keyFile } = variables;
const replaced = [baseUrl, key, keyFile, 'CPQ_SANDBOX', loginVariable];

/** The other variables of our entry in a JSON file; none if it has no entry. */
export async function keptVariables(path: string, root: string): Promise<Record<string, string>> {
  const text = await readFile(path, 'utf8').catch(() => ''); // What is wrong is reported when it is written.
  const env = valueAt(parseJson(text.replace(/^\uFEFF/, '')), `${root}.${serverName}.env`);
  return Object.fromEntries(
    Object.entries(isObject(env) ? env : {}).flatMap(([name, value]) =>
      typeof value === 'string' && !isOneOf(replaced, name) ? [[name, value]] : [],
    ),
  );
}

/**
 * Adds the entry to a JSON file, or replaces one of that name. The previous file stays beside it.
 * @returns the name of the previous file, if there was one; undefined if the file has this entry already
 * @throws Error, with nothing written, for a file with comments, with something else in the place of the servers, that
 * would lose something when it is written again, or with another entry of that name that is not to be replaced: a
 * person may have filled in a key
 */
export async function writeEntry(
  path: string,
  root: string,
  entry: Entry,
  replace = false,
): Promise<{ backup?: string } | undefined> {
  const bytes = await readFile(path).catch(ifMissing(Buffer.of()));
  const before = bytes.toString();
  if (!bytes.equals(Buffer.from(before))) throw new Error('is not in UTF-8');
  const mark = before.startsWith('\uFEFF') ? '\uFEFF' : '';
  const text = before.slice(mark.length).trim() || '{}';
  const document = parseJson(text);
  if (!isObject(document)) throw new Error('is not a JSON object, or has comments');
  const { [root]: servers = {} } = document;
  if (!isObject(servers)) throw new Error(`has a value that is not an object at "${root}"`);
  if (isDeepStrictEqual(servers[serverName], entry)) return undefined;
  if (serverName in servers && !replace) throw new Error(`has another entry "${serverName}"`);
  if (!isDeepStrictEqual(wordsOf(text), wordsOf(JSON.stringify(document))))
    throw new Error('has a number or a repeated name that would be lost');
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? 2;
  const after = { ...document, [root]: { ...servers, [serverName]: entry } };
  const lines = `${JSON.stringify(after, undefined, indent)}\n`;
  await mkdir(dirname(path), { recursive: true });
  const backup = `${path}.${new Date().toISOString().replace(/\D/g, '')}.bak`;
  if (before !== '') await copyFile(path, backup);
  const { mode } = await stat(path).catch(ifMissing({ mode: 0o600 }));
  const written = mark + (text.includes('\r\n') ? lines.replaceAll('\n', '\r\n') : lines);
  await replaceFile(path, written, mode & 0o777);
  return before === '' ? {} : { backup };
}

/** The names and values of a JSON text, in any order: names that are numbers are written first. */
const wordsOf = (text: string): string[] =>
  (text.match(/"(?:\\.|[^"\\])*"|[^\s"[\]{}:,]+/g) ?? [])
    .map((word) => (word.startsWith('"') ? JSON.parse(word) : word.replace(/\.0+$/, '')))
    .sort();
