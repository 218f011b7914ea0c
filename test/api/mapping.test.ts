import { expect, test } from 'vitest';
import { FieldMapping, parseFieldRules } from '../../src/service/records/mapping.ts';
import type { Resource } from '../../src/service/records/records.ts';

function mapped(lines: string, row: Record<string, unknown>, resource: Resource = 'opportunity') {
  return new FieldMapping(parseFieldRules(lines)).apply(resource, row);
}

test.each([
  // A field is at one place only, also where that is empty.
  ['opportunity.closedAt = closeDate', { closedAt: 'a', closeDate: 'b' }, { closedAt: 'b' }],
  ['opportunity.closedAt = closeDate', { closedAt: 'a', closeDate: null }, { closedAt: null }],
  ['opportunity.closedAt = closeDate', { closedAt: 'a', id: '1' }, { id: '1' }],
  [
    'opportunity.closedAt = dates.end',
    { dates: { end: 'a', b: 1 } },
    { closedAt: 'a', dates: { b: 1 } },
  ],
  [
    'opportunity.closedAt = customFields.Won on',
    { customFields: { 'Won on': 'a' } },
    { closedAt: 'a', customFields: {} },
  ],
  // Each is read before any is set.
  [
    'opportunity.closedAt = expectedCloseDate\nopportunity.expectedCloseDate = closedAt',
    { closedAt: 'a', expectedCloseDate: 'b' },
    { closedAt: 'b', expectedCloseDate: 'a' },
  ],
  [
    'opportunity.company = companies.0',
    { companies: [{ id: '1' }] },
    { company: { id: '1' }, companies: [{ id: '1' }] },
  ],
  ['opportunity.company.id = company', { company: '1' }, { company: { id: '1' } }],
  [
    'opportunity.company.id = key',
    { company: { name: 'A' }, key: '1' },
    { company: { name: 'A', id: '1' } },
  ],
  ['opportunity.company.id = key', { company: { id: '2' } }, { company: { id: '2' } }],
  // Of words the value stays where it is none of them.
  ['won = statusId in [4, 7]', { statusId: 4 }, { statusId: 'won' }],
  ['won = statusId in [4, 7]', { statusId: 5 }, { statusId: 5 }],
  ['won = statusId in [4, 7]', { id: '1' }, { id: '1' }],
  [
    'won = state in ["Gewonnen, neu", Ja]',
    { state: { id: 9, name: 'gewonnen, neu' } },
    { state: { id: 9, name: 'gewonnen, neu' }, statusId: 'won' },
  ],
  ['won = isWon', { isWon: true }, { isWon: true, statusId: 'won' }],
  ['won = isWon', { isWon: false }, { isWon: false }],
  ['opportunity.deleted = active in [false]', { active: false }, { deleted: true }],
  ['opportunity.deleted = active in [false]', { active: true }, { deleted: false }],
  ['opportunity.deleted = active in [false]', { id: '1' }, { id: '1' }],
  ['opportunity.closedAt = toString', { id: '1' }, { id: '1' }],
])('%s of %j', (lines, row, expected) => {
  expect(mapped(lines, structuredClone(row))).toEqual(expected);
});

test('items are mapped where the list is, and in no other record', () => {
  const lines =
    'quote.items = lines\nquote.items.term = period\nquote.items.monthly = period in [m]';
  const row = { lines: [{ period: 'm' }, { period: 'y' }, null] };
  expect(mapped(lines, structuredClone(row), 'quote')).toEqual({
    items: [{ term: 'monthly' }, { term: 'y' }, null],
  });
  expect(mapped(lines, structuredClone(row))).toEqual(row);
});

test('lines whose right side no row has are known', () => {
  const mapping = new FieldMapping(parseFieldRules('won = isWon\nopportunity.name = title'));
  expect(mapping.unused('opportunity')).toEqual([]);
  for (const title of ['a', 'b']) mapping.apply('opportunity', { title });
  expect(mapping.unused('opportunity', 2).map(({ text }) => text)).toEqual(['won = isWon']);
  expect(mapping.unused('opportunity', 3)).toEqual([]);
  expect(mapping.unused('quote')).toEqual([]);
});
