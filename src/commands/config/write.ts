import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ifMissing } from '../../state/files/files.ts';
import { isObject, parseJson } from '../../values.ts';
import type { Entry } from './hosts.ts';
import { serverName } from './launch.ts';

/**
 * Adds the entry to a JSON file, or replaces one of that name. The previous file stays beside it.
 * @returns the name of the previous file, if there was one; undefined if the file has this entry already
 * @throws Error, with nothing written, for a file with comments, with something else in the place of the servers, or
 * with another entry of that name that is not to be replaced: a person may have filled in a key
 */
export async function writeEntry(
  path: string,
  root: string,
  entry: Entry,
  replace = false,
): Promise<{ backup?: string } | undefined> {
  const before = await readFile(path, 'utf8').catch(ifMissing(''));
  const text = before.replace(/^\uFEFF/, '').trim() || '{}';
  const document = parseJson(text);
  if (!isObject(document)) throw new Error('is not a JSON object, or has comments');
  const { [root]: servers = {} } = document;
  if (!isObject(servers)) throw new Error(`has a value that is not an object at "${root}"`);
  if (isDeepStrictEqual(servers[serverName], entry)) return undefined;
  if (serverName in servers && !replace) throw new Error(`has another entry "${serverName}"`);
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? 2;
  const after = { ...document, [root]: { ...servers, [serverName]: entry } };
  await mkdir(dirname(path), { recursive: true });
  const backup = `${path}.${new Date().toISOString().replace(/\D/g, '')}.bak`;
  if (before !== '') await copyFile(path, backup);
  await writeFile(path, `${JSON.stringify(after, undefined, indent)}\n`, { mode: 0o600 });
  return before === '' ? {} : { backup };
}
