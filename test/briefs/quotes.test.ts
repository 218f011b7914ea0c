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

/** Quotes that differ in the state of their deals. */
const mixed = [
  quote('a', 4, { opportunity: { id: 'won' } }),
  quote('b', 3, {}),
  quote('c', 2, { opportunity: { id: 'open' } }),
  quote('d', 1, { opportunity: { id: 'gone' } }),
];
const deals = [{ id: 'won', statusId: 'won', closedAt: '2026-06-01' }, { id: 'open' }];

test.each<[Partial<QuotesOptions>, string[]]>([
  [{ dealState: { name: 'won' } }, ['a']],
  [{ dealState: { name: 'open' } }, ['c']],
  [{ dealState: { name: 'not_found' } }, ['d']],
  [{ dealState: { name: 'none' } }, ['b']],
])('quotes are filtered by %j', (filter, expected) => {
  const { rows } = runSteps(reportOn(mixed, deals, { ...options, ...filter }));
  expect(rows(0, 9).map(({ id }) => id)).toEqual(expected);
});
