import { expect, test } from 'vitest';
import { DerivedResults } from '../../src/reading/derived.ts';
import type { Opportunity } from '../../src/service/records/records.ts';
import { danglingReferences, gapsAbout } from '../../src/tenant/field-gaps.ts';
import type { Tenant } from '../../src/tenant/tenant.ts';

const dealOf = (id: string, name?: string): Opportunity => ({
  id: `deal of ${id}`,
  company: { id, ...(name && { name }) },
});
const acme = { id: 'c1', name: 'Acme' };
const gaps = (opportunity: readonly Opportunity[], minimum: number, company = [acme]) =>
  danglingReferences(
    { derived: new DerivedResults(() => () => {}) } as Tenant,
    { opportunity, company },
    () => minimum,
  ).map(({ field, rows, of }) => ({ field, rows, of }));

test('of a part, another company of the same name is none that deals mean', () => {
  const deals = [dealOf('c1', 'Acme'), dealOf('c2', 'Acme')];
  expect(gaps(deals, Number.POSITIVE_INFINITY)).toEqual([]);
  expect(gaps([dealOf('c2', 'Acme')], Number.POSITIVE_INFINITY)).toMatchObject([
    { field: 'company', rows: 1, of: 1 },
  ]);
});

test('of a part, an id in another form is one that leads nowhere', () => {
  const deals = [dealOf('c1', 'Acme'), dealOf(' C1 ')];
  expect(gaps(deals, Number.POSITIVE_INFINITY)).toMatchObject([{ rows: 1, of: 2 }]);
});

test('of a whole collection, what leads nowhere is told from so many rows on', () => {
  const deals = [dealOf('c1'), dealOf('x1'), dealOf('x2')];
  expect(gaps(deals, 2)).toMatchObject([{ rows: 2, of: 3 }]);
  expect(gaps(deals, 3)).toEqual([]);
});

test('of one company, ids of the same length lead to others, and those of another form nowhere', () => {
  const company = [{ id: 'TLSDaQmlBKrKuEvysJFk', name: 'No digit' }];
  const same = Array.from({ length: 12 }, (_, at) => dealOf(`AC${at + 10}bQmlBKrKuEvysJFk`));
  expect(gaps(same, Number.POSITIVE_INFINITY, company)).toEqual([]);
  const other = Array.from({ length: 12 }, (_, at) => dealOf(`${at + 100}`));
  expect(gaps(other, Number.POSITIVE_INFINITY, company)).toMatchObject([{ rows: 12, of: 12 }]);
});

test('an answer about some records has the gaps of all, and those that one of these has', () => {
  const gap = { record: 'opportunity' as const, field: 'owner', rows: 1, of: 9 };
  const all = [
    { ...gap, rows: 9 },
    { ...gap, example: 'x' },
    { ...gap, record: 'quote' as const },
  ];
  const about = (opportunity: Opportunity[]) => gapsAbout({ opportunity }, [gap, ...all]);
  expect(about([{ id: 'a' }])).toEqual([gap, ...all]);
  expect(about([{ id: 'a', owner: { id: 'u' } }])).toEqual(all);
});
