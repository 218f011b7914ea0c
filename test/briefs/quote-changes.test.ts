import { describe, expect, test } from 'vitest';
import { runSteps } from '../../src/figures/steps.ts';
import { type QuoteFilters, quoteChanges } from '../../src/history/quote-changes.ts';
import type { PricedQuote } from '../../src/history/snapshots.ts';

type Pair = readonly [before: PricedQuote | undefined, after: PricedQuote | undefined];

const ada = { id: 'u1', name: 'Ada' };
const quote = (more: PricedQuote = {}): PricedQuote => ({
  id: 'q',
  number: 'Q-1',
  status: 'sent',
  currency: 'EUR',
  owner: ada,
  sentAt: '2026-05-01',
  firstYearValue: 100,
  ...more,
});

function compared(pairs: readonly Pair[], filters: QuoteFilters = {}, only?: string) {
  const options = { ...filters, currencyOf: new Map(), limit: 9, only: only?.split(',') };
  const stateOf = (day: string, records: readonly (PricedQuote | undefined)[]) => ({
    ...{ day, takenAt: new Date(day) },
    records: records.filter((record) => record !== undefined),
  });
  const opening = pairs.map(([before]) => before);
  const closing = pairs.map(([, after]) => after);
  const states = {
    opening: stateOf('2026-06-01', opening),
    closing: stateOf('2026-06-30', closing),
    isLive: false,
  };
  return runSteps(quoteChanges(states, options));
}

/** Each step with its number and its value in EUR. */
const stepsOf = ([before, after]: Pair, filters?: QuoteFilters) =>
  compared([[before, after]], filters)
    .rows.filter(({ step }) => step !== 'opening' && step !== 'closing')
    .map(({ step, firstYearValue }) => [step, firstYearValue?.EUR]);

const { firstYearValue: _, ...unread } = quote();
const approved = (approvedAt?: string) =>
  quote({ status: 'approved', ...(approvedAt && { approvedAt }) });
const declined = (declinedAt?: string) =>
  quote({ status: 'declined', ...(declinedAt && { declinedAt }) });
const past = (expiresAt: string, more: PricedQuote = {}) => quote({ expiresAt, ...more });
const bob = { owner: { id: 'u2', name: 'Bob' } };
const deletedAt = '2026-06-10';
/** It came and was answered between the two days. */
const through = (end: string) => [
  ['new', 100],
  [end, -100],
];
const reopened = (end: string) => [
  ['reopened', 100],
  [end, -100],
];

describe('the steps of a quote', () => {
  const cases: [what: string, pair: Pair, steps: unknown[]][] = [
    ['unchanged', [quote(), quote()], []],
    ['new', [undefined, quote()], [['new', 100]]],
    ['a new draft', [undefined, quote({ status: 'draft' })], [['new', 100]]],
    ['dearer', [quote(), quote({ firstYearValue: 130 })], [['valueUp', 30]]],
    ['cheaper', [quote(), quote({ firstYearValue: 70 })], [['valueDown', -30]]],
    ['read now', [unread, quote()], [['valueKnown', 100]]],
    ['not read now', [quote(), unread], [['valueKnown', -100]]],
    ['in another currency', [quote(), quote({ currency: 'USD' })], [['currencyChanged', -100]]],
    [
      'read now, in another currency',
      [{ ...unread, currency: 'USD' }, quote()],
      [['currencyChanged', 100]],
    ],
    ['gone', [quote(), undefined], [['removed', -100]]],
    ['deleted', [quote(), quote({ deletedAt })], [['removed', -100]]],
    ['accepted', [quote(), approved()], [['accepted', -100]]],
    ['declined', [quote(), declined()], [['declined', -100]]],
    ['expired', [quote(), past('2026-06-29')], [['expired', -100]]],
    ['valid on its last day', [quote(), past('2026-06-30')], []],
    ['of another status', [quote(), quote({ status: 'parked' })], [['otherStatus', -100]]],
    [
      'accepted at another price',
      [quote(), { ...approved(), firstYearValue: 90 }],
      [
        ['valueDown', -10],
        ['accepted', -90],
      ],
    ],
    ['reopened', [declined(), quote()], [['reopened', 100]]],
    ['accepted after it expired', [past('2026-05-20'), approved()], reopened('accepted')],
    ['declined after it expired', [past('2026-05-20'), declined()], reopened('declined')],
    ['accepted on both days', [approved(), approved()], []],
    ['expired after it was declined', [declined(), past('2026-06-10')], []],
    ['new and accepted', [undefined, approved('2026-06-02')], through('accepted')],
    ['accepted on the opening day', [undefined, approved('2026-06-01')], []],
    ['accepted on an unknown day', [undefined, approved()], []],
    ['new and declined', [undefined, declined('2026-06-02')], through('declined')],
    ['declined on the opening day', [undefined, declined('2026-06-01')], []],
    ['new and expired', [undefined, past('2026-06-02')], through('expired')],
    ['expired on the opening day', [undefined, past('2026-06-01')], []],
    [
      'expired on another day than planned',
      [undefined, past('2026-05-01', { expiredAt: '2026-06-03' })],
      through('expired'),
    ],
    ['new and of another status', [undefined, quote({ status: 'parked' })], []],
    [
      'new and of another status, with an expiry',
      [undefined, quote({ status: 'parked', expiresAt: '2026-06-10' })],
      [],
    ],
    ['new and deleted', [undefined, quote({ deletedAt })], []],
    ['new, accepted and deleted', [undefined, { ...approved('2026-06-02'), deletedAt }], []],
  ];
  test.each(cases)('that is %s', (_, pair, steps) => {
    expect(stepsOf(pair)).toEqual(steps);
  });
});

describe('a quote was sent', () => {
  const { sentAt: _, ...undated } = quote();
  const draft = { ...undated, status: 'draft' };
  const cases: [what: string, pair: Pair, isSent: boolean][] = [
    ['later than before', [quote(), quote({ sentAt: '2026-06-02' })], true],
    ['on the same day', [quote(), quote()], false],
    ['again, before the opening', [quote(), quote({ sentAt: '2026-05-20' })], true],
    ['for the first time', [draft, quote({ sentAt: '2026-06-02' })], true],
    ['new, after the opening day', [undefined, quote({ sentAt: '2026-06-02' })], true],
    ['new, on the opening day', [undefined, quote({ sentAt: '2026-06-01' })], false],
    ['without a date, from a draft', [draft, undated], true],
    ['without a date, new', [undefined, undated], true],
    ['without a date, sent before', [undated, undated], false],
    ['without a date, still a draft', [draft, draft], false],
    ['and deleted', [draft, quote({ sentAt: '2026-06-02', deletedAt })], false],
    ['by another owner', [draft, quote({ sentAt: '2026-06-02', ...bob })], false],
  ];
  test.each(cases)('%s: %s', (_, pair, isSent) => {
    const { moves } = compared([pair], { owner: ada });
    const sent = [{ move: 'sent', count: 1, firstYearValue: { EUR: 100 } }];
    expect(moves).toEqual(isSent ? sent : []);
  });
});

describe('the quotes that changed', () => {
  const pairs: Pair[] = [
    [undefined, quote({ id: 'new', firstYearValue: 5, title: 'Second' })],
    [quote({ id: 'fell', firstYearValue: 9 }), quote({ id: 'fell', firstYearValue: 1 })],
    [quote({ id: 'gone', firstYearValue: 7 }), undefined],
    [undefined, quote({ id: 'also', firstYearValue: 5, title: 'First' })],
    [quote({ id: 'same' }), quote({ id: 'same' })],
  ];
  const ids = (only?: string) => compared(pairs, {}, only).quotes.rows.map(({ id }) => id);

  test('are new ones first, then by the larger of both values, then by name', () => {
    expect(ids()).toEqual(['also', 'new', 'fell', 'gone']);
    expect(ids('new')).toEqual(['also', 'new']);
    expect(ids('sent')).toEqual([]);
  });
});
