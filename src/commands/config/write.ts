import { chmod, copyFile, mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { applyEdits, modify, type ParseError, parse } from 'jsonc-parser';
import { ifMissing, replaceFile } from '../../state/files/files.ts';
import { fieldOf, isObject } from '../../values.ts';
import type { Entry } from './hosts.ts';
import { serverName } from './launch.ts';

/** Fields of all hosts that say how to reach the server; the others are the user's. */
const ourFields = [
  ...['type', 'command', 'args', 'env', 'environment'],
  ...['url', 'serverUrl', 'headers'],
];

/** Variables and headers that hold an address, a key or a token of ours. */
const isOwn = (name: string): boolean =>
  /^(CPQ_(BASE_URL|API_KEY|API_KEY_FILE|LOGIN)|authorization|api-key|cpq-base-url)$/i.test(name);

/** Whether a person has to fill in the value, or the host refers to a secret by it. */
const isPlaceholder = (value: unknown): boolean =>
  typeof value === 'string' && /YOUR[-_]|^(Bearer )?(\$|\{env:)/.test(value);

/**
 * Adds the entry to a JSON file, with or without comments, or replaces the one that is there. The previous file stays
 * beside it.
 * @returns the entry as written, and the name of the previous file unless nothing changed or there was none
 * @throws Error, with nothing written, for a file that is not JSON
 */
export async function writeEntry(
  named: string,
  root: string,
  entry: Entry,
): Promise<{ entry: Entry; changed: boolean; backup?: string }> {
  const path = await realpath(named).catch(() => named);
  const before = await readFile(path, 'utf8').catch(ifMissing(undefined));
  const { text, entry: merged } = editJson(before ?? '', root, entry);
  if (text === before) return { entry: merged, changed: false };
  await mkdir(dirname(path), { recursive: true });
  if (before === undefined) {
    await replaceFile(path, text);
    return { entry: merged, changed: true };
  }
  const { mode } = await stat(path);
  const backup = `${path}.${new Date().toISOString().replace(/\D/g, '')}.bak`;
  await copyFile(path, backup);
  await replaceFile(path, text);
  await chmod(path, mode);
  return { entry: merged, changed: true, backup };
}

/** @throws Error for a text that is no JSON object, or has something else in the place of the servers */
export function editJson(before: string, root: string, entry: Entry) {
  const mark = before.startsWith('\uFEFF') ? '\uFEFF' : '';
  const text = before.slice(mark.length);
  const servers = serversIn(text, root);
  const merged = merge(servers[serverName], entry);
  if (isDeepStrictEqual(servers[serverName], merged)) return { text: before, entry: merged };
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
  const formattingOptions = { insertSpaces: !indent.startsWith('\t'), tabSize: indent.length };
  const edits = modify(text, [root, serverName], merged, { formattingOptions });
  return { text: mark + applyEdits(text, edits), entry: merged };
}

function serversIn(text: string, root: string): Entry {
  const errors: ParseError[] = [];
  const options = { allowTrailingComma: true, allowEmptyContent: true };
  const document: unknown = parse(text, errors, options) ?? {};
  const servers = fieldOf(document, root) ?? {};
  if (errors.length > 0 || !isObject(document)) throw new Error('is not a JSON object');
  if (!isObject(servers)) throw new Error(`has a value that is not an object at "${root}"`);
  return servers;
}

/** Keeps what the user added to an existing entry, and filled in where ours has a placeholder. */
function merge(existing: unknown, entry: Entry): Entry {
  if (!isObject(existing)) return entry;
  const others = Object.entries(existing).filter(([field]) => !ourFields.includes(field));
  const merged = { ...entry, ...Object.fromEntries(others) };
  for (const field of 'command' in entry ? ['env', 'environment'] : ['headers']) {
    const values = mergeValues(fieldOf(existing, field), entry[field]);
    if (Object.keys(values).length > 0) merged[field] = values;
  }
  return merged;
}

/** No address, key or token stays that the new entry does not use. */
function mergeValues(existing: unknown, ours: unknown): Entry {
  const values: Entry = { ...(isObject(ours) ? ours : {}) };
  for (const [name, theirs] of Object.entries(isObject(existing) ? existing : {})) {
    const isFilledIn = isPlaceholder(values[name]) && !isPlaceholder(theirs);
    if (name in values ? isFilledIn : !isOwn(name)) values[name] = theirs;
  }
  return values;
}
