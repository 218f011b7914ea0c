import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { fileCollections } from '../../src/state/files/collections.ts';
import { localState } from '../../src/state/files/local.ts';
import type { CollectionKey, EarlierReading } from '../../src/state/port.ts';
import { writeStatus } from '../../src/state/write-status.ts';
import { version } from '../../src/version.ts';
import { newFolder, useMachineClock } from '../support/shared.ts';
import { until } from '../support/until.ts';

const tenant = 'abcdef0123456789';
const place: CollectionKey = { tenant, reader: 'reader', collection: 'quote' };
const never = new AbortController().signal;
const hour = 3_600_000;

/** The collections of one process, and what it logged. */
function processIn(folder: string, leaseMs?: number) {
  const told: string[] = [];
  const writes = writeStatus({
    report: (event, { code }) => told.push(`${event} ${code ?? ''}`.trim()),
  });
  const collections = fileCollections(folder, writes, leaseMs);
  /** Reads as `value` if it has to; `given` is what it could have brought up to date. */
  const get = async (value: unknown, freshMs = hour, key = place) => {
    let given: EarlierReading | undefined;
    const load = async (earlier: EarlierReading | undefined) => {
      given = earlier;
      return { value, ageMs: 0, keepMs: 24 * hour };
    };
    const read = await collections.getOrLoad(key, freshMs, load, never);
    return { ...read, given };
  };
  return { ...collections, get, told };
}

const folderOf = (folder: string) => join(folder, `collections-${tenant}`);
const fileOf = (folder: string) => join(folderOf(folder), 'reader-quote');

const sample = {
  coverage: { complete: true },
  records: Array.from({ length: 3_000 }, (_, id) => ({ id, name: `Quote ü\n ${id}`, empty: null })),
};

test('a copy is small, and readable by its owner only', async () => {
  const folder = newFolder();
  await processIn(folder).get(sample);
  const { mode, size } = await stat(fileOf(folder));
  expect(mode & 0o777).toBe(0o600);
  expect((await stat(folderOf(folder))).mode & 0o777).toBe(0o700);
  expect(size).toBeLessThan(JSON.stringify(sample).length / 4);
  expect(await readdir(folderOf(folder))).toEqual(['reader-quote']);
  expect((await processIn(folder).get('read again')).value).toEqual(sample);
});

test.each([[null], ['text'], [{ records: [] }], [{ records: 'none' }], [[1, 2]]])(
  'a value without records is kept, too: %j',
  async (value) => {
    const folder = newFolder();
    await processIn(folder).get(value);
    expect((await processIn(folder).get('read again')).value).toEqual(value);
  },
);

test('a copy is kept for a day', async () => {
  const folder = newFolder();
  await processIn(folder).get('first');
  const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 23 * hour);
  expect((await processIn(folder).get('second', 0)).given?.value).toBe('first');
  now.mockReturnValue(Date.now() + 25 * hour);
  expect(await processIn(folder).ageOf(place)).toBeUndefined();
  expect((await processIn(folder).get('third', 99 * hour)).given).toBeUndefined();
  now.mockRestore();
});

test('a copy from the future, before the clock was set back, is not used', async () => {
  const folder = newFolder();
  const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + hour);
  await processIn(folder).get('first');
  now.mockRestore();
  expect(await processIn(folder).ageOf(place)).toBeUndefined();
  expect(await processIn(folder).get('second')).toMatchObject({ value: 'second' });
  expect((await processIn(folder).get('third')).value).toBe('second');
});

test('nothing is created by an update where nothing is kept', async () => {
  const folder = newFolder();
  await localState(folder).bus.publish(tenant, { collection: 'quote' });
  expect(await readdir(folder).catch(() => [])).toEqual([]);
});

test.each([
  ['another key', { ...place, reader: 'another' }],
  ['another tenant', { ...place, tenant: '0123456789abcdef' }],
  ['another collection', { ...place, collection: 'company' }],
])('%s does not get it, even if the file is moved there', async (_, key) => {
  const folder = newFolder();
  await processIn(folder).get('private');
  expect((await processIn(folder).get('own', hour, key)).value).toBe('own');
  const own = join(folder, `collections-${key.tenant}`, `${key.reader}-${key.collection}`);
  await writeFile(own, await readFile(fileOf(folder)));
  expect(await processIn(folder).ageOf(key)).toBeUndefined();
  const again = await processIn(folder).get('own again', hour, key);
  expect(again).toMatchObject({ value: 'own again', given: undefined });
});

const damages: [string, (bytes: Buffer) => Buffer | string][] = [
  ['empty', () => ''],
  ['cut', (bytes) => bytes.subarray(0, bytes.length - 9)],
  ['cut in its first line', (bytes) => bytes.subarray(0, 100)],
  ['longer', (bytes) => Buffer.concat([bytes, Buffer.of(0)])],
  ['changed in one bit', (bytes) => flipped(bytes, bytes.length - 40)],
  ['of another format', (bytes) => inHeader(bytes, 'collection/1', 'collection/2')],
  ['of another version', (bytes) => inHeader(bytes, ` ${version} `, ' 0.0.1 ')],
  ['without an age', (bytes) => inHeader(bytes, '"asOf"', '"asOg"')],
  ['foreign', () => 'something else\n'.repeat(500)],
  ['too large', (bytes) => Buffer.concat([bytes, Buffer.alloc(33 * 1024 * 1024)])],
];

function flipped(bytes: Buffer, at: number): Buffer {
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
}

/** The length of the first line stays the same. */
function inHeader(bytes: Buffer, from: string, to: string): Buffer {
  const line = bytes.toString('latin1', 0, 1024).replace(from, to).trimEnd();
  return Buffer.concat([Buffer.from(`${line.padEnd(1023)}\n`), bytes.subarray(1024)]);
}

test.each(damages)('a file that is %s is ignored and replaced', async (_, damage) => {
  const folder = newFolder();
  await processIn(folder).get(sample);
  await writeFile(fileOf(folder), damage(await readFile(fileOf(folder))));
  expect(await processIn(folder).get('again')).toMatchObject({ value: 'again', given: undefined });
  expect((await processIn(folder).get('unused')).value).toBe('again');
});

test('a lock is renewed, and an abandoned one holds nobody longer than its lease', async () => {
  // A file gets the machine's time.
  useMachineClock();
  const folder = newFolder();
  const lock = `${fileOf(folder)}-none.lock`;
  const lockedAt = async () => (await stat(lock)).mtimeMs;
  let reads = 0;
  const load = async () => {
    reads += 1;
    // It is renewed when it is taken, and again after each third of the lease.
    await until(lockedAt).toBeGreaterThan(Date.now() + leaseMs / 4);
    return { value: 'slow', ageMs: 0, keepMs: hour };
  };
  const leaseMs = 3_000;
  const both = [processIn(folder, leaseMs), processIn(folder, leaseMs)];
  const read = await Promise.all(both.map((it) => it.getOrLoad(place, hour, load, never)));
  expect([reads, ...read.map(({ value }) => value)]).toEqual([1, 'slow', 'slow']);
  const old = new Date(Date.now() - 20_000);
  await writeFile(lock, '');
  await utimes(lock, old, old);
  expect((await processIn(folder).get('taken over', 0)).value).toBe('taken over');
  expect(await readdir(folderOf(folder))).toEqual(['reader-quote']);
});

test.each(['the state folder', 'the folder of the tenant'])(
  'where %s is a file, every call gets its own reading, and the log has one line',
  async (which) => {
    const folder = join(newFolder(), 'state');
    const blocked = which === 'the state folder' ? folder : folderOf(folder);
    await mkdir(join(blocked, '..'), { recursive: true });
    await writeFile(blocked, 'a file');
    const it = processIn(folder);
    for (const value of ['first', 'second', 'third'])
      expect((await it.get(value)).value).toBe(value);
    expect(it.told).toEqual([expect.stringMatching(/^state cannot be written E(EXIST|NOTDIR)$/)]);
    await rm(blocked);
    await it.get('fourth');
    expect((await it.get('unused')).value).toBe('fourth');
    expect(it.told.slice(1)).toEqual(['state can be written again']);
  },
);
