import { describe, expect, test } from 'vitest';
import { runSteps } from '../../src/figures/steps.ts';
import {
  completeReferences,
  type KnownRecords,
  lacksName,
  NamesIn,
  namingResources,
  referencesWithoutId,
} from '../../src/names/references.ts';
import { toRecord } from '../../src/service/records/recognition.ts';
import type { ApiRecord, RecordOf, Resource } from '../../src/service/records/records.ts';

const company = [
  { id: 'c1', name: 'Acme' },
  { id: 'c2', name: 'Twin' },
  { id: 'c3', name: 'twin' },
];
const deal = (raw: Record<string, unknown>) => toRecord('opportunity', raw);

const namesIn = (known: KnownRecords) =>
  namingResources.flatMap((each) => {
    const records = known[each];
    return records ? [runSteps(NamesIn.of(each, records))] : [];
  });

const complete = <R extends Resource>(
  resource: R,
  records: readonly RecordOf[R][],
  known: KnownRecords,
) => runSteps(completeReferences(resource, records, namesIn({ ...known, [resource]: records })));

describe('completing references', () => {
  test('takes a name from the record of that id, or from another reference to it', () => {
    const one = deal({ companyId: 'c1', ownerId: 'u1' });
    const deals = [one, deal({ owner: { id: 'u1', name: 'Ada' } })];
    const [completed] = complete('opportunity', deals, { company });
    expect(completed).toMatchObject({
      company: { id: 'c1', name: 'Acme' },
      owner: { name: 'Ada' },
    });
  });

  test('takes an id from the only record of that name', () => {
    const [completed] = complete('opportunity', [deal({ company: 'ACME ' })], { company });
    expect(completed?.company?.id).toBe('c1');
  });

  test('does not resolve a name that several records have', () => {
    const deals = [deal({ company: 'Twin' })];
    expect(complete('opportunity', deals, { company })).toBe(deals);
  });

  test('does not resolve a name that records of several collections have', () => {
    const deals = [deal({ company: 'Acme' })];
    const quote = [{ company: { id: 'c9', name: 'acme' } }];
    expect(complete('opportunity', deals, { company, quote })).toBe(deals);
  });

  test('treats bare text that is an id as one, and owners then likewise', () => {
    const [completed] = complete('opportunity', [deal({ company: 'c1', owner: 'u1' })], {
      company,
    });
    expect(completed).toMatchObject({ company: { id: 'c1', name: 'Acme' }, owner: { id: 'u1' } });
  });

  test('does not treat owners as ids where text is a name', () => {
    const [completed] = complete('opportunity', [deal({ company: 'Acme', owner: 'Ada' })], {
      company,
    });
    expect(completed?.owner).toEqual({ name: 'Ada' });
  });

  test('adds the name of its company to a contact', () => {
    const contacts = [toRecord('contact', { id: 'p1', companyId: 'c1' })];
    expect(complete('contact', contacts, { company })[0]?.companyName).toBe('Acme');
  });

  test('adds the id of its company to a contact', () => {
    const contacts = [toRecord('contact', { id: 'p1', companyName: 'ACME' })];
    expect(complete('contact', contacts, { company })[0]).toMatchObject({
      companyId: 'c1',
      companyName: 'ACME',
    });
  });

  test('copies only records with an incomplete reference, and changes none', () => {
    const whole = deal({ company: { id: 'c1', name: 'Acme' } });
    const one = deal({ companyId: 'c2' });
    const before = structuredClone(one);
    const completed = complete('opportunity', [whole, one], { company });
    expect(completed[0]).toBe(whole);
    expect(completed[1]).toMatchObject({ company: { name: 'Twin' } });
    expect(one).toEqual(before);
  });

  test('takes a text for an id, though the record has no name', () => {
    const [completed] = complete('opportunity', [deal({ company: 'c4' })], {
      company: [{ id: 'c4' }],
    });
    expect(completed?.company).toEqual({ id: 'c4' });
  });

  test.each([
    ['complete', { id: 'c1', name: 'Acme' }],
    ['incomplete', { id: 'c1' }],
    ['unknown', { id: 'c9' }],
  ])('handles at most 100 records between two steps where references are %s', (_, ref) => {
    const count = 5_000;
    const opportunity = Array.from({ length: count }, () => deal({ company: { ...ref } }));
    const names = namesIn({ company, opportunity });
    const steps = [...completeReferences('opportunity', opportunity, names)];
    expect(steps.length).toBeGreaterThanOrEqual(count / 100);
  });
});

const acme = { id: 'c1', name: 'Acme' };

test.each<[what: string, resource: Resource, records: ApiRecord[], isComplete: boolean]>([
  ['a contact of a company', 'contact', [{ companyId: 'c1', companyName: 'Acme' }], true],
  ['a contact without a company', 'contact', [{}], true],
  ['a contact of a company without a name', 'contact', [{ companyId: 'c1' }], false],
  ['a contact of a company without an id', 'contact', [{}, { companyName: 'Acme' }], false],
  ['a quote of a company', 'quote', [{ company: acme }], true],
  [
    'a quote of a company without a name',
    'quote',
    [{ company: acme }, { company: { id: 'c1' } }],
    false,
  ],
  ['a quote of a company without an id', 'quote', [{ company: { name: 'Acme' } }], false],
  ['a company', 'company', [{ id: 'c1' }], true],
  ['a last name', 'opportunity', [{ contact: { id: 'p1', name: ' ', lastName: 'Ng' } }], true],
  ['a middle name', 'opportunity', [{ contact: { id: 'p1', middleName: 'Lee' } }], true],
  ['blank names', 'opportunity', [{ contact: { id: 'p1', name: ' ', firstName: ' ' } }], false],
])('whether references are complete: %s', (_, resource, records, isComplete) => {
  expect(records.some((record) => lacksName(resource, record))).toBe(!isComplete);
});

test('the references of an opportunity that have no id', () => {
  const one = deal({ company: 'Acme', ownerId: 'u1', source: 'Fair' });
  expect([...referencesWithoutId(one)]).toEqual(['company', 'source']);
});
