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
