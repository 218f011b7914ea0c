import { expect, test } from 'vitest';
import { RecordFreezer } from '../../src/reading/frozen-records.ts';
import fc from '../support/fast-check.ts';

test('records are the same after they were frozen and their texts shared', () => {
  const texts = new RecordFreezer();
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 7 })), (values) => {
      const records = values.map((value, at) => ({ id: `record number ${at}`, value }));
      const before = structuredClone(records);
      texts.freeze(records);
      expect(records).toEqual(before);
      expect(records.every(Object.isFrozen)).toBe(true);
    }),
  );
});

test('more texts than are remembered, and a record that contains itself, are no harm', () => {
  const records = Array.from({ length: 50_000 }, (_, at) => ({ name: `the record number ${at}` }));
  new RecordFreezer().freeze(records);
  expect(records.every(({ name }, at) => name === `the record number ${at}`)).toBe(true);
  const deep: Record<string, unknown> = { name: 'a name that is long' };
  deep.parent = deep;
  new RecordFreezer().freeze([deep]);
  expect(deep.name).toBe('a name that is long');
});
