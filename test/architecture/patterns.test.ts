import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { newFolder, shared } from '../support/shared.ts';

/** `npm run lint:patterns` checks this project; these tests check that it notices bad patterns. */

const script = fileURLToPath(new URL('../../scripts/check-patterns.mjs', import.meta.url));

interface Checked {
  status: number;
  said: string;
}

function check(root: string): Promise<Checked> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, root], (error, _stdout, said) => {
      resolve({ status: error ? Number(error.code) : 0, said });
    });
  });
}

/** Checks a project that has these files. */
async function checkTree(sources: readonly (readonly [file: string, source: string])[]) {
  const root = newFolder();
  for (const folder of ['src', 'tools']) await mkdir(join(root, folder));
  for (const [file, source] of sources) await writeFile(join(root, file), source);
  return check(root);
}

const bad: [file: string, source: string, said: string][] = [
  ['src/blanks.ts', String.raw`export const it = /[ \t]*\n\s*/g;`, '2nd degree polynomial'],
  ['src/ends.ts', String.raw`export const it = (text: string) => text.replace(/\s+$/, '');`, '2nd'],
  ['src/nested.ts', 'export const it = /^(a|a)*$/;', 'exponential'],
  ['src/view.tsx', 'export const it = <p>{/^(a+)+$/.test(text)}</p>;', 'exponential'],
  ['tools/tool.ts', 'const it = z.string().regex(/^(?:[a-z]+-?)+$/);', 'exponential'],
  ['tools/made.ts', 'const it = new RegExp(text);', 'cannot be checked'],
  ['src/called.mjs', 'export const it = RegExp(text);', 'cannot be checked'],
  ['src/broken.ts', 'export const = /a/;', 'cannot be parsed'],
];

describe('a regular expression that may take more than linear time is refused', () => {
  const checked = shared(() => checkTree(bad.map(([file, source]) => [file, source])));

  test('with an exit status that fails a build', async () => {
    const { status, said } = await checked();
    expect(status).toBe(1);
    expect(said).toContain(`${bad.length} regular expressions may take more than linear time.`);
  });

  test.each(bad)('%s', async (file, _, said) => {
    const line = (await checked()).said.split('\n').find((it) => it.startsWith(`${file}: `));
    expect(line).toContain(said);
  });
});

test('linear regular expressions are accepted everywhere', async () => {
  const good = [
    ['src/blanks.ts', String.raw`export const it = /\s+/g;`],
    ['src/marks.ts', 'export const it = /<[a-z!/][^<>]*>/i;'],
    ['tools/names.ts', 'const it = /^[a-z0-9][a-z0-9-]{0,62}$/u; // not /^(a+)+$/'],
  ] as const;
  expect(await checkTree(good)).toEqual({ status: 0, said: '' });
});
