import { describe, expect, test } from 'vitest';
import { runSteps } from '../../src/figures/steps.ts';
import type { ApiError, ApiErrorKind } from '../../src/service/errors.ts';
import { accountOf, gapsIn } from '../../src/service/records/account.ts';
import { areRead, toRecord } from '../../src/service/records/recognition.ts';
import type { Resource } from '../../src/service/records/records.ts';
import { parseResponse } from '../../src/service/response.ts';
import { resources } from '../../src/service/routes.ts';
import fc from '../support/fast-check.ts';
import type { Row } from '../support/hosts.ts';

const read = (resource: Resource, rows: readonly Row[]) =>
  rows.map((row) => toRecord(resource, structuredClone(row)));
const deal = {
  id: 'o1',
  name: 'Firewall',
  pipelineStage: { id: 's', name: 'Open' },
  onetimeRevenue: 5,
};
const accountFor = (resource: Resource, list: readonly Row[]) =>
  runSteps(accountOf(resource, list));

const rows = (count: number, more: Row) => Array.from({ length: count }, () => ({ ...more }));
const gaps = (resource: Resource, list: readonly Row[], ...paths: string[]) =>
  gapsIn(resource, accountFor(resource, read(resource, list)), paths);

test('fields that all records have as 0 are gaps, but not one of two revenues', () => {
  const revenues = ['onetimeRevenue', 'monthlyRevenue'];
  const none = { ...deal, onetimeRevenue: 0, monthlyRevenue: 0 };
  const told = (more: Row) =>
    gaps('opportunity', rows(10, { ...none, ...more }), ...revenues).map(({ field }) => field);
  expect(told({})).toEqual(revenues);
  expect(told({ monthlyRevenue: 5 })).toEqual([]);
  const product = { id: 'p', name: 'Switch', price: 5, cost: 0 };
  expect(gaps('product', rows(10, product), 'price', 'cost')).toEqual([
    { record: 'product', field: 'cost', of: 10, rows: 10 },
  ]);
  expect(gaps('product', [...rows(10, product), { ...product, cost: 1 }], 'cost')).toEqual([]);
  const items = [{ name: 'Switch', price: 5, quantity: 1, discount: 0 }];
  expect(gaps('quote', rows(10, { id: 'q', items }), 'items.price', 'items.discount')).toEqual([]);
});

describe('the fields of a reading', () => {
  test('that some records have in a form that is not understood are gaps, with an example', () => {
    const list = [deal, { ...deal, onetimeRevenue: 'on request' }];
    expect(gaps('opportunity', list, 'onetimeRevenue', 'name')).toEqual([
      { record: 'opportunity', field: 'onetimeRevenue', of: 2, rows: 1, example: 'on request' },
    ]);
  });

  test('that no record has are gaps, among as many as would have one', () => {
    const { pipelineStage: _, ...rest } = deal;
    expect(gaps('opportunity', rows(10, rest), 'pipelineStage')).toEqual([
      { record: 'opportunity', field: 'pipelineStage', of: 10, rows: 10 },
    ]);
    expect(gaps('opportunity', rows(9, rest), 'pipelineStage')).toEqual([]);
    expect(gaps('opportunity', rows(2, { ...rest, phase: 'Open' }), 'pipelineStage')).toEqual([
      expect.objectContaining({ of: 2, rows: 2, mayBe: 'phase', example: 'Open' }),
    ]);
    expect(gaps('opportunity', [...rows(10, rest), deal], 'pipelineStage')).toEqual([]);
  });

  describe('that only some records lack', () => {
    const { onetimeRevenue: _, ...rest } = deal;
    const half = (other: Row, more: Row = deal) => [...rows(20, more), ...rows(20, other)];

    test.each<[string, Row, Row | undefined]>([
      ['in a field of another name that means it', { amount: 5 }, { mayBe: 'amount', example: 5 }],
      ['in any field that no record has beside it', { xyz: 5 }, { mayBe: 'xyz', example: 5 }],
      ['in a nested field', { sums: { net: 5 } }, { mayBe: 'sums.net', example: 5 }],
      ['in none', {}, {}],
      ['in none, as null', { onetimeRevenue: null }, {}],
      ['beside a text', { xyz: 'later' }, {}],
    ])('are a gap: %s', (_name, other, expected) => {
      const [gap] = gaps('opportunity', half({ ...rest, ...other }), 'onetimeRevenue');
      expect(gap).toMatchObject({ of: 40, rows: 20, ...expected });
      expect(gap?.mayBe).toBe(expected?.mayBe);
    });

    test('are none where few do, or where no sum needs the field', () => {
      const few = [...rows(36, deal), ...rows(4, rest)];
      expect(gaps('opportunity', few, 'onetimeRevenue')).toEqual([]);
      const { pipelineStage: __, ...staged } = deal;
      expect(gaps('opportunity', half(staged), 'pipelineStage')).toEqual([]);
    });

    test('are none where records have the other field too', () => {
      const both = half({ ...rest, monthlyRevenue: 1, xyz: 5 }, { ...deal, xyz: 4 });
      expect(gaps('opportunity', both, 'pipelineStage')).toEqual([]);
      expect(gaps('opportunity', both, 'onetimeRevenue')[0]).not.toHaveProperty('mayBe');
    });
  });

  test('are those of the lines of quotes too', () => {
    const items = [{ name: 'One', quantity: 2, unitPrice: 10 }];
    const quote = { id: 'q', number: '1', status: 'draft', items };
    expect(gaps('quote', [quote, quote], 'items.price', 'items.quantity')).toEqual([
      {
        record: 'quote_line',
        field: 'price',
        of: 2,
        rows: 2,
        mayBe: 'items.unitPrice',
        example: 10,
      },
    ]);
  });

  test.each<[Row, Row | undefined]>([
    [{}, undefined],
    [{ isDeleted: false }, undefined],
    [{ active: true, status: 'active' }, undefined],
    [{ isDeleted: true }, { mayBe: 'isDeleted', example: true }],
    [{ active: false }, { mayBe: 'active', example: false }],
    [{ status: 'Archived' }, { mayBe: 'status', example: 'Archived' }],
    [{ archivedAt: '2026-01-01' }, { mayBe: 'archivedAt', example: '2026-01-01' }],
    [{ meta: { deletedAt: '2026-01-01' } }, { mayBe: 'meta.deletedAt', example: '2026-01-01' }],
    [{ superseded: true }, { mayBe: 'superseded', example: true }],
    [{ isLatest: true }, undefined],
    [{ isLatest: false }, { mayBe: 'isLatest', example: false }],
    [{ deletedAt: { by: 'x' } }, { example: '{"by":"x"}' }],
    [{ deletedAt: '2026-01-01', isDeleted: true }, undefined],
  ])('%j says of a deletion %j', (more, expected) => {
    const found = gaps('opportunity', [...rows(20, deal), { ...deal, ...more }], 'deletedAt');
    expect(found).toEqual(
      expected ? [expect.objectContaining({ of: 21, rows: 1, ...expected })] : [],
    );
  });
});

describe('records without a known field', () => {
  const strange = (resource: Resource, ...rows: readonly Row[]) =>
    gapsIn(resource, accountFor(resource, read(resource, rows)), []).find(
      ({ field }) => field === 'fields',
    );

  test.each<[string, Resource, Row, string]>([
    ['nested fields', 'company', { id: 'c', attributes: { name: 'Acme' } }, 'attributes'],
    ['another language, beside an id', 'company', { id: 'c', Titel: 'Eins' }, 'Titel'],
    ['another language', 'quote', { nummer: 'Q-1', status_text: 'offen' }, 'nummer, status_text'],
  ])('are a gap, however few: %s', (_, resource, row, example) => {
    expect(strange(resource, row, row)).toMatchObject({ of: 2, rows: 2 });
    expect(strange(resource, row, row)?.example).toContain(example);
    // Lists look at their rows with the quick test first.
    expect(areRead(resource, read(resource, [row]))).toBe(false);
  });

  test('are counted where only some have hardly more than an id, with the first of these', () => {
    const bare = { id: 'o2', name: 'Bare', deletedAt: null };
    expect(strange('opportunity', deal, bare, { ...bare, id: 'o3' })).toEqual({
      record: 'opportunity',
      field: 'fields',
      of: 3,
      rows: 2,
      example: 'o2',
    });
    expect(strange('opportunity', deal, { name: 'Bare' })?.example).toBe('no id');
    expect(strange('opportunity', deal, { ...bare, deletedAt: '2026-01-01' })).toBeUndefined();
    expect(strange('opportunity', bare, bare)).toBeUndefined();
  });

  test('are not records with few values', () => {
    expect(strange('contact', { id: 'p', phone: '1' })).toBeUndefined();
    expect(strange('quote_widget', { id: 'w' })).toBeUndefined();
    expect(strange('category')).toBeUndefined();
  });
});

test('any record is read', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...resources),
      fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })), { maxLength: 4 }),
      (resource, list) => {
        expect(accountFor(resource, read(resource, list)).rows).toBe(list.length);
      },
    ),
  );
});

/** Of every class of statuses, and of each that has a meaning of its own. */
const statusKinds: { [K in ApiErrorKind]?: readonly (number | [number, string])[] } = {
  'key-refused': [401, [403, 'The API key is not valid']],
  'not-permitted': [403, [403, 'This key may not read quotes']],
  'rate-limited': [429, [403, 'Rate limit exceeded'], [403, 'Too many requests']],
  'not-found': [204, 404, 405, 501],
  redirect: [300, 301, 302, 307, 308],
  refused: [400, 402, 406, 409, 410, 413, 414, 422, 451],
  'server-error': [408, 500, 502, 503, 504, 599],
};

test.each(Object.entries(statusKinds))('a response is %s by its status: %j', (kind, cases) => {
  for (const each of cases) {
    const [status, message = 'No'] = [each].flat() as [number, string?];
    const body = Buffer.from(JSON.stringify({ message }));
    let outcome: unknown = 'read';
    try {
      parseResponse({ status, headers: {}, body }, { host: 'h' });
    } catch (error) {
      outcome = (error as ApiError).kind;
    }
    expect([status, message, outcome]).toEqual([status, message, kind]);
  }
});
