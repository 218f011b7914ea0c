import { expect, test } from 'vitest';
import { type QuotesOptions, quoteExtras } from '../../src/briefs/quotes/quotes.ts';
import { runSteps } from '../../src/figures/steps.ts';
import type { Quote, QuoteItem } from '../../src/service/records/records.ts';
import { reportOnQuotes } from '../support/run-briefs.ts';

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
  runSteps(reportOnQuotes(quotes, [], { ...options, ...more }))
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
    const { brief } = runSteps(reportOnQuotes([...quotes, unread], [], { ...options, item }));
    expect(brief.unknown?.items).toBe(1);
  }
});

test('an amount is taken off a quote of which a price is known', () => {
  const discount = { type: 'amount', amount: 5 };
  const groupsOf = (items: QuoteItem[]) => {
    const quotes = [quote('a', 1, { discount, items })];
    const { groups } = runSteps(reportOnQuotes(quotes, [], { ...options, by: 'product' })).brief;
    return groups.rows.map(({ name }) => name);
  };
  expect(groupsOf([{ name: 'Switch', price: 9 }])).toEqual(['Switch', 'taken off whole quotes']);
  expect(groupsOf([{ name: 'Switch' }])).toEqual(['Switch']);
});

const deals = [{ id: 'won', statusId: 'won', closedAt: '2026-06-01' }, { id: 'open' }];

const ref = (name: string) => ({ id: name, name });
const filters: [keyof QuotesOptions, unknown, Quote][] = [
  ['owner', ref('Ann'), { owner: ref('Ben') }],
  ['company', ref('Acme'), { company: ref('Other') }],
  ['currency', { name: 'EUR' }, { currency: 'USD' }],
  ['status', { name: 'sent' }, { status: 'draft' }],
  ['acceptance', { name: 'open to acceptance' }, { expiresAt: '2026-06-14' }],
  ['dealState', { name: 'open' }, { opportunity: ref('won') }],
  ['item', 'switch', { items: [{ name: 'Router', quantity: 1 }] }],
  ['from', '2026-06-10', { sentAt: '2026-06-09' }],
  ['to', '2026-06-10', { sentAt: '2026-06-11' }],
];

test.each(filters)('the filter of quotes by %s is of every figure', (filter, value, other) => {
  const sent = {
    ...{ sentAt: '2026-06-10', owner: ref('Ann'), company: ref('Acme') },
    opportunity: ref('open'),
  };
  const matched = quote('a', 4, { ...sent, currency: 'EUR' });
  const { sentAt: _, ...undated } = matched;
  const unknown = quote('b', 4, { ...sent, items: [{ name: 'Switch' }] });
  const kinds = [matched, undated, ...(filter === 'currency' ? [] : [unknown])];
  const gone = { ...matched, deletedAt: '2026-06-12' };
  const others = [...kinds, ...(filter === 'owner' || filter === 'company' ? [gone] : [])];
  const of = (quotes: readonly Quote[]) =>
    runSteps(
      reportOnQuotes(
        quotes.map((each, at) => ({ ...each, id: `${at}` })),
        deals,
        { ...options, from: '2026-06-01', show: quoteExtras, [filter]: value },
      ),
    );
  const whole = of([...kinds, gone]);
  const narrowed = of([...kinds, gone, ...others.map((each) => ({ ...each, ...other }))]);
  expect(whole.brief).toMatchObject({ deleted: 1, period: { withoutDate: 1 } });
  expect(narrowed.brief).toEqual(whole.brief);
  expect(narrowed.rows(0, 9)).toEqual(whole.rows(0, 9));
});

test('a deal that a quote names only by a text is not found, and none is without one', () => {
  const quotes = [quote('a', 2, { opportunity: { name: 'Refresh' } }), quote('b', 1)];
  const rows = runSteps(reportOnQuotes(quotes, deals, options)).rows(0, 9);
  expect(rows.map(({ dealState }) => dealState)).toEqual(['not_found', 'none']);
});

test('quotes are counted under other terms only with an amount of one', () => {
  const items = [{ price: 1 }, { price: 2, term: 'quarter' }, { term: 'quarter' }];
  const quotes = items.map((item, at) => quote(`${at}`, 1, { items: [{ quantity: 1, ...item }] }));
  const { brief } = runSteps(reportOnQuotes(quotes, [], options));
  expect([brief.otherTerms, brief.unknown]).toEqual([1, { firstYearValue: 2, prices: 1 }]);
});

test('merged groups of lines count each quote once, whatever is shown', () => {
  const items = ['A', 'B', 'C'].map((name) => ({ name, quantity: 1, price: 1 }));
  const dates = { createdAt: '2026-06-01', sentAt: '2026-06-02' };
  const quotes = ['a', 'b'].map((id) => quote(id, 1, { ...dates, status: 'approved', items }));
  for (const show of [[], quoteExtras]) {
    const asked = { ...options, by: 'product', maxGroups: 0, show } as const;
    const { total, groups } = runSteps(reportOnQuotes(quotes, [], asked)).brief;
    expect(groups.rows).toMatchObject([{ name: '3 others', groups: 3, count: 2 }]);
    if (show.length > 0) expect(total).toMatchObject({ approved: 2, daysToSend: { n: 2 } });
    expect({ ...total, ...groups.rows[0] }).toMatchObject(total);
  }
});
