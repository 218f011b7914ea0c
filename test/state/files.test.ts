import {
  appendFile,
  type FileHandle,
  open,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { tryLock } from '../../src/state/files/files.ts';
import { localState } from '../../src/state/files/local.ts';
import type { InboxEvent, State } from '../../src/state/port.ts';
import { newFolder } from '../support/shared.ts';

const tenant = 'abcdef0123456789';

const fileIn = (folder: string): string => join(folder, `events-${tenant}.jsonl`);
const eventOf = (id: string, body = '{}'): InboxEvent => ({
  id,
  subject: 'quote',
  event: 'updated',
  body,
});
const idsIn = async (state: State): Promise<string[]> => {
  const { rows } = await state.inbox(tenant).list(() => true, { from: 0, size: 10_000 });
  return rows.map(({ event }) => event.id);
};

const damagedIn = async (state: State): Promise<number> =>
  (await state.inbox(tenant).list(() => true, { from: 0, size: 1 })).damaged;

test('an inbox survives its process, readable by its owner only', async () => {
  const folder = newFolder();
  const state = localState(join(folder, 'state', 'cpq-mcp'));
  const file = fileIn(join(folder, 'state', 'cpq-mcp'));
  expect(await idsIn(state)).toEqual([]);
  expect(await readdir(folder)).toEqual([]);
  await state.inbox(tenant).add(eventOf('a'));
  await state.inbox(tenant).add(eventOf('b'));
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const again = localState(join(folder, 'state', 'cpq-mcp'));
  expect(await again.inbox(tenant).add(eventOf('a'))).toBe('known');
  expect(await idsIn(again)).toEqual(['b', 'a']);
});

test('a line torn by a crash hides no other line, and nothing is missing', async () => {
  const folder = newFolder();
  const state = localState(folder);
  for (const id of ['a', 'b', 'c']) await state.inbox(tenant).add(eventOf(id));
  const { size } = await stat(fileIn(folder));
  await truncate(fileIn(folder), size - 20);
  const again = localState(folder);
  expect(await again.inbox(tenant).add(eventOf('d'))).toBe('new');
  expect(await again.inbox(tenant).add(eventOf('c'))).toBe('new');
  expect(await idsIn(again)).toEqual(['c', 'd', 'b', 'a']);
  expect(await damagedIn(again)).toBe(0);
});

test('lines that are not events are counted, not shown', async () => {
  const folder = newFolder();
  const state = localState(folder);
  await state.inbox(tenant).add(eventOf('a'));
  const whole = { ...eventOf('b'), at: 1, arrived: 2 };
  // One field is of another type in each.
  const others = Object.keys(whole).map((field) => JSON.stringify({ ...whole, [field]: [] }));
  const lines = [
    'not json',
    '[]',
    '{"id":"b"}',
    ...others,
    JSON.stringify({ ...whole, record: 3 }),
  ];
  await appendFile(fileIn(folder), `${lines.join('\n')}\n\n`);
  await state.inbox(tenant).add(eventOf('c'));
  expect(await idsIn(state)).toEqual(['c', 'a']);
  expect(await damagedIn(state)).toBe(lines.length);
});

test('lines that two processes wrote of one event are one event', async () => {
  const folder = newFolder();
  const state = localState(folder);
  for (const id of ['a', 'b']) await state.inbox(tenant).add(eventOf(id));
  const file = fileIn(folder);
  await appendFile(file, await readFile(file));
  for (const reader of [state, localState(folder)]) {
    expect(await idsIn(reader)).toEqual(['b', 'a']);
    expect(await damagedIn(reader)).toBe(0);
  }
});

test('a damaged line is no longer counted when the file was compacted without it', async () => {
  const folder = newFolder();
  const limits = { days: 30, events: 2, megabytes: 8 };
  const state = localState(folder, { inbox: limits });
  for (const id of ['a', 'b']) await state.inbox(tenant).add(eventOf(id));
  await appendFile(fileIn(folder), 'amid\n');
  for (const id of ['c', 'd']) await state.inbox(tenant).add(eventOf(id));
  await appendFile(fileIn(folder), 'at last\n');
  const again = localState(folder, { inbox: limits });
  expect(await damagedIn(again)).toBe(2);
  await again.inbox(tenant).add(eventOf('e'));
  expect(await damagedIn(again)).toBe(1);
  expect(await idsIn(again)).toEqual(['e', 'd']);
});

test('an event added by another process is seen, and not added again', async () => {
  const folder = newFolder();
  const [one, other] = [localState(folder), localState(folder)];
  await one.inbox(tenant).add(eventOf('a'));
  expect(await idsIn(other)).toEqual(['a']);
  await other.inbox(tenant).add(eventOf('b'));
  expect(await one.inbox(tenant).add(eventOf('b'))).toBe('known');
  expect(await idsIn(one)).toEqual(['b', 'a']);
});

test('a deleted file is created again', async () => {
  const folder = newFolder();
  const state = localState(folder);
  await state.inbox(tenant).add(eventOf('a'));
  await rm(fileIn(folder));
  expect(await idsIn(state)).toEqual([]);
  expect(await state.inbox(tenant).add(eventOf('a'))).toBe('new');
});

test('the file does not grow without limit, and another process can still read it', async () => {
  const folder = newFolder();
  const limits = { days: 30, events: 20, megabytes: 8 };
  const [state, other] = [localState(folder, { inbox: limits }), localState(folder)];
  const body = JSON.stringify({ text: 'ü'.repeat(40_000) });
  let largest = 0;
  for (let at = 0; at < 120; at++) {
    await state.inbox(tenant).add(eventOf(`e${at}`, body));
    if (at % 10 === 0) await idsIn(other);
    largest = Math.max(largest, (await stat(fileIn(folder))).size);
  }
  const live = 20 * Buffer.byteLength(body);
  expect(largest).toBeLessThan(3 * live + 2 * 1024 * 1024);
  expect(largest).toBeGreaterThan(live);
  const kept = Array.from({ length: 20 }, (_, at) => `e${119 - at}`);
  expect(await idsIn(state)).toEqual(kept);
  expect((await idsIn(other)).slice(0, 20)).toEqual(kept);
  expect(await idsIn(localState(folder, { inbox: limits }))).toEqual(kept);
  expect((await readdir(folder)).length).toBe(1);
  const lines = (await readFile(fileIn(folder), 'utf8')).trim().split('\n');
  expect(lines.every((line) => JSON.parse(line).body === body)).toBe(true);
});

test('expired events are removed from the file within a day', async () => {
  const folder = newFolder();
  const dayMs = 86_400_000;
  const lineOf = (id: string, days: number) => {
    const arrived = Date.now() - days * dayMs;
    return `${JSON.stringify({ ...eventOf(id), at: arrived, arrived })}\n`;
  };
  /** Listing waits for the compaction that follows the write. */
  const addLast = async (state: State, id: string) => {
    await state.inbox(tenant).add(eventOf(id));
    expect(await idsIn(state)).toContain(id);
  };
  const idsInFile = async () => {
    const lines = (await readFile(fileIn(folder), 'utf8')).trim().split('\n');
    return lines.map((line) => JSON.parse(line).id);
  };
  await writeFile(fileIn(folder), lineOf('a', 30.5) + lineOf('b', 29));
  await addLast(localState(folder), 'c');
  expect(await idsInFile()).toEqual(['b', 'c']);
  await writeFile(fileIn(folder), lineOf('a', 31.5) + lineOf('b', 30.5) + lineOf('c', 29));
  await addLast(localState(folder), 'd');
  expect(await idsInFile()).toEqual(['c', 'd']);
});

/** Makes the next call of a method of file handles fail after `work`. */
async function failNext(
  folder: string,
  method: 'appendFile' | 'sync',
  work: (file: FileHandle, text: string) => Promise<unknown> = async () => {},
): Promise<void> {
  const file = await open(folder, 'r');
  await file.close();
  const fail = async function (this: FileHandle, text: unknown) {
    await work(this, String(text));
    throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
  };
  vi.spyOn(Object.getPrototypeOf(file), method).mockImplementationOnce(fail);
}

const halfways: [string, (folder: string) => Promise<void>][] = [
  [
    'the second line is cut',
    (to) => failNext(to, 'appendFile', (it, text) => it.write(text.slice(0, -9))),
  ],
  ['the lines cannot be synced', (to) => failNext(to, 'sync')],
];

test.each(halfways)('updates are published and nothing is acknowledged if %s', async (_, fail) => {
  const folder = newFolder();
  const state = localState(folder);
  const inbox = state.inbox(tenant);
  await inbox.add(eventOf('first'));
  const heard: unknown[] = [];
  state.bus.subscribe(tenant, (update) => heard.push(update));
  const deliver = () =>
    Promise.allSettled(['a', 'b'].map((id) => inbox.add(eventOf(id), { keyRefused: id })));
  await fail(folder);
  expect((await deliver()).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(heard).toEqual([{ keyRefused: 'a' }, { keyRefused: 'b' }]);
  expect((await deliver()).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  expect(await deliver()).toMatchObject([{ value: 'known' }, { value: 'known' }]);
  expect(await idsIn(state)).toEqual(['b', 'a', 'first']);
});

test('only a write to the same file ends the report that it cannot be written', async () => {
  const folder = newFolder();
  const state = localState(folder);
  const inbox = state.inbox(tenant);
  await inbox.add(eventOf('known'));
  await failNext(folder, 'appendFile');
  await expect(inbox.add(eventOf('a'))).rejects.toThrow('no space');
  expect(await state.health()).toMatchObject({ ok: false, fault: 'unwritable' });
  expect(await inbox.add(eventOf('known'))).toBe('known');
  await state.journal(tenant).append({ phase: 'done' });
  expect(await state.health()).toMatchObject({ ok: false });
  expect(await inbox.add(eventOf('a'))).toBe('new');
  expect(await state.health()).toMatchObject({ ok: true });
});

test('a journal from a backup that others may read is closed to them by the next write', async () => {
  const folder = newFolder();
  const path = join(folder, `changes-${tenant}.jsonl`);
  await writeFile(path, '', { mode: 0o644 });
  await localState(folder).journal(tenant).append({ phase: 'done' });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test.each([
  ['long ago', new Date(0)],
  ['before the clock was set back', new Date(Date.now() + 3_600_000)],
])('of several processes, one takes over a lock that was left %s', async (_, time) => {
  const path = join(newFolder(), 'one.lock');
  await writeFile(path, '');
  await utimes(path, time, time);
  const taken = await Promise.all(Array.from({ length: 8 }, () => tryLock(path)));
  const [lock, ...others] = taken.filter((it) => it !== undefined);
  expect([lock, others]).toEqual([
    { isHeld: expect.any(Function), release: expect.any(Function) },
    [],
  ]);
  expect(await tryLock(path)).toBeUndefined();
  await lock?.release();
  await (await tryLock(path))?.release();
});
