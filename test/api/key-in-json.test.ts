import { expect, test } from 'vitest';
import { parseWithoutSecrets, registerSecrets } from '../../src/text/secrets.ts';
import fc from '../support/fast-check.ts';

/** Parses a response while the key is registered. */
function jsonParserWithout(key: string): (text: string) => unknown {
  return (text) => {
    const unregister = registerSecrets([key]);
    try {
      return parseWithoutSecrets(text);
    } finally {
      unregister();
    }
  };
}

/** A character as JSON can write it: as it is, by its code, or with the short escape that it may have. */
function spellingsOf(character: string): string[] {
  const hex = character.charCodeAt(0).toString(16).padStart(4, '0');
  const short = '"\\/'.includes(character) ? [`\\${character}`] : [];
  const plain = '"\\'.includes(character) ? [] : [character];
  return [...plain, ...short, `\\u${hex}`, `\\u${hex.toUpperCase()}`];
}

const keys = fc.string({ minLength: 8, maxLength: 40, unit: 'grapheme-ascii' });
const spelledKeys = keys.chain((key) =>
  fc
    .tuple(...[...key].map((character) => fc.constantFrom(...spellingsOf(character))))
    .map((spelled) => ({ key, spelled: spelled.join('') })),
);

test('a key in a response is replaced however JSON writes it', () => {
  fc.assert(
    fc.property(spelledKeys, fc.string(), ({ key, spelled }, before) => {
      const text = `{"note":["${JSON.stringify(before).slice(1, -1)} ${spelled}"]}`;
      const { note } = JSON.parse(text) as { note: string[] };
      const { note: cleaned } = jsonParserWithout(key)(text) as { note: string[] };
      expect(cleaned).toEqual(note.map((one) => one.replaceAll(key, '[key]')));
      expect(cleaned).not.toEqual(note);
    }),
  );
});

test('a response without the key is parsed as it is', () => {
  fc.assert(
    fc.property(keys, fc.jsonValue(), (key, value) => {
      const text = JSON.stringify(value);
      fc.pre(!text.includes(key) && !JSON.stringify(text).includes(key));
      expect(jsonParserWithout(key)(text)).toEqual(JSON.parse(text));
    }),
  );
});

test('a key of many backslashes is not searched for in exponential time', () => {
  const key = `${'\\'.repeat(24)}x`;
  const value = { note: '\\'.repeat(100) };
  expect(jsonParserWithout(key)(JSON.stringify(value))).toEqual(value);
});

test('a text that is not JSON is undefined', () => {
  expect(jsonParserWithout('a-secret-key')('{"a":')).toBeUndefined();
  expect(jsonParserWithout('a-secret-key')('a-secret-key')).toBeUndefined();
});
