import { expect, test } from 'vitest';
import { CollectionCache } from '../../src/reading/cache.ts';
import { DerivedResults } from '../../src/reading/derived.ts';

const counted = () => {
  let count = 0;
  return () => {
    count += 1;
    return count;
  };
};

const uncounted = () => new DerivedResults(() => () => {});

test('a result is computed once for the same readings, and again when one of them is new', () => {
  const derived = uncounted();
  const [deals, companies, work] = [[{}], [{}], counted()];
  expect(derived.get([deals, companies], 'sum', work)).toBe(1);
  expect(derived.get([deals, companies], 'sum', work)).toBe(1);
  expect(derived.get([deals, companies], 'other', work)).toBe(2);
  expect(derived.get([deals, [{}]], 'sum', work)).toBe(3);
  expect(derived.get([[{}], companies], 'sum', work)).toBe(4);
});

test('a collection that may not be read is not mistaken for one that was read', () => {
  const derived = uncounted();
  const [deals, companies, work] = [[{}], [{}], counted()];
  expect(derived.get([deals, undefined], 'sum', work)).toBe(1);
  expect(derived.get([deals, companies], 'sum', work)).toBe(2);
  expect(derived.get([deals, undefined], 'sum', work)).toBe(1);
});

test('a computation that failed is repeated', async () => {
  const derived = uncounted();
  const deals = [{}];
  const failing = derived.get([deals], 'sum', () => Promise.reject(new Error('failed')));
  await expect(failing).rejects.toThrow('failed');
  expect(await derived.get([deals], 'sum', () => Promise.resolve(7))).toBe(7);
});

test('the results of one reading are bounded, and those in use stay', () => {
  const derived = uncounted();
  const [deals, work] = [[{}], counted()];
  derived.get([deals], 'in use', work);
  for (let at = 0; at < 100; at++) {
    derived.get([deals], `question ${at}`, work);
    expect(derived.get([deals], 'in use', work)).toBe(1);
  }
  expect(derived.get([deals], 'question 0', work)).toBe(102);
});

test('a result is counted until it is dropped, or its reading is', async () => {
  const cache = new CollectionCache(1);
  const derived = new DerivedResults((readings, bytes) => cache.countDerived(readings, bytes));
  const [deals, companies] = [[{ id: 'd' }], [{ id: 'c' }]];
  const part = cache.part();
  const coverage = { complete: true, read: 1, total: 1 };
  part.set('opportunity', { records: deals, coverage, asOf: new Date() }, 100);
  const before = cache.bytes;
  for (let at = 0; at < 100; at++) {
    derived.get(
      [companies, deals],
      `question ${at}`,
      () => at,
      () => 1_000,
    );
  }
  expect(cache.bytes).toBe(before + 40_000);
  await derived.get(
    [deals],
    'later',
    async () => 'later',
    (result) => result.length,
  );
  expect(cache.bytes).toBe(before + 40_005);
  part.clear((name) => name === 'opportunity');
  expect(cache.bytes).toBe(0);
  for (let at = 0; at < 100; at++) derived.get([companies, deals], `other ${at}`, () => at);
  expect(cache.bytes).toBe(0);
});
