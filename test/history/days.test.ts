import { brotliCompressSync, constants } from 'node:zlib';
import { expect, test } from 'vitest';
import { addDays } from '../../src/figures/days.ts';
import type { Opportunity } from '../../src/service/records/records.ts';
import type { SnapshotStore } from '../../src/state/port.ts';
import { memoryStore } from '../support/memory-snapshots.ts';
import { storedHistory, storedQuoteHistory } from '../support/stored-history.ts';

/** Which days are kept, and what interrupted or damaged ones leave. */

const today = '2026-06-15';
const yesterday = addDays(today, -1);
const at = (day: string, time = '12:00:00') => new Date(`${day}T${time}Z`);

const historyIn = (store: SnapshotStore, day = today) =>
  storedHistory(store, 400, () => at(day, '23:00:00'));
const deals = (count: number): Opportunity[] =>
  Array.from({ length: count }, (_, number) => ({ id: `o${number}`, onetimeRevenue: 100 }));

/** The number of deals on each stored day; undefined for a day that cannot be read. */
async function countsIn(store: SnapshotStore, day = today) {
  const history = historyIn(store, day);
  const reader = history.reader();
  const days = await history.days();
  return Promise.all(days.map(async (day) => (await reader.read(day))?.records.length));
}

test('a day may have very many deals', async () => {
  const store = memoryStore();
  const count = 150_000;
  await historyIn(store).save(deals(count), at(today));
  expect(await countsIn(store)).toEqual([count]);
});

/** Brotli of so many bytes. */
const zeros = (length: number): Buffer =>
  brotliCompressSync(Buffer.alloc(length), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

test('a small file that holds gigabytes is not read', async () => {
  const store = memoryStore();
  await historyIn(store).save(deals(1), at(yesterday));
  await store.write(today, zeros(200 * 1024 * 1024));
  const before = process.memoryUsage.rss();
  expect(await countsIn(store)).toEqual([1, undefined]);
  expect(process.memoryUsage.rss() - before).toBeLessThan(190 * 1024 * 1024);
});

test('each of the last days is kept, of the weeks before them the first day that was stored, of months the last', async () => {
  const store = memoryStore();
  const first = addDays(today, -200);
  for (let day = first; day <= today; day = addDays(day, 1)) {
    // Nobody asked on the day that begins this week.
    if (day === '2026-03-02') continue;
    await historyIn(store, day).save(deals(1), at(day));
    await storedQuoteHistory(store, 400, () => at(day)).save([{ id: 'q' }], at(day));
  }
  const days = await historyIn(store).days();
  const daily = addDays(today, -60);
  const weekly = days.filter((day) => day < daily);
  expect(days.filter((day) => day >= daily)).toHaveLength(61);
  expect(weekly[0]).toBe(first);
  expect(weekly).toContain('2026-03-03');
  const isLastOfMonth = (day: string) => addDays(day, 1).endsWith('-01');
  const months = weekly.filter(isLastOfMonth);
  expect(months).toEqual(['2025-11-30', '2025-12-31', '2026-01-31', '2026-02-28', '2026-03-31']);
  const others = weekly.filter(
    (day) => !isLastOfMonth(day) && ![first, '2026-03-03'].includes(day),
  );
  expect(others.every((day) => new Date(day).getUTCDay() === 1)).toBe(true);
  expect(others).toHaveLength(Math.floor((200 - 60) / 7) - 1);
  const quotes = storedQuoteHistory(store, 400, () => at(today, '23:00:00'));
  expect(await quotes.days()).toEqual(days);
});

test('a clock that is years ahead deletes nothing', async () => {
  const store = memoryStore();
  await historyIn(store).save(deals(1), at(yesterday));
  await historyIn(store, '2028-02-01').save(deals(1), at('2028-02-01'));
  await historyIn(store).save(deals(2), at(today));
  expect(await historyIn(store).days()).toEqual([yesterday, today]);
});

const saveYesterday = (store: SnapshotStore, count = 40) =>
  historyIn(store).save(deals(count), at(yesterday, `23:59:${10 + count}`));
const saveToday = (store: SnapshotStore) => historyIn(store).save(deals(21), at(today));

/** Runs `other` before the operation of this number. @returns false if there are fewer operations */
function interrupting(store: SnapshotStore, number: number, other: () => Promise<unknown>) {
  let count = 0;
  const before = async <T>(operation: () => Promise<T>): Promise<T> => {
    count += 1;
    if (count === number) await other();
    return operation();
  };
  const interrupted: SnapshotStore = {
    names: () => before(() => store.names()),
    read: (name) => before(() => store.read(name)),
    write: (name, value) => before(() => store.write(name, value)),
    remove: (names) => before(() => store.remove(names)),
  };
  return { store: interrupted, isOver: () => count < number };
}

test.each([
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
