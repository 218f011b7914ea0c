import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { describeWhere } from '../support/needs.ts';
import { newFolder } from '../support/shared.ts';

/** That the benchmark runs, at its smallest; and what must hold of its counts on a machine of any speed. */

const root = fileURLToPath(new URL('../..', import.meta.url));

interface BenchRow {
  what: string;
  measured: string;
}

/** Runs one part. @returns what it measured */
async function bench(part: string, ...words: string[]) {
  const file = join(newFolder(), 'result.json');
  const argv = [
    'bench/run.mjs',
    part,
    ...words,
    '--dist',
    dirname(inject('bundle')),
    '--json',
    file,
  ];
  const { stdout } = await promisify(execFile)(process.execPath, argv, { cwd: root });
  const { parts } = JSON.parse(await readFile(file, 'utf8'));
  const { rows, measured: values } = parts[part];
  expect(rows.length).toBeGreaterThan(0);
  for (const { what, measured } of rows as BenchRow[]) {
    expect(stdout).toContain(`| ${what} |`);
    expect(measured).toMatch(/\d/);
    expect(measured).not.toContain('NaN');
  }
  return values;
}

describeWhere(process.platform === 'linux', 'Linux', 'npm run bench', () => {
  test('measures growth', async () => {
    const [size] = await bench('growth', '--sizes', '1', '--rounds', '1');
    const { times, calls, heldMegabytes, walk } = size;
    expect(times).toBe(1);
    expect(calls['walk of all opportunities'].requests).toBeGreaterThan(0);
    expect(calls['the same brief again'].requests).toBe(0);
    expect(calls['another search'].requests).toBe(0);
    expect(heldMegabytes).toBeGreaterThan(0);
    expect(walk.requests).toBe(calls['walk of all opportunities'].requests);
  });

  test('tenants that come and go leave nothing behind', async () => {
    const { start, end } = await bench('soak', '--calls', '400', '--tenants', '6');
    const grown = (field: string) => end[field] - start[field];
    expect(grown('heapMegabytes')).toBeLessThan(40);
    expect(grown('files')).toBeLessThan(64);
    expect(grown('timers')).toBeLessThan(32);
  });
});
