import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { localState } from '../../src/state/files/local.ts';
import { newFolder } from '../support/shared.ts';
import { storedHistory, storedQuoteHistory } from '../support/stored-history.ts';

/**
 * `older-folder` was written by the first version of the format: full copies (`base-…`), and days as differences from
 * them, whose references may have names that came from other collections.
 */

const days = ['2026-06-10', '2026-06-11', '2026-06-12', '2026-06-13'];
const lastDay = new Date('2026-06-13T23:00:00Z');

async function olderFolder() {
  const parent = newFolder();
  const folder = join(parent, 'history-tenant');
  await cp(join(import.meta.dirname, 'older-folder'), folder, { recursive: true });
  return { store: localState(parent).snapshots('tenant'), folder };
}

test('every day of an older folder is read, without names of other collections', async () => {
  const { store } = await olderFolder();
  const history = storedHistory(store, 400, () => lastDay);
  expect(await history.days()).toEqual(days);
  const reader = history.reader();
  const read = await Promise.all(days.map((day) => reader.read(day)));
  const deals = read.map((snapshot) => new Map(snapshot?.records.map((it) => [it.id, it])));
  const [first, second, third, last] = deals;
  expect(deals.map(({ size }) => size)).toEqual([12, 12, 12, 14]);
  expect(read[1]?.takenAt).toEqual(new Date('2026-06-11T12:00:00Z'));
  expect(first?.get('o2')).toEqual({
    id: 'o2',
    name: 'Deal 2',
    company: { id: 'c0', currency: 'USD' },
    owner: { id: 'u2' },
    pipelineStage: { id: 's1', name: 'Discovery' },
    category: { id: 'k1' },
    source: { id: 'r1', name: 'Fair' },
    statusId: 'open',
    probability: 50,
    onetimeRevenue: 200,
    expectedCloseDate: '2026-07-01',
    createdAt: '2026-06-01',
    stageUpdatedAt: '2026-06-02',
  });
  expect([second?.get('o2')?.statusId, second?.get('o2')?.closedAt]).toEqual(['won', '2026-06-11']);
  expect([third?.has('o3'), third?.has('o13'), first?.has('o13')]).toEqual([false, true, false]);
  expect(last?.get('o14')?.onetimeRevenue).toBe(700);
});

test('so are its quotes, with their totals and the names that they have without an id', async () => {
  const { store } = await olderFolder();
  const history = storedQuoteHistory(store, 400, () => lastDay);
  expect(await history.days()).toEqual(['2026-06-10', '2026-06-12']);
  const reader = history.reader();
  expect((await reader.read('2026-06-10'))?.records).toHaveLength(2);
  const snapshot = await reader.read('2026-06-12');
  expect(snapshot?.records).toHaveLength(4);
  expect(snapshot?.records[0]).toEqual({
    id: 'q1',
    number: 'Q-1',
    title: 'Quote 1',
    company: { id: 'c1' },
    owner: { name: 'Owner by name' },
    opportunity: { id: 'o1' },
    status: 'approved',
    currency: 'USD',
    sentAt: '2026-06-08',
    approvedAt: '2026-06-11',
    expiresAt: '2026-07-01',
    oneTime: 20,
    firstYearValue: 20,
  });
});

test('new days are added to an older folder, whose days stay until they expire', async () => {
  const { store, folder } = await olderFolder();
  const nextDay = '2026-06-14';
  const history = storedHistory(store, 400, () => new Date(`${nextDay}T23:00:00Z`));
  await history.save([{ id: 'o1' }], new Date(`${nextDay}T12:00:00Z`));
  const reader = history.reader();
  const counts = await Promise.all(
    (await history.days()).map(async (day) => (await reader.read(day))?.records.length),
  );
  expect(counts).toEqual([12, 12, 12, 14, 1]);
  const late = new Date('2027-12-01T12:00:00Z');
  const before = new Date('2027-11-30T12:00:00Z');
  for (const now of [before, late])
    await storedHistory(store, 400, () => now).save([{ id: 'o1' }], now);
  expect(await readdir(folder)).toEqual(['2027-11-30', '2027-12-01', 'keep-days']);
});
