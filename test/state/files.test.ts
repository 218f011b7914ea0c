import {
  appendFile,
  type FileHandle,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { localState } from '../../src/state/files/local.ts';
import type { InboxEvent, State } from '../../src/state/port.ts';
import { closing } from '../support/shared.ts';

const tenant = 'abcdef0123456789';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cpq-mcp-files-'));
  closing({ close: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }) });
  return folder;
}

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
  const folder = await newFolder();
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
  const folder = await newFolder();
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
  const folder = await newFolder();
  const state = localState(folder);
  await state.inbox(tenant).add(eventOf('a'));
  await appendFile(fileIn(folder), 'not json\n[]\n{"id":"b"}\n{"id":1,"at":2,"arrived":3}\n\n');
  await state.inbox(tenant).add(eventOf('c'));
  expect(await idsIn(state)).toEqual(['c', 'a']);
  expect(await damagedIn(state)).toBe(4);
});

test('a damaged line is no longer counted when the events before or after it have expired', async () => {
  const folder = await newFolder();
  const limits = { days: 30, events: 20, megabytes: 8 };
  const state = localState(folder, { inbox: limits });
  const body = 'x'.repeat(60_000);
  const add = async (from: number, to: number) => {
    for (let at = from; at < to; at++) await state.inbox(tenant).add(eventOf(`e${at}`, body));
  };
  await appendFile(fileIn(folder), 'before all\n');
  await add(0, 10);
  await appendFile(fileIn(folder), 'amid\n');
  await add(10, 20);
  expect(await damagedIn(state)).toBe(2);
  await add(20, 21);
  expect(await damagedIn(state)).toBe(1);
  await add(21, 50);
  expect(await damagedIn(state)).toBe(0);
  await appendFile(fileIn(folder), 'at last\n');
  const before = (await stat(fileIn(folder))).size;
  // The file is compacted, which moves the line.
  await add(50, 60);
  expect((await stat(fileIn(folder))).size).toBeLessThan(before);
  expect(await damagedIn(state)).toBe(1);
  await add(60, 71);
  expect(await damagedIn(state)).toBe(0);
  expect(await damagedIn(localState(folder, { inbox: limits }))).toBe(0);
});

test('an event added by another process is seen, and not added again', async () => {
  const folder = await newFolder();
  const [one, other] = [localState(folder), localState(folder)];
  await one.inbox(tenant).add(eventOf('a'));
  expect(await idsIn(other)).toEqual(['a']);
  await other.inbox(tenant).add(eventOf('b'));
  expect(await one.inbox(tenant).add(eventOf('b'))).toBe('known');
  expect(await idsIn(one)).toEqual(['b', 'a']);
});

test('a deleted file is created again', async () => {
  const folder = await newFolder();
  const state = localState(folder);
  await state.inbox(tenant).add(eventOf('a'));
  await rm(fileIn(folder));
  expect(await idsIn(state)).toEqual([]);
  expect(await state.inbox(tenant).add(eventOf('a'))).toBe('new');
});

test('the file does not grow without limit, and another process can still read it', async () => {
  const folder = await newFolder();
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
  const folder = await newFolder();
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
  expect(await idsInFile()).toEqual(['a', 'b', 'c']);
  await writeFile(fileIn(folder), lineOf('a', 31.5) + lineOf('b', 30.5) + lineOf('c', 29));
  await addLast(localState(folder), 'd');
  expect(await idsInFile()).toEqual(['c', 'd']);
});

test('drafts of a process that was killed are removed, but not those of a running one', async () => {
  const folder = await newFolder();
  const draft = (name: string, id: string) => join(folder, `${name}.${id}.draft`);
  const [events, profile] = [`events-${tenant}.jsonl`, `service-${tenant}.json`];
  const drafts = [events, profile].map((name) => [draft(name, '0b5e-abad'), draft(name, '0b5e')]);
  for (const [abandoned = '', inUse = ''] of drafts) {
    await writeFile(abandoned, 'half');
    await utimes(abandoned, 0, 0);
    await writeFile(inUse, 'half');
  }
  const limits = { days: 30, events: 1, megabytes: 8 };
  const state = localState(folder, { inbox: limits });
  await state.profile(tenant).save({}, 60_000);
  const body = 'x'.repeat(1024 * 1024);
  for (const id of ['a', 'b', 'c']) await state.inbox(tenant).add(eventOf(id, body));
  expect(await idsIn(state)).toEqual(['c']); // Listing waits for the compaction.
  const expected = drafts.flatMap(([, inUse = '']) => [basename(inUse)]);
  expect((await readdir(folder)).sort()).toEqual([events, profile, ...expected].sort());
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

test.each(halfways)('a repetition publishes the update of an event if %s', async (_, fail) => {
  const folder = await newFolder();
  const state = localState(folder);
  const inbox = state.inbox(tenant);
  await inbox.add(eventOf('first'));
  const heard: unknown[] = [];
  state.bus.subscribe(tenant, (update) => heard.push(update));
  const deliver = () =>
    Promise.allSettled(['a', 'b'].map((id) => inbox.add(eventOf(id), { names: [id] })));
  await fail(folder);
  expect((await deliver()).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(heard).toEqual([]);
  expect(await deliver()).toMatchObject([{ value: 'new' }, { value: 'new' }]);
  expect(heard).toEqual([{ names: ['a'] }, { names: ['b'] }]);
  expect(await deliver()).toMatchObject([{ value: 'known' }, { value: 'known' }]);
  expect(heard).toHaveLength(2);
  expect(await idsIn(state)).toEqual(['b', 'a', 'first']);
});

test('an event that cannot be stored is not acknowledged', async () => {
  const folder = await newFolder();
  // A folder has the name of the file.
  const state = localState(folder);
  await rm(folder, { recursive: true });
  await appendFile(folder, 'a file where the folder should be');
  await expect(state.inbox(tenant).add(eventOf('a'))).rejects.toThrow();
  await rm(folder);
  expect(await state.inbox(tenant).add(eventOf('a'))).toBe('new');
});
