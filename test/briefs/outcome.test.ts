import { describe, expect, test } from 'vitest';
import { addDays, daysBetween, daysFromTo } from '../../src/figures/days.ts';
import { outcomeOf } from '../../src/figures/outcome.ts';
import { probabilityScale, probabilityShare } from '../../src/figures/probability.ts';
import { isOpenQuote, statusCategoryOf, statusOfQuote } from '../../src/figures/quote-state.ts';
import type { Opportunity, Quote } from '../../src/service/records/records.ts';

const closedAt = '2026-05-01T10:00:00Z';
const stage = (name: string): Opportunity => ({ pipelineStage: { id: 's', name } });

describe('the outcome of an opportunity', () => {
  test.each<[string, Opportunity, string]>([
    ['nothing at all', {}, 'open'],
    ['an ordinary stage', stage('Proposal'), 'open'],
    ['closed, without an outcome', { closedAt }, 'closed_unknown'],
    ['closed in an ordinary stage', { ...stage('Proposal'), closedAt }, 'closed_unknown'],
    ['closed, status won', { closedAt, statusId: 'won' }, 'won'],
    ['closed, status in capitals', { closedAt, statusId: 'CLOSED_LOST' }, 'lost'],
    ['closed, status in camel case', { closedAt, statusId: 'closedWon' }, 'won'],
    ['closed, both words', { ...stage('Won / Lost'), closedAt }, 'closed_unknown'],
    ['status goes before stage', { ...stage('Won'), closedAt, statusId: 'lost' }, 'lost'],
    ['a status without meaning', { ...stage('Won'), closedAt, statusId: 'x7Kp' }, 'won'],
    ['a part of a word', { ...stage('Wonderland'), closedAt }, 'closed_unknown'],
    ["an apostrophe: won't", { ...stage("Won't happen"), closedAt }, 'closed_unknown'],
    ['won, no closing time', stage('Won'), 'won'],
    ['lost, no closing time', { statusId: 'LOST' }, 'lost'],
    ['closed according to text only', stage('Closed'), 'closed_unknown'],
    ['closed in the status, won in the stage', { ...stage('Won'), statusId: 'closed' }, 'won'],
    ['accepted, but not closed', stage('Quote accepted'), 'open'],
    ['open by status', { ...stage('Won'), statusId: 'open' }, 'open'],
    ['closing soon', stage('Closing'), 'open'],
    ['deleted', { ...stage('Won'), closedAt, deletedAt: closedAt }, 'deleted'],
    ['an empty deletion time', { deletedAt: '' }, 'open'],
  ])('%s', (_what, opportunity, outcome) => {
    expect(outcomeOf(opportunity)).toBe(outcome);
  });

  const closedIn = (name: string) => outcomeOf({ ...stage(name), closedAt });
  test.each([
    ['won', 'won accepted approved signed ordered'],
    ['lost', 'lost declined rejected cancelled canceled abandoned'],
  ])('%s is said by each of its words, unless its clause negates it', (outcome, words) => {
    for (const word of words.split(' ')) {
      expect(closedIn(`Was ${word} by them`), word).toBe(outcome);
      for (const negation of 'not no never non almost awaiting pending'.split(' ')) {
        expect(closedIn(`${negation} yet ${word}`), negation).toBe('closed_unknown');
        for (const end of [...',;:/()|', ' - ', ' – ', ' — '])
          expect(closedIn(`${negation} on time${end}${word}`), end).toBe(outcome);
      }
    }
  });
});

/** But that of an approval. */
const everyTime = { sentAt: closedAt, expiredAt: closedAt, declinedAt: closedAt };

describe('the status of a quote', () => {
  test.each<[string, Quote, string]>([
    ["the tenant's own", { status: 'in review' }, 'other'],
    ['not sent', { status: 'not sent' }, 'other'],
    ['awaiting approved order', { status: 'awaiting approved order' }, 'other'],
    ['two words with different meanings', { status: 'approved / declined' }, 'other'],
    ['the status goes before the times', { status: 'draft', approvedAt: closedAt }, 'draft'],
    ['approved by time', { ...everyTime, approvedAt: closedAt }, 'approved'],
    ['declined by time', everyTime, 'declined'],
    ['expired by time', { sentAt: closedAt, expiredAt: closedAt }, 'expired'],
    ['sent by time', { status: ' ', sentAt: closedAt }, 'sent'],
    ['nothing', {}, 'other'],
    ['deleted', { status: 'sent', deletedAt: closedAt }, 'deleted'],
  ])('%s', (_what, quote, statusCategory) => {
    expect(statusCategoryOf(quote)).toBe(statusCategory);
  });

  test.each([
    ['draft', 'draft'],
    ['sent', 'sent'],
    ['approved', 'approved accepted signed ordered won'],
    ['declined', 'declined rejected lost'],
    ['expired', 'expired'],
  ])('is %s by each of its words', (statusCategory, words) => {
    for (const word of words.split(' '))
      expect(statusCategoryOf({ status: `Was ${word.toUpperCase()}` }), word).toBe(statusCategory);
  });

  test.each<[string, Quote]>([
    ['approved', { status: 'Accepted' }],
    ['sent', { sentAt: closedAt }],
    ['in review', { status: ' In Review ' }],
    ['no status', { status: ' ' }],
    ['deleted', { status: 'Accepted', deleted: true }],
  ])('is called %s', (word, quote) => {
    expect(statusOfQuote(quote)).toBe(word);
  });

  test('is open at draft and sent', () => {
    const open = ['draft', 'sent', 'approved', 'declined', 'expired', 'in review', ''].filter(
      (status) => isOpenQuote({ status }, '2026-06-15'),
    );
    expect(open).toEqual(['draft', 'sent']);
  });
});

describe('the scale of probabilities', () => {
  const scaleOf = (...values: (number | undefined)[]) =>
    probabilityScale(
      values.map((probability) => (probability === undefined ? {} : { probability })),
    );

  test.each([
    [[], 'unknown', undefined],
    [[undefined], 'unknown', undefined],
    [[0.5], '0-1', undefined],
    [[0.2, 0.9, 1], '0-1', undefined],
    [[2], '0-100', undefined],
    [[20, 90, 100, 0], '0-100', undefined],
    [[0, 1, 1], '0-1', true],
    [[0.5, 20], '0-100', true],
    [[0.5, 0.9, 20], '0-1', true],
    [[1, 20], '0-100', undefined],
  ])('%j is %s', (values, scale, ambiguous) => {
    const read = scaleOf(...values);
    expect([read.scale, read.ambiguous]).toEqual([scale, ambiguous]);
    // Reported where a person should check it.
    expect(read.decided !== undefined).toBe(scale === 'unknown' || ambiguous === true);
  });

  test('says why it is not sure', () => {
    expect(scaleOf(0.5, 90, 1).decided).toContain('1 of 3 values are above 1; 1 between 0 and 1');
  });

  test('reads a value on its scale, and refuses one outside it', () => {
    expect(probabilityShare(0.25, '0-1')?.toNumber()).toBe(0.25);
    expect(probabilityShare(25, '0-100')?.toNumber()).toBe(0.25);
    expect(probabilityShare(0, '0-100')?.toNumber()).toBe(0);
    expect(probabilityShare(100, '0-100')?.toNumber()).toBe(1);
    for (const [value, scale] of [
      [101, '0-100'],
      [-1, '0-100'],
      [-0.1, '0-1'],
      [undefined, '0-1'],
      [0.5, 'unknown'],
    ] as const) {
      expect(probabilityShare(value, scale)).toBeUndefined();
    }
  });
});

describe('days', () => {
  test('counts days across months and clock changes', () => {
    expect(daysBetween('2026-02-27', '2026-03-01')).toBe(2);
    expect(daysBetween('2026-03-28', '2026-03-30')).toBe(2);
    expect(daysBetween('2026-03-01', '2026-02-27')).toBe(-2);
    expect(daysFromTo('2026-03-05', '2026-03-01')).toBe(0);
    expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
    expect(addDays('2026-03-01', -1)).toBe('2026-02-28');
  });
});
