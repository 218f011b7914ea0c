import { expect, test } from 'vitest';
import { RepeatedTexts } from '../../src/reading/repeated-texts.ts';
import fc from '../support/fast-check.ts';

test('records are the same after their texts were shared', () => {
  const texts = new RepeatedTexts();
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 7 })), (values) => {
      const records = values.map((value, at) => ({ id: `record number ${at}`, value }));
      const before = structuredClone(records);
      texts.shareIn(records);
      expect(records).toEqual(before);
    }),
  );
});

test('more texts than are remembered, and a record that contains itself, are no harm', () => {
  const records = Array.from({ length: 50_000 }, (_, at) => ({ name: `the record number ${at}` }));
  new RepeatedTexts().shareIn(records);
  expect(records.every(({ name }, at) => name === `the record number ${at}`)).toBe(true);
  const deep: Record<string, unknown> = { name: 'a name that is long' };
  deep.parent = deep;
  new RepeatedTexts().shareIn([deep]);
  expect(deep.name).toBe('a name that is long');
});
