import { expect, test } from 'vitest';
import type { PreflightRecords } from '../../src/briefs/quote/preflight.ts';
import { quoteBrief } from '../../src/briefs/quote/quote.ts';
import { decimal } from '../../src/figures/money.ts';
import { sumQuotes } from '../../src/figures/quote-totals.ts';
import type { Company, Quote, QuoteItem } from '../../src/service/records/records.ts';

const today = '2026-06-15';
const acme: Company = { id: 'acme', name: 'Acme', currency: 'EUR' };
const options = {
  ...{ today, currencyOf: new Map([['acme', 'EUR']]) },
  ...{ discountLimit: 20, maxLines: 25 },
};

/** A quote without findings. */
const sound: Quote = {
  id: 'q1',
  number: 'Q-1',
  title: 'Network refresh',
  status: 'draft',
  company: { id: 'acme', name: 'Acme' },
  contact: { id: 'c1', firstName: 'Maria', lastName: 'Okafor' },
  paymentTerm: { id: 't1', name: 'Net 30' },
  expiresAt: '2026-07-31',
  items: [
    { name: 'Switch', product: { id: 'p1' }, quantity: 2, price: 500, cost: 400 },
    { name: 'Support', quantity: 10, price: 12.5, cost: 5, term: 'month' },
  ],
};

const codes = (records: PreflightRecords, more: object = {}) =>
  quoteBrief(records, { ...options, ...more }).preflight.rows.map(({ code, severity, line }) =>
    [severity, code, line].filter((part) => part !== undefined).join(' '),
  );
const withItem = (item: QuoteItem): Quote => ({ ...sound, items: [item] });
const good: QuoteItem = { name: 'Switch', quantity: 1, price: 100, cost: 50 };

test('the totals of a quote: adds quotes before it rounds', () => {
  const third = { items: [{ quantity: 1, price: 0.335, term: 'month' }] };
  expect(sumQuotes([third, third, { items: [{}] }])).toStrictEqual({
    totals: { monthly: 0.67 },
    firstYear: decimal(8.04),
    unknownPrices: 1,
    unknownItems: 0,
  });
});

test('the brief of a quote: takes the cost from the price before it rounds', () => {
  const quote = withItem({ quantity: 1, price: 1.005, cost: 0.004 });
  const { terms } = quoteBrief({ quote }, options);
  expect(terms).toEqual([{ term: 'one-time', price: 1.01, cost: 0, profit: 1, margin: 99.6 }]);
});

test('the value of the opportunity has its currency where that is not the currency of the quote', () => {
  const opportunity = { id: 'o1', company: acme, onetimeRevenue: 5000 };
  const told = (currency: string) =>
    quoteBrief({ quote: { ...sound, currency }, company: acme, opportunity }, options).opportunity;
  expect(told('USD')).toEqual({ id: 'o1', outcome: 'open', value: 5000, currency: 'EUR' });
  expect(told('EUR')).toEqual({ id: 'o1', outcome: 'open', value: 5000 });
});

test('what is there but not understood is neither missing nor assumed', () => {
  const odd = (field: string): QuoteItem => {
    const whole = { ...good, product: { id: 'p1' }, setupPrice: 1, setupCost: 1 };
    const { [field as 'quantity']: _, ...item } = whole;
    return { ...item, unreadable: { [field]: 'x' } };
  };
  const told = ['quantity', 'discount', 'setupPrice', 'setupCost', 'term'].map((field) => {
    const products = [{ id: 'p1', term: field === 'term' ? 'monthly' : '' }];
    const records = { quote: withItem(odd(field)), products };
    const { totals, preflight, terms } = quoteBrief(records, options);
    const { items: _, ...others } = totals;
    const without = terms.map(({ withoutPriceOrCost = 0 }) => withoutPriceOrCost);
    return [others, preflight.rows.map(({ code }) => code), without];
  });
  expect(told).toEqual([
    [{ oneTime: 1, unknownPrices: 1 }, [], [1]],
    [{ oneTime: 1, unknownPrices: 1 }, [], [1]],
    [{ oneTime: 100, unknownPrices: 1 }, [], [1]],
    [{ oneTime: 101 }, [], [1]],
    [{ oneTime: 101 }, [], [0]],
  ]);
});

test.each([
  [{ amount: 2, unit: 'Year' }, '2 Years'],
  [{ amount: 3 }, '3'],
])('the brief of a quote: the duration %j is told as %j', (contractDuration, duration) => {
  const { contract } = quoteBrief({ quote: { ...sound, contractDuration } }, options);
  expect(contract).toEqual({ duration });
});

test('the brief of a quote: shows discount and setup of a line, and takes the currency of the company record', () => {
  const item = { ...good, discount: 10, setupPrice: 30, setupCost: 20 };
  const company = { id: 'acme', currency: 'USD' };
  const paymentTerm = { id: 't1' };
  const quote = { ...withItem(item), paymentTerm };
  const brief = quoteBrief({ quote, company }, { ...options, currencyOf: new Map() });
  expect(brief.lines.rows[0]).toMatchObject({ discount: 10, setupPrice: 30, setupCost: 20 });
  expect([brief.currency, brief.paymentTerm]).toEqual(['USD', 't1']);
  // Without the record, the company is the one that the quote names.
  expect(quoteBrief({ quote }, options).company).toEqual({ id: 'acme', name: 'Acme' });
});

test.each([
  [
    'its own first',
    { currency: 'CAD' },
    { id: 'acme', currency: 'EUR' },
    { currency: 'USD' },
    'CAD',
  ],
  ['else of the company in it', {}, { id: 'acme', currency: 'EUR' }, { currency: 'USD' }, 'EUR'],
  ['also where the record has none', {}, { id: 'acme', currency: 'EUR' }, {}, 'EUR'],
  ['else of the record', {}, { id: 'acme' }, { currency: 'USD' }, 'USD'],
  ['whose company has no id', {}, { name: 'Acme' }, { currency: 'USD' }, 'USD'],
  ['where none is known', {}, { id: 'acme' }, {}, 'unknown currency'],
])(
  'the currency of a quote, in its brief and its pre-flight: %s',
  (_, own, nested, record, currency) => {
    const quote: Quote = { ...withItem(good), ...own, company: nested };
    const records = { quote, company: { id: 'acme', name: 'Acme', ...record } };
    const brief = quoteBrief(records, { ...options, currencyOf: new Map() });
    expect(brief.currency).toBe(currency);
    const isUnknown = brief.preflight.rows.some(({ code }) => code === 'unknown_currency');
    expect(isUnknown).toBe(currency === 'unknown currency');
  },
);

test('pre-flight: an amount off an unknown total is over no limit', () => {
  const { price: _, ...item } = good;
  const quote: Quote = { ...withItem(item), discount: { type: 'amount', amount: 5 } };
  expect(codes({ quote })).not.toContain('check discount_over_limit');
});

test('pre-flight: measures an amount against the one-time total', () => {
  const quote = (amount: number): Quote => ({
    ...withItem(good),
    discount: { type: 'amount', amount },
  });
  expect(codes({ quote: quote(20) })).toEqual([]);
  expect(codes({ quote: quote(20.01) })).toEqual(['check discount_over_limit']);
  expect(codes({ quote: quote(51) })).toEqual([
    'stop negative_margin',
    'check discount_over_limit',
  ]);
  expect(codes({ quote: { ...quote(5), discount: { amount: 5 } } })).toEqual([
    'check discount_not_applied',
  ]);
  const costing = (cost: number | undefined, amount: number) => {
    const { cost: _cost, ...item } = good;
    const items = [{ ...item, ...(cost !== undefined && { cost }) }];
    return codes({ quote: { ...quote(amount), items } });
  };
  expect(costing(90, 10)).toEqual([]);
  expect(costing(90, 10.01)).toEqual(['stop negative_margin']);
  expect(costing(100, 1)).toEqual(['stop negative_margin']);
  expect(costing(undefined, 60)).toEqual(['check discount_over_limit', 'check missing_cost 1']);
});

test('pre-flight: a setup that costs little and is free is a finding', () => {
  const quote = withItem({ ...good, setupCost: 0.5 });
  expect(codes({ quote })).toEqual(['stop setup_cost_without_price 1']);
});

test('pre-flight: adds the percentage of the quote to that of the line', () => {
  const quote: Quote = {
    ...withItem({ ...good, discount: 15 }),
    discount: { type: 'percent', amount: 15 },
  };
  // 1 − 0.85 × 0.85 = 27.75 %.
  const [finding] = quoteBrief({ quote }, options).preflight.rows;
  expect(finding?.code).toBe('discount_over_limit');
  expect(finding?.why).toBe("Discount 15 %, 27.8 % with the quote's, over the limit of 20 %.");
  expect(codes({ quote }, { discountLimit: 27.75 })).toEqual([]);
  const small: Quote = {
    ...withItem({ ...good, discount: 0.5 }),
    discount: { type: 'percent', amount: 20 },
  };
  // 1 − 0.995 × 0.8 = 20.4 %.
  expect(codes({ quote: small })).toEqual(['check discount_over_limit 1']);
});

test('pre-flight: reports what it could not check', () => {
  const quote: Quote = { ...sound, opportunity: { id: 'o1' } };
  const missing = (records: PreflightRecords) => quoteBrief(records, options).preflight.notChecked;
  const all = ['catalogue', 'pricing books', 'company', 'contact', 'opportunity'];
  expect(missing({ quote })).toEqual(all);
  const known = { company: acme, contact: { id: 'c1' }, opportunity: {}, books: [], products: [] };
  expect(missing({ quote, ...known })).toBeUndefined();
  expect(missing({ quote, ...known, products: undefined })).toEqual(['catalogue']);
  expect(missing({ quote: { ...quote, status: 'approved' } })).toEqual(all.slice(0, 2));
});

test('the brief of a quote: marks a deleted one', () => {
  const deleted = (deletedAt: string | true) => {
    const brief = quoteBrief({ quote: { ...sound, deletedAt } }, options);
    return [brief.deleted, brief.statusCategory, brief.preflight.rows[0]?.why];
  };
  expect(deleted('2026-06-01T08:00:00Z')).toEqual([
    '2026-06-01',
    'deleted',
    'The quote was deleted on 2026-06-01.',
  ]);
  expect(deleted(true)).toEqual([true, 'deleted', 'The quote was deleted.']);
  expect(quoteBrief({ quote: sound }, options)).not.toHaveProperty('deleted');
});

test.each<[string, Quote, string]>([
  [
    'a term of its own',
    withItem({ ...good, product: { id: 'q' }, term: 'month' }),
    'Sold monthly, but the catalogue sells it by the "quarter".',
  ],
  [
    'a status on the last day',
    { ...sound, status: 'expired', expiresAt: today },
    'The quote expired on 2026-06-15.',
  ],
])('pre-flight: words %s', (_what, quote, why) => {
  const { rows } = quoteBrief(
    { quote, products: [{ id: 'q', term: 'quarter' }] },
    options,
  ).preflight;
  expect(rows.map((finding) => finding.why)).toEqual([why]);
});

test('pre-flight: a contact of blanks is missing', () => {
  const contact = { id: '', name: ' ', labels: ['VIP'] };
  expect(codes({ quote: { ...sound, contact } })).toContain('check missing_contact');
});
