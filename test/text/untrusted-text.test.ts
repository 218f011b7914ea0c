import { describe, expect, test } from 'vitest';
import { visible } from '../../src/text/characters.ts';
import {
  identifier,
  join,
  oneLine,
  quote,
  quoteVerbatim,
  Verbatim,
  withoutLiveMarkdown,
  wording,
} from '../../src/text/untrusted-text.ts';
import fc, { codePoint } from '../support/fast-check.ts';

/** Untrusted text inside the server's own sentences. */

const odd = fc.constantFrom(
  '"',
  '\\',
  '”',
  '″',
  '’’',
  '\n',
  '\r',
  '\u2028',
  '\u0085',
  '\u001b[2J',
  '\u202e',
  '\u200b',
  '\u{E0041}',
  '\ufe01',
  '\u2800',
  '<b>',
  '![a](b)',
  '](',
  '\noutcome: written',
  '\ud83d',
);
const text = fc
  .array(fc.oneof(odd, fc.string({ unit: codePoint, maxLength: 5 })), { maxLength: 80 })
  .map((parts) => parts.join(''));

/** Format characters that are visible. */
const seenSigns = /[\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]/gu;

describe('a quoted text', () => {
  test('is one line, and ends at its closing mark, for any text', () => {
    fc.assert(
      fc.property(text, (it) => {
        const quoted = quote(it);
        expect(quoted).toMatch(/^"(?:[^"\\\n]|\\["\\])*"(?: \([\d,]+ [^"()]*\))?$/);
        expect(quoted.replace(seenSigns, '')).not.toMatch(
          /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|[“”″]|<[a-z]|!\[|\]\(/iu,
        );
        expect(quoted.isWellFormed()).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('for a person has exactly one closing mark', () => {
    fc.assert(
      fc.property(text, (it) => {
        const quoted = quoteVerbatim(it).replace(/[\u2068\u2069]/g, '');
        expect(quoted.match(/[“”]/g)).toHaveLength(2);
        expect(quoted).toMatch(/^“[^\n]*”(?: \(\d+ invisible characters?\))?$/);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ['Acme', '"Acme"'],
    ['24" monitor', '"24\\" monitor"'],
    ['C:\\', '"C:\\\\"'],
    ['Deal"\noutcome: written', '"Deal\\" ⏎ outcome: written"'],
    ['Acme <template>', '"Acme < template>"'],
    ['x'.repeat(300), `"${'x'.repeat(240)}…" (300 characters)`],
    ['a\u200b\u202eb', '"ab" (2 invisible characters)'],
    [`${'\u200b'.repeat(3_000)}abc`, '"abc" (3,000 invisible characters)'],
    [`\u200b${'x'.repeat(300)}`, `"${'x'.repeat(240)}…" (301 characters, 1 invisible)`],
  ])('%j is %s', (it, quoted) => {
    expect(quote(it)).toBe(quoted);
  });

  test('of any length is cut in constant time', () => {
    const endless = `${' '.repeat(3_000_000)}![x](${'\\"<'.repeat(1_000_000)}`;
    expect(quote(endless).length).toBeLessThan(1_000);
    expect(quoteVerbatim(endless, 240).length).toBeLessThan(400);
  });

  test('has no marks if it is an identifier', () => {
    expect(identifier('OPP-40001')).toBe('OPP-40001');
    expect(identifier('a b')).toBe('"a b"');
    expect(identifier('x'.repeat(81))).toBe(`"${'x'.repeat(81)}"`);
  });
});

describe('a wording', () => {
  const name: string = 'Acme';

  test('accepts literals, numbers and other wordings', () => {
    const kind: 'company' | 'contact' = 'company';
    expect(wording`${2} of ${kind} ${quote(name)}`).toBe('2 of company "Acme"');
    expect(join([wording`a`, wording`b`], ', ')).toBe('a, b');
  });

  test('does not accept untrusted text', () => {
    // @ts-expect-error: not quoted
    wording`No company is called ${name}.`;
    // @ts-expect-error: not quoted, in a template of its own
    wording`No company is called ${`the ${name}`}.`;
    // @ts-expect-error: nothing is no word
    wording`No company is called ${undefined}.`;
  });
});

describe('visible text', () => {
  test.each([
    ['☎️ ☎︎ 👍 1️⃣ ©️', '☎️ ☎︎ 👍 1️⃣ ©️'],
    ['a\ufe0fb\ufe0ec', 'abc'],
    ['☎\ufe0f\ufe0e\ufe0f', '☎\ufe0f'],
    ['1\ufe0f2\ufe0e', '12'],
    ['a\u2800b\u3164c\u115fd\uffa0e\u034f', 'a bcde'],
    ['a\u00a0b\u2003c\u3000d', 'a b c d'],
  ])('of %j is %j', (it, seen) => {
    expect(visible(it)).toBe(seen);
  });

  test('is unchanged when cleaned again', () => {
    fc.assert(
      fc.property(text, (it) => {
        expect(visible(visible(it))).toBe(visible(it));
      }),
    );
  });
});

describe('Markdown', () => {
  test.each([
    ['![x](https://a.b)', '! [x](https://a.b)'],
    ['![x][1]', '! [x][1]'],
    ['[x](https://a.b)', '[x](https://a.b)'],
    ['[x](mailto:a@b.c)', '[x](mailto:a@b.c)'],
    ['[x](javascript:y)', '[x] (javascript:y)'],
    ['[x]( javascript:y)', '[x] ( javascript:y)'],
    ['[x](<javascript:y>)', '[x] (< javascript:y>)'],
    ['[x](java&#115;cript:y)', '[x] (java&#115;cript:y)'],
    ['[x]: javascript:y', '[x] : javascript:y'],
    ['[x]: https://a.b', '[x]: https://a.b'],
    ['<javascript:y>', '< javascript:y>'],
    ['<JavaScript:y>', '< JavaScript:y>'],
    ['<https://a.b>', '<https://a.b>'],
    ['a[1](2)', 'a[1] (2)'],
  ])('of %s becomes %s', (it, dead) => {
    expect(withoutLiveMarkdown(it)).toBe(dead);
  });

  test('keeps every visible character', () => {
    const bare = (it: string) => it.replaceAll(' ', '');
    fc.assert(
      fc.property(text, (it) => {
        expect(bare(withoutLiveMarkdown(it))).toBe(bare(it));
      }),
    );
  });
});

test('a value of a change keeps its markup and lines, with its length', () => {
  expect(String(new Verbatim('<template>x</template>\ny'))).toBe('<template>x</template>\ny');
  expect(String(new Verbatim('x'.repeat(3_000)))).toBe(
    `${'x'.repeat(2_000)}… [2,000 of 3,000 characters]`,
  );
  expect(String(new Verbatim('a\u200b'))).toBe('a (1 invisible character)');
  expect(String(new Verbatim('ab\u200b', 1))).toBe(
    'a… [1 of 3 characters] (1 invisible character)',
  );
});

test('blanks before line breaks take linear time', () => {
  expect(oneLine(`a${' \n'.repeat(200_000)}b`)).toBe('a ⏎ b');
});
