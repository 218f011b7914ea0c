import { describe, expect, test } from 'vitest';
import { completeReferences } from '../../src/briefs/references.ts';
import { toRecord } from '../../src/records/records.ts';

const company = [
  { id: 'c1', name: 'Acme' },
  { id: 'c2', name: 'Twin' },
  { id: 'c3', name: 'twin' },
];
const deal = (raw: Record<string, unknown>) => toRecord('opportunity', raw);

describe('what a reference lacks', () => {
  test('a name comes from the record of that id, or from another reference to it', () => {
    const one = deal({ companyId: 'c1', ownerId: 'u1' });
    completeReferences({ company, opportunity: [one, deal({ owner: { id: 'u1', name: 'Ada' } })] });
    expect(one).toMatchObject({ company: { id: 'c1', name: 'Acme' }, owner: { name: 'Ada' } });
  });

  test('an id comes from the only record of that name', () => {
    const one = deal({ company: 'ACME ' });
    completeReferences({ company, opportunity: [one] });
    expect(one.company?.id).toBe('c1');
  });

  test('a name that several have leads to none of them', () => {
    const one = deal({ company: 'Twin' });
    completeReferences({ company, opportunity: [one] });
    expect(one.company).toEqual({ name: 'Twin' });
  });

  test('a bare text that is an id is one, and then those of owners are ids as well', () => {
    const one = deal({ company: 'c1', owner: 'u1' });
    completeReferences({ company, opportunity: [one] });
    expect(one).toMatchObject({ company: { id: 'c1', name: 'Acme' }, owner: { id: 'u1' } });
  });

  test('where texts are names, those of owners are not taken for ids', () => {
    const one = deal({ company: 'Acme', owner: 'Ada' });
    completeReferences({ company, opportunity: [one] });
    expect(one.owner).toEqual({ name: 'Ada' });
  });

  test('a contact gets the name of its company', () => {
    const contact = toRecord('contact', { id: 'p1', companyId: 'c1' });
    completeReferences({ company, contact: [contact] });
    expect(contact.companyName).toBe('Acme');
  });
});
