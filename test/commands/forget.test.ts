import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { localState } from '../../src/state/files/local.ts';
import { namespaceOf } from '../../src/tenant/shared-state.ts';
import { runHere as run } from '../support/process.ts';
import { newFolder } from '../support/shared.ts';

const baseUrl = 'https://api.example.com/';
const own = namespaceOf(new URL(baseUrl), undefined);
const other = 'acme-0123456789abcdef';
let folder: string;
beforeEach(async () => {
  folder = newFolder();
  const state = localState(folder);
  for (const tenant of [own, other]) {
    await state.journal(tenant).append({ id: 'c' });
    await state.inbox(tenant).add({ id: 'e', subject: 's', event: 'e', body: '{}' });
    await state.snapshots(tenant).write('2026-01-02', Buffer.from('a'));
  }
});

async function forget(...words: string[]) {
  const env = { CPQ_STATE_DIR: folder, CPQ_BASE_URL: baseUrl };
  const { status, stdout, stderr } = await run(['forget', ...words], env);
  return { status, lines: stdout.trimEnd().split('\n'), stderr };
}

const rowsOf = (name: string, tenant: string) => [
  `${name}  changes  ${join(folder, `changes-${tenant}.jsonl`)}`,
  `${name}  events  ${join(folder, `events-${tenant}.jsonl`)}`,
  `${name}  history  ${join(folder, `history-${tenant}`)}`,
];

test('lists everything that is stored, by the names of the tenants, and deletes nothing', async () => {
  const before = await readdir(folder);
  const { status, lines, stderr } = await forget();
  expect([status, stderr]).toEqual([0, expect.stringContaining('Nothing was deleted')]);
  expect(lines.sort()).toEqual([...rowsOf(other, other), ...rowsOf('default', own)].sort());
  for (const name of ['default', own])
    expect((await forget(name)).lines).toEqual(rowsOf('default', own));
  expect(await readdir(folder)).toEqual(before);
});

test('finds the draft that a killed process left', async () => {
  const draft = join(folder, `events-${own}.jsonl.4711.draft`);
  await writeFile(draft, '{}');
  await forget('default', '--yes');
  expect(await readdir(folder)).not.toContain(`events-${own}.jsonl.4711.draft`);
});

test('deletes everything about one tenant, or one kind of it, and nothing of others', async () => {
  const history = await forget('default', '--only', 'history', '--yes');
  expect(history.lines).toEqual(rowsOf('default', own).slice(2));
  const again = await forget('default', '--only', 'history');
  expect(again.stderr).toContain(`No history is stored about default. Tenants with any: ${other}`);
  const { status, lines, stderr } = await forget('default', '--yes');
  expect([status, stderr]).toEqual([0, 'Deleted.\n']);
  expect(lines).toEqual(rowsOf('default', own).slice(0, 2));
  expect((await forget()).lines).toEqual(rowsOf(other, other));
  await forget('--all', '--yes');
  expect([await readdir(folder), (await forget()).stderr]).toEqual([[], 'Nothing is stored.\n']);
});

test.each([
  [['--yes'], '--all'],
  [['default', '--all', '--yes'], '--all'],
  [['default', '--only', 'everything'], '--only'],
  [['unknown', '--yes'], 'default'],
])('refuses %j', async (words, message) => {
  const before = await readdir(folder);
  const { status, stderr } = await forget(...words);
  expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
  expect(await readdir(folder)).toEqual(before);
});
