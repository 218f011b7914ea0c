import { expect, test } from 'vitest';
import type { PreflightRecords } from '../../src/briefs/quote/preflight.ts';
import { quoteBrief } from '../../src/briefs/quote/quote.ts';
import { decimal } from '../../src/figures/money.ts';
import { quoteTotals, sumQuotes } from '../../src/figures/quote-totals.ts';
import type {
  Company,
  Contact,
  Product,
  Quote,
  QuoteItem,
} from '../../src/service/records/records.ts';

const today = '2026-06-15';
const acme: Company = { id: 'acme', name: 'Acme', currency: 'EUR' };
const options = { today, currencyOf: new Map([['acme', 'EUR']]) };

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

test('the brief of a quote: reports a complete quote in full', () => {
  const brief = quoteBrief(
    {
      quote: { ...sound, contractDuration: { amount: 36, unit: 'month' } },
      company: acme,
      opportunity: {
        id: 'o1',
        name: 'Refresh',
        pipelineStage: { id: 's', name: 'Offer' },
        onetimeRevenue: 1000,
        monthlyRevenue: 10,
        valueMonths: 36,
        expectedCloseDate: '2026-07-01',
      },
    },
    options,
  );
  expect(brief).toStrictEqual({
    id: 'q1',
    name: 'Network refresh',
    statusCategory: 'draft',
    number: 'Q-1',
    status: 'draft',
    expires: '2026-07-31',
    expiresInDays: 46,
    contract: { duration: '36 months' },
    paymentTerm: 'Net 30',
    company: { id: 'acme', name: 'Acme' },
    contact: { id: 'c1', name: 'Maria Okafor' },
    opportunity: {
      id: 'o1',
      name: 'Refresh',
      stage: 'Offer',
      outcome: 'open',
      value: 1360,
      closes: '2026-07-01',
    },
    currency: 'EUR',
    totals: { items: 2, oneTime: 1000, monthly: 125 },
    firstYearValue: 2500,
    terms: [
      { term: 'one-time', price: 1000, cost: 800, profit: 200, margin: 20 },
      { term: 'monthly', price: 125, cost: 50, profit: 75, margin: 60 },
    ],
    lines: {
      shown: 2,
      total: 2,
      rows: [
        {
          line: 1,
          name: 'Switch',
          productId: 'p1',
          quantity: 2,
          price: 500,
          term: 'one-time',
          total: 1000,
          cost: 400,
          margin: 20,
        },
        {
          line: 2,
          name: 'Support',
          quantity: 10,
          price: 12.5,
          term: 'monthly',
          total: 125,
          cost: 5,
          margin: 60,
        },
      ],
    },
    preflight: {
      stops: 0,
      checks: 0,
      notChecked: ['catalogue', 'pricing books', 'contact'],
      shown: 0,
      total: 0,
      rows: [],
    },
  });
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

test('pre-flight: finds everything missing in an empty one', () => {
  expect(codes({ quote: {} })).toEqual([
    'stop no_items',
    'check unknown_currency',
    'check missing_company',
    'check missing_contact',
    'check missing_payment_term',
    'check missing_expiry',
  ]);
});

test('pre-flight: a setup that costs little and is free is a finding', () => {
  const quote = withItem({ ...good, setupCost: 0.5 });
  expect(codes({ quote })).toEqual(['stop setup_cost_without_price 1']);
});

test('pre-flight: a setup or a quantity that cannot be read is none that is missing', () => {
  const setup = { ...good, unreadable: { setupPrice: 'on request' } };
  expect(quoteBrief({ quote: withItem(setup) }, options).totals).toMatchObject({
    unknownPrices: 1,
  });
  const { quantity: _, ...item } = good;
  const unread = { ...item, unreadable: { quantity: 'a few' } };
  expect(codes({ quote: withItem(unread) })).not.toContain('check missing_quantity 1');
  expect(codes({ quote: withItem(item) })).toContain('check missing_quantity 1');
});

test('pre-flight: an amount off an unknown total is over no limit', () => {
  const { price: _, ...item } = good;
  const quote: Quote = { ...withItem(item), discount: { type: 'amount', amount: 5 } };
  expect(codes({ quote })).not.toContain('check discount_over_limit');
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

test.each<[string, Partial<Quote>, string[]]>([
  ['in 7 days', { expiresAt: '2026-06-22T12:00:00Z' }, ['check expiring']],
  ['in 8 days', { expiresAt: '2026-06-23' }, []],
])('pre-flight: expires %s', (_what, fields, expected) => {
  expect(codes({ quote: { ...sound, ...fields } })).toEqual(expected);
});

const reachable: Contact = { id: 'c1', email: 'maria@acme.example' };
const going: [string, Partial<PreflightRecords>, string[]][] = [
  ['to a person with e-mail', { contact: reachable }, []],
  ['to no address', { contact: { id: 'c1', email: 'none' } }, ['check contact_without_email']],
  ['to a deleted company', { company: { ...acme, deleted: true } }, ['stop deleted_company']],
  ['for a deal won', { opportunity: { statusId: 'won' } }, ['check opportunity_won']],
  ['for a deal lost', { opportunity: { statusId: 'lost' } }, ['check opportunity_lost']],
  ['for a closed deal', { opportunity: { closedAt: today } }, ['check opportunity_closed']],
  ['for a deleted deal', { opportunity: { deletedAt: today } }, ['check opportunity_deleted']],
];

test.each(going)('pre-flight: goes out %s', (_what, records, expected) => {
  expect(codes({ quote: sound, ...records })).toEqual(expected);
  for (const status of ['approved', 'declined'])
    expect(codes({ quote: { ...sound, status }, ...records })).toEqual([]);
  const deleted = { ...sound, deletedAt: '2026-06-01' };
  expect(codes({ quote: deleted, ...records })).toEqual(['stop deleted_quote']);
});

test('pre-flight: reports what it could not check', () => {
  const quote: Quote = { ...sound, opportunity: { id: 'o1' } };
  const missing = (records: PreflightRecords) => quoteBrief(records, options).preflight.notChecked;
  const all = ['catalogue', 'pricing books', 'company', 'contact', 'opportunity'];
  expect(missing({ quote })).toEqual(all);
  const known = { company: acme, contact: reachable, opportunity: {}, books: [], products: [] };
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
  ['setup', withItem({ ...good, setupCost: 5 }), 'Setup costs 5 and is not charged.'],
  [
    'the term of the catalogue',
    withItem({ ...good, product: { id: 'm' } }),
    'No term, but the catalogue sells it monthly: it would be charged once.',
  ],
  [
    'a term of its own',
    withItem({ ...good, product: { id: 'q' }, term: 'month' }),
    'Sold monthly, but the catalogue sells it by the "quarter".',
  ],
  ['a status alone', { ...sound, status: 'expired' }, 'The quote has expired.'],
  [
    'a status on the last day',
    { ...sound, status: 'expired', expiresAt: today },
    'The quote expired on 2026-06-15.',
  ],
  ['one day', { ...sound, expiresAt: '2026-06-16' }, 'The quote expires on 2026-06-16, in 1 day.'],
  [
    'an unknown discount',
    { ...sound, discount: { type: 'loyalty', amount: 3 } },
    'The quote\'s discount is of the type "loyalty": it is in no total.',
  ],
])('pre-flight: words %s', (_what, quote, why) => {
  const products: Product[] = [
    { id: 'm', term: 'month' },
    { id: 'q', term: 'quarter' },
  ];
  const { rows } = quoteBrief({ quote, products }, options).preflight;
  expect(rows.map((finding) => finding.why)).toEqual([why]);
});

test('pre-flight: a contact of blanks is missing', () => {
  const contact = { id: '', name: ' ', labels: ['VIP'] };
  expect(codes({ quote: { ...sound, contact } })).toContain('check missing_contact');
});

test('a discount over the limit is told with that of the quote, where there is one', () => {
  const why = (discount: Quote['discount']) => {
    const quote = {
      ...withItem({ ...good, cost: 1, discount: 30 }),
      ...(discount && { discount }),
    };
    const { rows } = quoteBrief({ quote }, options).preflight;
    return rows.find(({ code }) => code === 'discount_over_limit')?.why;
  };
  expect(why(undefined)).toBe('Discount 30 %, over the limit of 20 %.');
  // 1 − 0.7 × 0.9 = 0.37
  expect(why({ type: 'percent', amount: 10 })).toBe(
    "Discount 30 %, 37 % with the quote's, over the limit of 20 %.",
  );
});

test('totals of other terms are in the order of their names', () => {
  const items = ['week', 'quarter', 'decade'].map((term) => ({ price: 1, term }));
  const { otherTerms = {} } = quoteTotals({ items });
  expect(Object.keys(otherTerms)).toEqual(['decade', 'quarter', 'week']);
});

test.each<[string, Contact, string]>([
  ['name', { id: 'c1', name: 'Maria' }, 'The contact "Maria" has no e-mail.'],
  ['name, deleted', { id: 'c1', name: 'Maria', deleted: true }, 'The contact "Maria" was deleted.'],
])('pre-flight: tells a contact by its %s', (_what, contact, why) => {
  const { rows } = quoteBrief({ quote: sound, contact }, options).preflight;
  expect(rows.map((finding) => finding.why)).toEqual([why]);
});
