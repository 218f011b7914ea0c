import { expect, test } from 'vitest';
import { contactName, plural, withoutAccents } from '../../src/briefs/naming.ts';

test('counts in the singular and the plural', () => {
  const counted = [plural(1, 'quote'), plural(2, 'quote'), plural(0, 'company'), plural(3, 'day')];
  expect(counted).toEqual(['1 quote', '2 quotes', '0 companies', '3 days']);
});

test('a contact without a full name is called by its parts', () => {
  expect(contactName({ firstName: 'Ada', middleName: ' ', lastName: 'King' })).toBe('Ada King');
  expect(contactName({ name: 'Countess', firstName: 'Ada' })).toBe('Countess');
  expect(contactName({ name: ' ', firstName: '' })).toBeUndefined();
});

test('compares names without accents', () => {
  expect(withoutAccents('bjørn ågren-weiß')).toBe('bjorn agren-weiss');
  expect(withoutAccents('İx y')).toBe('Ix y');
});
