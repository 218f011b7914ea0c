import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifMissing } from '../../src/state/files/files.ts';
import type { Recording, Stream } from './recording.ts';

/** A key that is searched for in everything that leaves a server. */
export interface Canary {
  key: string;
  /** Finds the key in these bytes, in any form in which it could still be used. */
  findIn(what: string, bytes: Uint8Array | string): string[];
  /** Searches everything that a process wrote and everything that was read over HTTP. */
  findInOutput(output: Recording): string[];
  /** Searches the names and contents of all files below a folder. */
  findInFolder(folder: string): Promise<string[]>;
}

const streams: readonly Stream[] = ['stdout', 'stderr', 'http'];

/** The key has characters that are escaped in URLs, JSON and HTML. */
export function createCanary(): Canary {
  const key = `canary+${randomBytes(12).toString('hex')}/&<${randomBytes(6).toString('hex')}>=`;
  const forms = encodingsOf(key);
  const findIn = (what: string, bytes: Uint8Array | string): string[] => {
    const all = Buffer.from(bytes);
    return forms.filter(([, form]) => all.includes(form)).map(([how]) => `${how} in ${what}`);
  };
  async function findInFolder(folder: string): Promise<string[]> {
    const found = await filesBelow(folder);
    const read = found.map(
      async (file) => [file, await readFile(file).catch(ifMissing(undefined))] as const,
    );
    const files = await Promise.all(read);
    // A draft was given its name meanwhile.
    if (files.some(([, bytes]) => bytes === undefined)) return findInFolder(folder);
    return files.flatMap(([file, bytes = '']) => [
      ...findIn(`the name of ${file}`, file),
      ...findIn(file, bytes),
    ]);
  }
  return {
    key,
    findIn,
    findInFolder,
    findInOutput: (output) => streams.flatMap((stream) => findIn(stream, output.raw(stream))),
  };
}

/** The Base64 of a text depends on the number of bytes before it, except for the middle part. */
function encodingsOf(key: string): [how: string, form: string][] {
  const bytes = Buffer.from(key);
  const base64 = [0, 1, 2].map((skipped): [string, string] => [
    `base64 (${skipped})`,
    bytes.subarray(skipped).toString('base64').replace(/=+$/, '').slice(0, -2),
  ]);
  const escaped = [...key].map((character) => `\\u${hex(character).padStart(4, '0')}`).join('');
  return [
    ['plain', key],
    ['in a URL', encodeURIComponent(key)],
    ['in a form', new URLSearchParams({ k: key }).toString().slice(2)],
    ['with a solidus escaped', key.replaceAll('/', '\\/')],
    ['escaped', escaped],
    ['in HTML', key.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')],
    ['hexadecimal', bytes.toString('hex')],
    ['backwards', [...key].reverse().join('')],
    ...base64,
    // Half of the key would be enough to guess the rest.
    ['its first half', key.slice(0, key.length / 2)],
    ['its second half', key.slice(key.length / 2)],
  ];
}

const hex = (character: string): string => character.charCodeAt(0).toString(16);

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}
