import { expect, test } from 'vitest';
import { lineLabel } from '../../src/figures/group-labels.ts';
import { limitSorted } from '../../src/figures/lists.ts';
import { plural, quoteName, withoutAccents } from '../../src/figures/naming.ts';
import { runSteps } from '../../src/figures/steps.ts';
import fc from '../support/fast-check.ts';

test('counts in the singular and the plural', () => {
  const counted = [plural(1, 'quote'), plural(2, 'quote'), plural(0, 'company'), plural(3, 'day')];
  expect(counted).toEqual(['1 quote', '2 quotes', '0 companies', '3 days']);
});

test('a quote is called by its title, else by its name, else by its number', () => {
  const quote = { title: ' T ', name: 'N', number: 'Q-1' };
  const names = [quote, { ...quote, title: ' ' }, { number: 'Q-1' }, {}].map(quoteName);
  expect(names).toEqual(['T', 'N', 'Q-1', undefined]);
});

test('a line is grouped by what its product or category is called, else by its own text', () => {
  const line = { name: 'Text', product: { id: 'p', name: 'Product' }, category: { name: 'C' } };
  expect(lineLabel(line, 'product')).toEqual({ id: 'p', name: 'Product' });
  expect(lineLabel({ ...line, product: { id: 'p' } }, 'product')).toEqual({
    id: 'p',
    name: 'Text',
  });
  expect(lineLabel(line, 'category')).toMatchObject({ name: 'C' });
});

test('compares names without accents', () => {
  expect(withoutAccents('bjørn ågren-weiß')).toBe('bjorn agren-weiss');
  expect(withoutAccents('İx y')).toBe('Ix y');
});

test('the first rows in an order are those of the sorted list', () => {
  const items = fc.array(fc.record({ rank: fc.integer({ min: 0, max: 5 }), id: fc.nat() }));
  fc.assert(
    fc.property(items, fc.integer({ min: 0, max: 8 }), (all, limit) => {
      const byRank = (a: { rank: number }, b: { rank: number }) => a.rank - b.rank;
      const rows = all.toSorted(byRank).slice(0, limit);
      const list = runSteps(limitSorted(all, byRank, limit, (item) => item));
      expect(list).toEqual({ shown: rows.length, total: all.length, rows });
    }),
  );
});
