import MiniSearch from 'minisearch';
import { expect, test } from 'vitest';
import { runSteps } from '../../src/figures/steps.ts';
import { WordIndex } from '../../src/names/word-index.ts';
import fc from '../support/fast-check.ts';

/** The library's own index, with the same parameters. */
function referenceOf(texts: readonly (readonly [string, string])[], fuzzy: number) {
  const reference = new MiniSearch<{ id: number; name: string; more: string }>({
    fields: ['name', 'more'],
    processTerm: (term) => term.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase() || null,
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
  const index = new WordIndex();
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
      expect(runSteps(indexOf(all).search(query, fuzzy))).toEqual(expected);
    }),
  );
});

/** Words of products, some of which begin alike or differ by a letter. */
const vocabulary =
  'switch switches switching swatch router routed cable cables camera cameras cam access point points' +
  ' rack racks server servers service services license licenses licence support managed wireless';
const stock = vocabulary.split(' ');
/** Names of one to three words in texts of two to ten, in which words occur again. */
const names = Array.from({ length: 150 }, (_, at): [string, string] => {
  const wordAt = (place: number) =>
    stock[((at * 31 + place * place * 7) ** 2 % 997) % stock.length];
  const words = Array.from({ length: 2 + ((at * 5) % 9) }, (_, place) => wordAt(place));
  return [words.slice(0, 1 + (at % 3)).join(' '), words.join('-')];
});
names.push(['internationalisation', 'internationalisation']);
const misspelt = (word: string) => `${word.slice(0, 2)}x${word.slice(3)}`;
const queries = [
  ...stock.flatMap((word) => [word, word.slice(0, 2), word.slice(0, 3), word.slice(0, 4)]),
  ...stock.flatMap((word, at) => [misspelt(word), `${word} ${stock[(at + 9) % stock.length]}`]),
  'switch camera point',
  '-switch-',
  'unheard switch',
  'xxxxxxnationalisation',
  'xxxxxxxationalisation',
  '',
];

test('ranks names of products as the library does', () => {
  const index = indexOf(names);
  for (const fuzzy of [0.2, 0.4]) {
    const reference = referenceOf(names, fuzzy);
    for (const query of queries) {
      const expected = reference.search(query).map(({ id }) => id);
      expect(runSteps(index.search(query, fuzzy)), query).toEqual(expected);
    }
  }
});

test('finds what contains the words, below the words themselves, if that is asked for', () => {
  const index = indexOf([
    ['Telephone system', ''],
    ['Azure landing zone', ''],
    ['Headphones', 'of the system'],
    ['Microphone', ''],
    ['Phone', ''],
  ]);
  const found = (query: string) => [...runSteps(index.search(query, 0.2, true))];
  const [first, ...others] = found('phone');
  expect([first, others.sort()]).toEqual([4, [0, 2, 3]]);
  expect(found('phone system').sort()).toEqual([0, 2]);
  expect(runSteps(index.search('phone system', 0.2))).toEqual([]);
  // A word itself counts more than those that contain it, also twice.
  index.add(['Handset Landing', '']);
  index.add(['Handset Outlandings outlandings', '']);
  expect(found('andset landing')).toEqual([5, 6]);
  // A short one is in too many.
  expect(found('one')).toEqual([]);
});

test('pauses between branches of its tree, and stops at a word that nothing is similar to', () => {
  const letters = [...'bcdfghjklmnpqrstvwz'];
  const index = indexOf(letters.map((letter) => [`${letter}ability ${letter}abilities`, '']));
  const pausesOf = (query: string) => [...index.search(query, 0.4)].length;
  const noWord = 'xxxxxxxxxxxxxxxxxxxx';
  expect(pausesOf(noWord)).toBe(letters.length);
  expect(pausesOf(`${noWord} ${noWord} ability`)).toBe(letters.length);
  expect(pausesOf('bability')).toBeGreaterThan(2 * letters.length);
});

test('estimates the memory of its words and of where they occur', () => {
  const index = new WordIndex();
  index.add([Array.from({ length: 60 }, (_, at) => `-w${at}`).join(' ')]);
  // 250 for each word, 9 for each occurrence, and 8 for the length of each field.
  expect(index.bytes).toBe(60 * 250 + 60 * 9 + 2 * 8);
});
