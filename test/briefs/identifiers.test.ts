import { describe, expect, test } from 'vitest';
import { runSteps } from '../../src/figures/steps.ts';
import { comparePhones, phoneDigits } from '../../src/names/phones.ts';
import { findIn, SearchIndex, type SearchKind } from '../../src/names/search.ts';
import type { Contact, Product, RecordOf } from '../../src/service/records/records.ts';
import fc from '../support/fast-check.ts';

function createSearchIndex<K extends SearchKind>(kind: K, records: readonly RecordOf[K][]) {
  const index = new SearchIndex(kind);
  for (const record of records) index.add(record);
  return { index, find: (text: string) => runSteps(findIn([index], text))[0] ?? [] };
}

const digits = (minLength: number, maxLength: number) =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength, maxLength })
    .map((each) => each.join(''))
    .filter((text) => !text.startsWith('0'));
const separator = fc.constantFrom('', ' ', '-', '.', ' / ', '\u00a0');
const country = fc.constantFrom('1', '44', '49', '353');

/** Spellings of a phone number: with or without country code, trunk zero, area code in brackets, extension. */
const spellings = fc
  .record({ country, area: digits(2, 4), line: digits(7, 8), separator, extension: fc.boolean() })
  .map(({ country, area, line, separator, extension }) => {
    const [head, tail] = [line.slice(0, 3), line.slice(3)];
    const local = `${area}${separator}${head}${separator}${tail}`;
    const ends = extension ? ' Ext. 12' : '';
    return {
      stored: `+${country} ${area} ${head} ${tail}`,
      typed: [
        `+${country}${separator}${local}`,
        `00${country}${separator}${local}`,
        `+${country} (0)${local}`,
        `0${local}`,
        `(${area}) ${head}${separator}${tail}`,
        `Tel: ${local}`,
        [...local]
          .map((one) => one.replace(/\d/, (digit) => String.fromCharCode(0xff10 + Number(digit))))
          .join(''),
      ].map((text) => text + ends),
    };
  });

describe('a phone number', () => {
  test('is found in every spelling, with and without its country code', () => {
    fc.assert(
      fc.property(spellings, ({ stored, typed }) => {
        const index = createSearchIndex('contact', [
          { id: 'other', phone: '+99 5550000111' },
          { id: 'it', phone: stored },
        ]);
        for (const text of typed) {
          expect(index.find(text)[0], text).toMatchObject({
            record: { id: 'it' },
            by: 'identifier',
          });
        }
      }),
    );
  });

  test('is only similar without its area code, and another number is no match', () => {
    const index = createSearchIndex('contact', [{ id: 'it', phone: '+1 617 555 9556' }]);
    expect(index.find('555-9556')).toEqual([{ record: expect.objectContaining({ id: 'it' }) }]);
    expect(index.find('555-9557')).toEqual([]);
    expect(index.find('1 617 555 0556')).toEqual([]);
  });

  test('is not read from other text', () => {
    for (const text of ['Q-2026-1001', 'AB 555 9556', '12.50', '', '555-955'])
      expect(phoneDigits(text), text).toBeUndefined();
  });

  test('matches whichever of the two is shorter', () => {
    const number = digits(7, 14);
    fc.assert(
      fc.property(number, number, (one, other) => {
        expect(comparePhones(one, other)).toBe(comparePhones(other, one));
      }),
    );
  });
});

describe('a part number', () => {
  const part = fc.stringMatching(/^[A-Z0-9]{5,12}$/);

  test('is found with two characters swapped, but not as exact', () => {
    fc.assert(
      fc.property(part, fc.nat(), (mpn, place) => {
        const at = place % (mpn.length - 1);
        const typed = `${mpn.slice(0, at)}${mpn[at + 1]}${mpn[at]}${mpn.slice(at + 2)}`;
        const [hit] = createSearchIndex<'product'>('product', [{ id: 'it', mpn } as Product]).find(
          typed,
        );
        expect(hit?.record.id).toBe('it');
        expect(hit?.by).toBe(typed === mpn ? 'identifier' : undefined);
      }),
    );
  });

  test('is found among other words with two letters swapped', () => {
    const records = [{ id: 'it', name: 'APC Smart-UPS', mpn: 'SMT-AGEGN2', manufacturer: 'APC' }];
    const index = createSearchIndex('product', records);
    expect(index.find('APC SMT-AGENG2').map(({ record }) => record.id)).toEqual(['it']);
  });
});

describe('an e-mail address', () => {
  const people: Contact[] = [
    { id: 'it', email: 'siobhan.muller@dunmore-architects.example.com' },
    { id: 'other', email: 'siobhan.muller@yarrow-freight.test' },
  ];
  const found = (text: string) =>
    createSearchIndex('contact', people)
      .find(text)
      .map(({ record, by }) => [record.id, by]);

  test('with two letters of its domain swapped is found, but not as exact', () => {
    const typed = 'siobhan.muller@dunmore-architects.exmaple.com';
    expect(found(typed)).toEqual([['it', undefined]]);
  });

  test('of another domain is no match', () => {
    expect(found('siobhan.muller@elsewhere.org')).toEqual([]);
  });

  test('is exact as written', () => {
    expect(found(' Siobhan.Muller@yarrow-freight.test')[0]).toEqual(['other', 'identifier']);
  });
});

describe('a name', () => {
  const named = (...records: Contact[]) => createSearchIndex('contact', records);

  test('is exact without its accents, also where another name is written that way', () => {
    const accented = { id: 'accented', name: 'Siobhán Müller' };
    const plain = { id: 'plain', name: 'Siobhan Muller' };
    const exact = (index: ReturnType<typeof named>) =>
      index.find('siobhan muller').flatMap(({ record, by }) => (by ? [record.id] : []));
    expect(exact(named(accented))).toEqual(['accented']);
    expect(exact(named(accented, plain))).toEqual(['accented', 'plain']);
  });

  test('that is exact comes first, even if deleted', () => {
    const deleted = { id: 'deleted', name: 'Ann Lee', deleted: '2026-01-01' };
    const index = named({ id: 'similar', name: 'Ann Leeson' }, deleted);
    expect(index.find('Ann Lee').map(({ record }) => record.id)).toEqual(['deleted', 'similar']);
    const both = named(deleted, { id: 'current', name: 'Ann Lee' });
    expect(both.find('Ann Lee').map(({ record }) => record.id)).toEqual(['current', 'deleted']);
  });
});

test('a quote is found by its title, or by its name where it has no title', () => {
  const index = createSearchIndex('quote', [
    { id: 'a', title: 'Network refresh', name: 'Draft' },
    { id: 'b', name: 'Telephones' },
  ]);
  const idsOf = (text: string) => index.find(text).map(({ record }) => record.id);
  expect(idsOf('refresh')).toEqual(['a']);
  expect(idsOf('telephones')).toEqual(['b']);
});

describe('a hit', () => {
  const company = {
    id: 'c1',
    name: 'Café Nord',
    externalIdentifier: 'ERP-7',
    labels: ['Gold'],
    website: 'nord.example',
    telephone: '+49 30 1234567',
  };
  const index = createSearchIndex('company', [company, { id: 'Other', name: 'ERP-8' }]);

  test.each([
    ['c1', 'id'],
    ['C1', 'identifier'],
    ['erp 7', 'identifier'],
    ['cafe nord', 'name'],
    ['ERP-8', 'name'],
    ['030 1234567', 'identifier'],
    ['gold', undefined],
    ['nord', undefined],
  ])('for %j is by its %j', (text, by) => {
    const [hit] = index.find(text);
    expect([hit?.record.id, hit?.by]).toEqual([text === 'ERP-8' ? 'Other' : 'c1', by]);
  });

  test('by one of several telephone numbers, or of several records, is found', () => {
    const shared = { phone: '+49 30 1234567' };
    const people = createSearchIndex('contact', [
      { id: 'a', ...shared, mobilePhone: '+49 171 5550001' },
      { id: 'b', ...shared },
      { id: 'c', ...shared },
    ]);
    const idsOf = (text: string) => people.find(text).map(({ record }) => record.id);
    expect(idsOf('030 1234567')).toEqual(['a', 'b', 'c']);
    expect(idsOf('0171 5550001')).toEqual(['a']);
    expect(people.find('1234567').map(({ by }) => by)).toEqual([undefined, undefined, undefined]);
  });

  test('by a word is a similar one too only as far as one letter in five is wrong', () => {
    expect(index.find('nort').map(({ record }) => record.id)).toEqual(['c1']);
    const words = createSearchIndex('product', [
      { id: 'exact', name: 'Switch' },
      { id: 'near', name: 'Switxh' },
      { id: 'far', name: 'Swoxxh' },
    ]);
    const idsOf = (text: string) => words.find(text).map(({ record }) => record.id);
    expect(idsOf('switch')).toEqual(['exact', 'near']);
    expect(idsOf('sxxtch')).toEqual(['exact']);
    expect(idsOf('axxxxh')).toEqual([]);
  });

  test('with a number is that number, or one near it where the text does not occur', () => {
    const numbers = ['Q-2025-1021', 'Q-2026-1309', 'Q-2026-1302'];
    const quotes = createSearchIndex(
      'quote',
      numbers.map((number) => ({ id: number, number })),
    );
    const found = (text: string) => quotes.find(text).map(({ record }) => record.id);
    expect([found('1309'), found('2026 1302')]).toEqual([['Q-2026-1309'], ['Q-2026-1302']]);
    expect([found('Q-2025-1309')[0], found('Q-2026-1021')[0]]).toEqual([
      'Q-2026-1309',
      'Q-2025-1021',
    ]);
  });

  test('is found first in what contains it, then in what is spelt nearly as it is', () => {
    const names = ['Lakeshore Food Bank', 'Rosewood Brewing'];
    const companies = createSearchIndex(
      'company',
      names.map((name) => ({ id: name, name })),
    );
    expect(companies.find('wood').map(({ record }) => record.id)).toEqual(names.toReversed());
    expect(companies.find('Wood Brewing').map(({ record }) => record.id)).toEqual([names[1]]);
  });

  test('with more errors is found only where no collection has it as it is', () => {
    const { index: companies } = createSearchIndex('company', [{ id: 'c', name: 'North Shore' }]);
    const { index: products } = createSearchIndex('product', [{ id: 'p', name: 'Telephone' }]);
    const indexes = [companies, products] as SearchIndex<SearchKind>[];
    const idsOf = (text: string) =>
      runSteps(findIn(indexes, text)).map((hits) => hits.map(({ record }) => record.id));
    expect(idsOf('phone')).toEqual([[], ['p']]);
    expect(idsOf('shoer')).toEqual([['c'], []]);
  });

  test('lists each record once, the deleted ones last', () => {
    const records = ['1', '2', '3'].map((id) => ({
      id,
      name: 'Acme',
      ...(id === '2' && { deleted: '2026-01-01' }),
    }));
    const hits = createSearchIndex('company', records).find('acme');
    expect(hits.map(({ record }) => record.id)).toEqual(['1', '3', '2']);
  });
});
