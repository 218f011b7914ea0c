import { describe, expect, test } from 'vitest';
import { isApiError } from '../../src/service/errors.ts';
import {
  findUnrecognized,
  requireRecognized,
  toRecord,
} from '../../src/service/records/recognition.ts';
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

describe('known fields that no record has', () => {
  const rows = (count: number, more: Row) => Array.from({ length: count }, () => ({ ...more }));
  const unrecognized = (resource: Resource, list: readonly Row[]) =>
    findUnrecognized(resource, read(resource, list)).map(({ kind, what, unknownFields }) => [
      ...[kind, what],
      ...unknownFields,
    ]);

  test('are reported with similar fields', () => {
    const { onetimeRevenue: _, pipelineStage: __, ...rest } = deal;
    const list = rows(5, { ...rest, revenue: 5, phase: 'Open' });
    expect(unrecognized('opportunity', list)).toEqual([
      ['opportunity', 'stage', 'phase'],
      ['opportunity', 'revenue', 'revenue'],
    ]);
  });

  test('are reported for the items of quotes', () => {
    const quote = { id: 'q', number: '1', status: 'draft' };
    const items = [{ name: 'One', quantity: 2, unitAmount: 10 }];
    expect(unrecognized('quote', [quote, { ...quote, items }])).toEqual([
      ['quote_item', 'price', 'unitAmount'],
    ]);
  });

  test('are not reported where they are optional', () => {
    const { onetimeRevenue: _, ...rest } = deal;
    expect(unrecognized('opportunity', rows(4, { ...rest, version: 3 }))).toEqual([]);
    expect(unrecognized('opportunity', rows(9, { ...rest, note: 'x', isNew: true }))).toEqual([]);
    expect(unrecognized('opportunity', rows(9, { ...rest, company_id: '17' }))).toEqual([]);
  });
});

test('any record is read or refused, and one with a name is read', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...resources),
      fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })), { maxLength: 4 }),
      (resource, list) => {
        refusal(resource, list);
        findUnrecognized(resource, read(resource, list));
        expect(refusal(resource, [...list, { name: 'One', number: '1' }])).toBeUndefined();
      },
    ),
  );
});
