import { describe, expect, test } from 'vitest';
import { firstInvisible } from '../../src/text/invisible-characters.ts';
import { looksLike } from '../../src/text/look-alikes.ts';
import fc from '../support/fast-check.ts';

describe('an invisible character', () => {
  test.each([
    ['\u0000', 'U+0000'],
    ['\u0007', 'U+0007'],
    ['\u001b', 'U+001B'],
    ['\u0085', 'U+0085'],
    ['\u00ad', 'U+00AD'],
    ['\u034f', 'U+034F'],
    ['\u115f', 'U+115F'],
    ['\u1160', 'U+1160'],
    ['\u200b', 'U+200B'],
    ['\u200c', 'U+200C'],
    ['\u200d', 'U+200D'],
    ['\u2028', 'U+2028'],
    ['\u202e', 'U+202E'],
    ['\u2060', 'U+2060'],
    ['\u2067', 'U+2067'],
    ['\u2800', 'U+2800'],
    ['\u3164', 'U+3164'],
    ['\uffa0', 'U+FFA0'],
    ['\ufeff', 'U+FEFF'],
    ['\ufe0f', 'U+FE0F'],
    ['\ufe01', 'U+FE01'],
    ['\u{e0101}', 'U+E0101'],
    ['\u{e0041}', 'U+E0041'],
    ['\u{e007f}', 'U+E007F'],
    ['\ud83d', 'U+D83D'],
    ['\udc00', 'U+DC00'],
    ['\ufffe', 'U+FFFE'],
    ['\u2065', 'U+2065'],
    ['\u{1d173}', 'U+1D173'],
  ])('%j is found with its name', (character, name) => {
    const allowed = { lines: true, joiners: true };
    expect(firstInvisible(`Ünï${character}code`, allowed)).toEqual({ at: 4, name });
    expect(firstInvisible(`😀${character}`, {})).toEqual({ at: 2, name });
    expect(firstInvisible(`Ünï${character}code`)).toEqual({ at: 4, name });
  });

  test.each([
    ['a selector after a selector', '❤\ufe0f\ufe0f'],
    ['a selector after a letter', 'a\ufe0f'],
    ['a selector after a digit that makes no keycap', '1\ufe0f2'],
    ['a joiner after an emoji, before a letter', '👍\u200da'],
    ['two joiners', '👩\u200d\u200d👧'],
    ['a joiner between letters', 'a\u200cb'],
    ['a non-joiner at the end of an Arabic word', 'می\u200c'],
    ['two non-joiners', 'می\u200c\u200cخواهم'],
    ['a tag without a flag', '\u{e0067}\u{e0062}'],
    ['the tags of a flag', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'],
  ])('is found: %s', (_, text) => {
    expect(firstInvisible(text, { joiners: true })).toBeDefined();
  });

  test.each([
    '👩\u200d👩\u200d👧 and 🏳\ufe0f\u200d🌈',
    '👩🏽\u200d💻 ❤\ufe0f 1\ufe0f\u20e3 ☎\ufe0e',
    'می\u200cخواهم',
    'عقد طباعة لـ ٦٨ جهازًا',
    'חוזה הדפסה',
    'क्\u200dष र\u200d्य ශ්\u200dරී ന്\u200d',
    'Ærø, naïve façade, Zoë, e\u0301',
    '見積書\u3000一式',
    '1\u202f000\u00a0€',
  ])('is not found in %j', (text) => {
    expect(firstInvisible(text, { joiners: true })).toBeUndefined();
  });

  test('is a joiner where joiners are not allowed, as in an identifier', () => {
    expect(firstInvisible('می\u200cخواهم')).toMatchObject({ at: 3 });
    expect(firstInvisible('❤\ufe0f')).toMatchObject({ at: 2 });
  });

  test('is a tab or line break, except in text with lines', () => {
    const text = 'one\ttwo\r\nthree\nfour';
    expect(firstInvisible(text, { lines: true })).toBeUndefined();
    expect(firstInvisible(text)).toEqual({ at: 4, name: 'U+0009' });
    expect(firstInvisible('a\rb', { lines: true })).toMatchObject({ at: 2 });
  });
});

/** Some look-alike characters, by script and width. */
const passingFor: Readonly<Record<string, string>> = {
  A: 'АΑᎪＡ𝐀𝖠',
  B: 'ВΒᏴＢ𝐁',
  C: 'СϹᏟＣⅭ',
  E: 'ЕΕᎬＥ',
  O: 'ОΟ0Օ０Ｏ𝟎',
  P: 'РΡᏢＰ',
  S: 'ЅՏᏚＳ',
  T: 'ТΤᎢＴ',
  X: 'ХΧⅩＸ',
  a: 'аɑａ𝐚',
  e: 'еｅ℮',
  o: 'оοօ०ｏ',
  p: 'рρｐ',
  '0': '０O𝟘',
  '1': 'l１I|Ι',
  '2': '２𝟚',
  '-': '‐‑‒–—―−﹘－',
};
const unseen = [
  '\u034f',
  '\u3164',
  '\u2800',
  '\ufe01',
  '\u{e0101}',
  '\u200b',
  '\u00a0',
  ' ',
  '\u00ad',
];

const plain = fc.array(fc.constantFrom(...Object.keys(passingFor)), {
  minLength: 1,
  maxLength: 12,
});

describe('texts that look alike', () => {
  test('are found for any substituted characters', () => {
    const disguised = plain.chain((letters) =>
      fc.record({
        text: fc.constant(letters.join('')),
        other: fc
          .tuple(...letters.map((it) => fc.constantFrom(it, ...Array.from(passingFor[it] ?? ''))))
          .map((chosen) => chosen.join('')),
      }),
    );
    fc.assert(
      fc.property(disguised, ({ text, other }) => {
        expect(looksLike(text)(other)).toBe(true);
        expect(looksLike(other)(text)).toBe(true);
      }),
    );
  });

  test('are found with invisible characters between letters, in any letter case', () => {
    const filled = fc.tuple(plain, fc.array(fc.constantFrom('', ...unseen), { maxLength: 12 }));
    fc.assert(
      fc.property(filled, fc.boolean(), ([letters, fillers], small) => {
        const text = letters.join('');
        const other = letters.map((it, at) => `${it}${fillers[at] ?? ''}`).join('');
        expect(looksLike(text)(small ? other.toLowerCase() : other)).toBe(true);
      }),
    );
  });

  test.each([
    ['OPP-40001', 'OPP-40002'],
    ['OPP-40001', 'OPP-4000'],
    ['acme-ball', 'acme-bali'],
    ['Müller', 'Muller'],
    ['2026-1', '2026-2'],
    ['', ' '],
    ['\u3164', '\u2800'],
  ])('do not include %j and %j', (one, other) => {
    expect(looksLike(one)(other)).toBe(false);
  });
});
