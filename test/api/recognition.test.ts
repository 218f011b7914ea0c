import { describe, expect, test } from 'vitest';
import { runSteps } from '../../src/figures/steps.ts';
import { isApiError } from '../../src/service/errors.ts';
import { accountOf, gapsIn } from '../../src/service/records/account.ts';
import { requireRecognized, toRecord } from '../../src/service/records/recognition.ts';
import type { Resource } from '../../src/service/records/records.ts';
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
const pascal = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([key, value]) => [key.replace(/^./, (it) => it.toUpperCase()), value]),
  );

/** The unknown fields that the error names; undefined where the records are recognized. */
function refusal(resource: Resource, rows: readonly Row[]): readonly string[] | undefined {
  try {
    requireRecognized(resource, read(resource, rows), { host: 'h', path: '/x' });
    return undefined;
  } catch (error) {
    if (isApiError(error, 'unfamiliar')) return error.facts.unknownFields;
    throw error;
  }
}

const accountFor = (resource: Resource, list: readonly Row[]) =>
  runSteps(accountOf(resource, list));

describe('the fields of a reading', () => {
  const rows = (count: number, more: Row) => Array.from({ length: count }, () => ({ ...more }));
  const gaps = (resource: Resource, list: readonly Row[], ...paths: string[]) =>
    gapsIn(resource, accountFor(resource, read(resource, list)), paths);

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

  test('are those of the lines of quotes too', () => {
    const items = [{ name: 'One', quantity: 2, unitPrice: 10 }];
    const quote = { id: 'q', number: '1', status: 'draft', items };
    expect(
      gaps('quote', [quote, { ...quote, items: [] }], 'items.price', 'items.quantity'),
    ).toEqual([
      {
        record: 'quote_line',
        field: 'price',
        of: 1,
        rows: 1,
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
  test.each<[string, Resource, Row, string[]]>([
    ['PascalCase', 'opportunity', pascal(deal), ['Id', 'Name', 'PipelineStage', 'OnetimeRevenue']],
    [
      'nested fields',
      'company',
      { id: 'c', type: 'company', attributes: { name: 'Acme' } },
      ['attributes'],
    ],
    [
      'another language',
      'quote',
      { nummer: 'Q-1', status_text: 'offen' },
      ['nummer', 'status_text'],
    ],
    ['names of another kind', 'company', { id: 'c', name: { de: 'Acme' } }, ['name']],
  ])('are refused with the name of the collection: %s', (_, resource, row, fields) => {
    expect(refusal(resource, [row, row])).toEqual(fields);
  });

  test('are not records with few values', () => {
    expect(refusal('contact', [{ id: 'p', phone: '1' }])).toBeUndefined();
    expect(refusal('quote_widget', [{ id: 'w' }])).toBeUndefined();
    expect(refusal('category', [])).toBeUndefined();
  });

  test('are accepted beside a known one', () => {
    expect(refusal('opportunity', [pascal(deal), deal])).toBeUndefined();
  });
});

test('any record is read or refused, and one with a name is read', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...resources),
      fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })), { maxLength: 4 }),
      (resource, list) => {
        refusal(resource, list);
        accountFor(resource, read(resource, list));
        expect(refusal(resource, [...list, { name: 'One', number: '1' }])).toBeUndefined();
      },
    ),
  );
});
