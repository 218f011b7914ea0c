import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const built = (name: string): Promise<string> =>
  readFile(join(dirname(inject('bundle')), name), 'utf8');

/** Needed by the embedded tenant only, and installed beside the server instead of bundled. */
const notBundled = new Set(['node-sqlite3-wasm', 'better-sqlite3']);

const importPattern = /^import (?!type\b)[^;]*?from '([^'.][^']*)'|import\('([^'.][^']*)'\)/gm;

/** The packages that the source imports other than as types. */
function importedPackages(): string[] {
  const names = ['src', 'tools']
    .flatMap(sourcesIn)
    .flatMap((source) =>
      [...source.matchAll(importPattern)]
        .map(([, still, later]) => packageOf(still ?? later ?? ''))
        .filter((name) => !name.startsWith('node:') && !notBundled.has(name)),
    );
  return [...new Set(names)].sort();
}

const sourcesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => readFileSync(join(root, folder, file), 'utf8'));

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

test('every package that the source imports is in the notices, with a licence text', async () => {
  const imported = importedPackages();
  expect(imported.length).toBeGreaterThan(8);
  const sections = (await built('THIRD-PARTY-NOTICES.txt')).split(/^-{80}$/m).slice(1);
  const noticed = new Map(
    sections.map((section) => [section.trim().split(' ')[0], section.trim().split('\n').length]),
  );
  expect(imported.filter((name) => (noticed.get(name) ?? 0) < 5)).toEqual([]);
});

test('packages inside other packages are noticed where the build contains their code', async () => {
  const folder = dirname(inject('bundle'));
  const files = readdirSync(join(folder, 'chunks')).map((name) => join(folder, 'chunks', name));
  const code = files.map((file) => readFileSync(file, 'utf8')).join('');
  const notices = await built('THIRD-PARTY-NOTICES.txt');
  // A text of content-type that stays when the code is made smaller; the SDK contains it.
  expect(code).toContain('invalid parameter format');
  expect(notices).toMatch(/^content-type \d+\.\d+\.\d+ \(/m);
  // Packages of the SDK's client, which the server does not contain.
  expect(code).not.toContain('must have required property');
  expect(notices).not.toMatch(/^ajv /m);
});

test('the bill of materials names the same packages and versions', async () => {
  const bill = JSON.parse(await built('sbom.cdx.json'));
  const named = bill.components.map(
    ({ name, version }: { name: string; version: string }) => `${name} ${version}`,
  );
  const [head = ''] = (await built('THIRD-PARTY-NOTICES.txt')).split('-'.repeat(80));
  const noticed = head.split('\n').filter((line) => line.endsWith(')'));
  expect(noticed.map((line) => line.replace(/ \(.*\)$/, ''))).toEqual(named);
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' });
});
