import MiniSearch from 'minisearch';
import { expect, test } from 'vitest';
import { WordIndex } from '../../src/briefs/word-index.ts';
import fc from '../support/fast-check.ts';

/** The library's own index, with the same parameters. */
function referenceOf(texts: readonly (readonly [string, string])[], fuzzy: number) {
  const reference = new MiniSearch<{ id: number; name: string; more: string }>({
    fields: ['name', 'more'],
    processTerm: (term) => term.toLowerCase() || null,
    searchOptions: {
      boost: { name: 3 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 3 ? fuzzy : false),
      combineWith: 'AND',
    },
  });
  reference.addAll(texts.map(([name, more], id) => ({ id, name, more })));
  return reference;
}

function indexOf(texts: readonly (readonly [string, string])[]): WordIndex {
  const index = new WordIndex([3, 1], (word) => word.toLowerCase());
  for (const text of texts) index.add(text);
  return index;
}

test('finds what the library finds, in the same order', () => {
  // Few letters, so that words are often alike.
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'C', 'é', '-'), maxLength: 7 });
  const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(' '));
  const texts = fc.array(fc.tuple(text, text), { maxLength: 30 });
  fc.assert(
    fc.property(texts, text, fc.constantFrom(0.2, 0.4), (all, query, fuzzy) => {
      const expected = referenceOf(all, fuzzy)
        .search(query)
        .map(({ id }) => id);
      expect(indexOf(all).search(query, { fuzzy })).toEqual(expected);
    }),
  );
});
