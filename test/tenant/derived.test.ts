import { expect, test } from 'vitest';
import { DerivedResults } from '../../src/tenant/derived.ts';

const counted = () => {
  let count = 0;
  return () => {
    count += 1;
    return count;
  };
};

test('a result is computed once for the same readings, and again when one of them is new', () => {
  const derived = new DerivedResults();
  const [deals, companies, work] = [[{}], [{}], counted()];
  expect(derived.get([deals, companies], 'sum', work)).toBe(1);
  expect(derived.get([deals, companies], 'sum', work)).toBe(1);
  expect(derived.get([deals, companies], 'other', work)).toBe(2);
  expect(derived.get([deals, [{}]], 'sum', work)).toBe(3);
  expect(derived.get([[{}], companies], 'sum', work)).toBe(4);
});

test('a collection that may not be read is not mistaken for one that was read', () => {
  const derived = new DerivedResults();
  const [deals, companies, work] = [[{}], [{}], counted()];
  expect(derived.get([deals, undefined], 'sum', work)).toBe(1);
  expect(derived.get([deals, companies], 'sum', work)).toBe(2);
  expect(derived.get([deals, undefined], 'sum', work)).toBe(1);
});

test('a computation that failed is repeated', async () => {
  const derived = new DerivedResults();
  const deals = [{}];
  const failing = derived.get([deals], 'sum', () => Promise.reject(new Error('failed')));
  await expect(failing).rejects.toThrow('failed');
  expect(await derived.get([deals], 'sum', () => Promise.resolve(7))).toBe(7);
});

test('the results of one reading are bounded, and those in use stay', () => {
  const derived = new DerivedResults();
  const [deals, work] = [[{}], counted()];
  derived.get([deals], 'in use', work);
  for (let at = 0; at < 100; at++) {
    derived.get([deals], `question ${at}`, work);
    expect(derived.get([deals], 'in use', work)).toBe(1);
  }
  expect(derived.get([deals], 'question 0', work)).toBe(102);
});
