import { expect, test } from 'vitest';
import { addDays } from '../../src/figures/days.ts';
import { clearSnapshots, StoredHistory } from '../../src/history/history.ts';
import { encodeBase, encodeDay } from '../../src/history/snapshot-format.ts';
import type { Opportunity } from '../../src/service/records/records.ts';
import type { SnapshotStore } from '../../src/state/port.ts';
import { interceptedStore, memoryStore } from '../support/memory-snapshots.ts';

/** Bases: the full copies to which the snapshots of days refer. */

const today = '2026-06-15';
const yesterday = addDays(today, -1);
const at = (day: string, time = '12:00:00') => new Date(`${day}T${time}Z`);

const historyIn = (store: SnapshotStore, day = today) =>
  new StoredHistory(store, 400, () => at(day, '23:00:00'));
const deals = (count: number): Opportunity[] =>
  Array.from({ length: count }, (_, number) => ({ id: `o${number}`, onetimeRevenue: 100 }));

/** The number of deals on each stored day; undefined for a day that cannot be read. */
async function countsIn(store: SnapshotStore, day = today) {
  const history = historyIn(store, day);
  const reader = history.reader();
  const days = await history.days();
  return Promise.all(days.map(async (day) => (await reader.read(day))?.records.length));
}

test('a day of an import has a new base only after large changes, and one in the end', async () => {
  const store = memoryStore();
  const history = historyIn(store);
  const bases = async () => (await store.names()).filter((name) => name.startsWith('base-'));
  let minute = 10;
  const save = (records: Opportunity[]) =>
    history.save(records, at(yesterday, `09:${minute++}:00`));
  for (const count of [1, 2, 4, 8, 16, 32]) await save(deals(count));
  expect(await bases()).toHaveLength(6);
  for (let number = 1; number <= 8; number++)
    await save(deals(32).map((it, at) => (at < number ? { ...it, onetimeRevenue: 0 } : it)));
  expect(await bases()).toHaveLength(6);
  await history.save(deals(33), at(today));
  expect(await bases()).toHaveLength(6);
  const tomorrow = addDays(today, 1);
  await historyIn(store, tomorrow).save(deals(34), at(tomorrow));
  expect(await bases()).toHaveLength(1);
  expect(await countsIn(store, tomorrow)).toEqual([32, 33, 34]);
});

test('a reader holds one base, and reads each once where days are read in order', async () => {
  const store = memoryStore();
  const counts = [10, 11, 20, 21, 40];
  for (const [back, count] of counts.entries())
    await historyIn(store).save(deals(count), at(addDays(today, back - 4)));
  const bases: string[] = [];
  const history = historyIn(
    interceptedStore(store, (name) => void (name?.startsWith('base-') && bases.push(name))),
  );
  const reader = history.reader();
  const read = async (day: string) => (await reader.read(day))?.records.length;
  const days = await history.days();
  for (const [at, day] of days.entries()) expect(await read(day)).toBe(counts[at]);
  expect(bases).toHaveLength(3);
  expect(await read(days[0] ?? today)).toBe(10);
  expect(bases).toHaveLength(4);
});

test('a day may differ from its base in very many deals', async () => {
  const store = memoryStore();
  const count = 150_000;
  const base = `base-${today}-0000000000000000`;
  const changed = Array.from({ length: count }, (_, number) => [`o${number}`]);
  await store.write(base, await encodeBase([['o0']]));
  await store.write(today, await encodeDay({ takenAt: at(today), base, changed, removed: [] }));
  expect(await countsIn(store)).toEqual([count]);
});

const saveYesterday = (store: SnapshotStore, count = 40) =>
  historyIn(store).save(deals(count), at(yesterday, `23:59:${10 + count}`));
const saveToday = (store: SnapshotStore) => historyIn(store).save(deals(21), at(today));

/** Runs `other` before the operation of this number. @returns false if there are fewer operations */
const interrupting = (store: SnapshotStore, number: number, other: () => Promise<unknown>) => {
  let count = 0;
  const interrupted = interceptedStore(store, async () => {
    count += 1;
    if (count === number) await other();
  });
  return { store: interrupted, isOver: () => count < number };
};

test.each([
  ['clear during a save', clearSnapshots, saveToday],
  ['a save during clear', saveToday, clearSnapshots],
  ['a save of yesterday during one of today', saveYesterday, saveToday],
  ['a save of today during one of yesterday', saveToday, saveYesterday],
])('%s leaves no day that cannot be read', async (_, other, work) => {
  for (let number = 1; ; number++) {
    const store = memoryStore();
    for (const count of [10, 20]) await saveYesterday(store, count);
    const interrupted = interrupting(store, number, () => other(store));
    await work(interrupted.store);
    expect(await countsIn(store)).not.toContain(undefined);
    if (interrupted.isOver()) break;
    expect(number).toBeLessThan(50);
  }
});
