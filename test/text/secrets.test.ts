import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  hasSecret,
  parseWithoutSecrets,
  registerSecrets,
  withoutSecrets,
} from '../../src/text/secrets.ts';
import { quote } from '../../src/text/untrusted-text.ts';
import fc from '../support/fast-check.ts';

const key = 'sk_Live|4711"Zz]!<a=';
const webhookSecret = 'whsec-0123456789abcdef';
let unregister: () => void;

beforeEach(() => {
  unregister = registerSecrets([key, webhookSecret, undefined, 'short']);
});

afterEach(() => unregister());

const spellings: Record<string, string> = {
  'as it is': key,
  'in a quoted text': quote(key).slice(1, -1),
  'in a table': key.replaceAll('|', '\\|'),
  'in HTML': key.replaceAll('<', '&lt;'),
  'with zero-width spaces': [...key].join('\u200b'),
  'with soft hyphens': [...key].join('\u00ad'),
  'with variation selectors': [...key].join('\u{e0101}'),
  'with tags and control characters': [...key].join('\u{e0041}\u0007'),
};

describe('a registered secret is removed', () => {
  test.each(Object.entries(spellings))('%s', (_, spelled) => {
    expect(withoutSecrets(`before ${spelled} after`)).toBe('before [key] after');
  });

  test('from every text and name of a nested value', () => {
    const value = { a: [{ [`x${webhookSecret}`]: { b: key } }, 1, null, undefined], c: 'kept' };
    const clean = { a: [{ 'x[key]': { b: '[key]' } }, 1, null, undefined], c: 'kept' };
    expect(withoutSecrets(value)).toEqual(clean);
  });

  test('from JSON, however it is escaped', () => {
    const escaped = [...key].map((it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`);
    const text = `{"a":"${escaped.join('')}","b":${JSON.stringify([...key].join('\u2060'))}}`;
    expect(parseWithoutSecrets(text)).toEqual({ a: '[key]', b: '[key]' });
    expect(parseWithoutSecrets('{"a":')).toBeUndefined();
  });

  test('from JSON, whatever invisible characters are in it', () => {
    const invisible = /[\x7F-\x9F\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
    const missed: string[] = [];
    for (let code = 0x7f; code <= 0x10ffff; code++) {
      const character = String.fromCodePoint(code);
      if (!invisible.test(character)) continue;
      const text = JSON.stringify(webhookSecret.replace('-', `${character}-`));
      if (parseWithoutSecrets(text, Buffer.from(text)) !== '[key]') missed.push(code.toString(16));
    }
    expect(missed).toEqual([]);
  });

  test('as a number', () => {
    const done = registerSecrets(['4711471147']);
    expect(withoutSecrets({ id: 4711471147, price: 4711 })).toEqual({ id: '[key]', price: 4711 });
    done();
  });

  test('until it was unregistered as often as registered', () => {
    const first = registerSecrets(['the-same-secret']);
    const second = registerSecrets(['the-same-secret']);
    first();
    first();
    expect(withoutSecrets('the-same-secret')).toBe('[key]');
    second();
    expect(withoutSecrets('the-same-secret')).toBe('the-same-secret');
  });
});

test('tokens are removed by their form', () => {
  const access = `cpq_0123456789ab_${'aB-_9'.repeat(9).slice(0, 43)}`;
  const part = 'eyJhbGciOiJSUzI1NiJ9';
  const oauth = `${part}.eyJzdWIiOiJhbGljZSJ9.${'c2lnbmF0dXJl'.repeat(4)}`;
  expect(withoutSecrets([`a ${access}.`, `Bearer ${oauth}`])).toEqual(['a [key].', 'Bearer [key]']);
});

test('a value without secrets is returned as it is', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const before = structuredClone(value);
      expect(withoutSecrets(value)).toBe(value);
      expect(value).toEqual(before);
    }),
  );
});

test('each of many secrets is removed, as of a server of many tenants', () => {
  const secrets = Array.from({ length: 150 }, (_, at) => `secret-${at}-of-many`);
  const done = registerSecrets(secrets);
  expect(secrets.filter((secret) => withoutSecrets(secret) !== '[key]')).toEqual([]);
  expect(secrets.filter((secret) => !hasSecret(secret))).toEqual([]);
  done();
});

test('short secrets are kept, because they match ordinary text', () => {
  expect(withoutSecrets('a short text')).toBe('a short text');
});

test.each([
  ['backslashes', `${'\\'.repeat(24)}x`, '\\'.repeat(20_000)],
  ['one character', 'a'.repeat(40), `${'a\u200b'.repeat(30)}b`.repeat(300)],
  ['quotation marks', `${'"'.repeat(24)}x`, '\\"'.repeat(10_000)],
])('a secret of %s is searched for in linear time', (_, secret, text) => {
  const done = registerSecrets([secret]);
  expect(withoutSecrets(text)).toBe(text);
  done();
});
