import { describe, expect, test } from 'vitest';
import {
  bodyValue,
  changedCustomFields,
  changesBetween,
  customField,
  type Divisor,
  fieldValuesOf,
  isSameValue,
  nextReference,
  referenceOf,
  sentProperties,
  unchangedValue,
} from '../../src/changes/fields.ts';
import { type FieldKind, fieldNames, sentFields } from '../../src/changes/writable-fields.ts';
import type { Opportunity } from '../../src/service/records/records.ts';
import { canonicalJson } from '../../src/values.ts';

/** Every value of these tests as a record may have it: of a form that the types do not promise. */
const raw = (fields: Record<string, unknown>): Opportunity => fields as Opportunity;

describe('the values of a record', () => {
  const cases: [record: Record<string, unknown>, divisor: Divisor, values: object][] = [
    [{ name: '', description: null, valueMonths: undefined }, 1, {}],
    [{ valueMonths: 0, monthlyChurn: 0 }, 1, { value_months: 0, monthly_churn: 0 }],
    [{ onetimeRevenue: 'on request' }, 1, { onetime_revenue: 'on request' }],
    [{ unreadable: { monthlyRevenue: [1] } }, 1, { monthly_revenue: [1] }],
    [{ name: 'Read', unreadable: { name: 'Not read' } }, 1, { name: 'Read' }],
    [{ probability: 90 }, 100, { probability: 0.9 }],
    [{ probability: 0.1 + 0.2 }, 1, { probability: 0.3 }],
    [{ probability: 'high' }, 100, { probability: 'high' }],
    [{ startDate: '2031-01-31T22:00:00Z' }, 1, { start_date: '2031-01-31' }],
    [
      { startDate: 'soon', expectedCloseDate: 12 },
      1,
      { start_date: 'soon', expected_close_date: 12 },
    ],
    [{ company: { id: 'c1', name: 'Acme' } }, 1, { company: { id: 'c1', name: 'Acme' } }],
    [{ company: { id: 'c1', name: '' } }, 1, { company: { id: 'c1' } }],
    [{ company: { id: 7, name: 8 } }, 1, { company: { id: '7', name: '8' } }],
    [{ owner: { name: 'Ada' } }, 1, { owner: { id: '', name: 'Ada' } }],
    [{ owner: { id: '', name: '' } }, 1, {}],
    [{ contact: { firstName: 'Ada', lastName: 'L' } }, 1, { contact: { id: '', name: 'Ada L' } }],
    [{ pipelineStage: 'Won' }, 1, { stage: { id: '', name: '"Won"' } }],
    [{ source: ['Web'] }, 1, { source: { id: '', name: '["Web"]' } }],
    [{ customFields: {} }, 1, {}],
    [{ customFields: { a: '', b: null } }, 1, {}],
    [{ customFields: { a: '', b: 0, c: false } }, 1, { custom_fields: { b: 0, c: false } }],
    [{ customFields: ['odd'] }, 1, { custom_fields: ['odd'] }],
  ];
  test.each(cases)('%# of %o', (record, divisor, values) => {
    expect(fieldValuesOf(raw(record), divisor)).toStrictEqual(values);
  });
});

test('a field that nobody changes is sent back as it came, unless it is empty', () => {
  const present = {
    record: { company: { id: '7' } },
    raw: { name: ' A ', description: '', valueMonths: 0, company: { id: 7 }, ownerId: 9 },
  };
  const back = (property: string, kind: FieldKind) =>
    unchangedValue({ kind, property } as Parameters<typeof unchangedValue>[0], present);
  expect(back('name', 'text')).toBe(' A ');
  expect(back('description', 'text')).toBeUndefined();
  expect(back('valueMonths', 'months')).toBe(0);
  expect(back('startDate', 'day')).toBeUndefined();
  expect(back('company', 'reference')).toBe(7);
});

test('only an object with an id, and a name that is a text, is a reference', () => {
  const reference = { id: 'x', name: 'X' };
  expect(referenceOf(reference)).toBe(reference);
  expect(referenceOf({ id: 'x' })).toEqual({ id: 'x' });
  for (const value of [undefined, 'x', 1, ['x'], {}, { id: 1 }, { id: 'x', name: 1 }])
    expect(referenceOf(value), JSON.stringify(value)).toBeUndefined();
});

describe('two values are the same', () => {
  const cases: [kind: FieldKind, one: unknown, other: unknown, same: boolean][] = [
    ['text', undefined, undefined, true],
    ['text', undefined, 'a', false],
    ['money', 0, undefined, false],
    ['money', 1, 1, true],
    ['money', 1, '1', false],
    ['reference', { id: 'a', name: 'Old name' }, { id: 'a', name: 'New name' }, true],
    ['reference', { id: 'a', name: 'Same' }, { id: 'b', name: 'Same' }, false],
    ['reference', { id: '', name: 'Same' }, { id: '', name: 'Same' }, true],
    ['reference', { id: '', name: 'One' }, { id: '', name: 'Other' }, false],
    ['reference', { id: '' }, { id: '' }, true],
    ['reference', { id: '', name: 'a' }, { id: 'a' }, false],
    ['reference', { id: 'a' }, 'a', false],
    ['custom', { id: 'a', name: 'One' }, { id: 'a', name: 'Other' }, false],
    ['custom', { a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 }, true],
    ['custom', { a: [1, 2] }, { a: [2, 1] }, false],
  ];
  test.each(cases)('%s: %o and %o: %s', (kind, one, other, same) => {
    expect(isSameValue(kind, one, other)).toBe(same);
  });
});

test('JSON for comparison sorts names, and leaves out what is undefined', () => {
  expect(canonicalJson({ b: 1, a: { d: undefined, c: [undefined, null, 'x'] } })).toBe(
    '{"a":{"c":[null,null,"x"]},"b":1}',
  );
});

describe('the value that is sent', () => {
  const cases: [kind: FieldKind, value: unknown, from: unknown, sent: unknown][] = [
    ['text', 'a', 'b', 'a'],
    ['text', undefined, 'b', null],
    ['money', 0, 1, 0],
    ['reference', { id: 'x', name: 'X' }, undefined, 'x'],
    ['reference', undefined, { id: 'x' }, null],
    ['custom', { id: 'x' }, undefined, { id: 'x' }],
    ['custom', { a: 2 }, { a: 1, b: 1 }, { a: 2, b: null }],
    ['custom', undefined, { a: 1 }, { a: null }],
    ['custom', ['odd'], ['odd'], ['odd']],
    ['custom', { a: 1 }, ['odd'], { a: 1 }],
  ];
  test.each(cases)('%s: %o instead of %o: %o', (kind, value, from, sent) => {
    expect(bodyValue(kind, value, from)).toEqual(sent);
  });
});

test('a reference is sent by its id, every other field under its own name', () => {
  const bodies = sentFields.map(({ name, body }) => [name, body]);
  expect(bodies).toContainEqual(['stage', 'pipelineStageId']);
  expect(bodies).toContainEqual(['onetime_revenue', 'onetimeRevenue']);
});

test('the properties that are sent have every form in which a record gives a reference', () => {
  for (const name of ['name', 'monthlyChurn', 'company', 'companyId', 'companyName'])
    expect(sentProperties.has(name), name).toBe(true);
  for (const name of ['id', 'updatedAt', 'nameId', 'stageUpdatedAt'])
    expect(sentProperties.has(name), name).toBe(false);
});

describe('the changes between a record and what is wanted', () => {
  const before = {
    name: 'Old',
    company: { id: 'c1', name: 'Acme' },
    probability: 0.5,
    custom_fields: { region: 'North', size: 3 },
  };
  const changed = (requested: Record<string, unknown>) =>
    changesBetween(before, requested).map(({ field, label, from, to }) => [field, label, from, to]);

  test('are in the order of the fields, without those that stay', () => {
    const wanted = { probability: 0.6, description: 'Text', name: 'New', company: { id: 'c1' } };
    expect(changed(wanted)).toEqual([
      ['name', 'Name', 'Old', 'New'],
      ['description', 'Description', undefined, 'Text'],
      ['probability', 'Probability', 0.5, 0.6],
    ]);
    expect(changed({})).toEqual([]);
  });

  test('keep custom fields that are not named, and clear those that are empty', () => {
    const { region, size } = before.custom_fields;
    const to = (custom_fields: unknown) => changed({ custom_fields })[0]?.[3];
    expect(to({ size: 4, made: 'now' })).toEqual({ region, size: 4, made: 'now' });
    expect(to({ region: '' })).toEqual({ size });
    expect(to({ size })).toBeUndefined();
    expect(to({ nothing: '' })).toBeUndefined();
    expect(changed({ custom_fields: { region: '', size: '' } })).toMatchObject([
      ['custom_fields', 'Custom fields', before.custom_fields, undefined],
    ]);
  });

  test('have no field that cannot be written', () => {
    expect(fieldNames).not.toContain('monthly_churn');
    expect(changed({ monthly_churn: 5, nonsense: 'x' })).toEqual([]);
  });

  test('name the record that a reference gets', () => {
    const changes = changesBetween(before, { company: { id: 'c2' }, name: 'New' });
    expect(nextReference(changes, 'company')).toEqual({ id: 'c2' });
    expect(nextReference(changes, 'name')).toBeUndefined();
    expect(nextReference(changes, 'contact')).toBeUndefined();
  });
});

test('custom fields that differ: added, removed and changed', () => {
  const from = { same: [1], changed: 1, removed: 1 };
  const to = { same: [1], changed: '1', added: 1 };
  expect(changedCustomFields(from, to)).toEqual(['changed', 'removed', 'added']);
  expect(changedCustomFields(undefined, to)).toEqual(['same', 'changed', 'added']);
  expect(changedCustomFields(from, ['odd'])).toEqual(['same', 'changed', 'removed']);
  expect(customField(from, 'same')).toEqual([1]);
  expect(customField(from, 'constructor')).toBeUndefined();
  expect(customField('odd', 'length')).toBeUndefined();
});
