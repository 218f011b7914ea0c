import { describe, expect, test } from 'vitest';
import { isDeleted } from '../../src/figures/outcome.ts';
import { toRecord } from '../../src/service/records/recognition.ts';
import fc from '../support/fast-check.ts';

const word = fc.stringMatching(/^[A-Za-z]\w{0,12}$/);

describe('a reference', () => {
  const forms: Record<string, (id: string, name: string) => Record<string, unknown>> = {
    nested: (id, name) => ({ pipelineStage: { id, name } }),
    'flat with a display value': (id, name) => ({
      pipelineStageId: id,
      pipelineStageDisplayValue: name,
    }),
    'flat with a name': (id, name) => ({ pipelineStageId: id, pipelineStageName: name }),
    'flat beside null': (id, name) => ({
      pipelineStage: null,
      pipelineStageId: id,
      pipelineStageName: name,
    }),
    'an id nested, a name beside': (id, name) => ({
      pipelineStage: { id },
      pipelineStageDisplayValue: name,
    }),
    'a bare name, an id beside': (id, name) => ({ pipelineStage: name, pipelineStageId: id }),
  };

  test.each(Object.entries(forms))('in the form %s has one id and one name', (_, form) => {
    fc.assert(
      fc.property(word, word, (id, name) => {
        const { pipelineStage } = toRecord('opportunity', form(id, name));
        expect(pipelineStage).toMatchObject({ id, name });
      }),
    );
  });

  test.each(['pipeline_stage', 'PipelineStage', 'pipeline-stage', 'PIPELINESTAGE'])(
    'is read from %s, unless it is in its own field too',
    (name) => {
      const nested = { _id: 's1', Name: 'Lead' };
      expect(toRecord('opportunity', { [name]: nested }).pipelineStage).toMatchObject({
        id: 's1',
        name: 'Lead',
      });
      const both = { [name]: { id: 's2' }, pipelineStage: { id: 's1', name: 'Lead' } };
      expect(toRecord('opportunity', both).pipelineStage).toEqual({ id: 's1', name: 'Lead' });
    },
  );

  test('that is empty in every form is missing', () => {
    const record = toRecord('opportunity', { owner: '', ownerId: '', ownerName: null });
    expect(record.owner).toBeUndefined();
  });

  test('a bare number is an id', () => {
    expect(toRecord('quote', { owner: 4711 }).owner).toEqual({ id: '4711' });
  });

  test('of an item is read in the same way', () => {
    const { items } = toRecord('quote', { items: [{ productId: 'p1', categoryId: 'c1' }] });
    expect(items?.[0]).toMatchObject({ product: { id: 'p1' }, category: { id: 'c1' } });
  });

  test.each([
    { id: 'c1', name: 'Acme' },
    { _id: 'c1', name: 'Acme' },
  ])('a contact with a nested company has its id and name: %j', (company) => {
    const contact = toRecord('contact', { companyId: '', companyName: '', company });
    expect(contact).toMatchObject({ companyId: 'c1', companyName: 'Acme' });
  });
});

describe('a time', () => {
  test.each([
    [1_798_416_000, '2026-12-28'],
    ['1798416000', '2026-12-28'],
    [1_798_416_000_000, '2026-12-28'],
    [1_798_419_600, '2026-12-28T01:00:00.000Z'],
    ['2026-12-28T01:00:00+02:00', '2026-12-28T01:00:00+02:00'],
    ['1798416000.25', '2026-12-28T00:00:00.250Z'],
    ['2026-12-27T23:00:00.000Z', '2026-12-28'],
    ['2026-12-27T23:00:00+00:00', '2026-12-28'],
    ['2026-12-27T18:30:00.000Z', '2026-12-28'],
    ['2026-12-27T18:15:00Z', '2026-12-28'],
    ['2026-12-27T18:20:00.000Z', '2026-12-27T18:20:00.000Z'],
    ['2026-12-28T05:00:00Z', '2026-12-28T05:00:00Z'],
  ])('%j is read as %s', (raw, read) => {
    expect(toRecord('opportunity', { startDate: raw }).startDate).toBe(read);
  });

  test.each([
    ['2026-12-27T23:00:00.000Z', '2026-12-28'],
    ['2026-12-27T20:00:00Z', '2026-12-27T20:00:00Z'],
    ['2026-12-27T21:30:00Z', '2026-12-27T21:30:00Z'],
  ])('%j, at which a quote expires, is read as %s', (expiresAt, read) => {
    expect(toRecord('quote', { expiresAt }).expiresAt).toBe(read);
  });

  test.each([12, 'soon', '03/04/2026', '2026-13-01', true, { day: 3 }])(
    '%j is unreadable, and kept',
    (raw) => {
      expect(toRecord('opportunity', { startDate: raw })).toEqual({
        unreadable: { startDate: raw },
      });
    },
  );
});

test.each(['0001-01-01T00:00:00Z', '1970-01-01', '9999-12-31', ''])(
  'the date %j means none',
  (startDate) => {
    expect(toRecord('opportunity', { startDate })).toEqual({});
  },
);

test.each([
  ['eur', { currency: 'eur' }],
  [{ code: 'USD' }, { unreadable: { currency: { code: 'USD' } } }],
  ['€', { unreadable: { currency: '€' } }],
  ['Euro', { unreadable: { currency: 'Euro' } }],
])('a currency %j is read as %j', (currency, record) => {
  expect(toRecord('company', { currency })).toEqual(record);
});

describe('an amount', () => {
  test.each([
    ['120', 120],
    ['24.5', 24.5],
    ['0.125', 0.125],
  ])('%j is read as %d', (raw, price) => {
    expect(toRecord('product', { price: raw })).toEqual({ price });
  });

  test.each(['24.169', '24,50', '1’708.30', '1.2.3', 'on request', '5 EUR', '1,234,567,8'])(
    '%j is unreadable',
    (price) => {
      expect(toRecord('product', { price })).toEqual({ unreadable: { price } });
    },
  );
});

test('a reference is no address, and nothing without an id or a name', () => {
  for (const company of ['https://x.example/company/c7', { ref: 'c7' }, { value: 7, label: 'A' }])
    expect(toRecord('opportunity', { company }).unreadable).toEqual({ company });
});

describe('a deletion', () => {
  test.each([false, null, '', 'false', 0, 'N', 'no', '0001-01-01T00:00:00Z'])(
    'is not indicated by %j',
    (mark) => {
      for (const name of ['deleted', 'deletedAt']) {
        expect(isDeleted(toRecord('quote', { [name]: mark }))).toBe(false);
      }
    },
  );

  test.each([true, 'true', 1, 'Y', '2026-01-01', 1_798_416_000])('is indicated by %j', (mark) => {
    for (const name of ['deleted', 'deletedAt']) {
      expect(isDeleted(toRecord('contact', { [name]: mark }))).toBe(true);
    }
  });
});
