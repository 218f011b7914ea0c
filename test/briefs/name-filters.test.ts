import { describe, expect, test } from 'vitest';
import { runSteps } from '../../src/figures/steps.ts';
import {
  type Candidate,
  matchSteps,
  mentionsText,
  refersTo,
} from '../../src/names/name-filters.ts';
import { resolveFilters } from '../../src/tool-kit/name-filters.ts';
import fc from '../support/fast-check.ts';

const matchName = (...asked: Parameters<typeof matchSteps>) => runSteps(matchSteps(...asked));

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
    ['meyer -', 'u3'],
    ['anna weiss', 'u4'],
  ])('resolves %s', (text, id) => {
    expect(meant(text)).toBe(id);
  });

  test('compares ids exactly, and before names', () => {
    const odd = [...owners, { id: 'u9', name: 'u1' }];
    expect(meant('u1', odd)).toBe('u1');
    expect(meant('U9', odd)).toMatchObject({ kind: 'none' });
  });

  test('of an id leaves out records that have only the name', () => {
    expect(refersTo({ name: 'Anna Meyer' }, { id: 'u3', name: 'Anna Meyer' })).toBe(false);
    expect(refersTo({ name: 'anna meyer ' }, { name: 'Anna Meyer' })).toBe(true);
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
      by: 'name',
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
    const annas = Array.from({ length: 13 }, (_, at) => ({ id: `${50 - at}`, name: 'Anna' }));
    const asked = matchName('anna', annas, byWords);
    expect(asked).toMatchObject({ kind: 'several', total: 13 });
    expect(asked.kind === 'several' && asked.candidates.map(({ id }) => Number(id))).toEqual([
      38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49,
    ]);
  });

  test('needs all words, and tells names without ids apart', () => {
    expect(meant('Anna Schmidt')).toMatchObject({ kind: 'none' });
    const stages = [{ name: 'Offer' }, { name: 'Won' }, { name: 'offer' }];
    expect(meant('won', stages)).toBe('Won');
    expect(meant('OFFER', stages)).toBe('Offer');
  });

  test('does not match a part of a word, but offers the nearest name', () => {
    expect(meant('Siob')).toMatchObject({ kind: 'none', candidates: [{ id: 'u1' }, {}, {}, {}] });
    expect(meant('Weis')).toMatchObject({ kind: 'none', candidates: [{ id: 'u4' }, {}, {}, {}] });
  });

  test('that is negated means nothing but exactly that name', () => {
    const labels = [{ name: 'VIP' }, { name: '!New' }, { name: '-old' }];
    for (const text of ['!VIP', '! VIP', '-VIP', '!=VIP', '<>VIP', '≠ VIP'])
      expect(meant(text, labels), text).toMatchObject({ kind: 'none' });
    expect(meant('- VIP', labels)).toBe('VIP');
    expect(meant('!mpact', [{ name: '!mpact Group' }, { name: 'Impact' }])).toBe('!mpact Group');
    expect(['!New', '-OLD'].map((text) => meant(text, labels))).toEqual(['!New', '-old']);
  });

  test('finds a company without accents, spaces and punctuation', () => {
    const companies = [{ id: 'c1', name: 'Müller & Söhne' }];
    expect(meant('mullersohne', companies, { byWords: false })).toBe('c1');
  });

  test('accepts an external identifier in any letter case', () => {
    const companies = [{ id: 'c1', name: 'Acme Foods', externalIdentifier: 'CRM-7' }];
    expect(meant('crm-7', companies)).toBe('c1');
    expect(meant('CRM-7', companies)).toBe('c1');
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
      { id: 'u1', name: 'Mia' },
    ];
    expect(meant('zoe', renamed)).toBe('u1');
    expect(matchName('u1', renamed, byWords)).toMatchObject({ match: { name: 'Anna' } });
    expect(matchName('mia', renamed, byWords)).toMatchObject({ match: { name: 'Mia' } });
  });
});

describe('a name that is not found', () => {
  test.each([
    // The beginnings of names and of their words are compared, letter by letter.
    ['me', ['Messner', 'Meyer Group International', 'Meyers']],
    ['meyre', ['Meyer Group International', 'Meyers']],
    ['grp', ['Meyer Group International']],
    ['t', ['Tailor', 'Tao', 'Toni']],
    ['tone', ['Toni']],
    // Half of the letters must be right.
    ['txyz', []],
    ['mxqzk', []],
    ['?!', []],
  ])('%s is answered with those like it, the most similar first', (text, names) => {
    const others = ['Bo', 'Cy', 'Di', 'Ed', 'Flo', 'Gil', 'Hal', 'Ivo', 'Jan', 'Kim'];
    const all = [
      'Meyer Group International',
      'Messner',
      'Meyers',
      'Tailor',
      'Tao',
      'Toni',
      ...others,
    ];
    const found = matchName(
      text,
      all.map((name) => ({ name })),
      { byWords: false },
    );
    expect(found.kind === 'none' && found.candidates.map(({ name }) => name)).toEqual(names);
  });

  test('is answered with names of letters before one without', () => {
    const names = ['???', 'Abc', 'Meyers'].map((name) => ({ name }));
    expect(meant('meyer', names)).toMatchObject({ candidates: [names[2], names[0], names[1]] });
  });

  test('is answered with eight of those that are equally like it', () => {
    const many = Array.from({ length: 13 }, (_, at) => ({ name: `Acme ${at + 10}` }));
    const found = matchName('acme', many, { byWords: false });
    expect(found.kind === 'none' && found.candidates.map(({ name }) => name)).toEqual([
      'Acme 10',
      'Acme 11',
      'Acme 12',
      'Acme 13',
      'Acme 14',
      'Acme 15',
      'Acme 16',
      'Acme 17',
    ]);
  });

  test('is answered with all of twelve, and of more only with those like it', () => {
    const names = (count: number) => Array.from({ length: count }, (_, at) => ({ id: `u${at}` }));
    expect(meant('Q', names(12))).toMatchObject({ kind: 'none', total: 12 });
    expect(meant('Q', names(13))).toMatchObject({ kind: 'none', total: 0 });
  });

  test('matches nothing without letters', () => {
    expect(meant('?!')).toMatchObject({ kind: 'none' });
    expect(meant('', [{ name: ' ' }, {}])).toEqual({
      kind: 'none',
      candidates: [],
      total: 0,
      nothingOccurs: true,
    });
  });
});

test.each([
  ['Cisco Meraki MX-68', 'meraki mx68', true],
  ['Cisco Meraki MX-68', '(erak)', true],
  ['Cisco Meraki MX-68', 'ciscomeraki', true],
  ['Cisco Meraki MX-68', 'Cisco MX', false],
  ['camera, kit', 'meraki', false],
  ['Crème brûlée', 'CREME', true],
  ['anything', ' - ', false],
])('%j mentions %j: %j', (field, text, mentions) => {
  expect(mentionsText(field, text)).toBe(mentions);
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

test.each([
  [{ record: 'owner', field: 'name' }, true],
  [{ record: 'opportunity', field: 'ownerId' }, true],
  [{ record: 'quote', field: 'fields' }, true],
  [{ record: 'opportunity', field: 'company' }, false],
])('a question by owner says that %o could not be read: %j', (gap, isSaid) => {
  const coverage = { complete: true, fields: [gap] };
  const { question } = resolveFilters({ owner: 'x' }, { owner: () => owners }, coverage);
  expect(question?.data.coverage).toEqual({ complete: true, ...(isSaid && { fields: [gap] }) });
});

test('a word means the one person who has it, and no company', () => {
  const named: Candidate[] = [{ id: 'x', name: 'Westbrook Foods' }];
  const given = { owner: 'foods', company: 'foods' };
  expect(resolveFilters({ owner: 'foods' }, { owner: () => named }, {}).question).toBeUndefined();
  const { question } = resolveFilters(given, { owner: () => named, company: () => named }, {});
  expect(question?.data).toMatchObject({ filter: 'company', records: named });
});
