import { expect, test } from 'vitest';
import { freezeRecord } from '../../src/reading/pass.ts';
import fc from '../support/fast-check.ts';

test('records are the same after they were frozen', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 7 })), (values) => {
      const records = values.map((value, at) => ({ id: `record number ${at}`, value }));
      const before = structuredClone(records);
      for (const record of records) freezeRecord(record);
      expect(records).toEqual(before);
      expect(records.every(Object.isFrozen)).toBe(true);
    }),
  );
});

test('a record that contains itself is no harm', () => {
  const deep: Record<string, unknown> = { name: 'a name that is long' };
  deep.parent = deep;
  freezeRecord(deep);
  expect(deep.name).toBe('a name that is long');
});
