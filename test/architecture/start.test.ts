import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, inject, test } from 'vitest';

const bundle = inject('bundle');
const chunks = join(dirname(bundle), 'chunks');

/** Loads a file and the files that it imports; the texts of all are added to `loaded`, by path. */
async function load(path: string, loaded: Map<string, string>): Promise<void> {
  if (loaded.has(path)) return;
  const text = await readFile(path, 'utf8');
  loaded.set(path, text);
  const imports = text.matchAll(/(?:\bfrom|\bimport)"(\.[^"]+)"/g);
  for (const [, file = ''] of imports) await load(join(dirname(path), file), loaded);
}

/** What is loaded before a server over stdio lists its tools, and then by its first call before the tools. */
async function loadedFiles() {
  const loaded = new Map<string, string>();
  const loadEntry = async (entry: string) => {
    const [file = ''] = (await readdir(chunks)).filter((name) => name.startsWith(`${entry}-`));
    await load(join(chunks, file), loaded);
  };
  await load(bundle, loaded);
  await loadEntry('run');
  const atStart = [...loaded.values()];
  await loadEntry('tenant-handle');
  await loadEntry('tool-run');
  return { atStart, byFirstCall: [...loaded.values()].slice(atStart.length) };
}

const bytesOf = (texts: readonly string[]): number => Buffer.byteLength(texts.join(''));

test('a start over stdio loads little, in few files', async () => {
  const { atStart, byFirstCall } = await loadedFiles();
  expect(atStart.length).toBeLessThanOrEqual(3);
  // 20 kB take a millisecond to compile.
  expect(bytesOf(atStart)).toBeLessThanOrEqual(75_000);
  expect(atStart.join('')).toContain('cpq_list_companies');
  expect(byFirstCall.length).toBeLessThanOrEqual(3);
});

test('a start over HTTP loads what the first call needs', async () => {
  const names = (await readdir(chunks)).filter((name) => name.startsWith('http-'));
  const texts = await Promise.all(names.map((name) => readFile(join(chunks, name), 'utf8')));
  for (const part of ['catalog', 'pool']) expect(texts.join('')).toContain(`import("./${part}-`);
});

test('a start over stdio loads no slow module of Node', async () => {
  const { atStart } = await loadedFiles();
  const text = atStart.join('');
  const builtins = [...text.matchAll(/getBuiltinModule\("([^"]+)"\)/g)].map(([, name]) => name);
  expect([...new Set(builtins)].sort()).toEqual([
    'node:fs',
    'node:module',
    'node:os',
    'node:path',
    'node:util',
  ]);
  expect(text).not.toMatch(/from"node:/);
});
