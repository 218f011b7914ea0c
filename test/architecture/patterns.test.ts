import { describe, expect, test } from 'vitest';
import { checkSources } from '../support/run-script.ts';
import { shared } from '../support/shared.ts';

/** `npm run lint:patterns` checks this project; these tests check that it notices bad patterns. */

const script = 'scripts/check-patterns.mjs';

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
  const checked = shared(() =>
    checkSources(
      script,
      bad.map(([file, source]) => [file, source]),
    ),
  );

  test('with an exit status that fails a build', async () => {
    const { status, stderr } = await checked();
    expect(status).toBe(1);
    expect(stderr).toContain(`${bad.length} regular expressions may take more than linear time.`);
  });

  test.each(bad)('%s', async (file, _, said) => {
    const line = (await checked()).stderr.split('\n').find((it) => it.startsWith(`${file}: `));
    expect(line).toContain(said);
  });
});

test('linear regular expressions are accepted everywhere', async () => {
  const good = [
    ['src/blanks.ts', String.raw`export const it = /\s+/g;`],
    ['src/marks.ts', 'export const it = /<[a-z!/][^<>]*>/i;'],
    ['tools/names.ts', 'const it = /^[a-z0-9][a-z0-9-]{0,62}$/u; // not /^(a+)+$/'],
  ] as const;
  expect(await checkSources(script, good)).toMatchObject({ status: 0, stderr: '' });
});
