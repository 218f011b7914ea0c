import { describe, expect, test } from 'vitest';
import { runSteps } from '../../src/figures/steps.ts';
import {
  completeReferences,
  completionSteps,
  haveCompleteReferences,
  referencesWithoutId,
} from '../../src/names/references.ts';
import { type ApiRecord, type Resource, toRecord } from '../../src/service/records/records.ts';

const company = [
  { id: 'c1', name: 'Acme' },
  { id: 'c2', name: 'Twin' },
  { id: 'c3', name: 'twin' },
];
const deal = (raw: Record<string, unknown>) => toRecord('opportunity', raw);

describe('completing references', () => {
  test('takes a name from the record of that id, or from another reference to it', () => {
    const one = deal({ companyId: 'c1', ownerId: 'u1' });
    const deals = [one, deal({ owner: { id: 'u1', name: 'Ada' } })];
    expect(completeReferences({ company, opportunity: deals })).toBe(true);
    expect(one).toMatchObject({ company: { id: 'c1', name: 'Acme' }, owner: { name: 'Ada' } });
  });

  test('takes an id from the only record of that name', () => {
    const one = deal({ company: 'ACME ' });
    expect(completeReferences({ company, opportunity: [one] })).toBe(true);
    expect(one.company?.id).toBe('c1');
  });

  test('does not resolve a name that several records have', () => {
    const one = deal({ company: 'Twin' });
    expect(completeReferences({ company, opportunity: [one] })).toBe(false);
    expect(one.company).toEqual({ name: 'Twin' });
  });

  test('treats bare text that is an id as one, and owners then likewise', () => {
    const one = deal({ company: 'c1', owner: 'u1' });
    completeReferences({ company, opportunity: [one] });
    expect(one).toMatchObject({ company: { id: 'c1', name: 'Acme' }, owner: { id: 'u1' } });
  });

  test('does not treat owners as ids where text is a name', () => {
    const one = deal({ company: 'Acme', owner: 'Ada' });
    completeReferences({ company, opportunity: [one] });
    expect(one.owner).toEqual({ name: 'Ada' });
  });

  test('adds the name of its company to a contact', () => {
    const contact = toRecord('contact', { id: 'p1', companyId: 'c1' });
    completeReferences({ company, contact: [contact] });
    expect(contact.companyName).toBe('Acme');
  });

  test('adds the id of its company to a contact, and reports both kinds of change together', () => {
    const contact = toRecord('contact', { id: 'p1', companyName: 'ACME' });
    const one = deal({ companyId: 'c1' });
    expect(completeReferences({ company, contact: [contact], opportunity: [one] })).toBe(true);
    expect(contact).toMatchObject({ companyId: 'c1', companyName: 'ACME' });
    expect(one.company).toEqual({ id: 'c1', name: 'Acme' });
  });

  test('changes nothing where nothing is missing', () => {
    expect(completeReferences({ company })).toBe(false);
  });

  test('reports a text that became an id as a change, though it has no name', () => {
    const one = deal({ company: 'c4' });
    expect(completeReferences({ company: [{ id: 'c4' }], opportunity: [one] })).toBe(true);
    expect(one.company).toEqual({ id: 'c4' });
  });

  test.each([
    ['complete', { id: 'c1', name: 'Acme' }],
    ['incomplete', { id: 'c1' }],
    ['unknown', { id: 'c9' }],
  ])('handles at most 100 records between two steps where references are %s', (_, ref) => {
    const count = 5_000;
    const opportunity = Array.from({ length: count }, () => deal({ company: { ...ref } }));
    const steps = [...completionSteps({ company, opportunity })];
    expect(steps.length).toBeGreaterThanOrEqual(count / 100);
  });
});

const acme = { id: 'c1', name: 'Acme' };

// Twice each, because lists that are complete are remembered.
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
  for (const attempt of [1, 2])
    expect(runSteps(haveCompleteReferences(resource, records)), `${attempt}`).toBe(isComplete);
});

test('the references of an opportunity that have no id', () => {
  const one = deal({ company: 'Acme', ownerId: 'u1', source: 'Fair' });
  expect([...referencesWithoutId(one)]).toEqual(['company', 'source']);
});
