import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { addDays } from '../../src/figures/days.ts';
import { toRecord } from '../../src/service/records/recognition.ts';
import type { Opportunity } from '../../src/service/records/records.ts';
import { localState } from '../../src/state/files/local.ts';
import type { SnapshotStore } from '../../src/state/port.ts';
import fc from '../support/fast-check.ts';
import { memoryStore } from '../support/memory-snapshots.ts';
import { startSandbox } from '../support/sandbox.ts';
import { newFolder } from '../support/shared.ts';
import {
  type StoredHistory,
  storedHistory,
  storedQuoteHistory,
} from '../support/stored-history.ts';

const today = '2026-06-15';
const at = (day: string, time = '12:00:00') => new Date(`${day}T${time}Z`);

async function newStore(): Promise<{ store: SnapshotStore; folder: string }> {
  const parent = newFolder();
  return {
    store: localState(parent).snapshots('tenant'),
    folder: join(parent, 'history-tenant'),
  };
}

const historyIn = (store: SnapshotStore, { now = at(today, '23:00:00'), days = 400 } = {}) =>
  storedHistory(store, days, () => now);

const deal = (id: string, more: Partial<Opportunity> = {}): Opportunity => ({
  id,
  name: `Deal ${id}`,
  onetimeRevenue: 100,
  pipelineStage: { id: 's1', name: 'Discovery' },
  ...more,
});
const deals = (count: number) => Array.from({ length: count }, (_, number) => deal(`o${number}`));

async function readAll(history: StoredHistory) {
  const reader = history.reader();
  const days = await history.days();
  return Promise.all(
    days.map(async (day) => {
      const snapshot = await reader.read(day);
      return [day, snapshot && Object.fromEntries(snapshot.records.map((it) => [it.id, it]))];
    }),
  );
}

describe('what is kept', () => {
  const kept = {
    name: fc.option(fc.string(), { nil: undefined }),
    company: fc.option(fc.record({ id: fc.string(), name: fc.string(), currency: fc.string() })),
    pipelineStage: fc.option(fc.record({ id: fc.constantFrom('a', 'b'), name: fc.string() })),
    statusId: fc.constantFrom('open', 'won', undefined),
    probability: fc.constantFrom(0, 0.5, 100, undefined),
    onetimeRevenue: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
    expectedCloseDate: fc.constantFrom('2026-01-01', '2028-02-29', undefined),
    deletedAt: fc.constantFrom<string | true | undefined>(true, '2026-01-01', undefined),
  };
  const list = fc.uniqueArray(fc.record({ id: fc.stringMatching(/^[a-z]{1,2}$/), ...kept }), {
    selector: ({ id }) => id,
    maxLength: 30,
  });

  test('days are restored unchanged, for any changes on and between them', async () => {
    const reading = fc.record({ list, isNextDay: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(reading, { minLength: 1, maxLength: 7 }), async (readings) => {
        const history = historyIn(memoryStore());
        const expected = new Map<string, object>();
        let day = addDays(today, -readings.length);
        for (const [number, { list, isNextDay }] of readings.entries()) {
          if (isNextDay) day = addDays(day, 1);
          const records = list.map((it) => toRecord('opportunity', JSON.parse(JSON.stringify(it))));
          await history.save(records, at(day, `12:00:0${number}`));
          expected.set(day, Object.fromEntries(records.map((it) => [it.id, it])));
        }
        expect(await readAll(history)).toEqual([...expected]);
      }),
      { numRuns: 30 },
    );
  });

  test('one snapshot a day, the last one', async () => {
    const { store } = await newStore();
    const history = historyIn(store);
    expect(await history.save([deal('a')], at(today, '09:00:00'))).toBe(true);
    expect(await history.save([deal('b')], at(today, '15:00:00'))).toBe(true);
    expect(await history.save([deal('c')], at(today, '12:00:00'))).toBe(false);
    expect(await history.days()).toEqual([today]);
    const snapshot = await history.reader().read(today);
    expect(snapshot).toEqual({ day: today, takenAt: at(today, '15:00:00'), records: [deal('b')] });
  });

  test('expired days are deleted', async () => {
    const { store } = await newStore();
    for (const back of [90, 45, 31, 30, 29, 1, 0]) {
      const day = addDays(today, -back);
      await historyIn(store, { now: at(day), days: 30 }).save(deals(5), at(day));
    }
    const history = historyIn(store, { days: 30 });
    expect(await history.days()).toEqual([30, 29, 1, 0].map((back) => addDays(today, -back)));
    for (const [, found] of await readAll(history))
      expect(Object.keys(found ?? {})).toHaveLength(5);
    expect(await store.names()).toHaveLength(4);
  });

  test('only its owner may read it', async () => {
    const { store, folder } = await newStore();
    await historyIn(store).save(deals(1), at(today));
    for (const file of await readdir(folder))
      expect((await stat(join(folder, file))).mode & 0o077).toBe(0);
    expect((await stat(folder)).mode & 0o077).toBe(0);
  });
});

test('what the documentation says of a deal and a quote is kept, and the days of their times', async () => {
  const store = memoryStore();
  const ref = { id: 'r', name: 'R', currency: 'EUR' };
  const refs = { company: ref, owner: ref };
  const deal = {
    ...{ id: 'a', name: 'A', ...refs, pipelineStage: ref, category: ref, source: ref },
    ...{ statusId: 'open', currency: 'USD', probability: 0, onetimeRevenue: 1 },
    ...{ monthlyRevenue: 2, valueMonths: 3 },
  };
  const quote = {
    ...{ id: 'q', number: 'Q-1', title: 'T', name: 'N', ...refs, opportunity: ref },
    ...{ status: 'sent', currency: 'USD' },
  };
  const timed = (names: string, time: string) =>
    Object.fromEntries([...names.split(' '), 'createdAt', 'deletedAt'].map((it) => [it, time]));
  const ofDeal = (time: string) => timed('stageUpdatedAt expectedCloseDate', time);
  const ofQuote = (time: string) => timed('sentAt approvedAt declinedAt expiredAt expiresAt', time);
  const [time, day] = ['2026-06-01T23:30:00Z', '2026-06-01'];
  const deleted = true as const;
  const others = { description: 'secret', contact: ref, customFields: { a: 1 }, deleted };
  const items = [
    { quantity: 3, price: 0.335 },
    { price: 2, term: 'month' },
    { price: 5, term: 'year' },
  ];
  await historyIn(store).save(
    [{ ...deal, ...ofDeal(time), ...others, closedAt: 'soon' }],
    at(today),
  );
  const quotes = storedQuoteHistory(store, 400, () => at(today));
  await quotes.save([{ ...quote, ...ofQuote(time), ...others, items }], at(today));
  const read = await Promise.all([historyIn(store), quotes].map((it) => it.reader().read(today)));
  expect(read.map((snapshot) => snapshot?.records)).toEqual([
    [{ ...deal, ...ofDeal(day), closedAt: 'soon', deleted: true }],
    [
      {
        ...{ ...quote, ...ofQuote(day), deleted: true },
        ...{ oneTime: 1.01, monthly: 2, yearly: 5, firstYearValue: 30.01 },
      },
    ],
  ]);
});

test('a currency that is sent as an object is kept by its code', async () => {
  const store = memoryStore();
  const currency = { code: 'CHF', name: 'Swiss franc' };
  await historyIn(store).save([{ id: 'a', currency }], at(today));
  await storedQuoteHistory(store, 400, () => at(today)).save([{ id: 'q', currency }], at(today));
  for (const history of [historyIn(store), storedQuoteHistory(store, 400, () => at(today))])
    expect((await history.reader().read(today))?.records).toMatchObject([{ currency: 'CHF' }]);
});

describe('whatever happens', () => {
  const damages: [what: string, value: (stored: Buffer) => Buffer | Promise<Buffer>][] = [
    ['empty', () => Buffer.alloc(0)],
    ['cut short', (stored) => stored.subarray(0, stored.length >> 1)],
    ['of other bytes', () => Buffer.from('not a snapshot')],
    ['of a later version', (stored) => rewritten(stored, (header) => ({ ...header, version: 99 }))],
    [
      'of another day',
      (stored) => rewritten(stored, (it) => ({ ...it, takenAt: at('2026-06-10') })),
    ],
    ['of quotes', (stored) => rewritten(stored, (header) => ({ ...header, prefix: 'quotes-' }))],
    ['without a time', (stored) => rewritten(stored, ({ takenAt: _, ...header }) => header)],
    ['without one of its rows', (stored) => rewritten(stored, (header) => header, 1)],
  ];

  test.each(damages)('a day that is %s is left out, and the others are read', async (_, damage) => {
    const { store, folder } = await newStore();
    const history = historyIn(store);
    for (const back of [2, 1, 0]) await history.save(deals(3), at(addDays(today, -back)));
    const path = join(folder, addDays(today, -1));
    await writeFile(path, await damage(await readFile(path)));
    const found = (await readAll(history)).map(([, day]) => day !== undefined);
    expect(found).toEqual([true, false, true]);
    await history.save(deals(4), at(addDays(today, -1), '23:00:00'));
    expect((await readAll(history)).every(([, day]) => day !== undefined)).toBe(true);
  });

  test('what a process left in the middle of writing is no snapshot, and goes when days are removed', async () => {
    const { store, folder } = await newStore();
    const history = historyIn(store);
    await history.save(deals(1), at(addDays(today, -1)));
    const draft = join(folder, `${today}.0b5e0b5e-0000-4000-8000-000000000000.draft`);
    await writeFile(draft, 'half a snap');
    await history.save(deals(2), at(today));
    expect(await history.days()).toHaveLength(2);
    expect(await readdir(folder)).toContain(draft.split('/').at(-1));
    await store.remove([]);
    expect(await readdir(folder)).not.toContain(draft.split('/').at(-1));
  });

  test('a day in the future, written while the clock was wrong, is not seen, and is replaced', async () => {
    const { store } = await newStore();
    const tomorrow = addDays(today, 1);
    await historyIn(store, { now: at(tomorrow, '20:00:00') }).save(
      [deal('z')],
      at(tomorrow, '20:00:00'),
    );
    const history = historyIn(store);
    expect(await history.days()).toEqual([]);
    const later = historyIn(store, { now: at(tomorrow, '08:00:00') });
    expect(await later.save([deal('a')], at(tomorrow, '08:00:00'))).toBe(true);
    expect((await later.reader().read(tomorrow))?.records).toEqual([deal('a')]);
  });

  test('a clock that goes back does not replace a later snapshot of that day', async () => {
    const { store } = await newStore();
    await historyIn(store).save([deal('a')], at(today, '20:00:00'));
    const back = historyIn(store, { now: at(today, '21:00:00') });
    expect(await back.save([deal('b')], at(today, '10:00:00'))).toBe(false);
  });
});

async function rewritten(
  stored: Buffer,
  change: (header: Record<string, unknown>) => object,
  lost = 0,
) {
  const [header = '', ...lines] = (await promisify(brotliDecompress)(stored))
    .toString()
    .split('\n');
  const text = [JSON.stringify(change(JSON.parse(header))), ...lines.slice(lost)].join('\n');
  return promisify(brotliCompress)(Buffer.from(text));
}

test('1,000 deals take at most 50 kB a day', async () => {
  const sandbox = await startSandbox({ scale: 3.04, now: at(today) });
  const [{ name }] = sandbox.tenants;
  const records = sandbox
    .past(name)
    .recordsAt(today)
    .map((text) => toRecord('opportunity', JSON.parse(text)));
  const { store, folder } = await newStore();
  expect(records.length).toBeGreaterThanOrEqual(1_000);
  await historyIn(store).save(records.slice(0, 1_000), at(today));
  expect((await stat(join(folder, today))).size).toBeLessThan(50_000);
});
