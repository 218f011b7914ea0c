import { describe, expect, test } from 'vitest';
import { type Candidate, matchName, refersTo } from '../../src/briefs/name-filters.ts';
import fc from '../support/fast-check.ts';

const byWords = { byWords: true };
const owners: Candidate[] = [
  { id: 'u1', name: 'Siobhán O’Connor' },
  { id: 'u2', name: 'Bjørn Ågren-Smith' },
  { id: 'u3', name: 'Anna Meyer' },
  { id: 'u4', name: 'Anna Weiß' },
  { id: 'u3', name: 'Anna Meyer' },
];
const meant = (text: string, candidates = owners, options = byWords) => {
  const found = matchName(text, candidates, options);
  return found.kind === 'one' ? (found.match.id ?? found.match.name) : found;
};

describe('a name filter', () => {
  test.each([
    ['u1', 'u1'],
    [' u2 ', 'u2'],
    ['siobhán o’connor ', 'u1'],
    ["Siobhan O'Connor", 'u1'],
    ['OConnor', 'u1'],
    ["o'connor siobhan", 'u1'],
    ['bjorn', 'u2'],
    ['BJÖRN', 'u2'],
    ['Agren Smith', 'u2'],
    ['smith', 'u2'],
    ['anna weiss', 'u4'],
  ])('resolves %s', (text, id) => {
    expect(meant(text)).toBe(id);
  });

  test('compares ids exactly, and before names', () => {
    const odd = [...owners, { id: 'u9', name: 'u1' }];
    expect(meant('u1', odd)).toBe('u1');
    expect(meant('U9', odd)).toMatchObject({ kind: 'none' });
  });

  test('prefers the exact name to one with other accents', () => {
    const alike = [
      { id: 'u1', name: 'Björn' },
      { id: 'u2', name: 'Bjorn' },
    ];
    expect(meant('bjorn', alike)).toBe('u2');
    expect(meant('björn', alike)).toBe('u1');
    expect(meant('bjørn', alike)).toMatchObject({ kind: 'several', total: 2 });
  });

  test('offers several matches with their ids', () => {
    expect(meant('Anna')).toEqual({
      kind: 'several',
      candidates: [
        { id: 'u3', name: 'Anna Meyer' },
        { id: 'u4', name: 'Anna Weiß' },
      ],
      total: 2,
    });
    const same = [
      { id: 'a', name: 'Offer' },
      { id: 'b', name: 'offer' },
    ];
    expect(meant('OFFER', same)).toMatchObject({ kind: 'several', total: 2 });
  });

  test('does not match a part of a word, but offers the nearest name', () => {
    expect(meant('Siob')).toMatchObject({ kind: 'none', candidates: [{ id: 'u1' }, {}, {}, {}] });
  });

  test('does not confuse companies that share a word', () => {
    const companies = [{ id: 'c1', name: 'Acme Foods' }];
    expect(meant('Acme', companies, { byWords: false })).toEqual({
      kind: 'none',
      candidates: [{ id: 'c1', name: 'Acme Foods' }],
      total: 1,
    });
  });

  test('finds a company without accents, spaces and punctuation', () => {
    const companies = [{ id: 'c1', name: 'Müller & Söhne' }];
    expect(meant('mullersohne', companies, { byWords: false })).toBe('c1');
  });

  test('accepts an external identifier in any letter case', () => {
    const companies = [{ id: 'c1', name: 'Acme Foods', externalIdentifier: 'CRM-7' }];
    expect(meant('crm-7', companies)).toBe('c1');
  });

  test('matches a deleted record only where no other matches', () => {
    const companies = [
      { id: 'c1', name: 'Acme', deleted: '2026-01-01' },
      { id: 'c2', name: 'acme' },
      { id: 'c3', name: 'Beacon', deletedAt: '2026-01-01' },
    ];
    expect(meant('ACME', companies)).toBe('c2');
    expect(meant('Beacon', companies)).toBe('c3');
    expect(meant('Beacons', companies)).toMatchObject({ candidates: [{ id: 'c2' }] });
  });

  test('treats one id with several names as one', () => {
    const renamed = [
      { id: 'u1', name: 'Zoe' },
      { id: 'u1', name: 'Anna' },
    ];
    expect(meant('zoe', renamed)).toBe('u1');
    expect(matchName('u1', renamed, byWords)).toMatchObject({ match: { name: 'Anna' } });
  });

  test('offers the nearest of many names for a misspelt one', () => {
    const many = Array.from({ length: 40 }, (_, at) => ({ id: `${at}`, name: `Xq ${at * 7919}` }));
    const found = matchName('Jonh Smiht', [...many, { id: 's', name: 'John Smith' }], byWords);
    expect(found).toEqual({
      kind: 'none',
      candidates: [{ id: 's', name: 'John Smith' }],
      total: 1,
    });
  });

  test('offers all of twelve names, and of more only those that are like the text', () => {
    const names = (count: number) => Array.from({ length: count }, (_, at) => ({ id: `u${at}` }));
    expect(meant('Q', names(12))).toMatchObject({ kind: 'none', total: 12 });
    expect(meant('Q', names(13))).toMatchObject({ kind: 'none', total: 0 });
  });

  test('matches no name with text without letters', () => {
    expect(meant('?!')).toMatchObject({ kind: 'none' });
    expect(meant('', [{ name: ' ' }, {}])).toEqual({
      kind: 'none',
      candidates: [],
      total: 0,
    });
  });
});

test('a filter refers by id, or by name where there is no id', () => {
  const anna = { id: 'u3', name: 'Anna Meyer' };
  expect(refersTo({ id: 'u3', name: 'Renamed' }, anna)).toBe(true);
  expect(refersTo({ id: 'u4', name: 'Anna Meyer' }, anna)).toBe(false);
  expect(refersTo({ name: 'Anna Meyer' }, anna)).toBe(false);
  expect(refersTo({ name: ' anna MEYER' }, { name: 'Anna Meyer' })).toBe(true);
  expect(refersTo(undefined, anna)).toBe(false);
});

test('for any names: an id and a unique name find the record, and candidates include it', () => {
  const text = fc.oneof(fc.constantFrom('Anna', 'anna ', 'Änna', "O'Neil", ''), fc.string());
  const id = fc.string({ maxLength: 3 }).map((end) => `u${end.trim()}`);
  const candidate = fc.record({ id, name: text });
  fc.assert(
    fc.property(fc.array(candidate, { maxLength: 8 }), text, fc.boolean(), (list, asked, words) => {
      const found = matchName(asked, list, { byWords: words });
      const told = found.kind === 'one' ? [found.match] : found.candidates;
      for (const { id } of told) expect(list.map((it) => it.id)).toContain(id);
      if (found.kind !== 'one') expect(found.total).toBe(told.length);
      for (const { id } of list) {
        expect(matchName(id, list, { byWords: words })).toMatchObject({
          kind: 'one',
          match: { id },
        });
      }
    }),
  );
});
