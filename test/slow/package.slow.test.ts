import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyProject, folder, npmOutput, packed } from '../support/package.ts';

/** What a person sees who installs the package: the program runs, and npm warns of nothing. */

const withoutSqlite = '--omit=optional';

test('npm install in an empty folder', async () => {
  const project = await emptyProject('local');
  const { tarball } = await packed();
  const { stderr } = await npmOutput(project, 'npm', 'install', withoutSqlite, tarball);
  expect(stderr).toBe('');
  const started = await npmOutput(project, 'npx', 'cpq-mcp', '--version');
  expect(started).toEqual({ stdout: expect.stringMatching(/^\d+\.\d+\.\d+/), stderr: '' });
});

test('npm install --global', async () => {
  const prefix = join(await folder(), 'global');
  await mkdir(prefix);
  const words = ['install', '--global', '--prefix', prefix, withoutSqlite];
  const { tarball } = await packed();
  const { stderr } = await npmOutput(prefix, 'npm', ...words, tarball);
  expect(stderr).toBe('');
  const program = join(prefix, 'bin', 'cpq-mcp');
  const started = await npmOutput(prefix, program, '--version');
  expect(started).toEqual({ stdout: expect.stringMatching(/^\d+\.\d+\.\d+/), stderr: '' });
});

test('npx', async () => {
  const project = await emptyProject('npx');
  const { tarball } = await packed();
  const words = ['--yes', withoutSqlite, '--package', tarball, 'cpq-mcp', '--version'];
  const started = await npmOutput(project, 'npx', ...words);
  expect(started).toEqual({ stdout: expect.stringMatching(/^\d+\.\d+\.\d+/), stderr: '' });
});
