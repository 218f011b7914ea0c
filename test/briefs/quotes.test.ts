import { expect, test } from 'vitest';
import { findQuotes, type QuotesOptions, quotesReport } from '../../src/briefs/quotes/quotes.ts';
import { runSteps } from '../../src/figures/steps.ts';
import type { Opportunity, Quote } from '../../src/service/records/records.ts';

function* reportOn(
  quotes: readonly Quote[],
  deals: readonly Opportunity[],
  options: QuotesOptions,
) {
  return yield* quotesReport(yield* findQuotes(quotes, deals, options), options);
}

const currencyOf = new Map([['acme', 'EUR']]);
const options = { today: '2026-06-15', currencyOf, by: 'status', date: 'sent' } as const;
const quote = (id: string, price: number, more: Quote = {}): Quote => ({
  id,
  number: `Q-${id}`,
  status: 'sent',
  company: { id: 'acme', name: 'Acme' },
  items: [{ quantity: 1, price, name: 'Switch', manufacturer: 'Net-Gear' }],
  ...more,
});
const ids = (quotes: readonly Quote[], more: Partial<QuotesOptions>) =>
  runSteps(reportOn(quotes, [], { ...options, ...more }))
    .rows(0, 99)
    .map(({ id }) => id);
const groups = (quotes: readonly Quote[], more: Partial<QuotesOptions>) =>
  runSteps(reportOn(quotes, [], { ...options, ...more })).brief.groups;

test('months of quotes are in time order, whatever they are worth', () => {
  const quotes = [
    quote('a', 5, { sentAt: '2026-05-31T23:00:00Z' }),
    quote('b', 9, { sentAt: '2026-06-01' }),
    quote('c', 99),
    quote('d', 1, { sentAt: '2025-12-24' }),
  ];
  expect(groups(quotes, { by: 'month' }).rows.map(({ name }) => name)).toEqual([
    '2025-12',
    '2026-05',
    '2026-06',
    'no sent date',
  ]);
});

test('lines are found by name, part number and manufacturer in any spelling', () => {
  const quotes = [quote('a', 1), quote('b', 1, { items: [] }), quote('c', 1, { items: [{}] })];
  expect(ids(quotes, { item: 'netgear' })).toEqual(['a']);
  expect(ids(quotes, { item: 'SWITCH' })).toEqual(['a']);
  const named = (name: string) => [quote('a', 1, { items: [{ name }] })];
  expect(ids(named('Axis camera, kit'), { item: 'meraki' })).toEqual([]);
  for (const item of ['AXISCAM', 'cam', 'mera kit', 'camera kit', 'Axis Camera-Kit'])
    expect(ids(named('Axis camera, kit'), { item }), item).toEqual(['a']);
  expect(ids(named('Axis camera'), { item: '—' })).toEqual([]);
  expect(ids(quotes, { item: '(none)' })).toEqual(['b']);
  const { items: _, ...unread } = quote('unread', 1, { unreadable: { items: 'x' } });
  for (const item of ['(none)', 'switch']) {
    expect(ids([...quotes, unread], { item })).toEqual(ids(quotes, { item }));
    const { brief } = runSteps(reportOn([...quotes, unread], [], { ...options, item }));
    expect(brief.unknown?.items).toBe(1);
  }
});

test('groups of less than one unit go by their value too', () => {
  const owned = (name: string, price: number) => quote(name, price, { owner: { id: name, name } });
  const quotes = [owned('a', 0.2), owned('b', 0.5), owned('c', -3)];
  const names = groups(quotes, { by: 'owner' }).rows.map(({ name }) => name);
  expect(names).toEqual(['b', 'a', 'c']);
});

test('a quote has its acceptance where its status does not say it', () => {
  const rows = runSteps(
    reportOn([quote('a', 2), quote('b', 1, { status: 'draft' })], [], options),
  ).rows(0, 9);
  expect(rows.map(({ status, acceptance }) => [status, acceptance])).toEqual([
    ['sent', 'open to acceptance'],
    ['draft', undefined],
  ]);
});

test('a period may have one end, and is told as it was given', () => {
  const periodOf = (more: Partial<QuotesOptions>) =>
    runSteps(reportOn([], [], { ...options, ...more })).brief.period;
  expect(periodOf({ to: '2026-05-31' })).toEqual({ date: 'sent', to: '2026-05-31' });
  expect(periodOf({ from: '2026-05-01', date: 'expires' })).toEqual({
    date: 'expires',
    from: '2026-05-01',
  });
  expect(periodOf({ date: 'expires' })).toBeUndefined();
});

/** Quotes that differ in what can be filtered and grouped by; the state of a deal is that of `deals`. */
const mixed = [
  quote('a', 4, { opportunity: { id: 'won' }, title: 'Titled', name: 'Named' }),
  quote('b', 3, { status: 'draft', currency: 'USD', name: 'Named', owner: { id: 'u1' } }),
  quote('c', 2, { status: 'approved', opportunity: { id: 'open' }, company: { id: 'acme' } }),
  quote('d', 1, { status: 'parked', opportunity: { id: 'gone' } }),
];
const deals = [{ id: 'won', statusId: 'won', closedAt: '2026-06-01' }, { id: 'open' }];
const report = (quotes: readonly Quote[], more: Partial<QuotesOptions> = {}) =>
  runSteps(reportOn(quotes, deals, { ...options, ...more }));

test.each<[Partial<QuotesOptions>, string[]]>([
  [{ status: { name: 'sent' } }, ['a']],
  [{ currency: { name: 'USD' } }, ['b']],
  [{ dealState: { name: 'won' } }, ['a']],
  [{ dealState: { name: 'open' } }, ['c']],
  [{ dealState: { name: 'not_found' } }, ['d']],
  [{ dealState: { name: 'none' } }, ['b']],
  [{ acceptance: { name: 'accepted' } }, ['c']],
])('quotes are filtered by %j', (filter, expected) => {
  expect(
    report(mixed, filter)
      .rows(0, 9)
      .map(({ id }) => id),
  ).toEqual(expected);
});

test.each<[QuotesOptions['by'], string[]]>([
  ['status', ['sent', 'draft', 'approved', 'parked']],
  ['acceptance', ['open to acceptance', 'draft', 'accepted', 'other']],
  ['currency', ['EUR', 'USD']],
  ['deal_state', ['won', 'none', 'open', 'not_found']],
  ['owner', ['no owner', 'u1']],
])('quotes are grouped by %s', (by, expected) => {
  const { rows } = report(mixed, by && { by }).brief.groups;
  expect(rows.map(({ name, id }) => name ?? id)).toEqual(expected);
});

test('quotes are grouped by status unless asked otherwise, with the numbers of each acceptance', () => {
  const { by, groups, acceptance } = report(mixed).brief;
  expect(by).toBe('status');
  expect(groups.rows[0]?.name).toBe('sent');
  expect(acceptance).toEqual([
    { acceptance: 'draft', count: 1, firstYearValue: { USD: 3 } },
    {
      acceptance: 'open to acceptance',
      count: 1,
      firstYearValue: { EUR: 4 },
      deals: { won: 1 },
    },
    { acceptance: 'accepted', count: 1, firstYearValue: { EUR: 2 } },
    { acceptance: 'other', count: 1, firstYearValue: { EUR: 1 } },
  ]);
});

test('quotes of unknown value come last, and the unknown figures are counted', () => {
  const quotes = [
    quote('priceless', 1, { items: [{ name: 'Switch' }] }),
    quote('loss', -5),
    quote('partly', 1, { items: [{ price: 7 }, {}] }),
    quote('stateless', 9, { company: { id: 'other' } }),
  ];
  expect(ids(quotes, {})).toEqual(['stateless', 'partly', 'loss', 'priceless']);
  const { items: _, ...unread } = quote('unread', 1, { unreadable: { items: 'x' } });
  const { unknown } = report([...quotes, unread]).brief;
  expect(unknown).toEqual({ firstYearValue: 2, prices: 2, items: 1, currency: 1 });
  expect(report([quote('known', 1)]).brief.unknown).toBeUndefined();
});

test('a quote has amounts of another term where one of its known prices is', () => {
  const termed = (...terms: string[]) =>
    quote('q', 1, { items: terms.map((term) => ({ price: 1, term })) });
  const unpriced = quote('q', 1, { items: [{ price: 1 }, { term: 'quarter' }] });
  const countOf = (each: Quote) => report([each]).brief.otherTerms;
  expect(countOf(termed('month', 'quarter'))).toBe(1);
  expect(countOf(termed('month', 'year'))).toBeUndefined();
  expect(countOf(unpriced)).toBeUndefined();
});
