import { describe, expect, test } from 'vitest';
import type { CheckData } from '../../src/briefs/checks/check.ts';
import type { CheckName } from '../../src/briefs/checks/checks.ts';
import type {
  ContractItem,
  Opportunity,
  Product,
  Quote,
} from '../../src/service/records/records.ts';
import { type RunOptions, runCheck } from '../support/run-check.ts';

const today = '2026-06-15';
const currencyOf = new Map([['acme', 'EUR']]);
const acme = { id: 'acme', name: 'Acme' };
type Options = Partial<RunOptions>;
const run = (name: CheckName, data: CheckData, options: Options = {}) =>
  runCheck(name, data, { today, currencyOf, ...options });
const ids = (name: CheckName, data: CheckData, options: Options = {}) =>
  run(name, data, options).rows.map(({ id }) => id);

const product = (id: string, price?: number, cost?: number, more: Product = {}): Product => ({
  id,
  name: `Product ${id}`,
  ...(price !== undefined && { price }),
  ...(cost !== undefined && { cost }),
  ...more,
});

describe('below_cost', () => {
  test('finds listed products under cost, the greatest loss first', () => {
    const report = run('below_cost', {
      product: [
        product('a', 9.99, 10),
        product('b', 10, 10),
        product('c', 80, 100),
        product('free', 0, 1),
        product('unlisted', 1, 10, { listed: false }),
        product('no price', undefined, 10),
        product('no cost', 10),
        product('nothing'),
        product('nothing either'),
      ],
    });
    expect(report).toStrictEqual({
      check: 'below_cost',
      definition:
        'Listed products whose price is lower than their cost. At stake: cost − price, per unit over a year.',
      examined: 8,
      of: 'listed products',
      unit: 'product',
      notChecked: { 'no price': 1, 'no cost': 1, 'no price and no cost': 2 },
      counts: [
        { by: 'price', value: 'under cost', count: 2 },
        { by: 'price', value: 'price 0', count: 1 },
        { by: 'term', value: 'one-time', count: 3 },
      ],
      currency: 'unknown currency',
      shown: 3,
      total: 3,
      rows: [
        {
          id: 'c',
          name: 'Product c',
          kind: ['one-time', 'under cost'],
          valueAtStake: 20,
          reason: 'price 80, cost 100, margin -25 %',
        },
        {
          id: 'free',
          name: 'Product free',
          kind: ['one-time', 'price 0'],
          valueAtStake: 1,
          reason: 'price 0, cost 1',
        },
        {
          id: 'a',
          name: 'Product a',
          kind: ['one-time', 'under cost'],
          valueAtStake: 0.01,
          reason: 'price 9.99, cost 10, margin -0.1 %',
        },
      ],
    });
  });
});

describe('thin_margins', () => {
  const catalogue = {
    product: [
      product('at the floor', 100, 90),
      product('just under', 100, 90.01),
      product('below cost', 100, 120),
      product('free', 0, 1),
      product('free on both sides', 0, 0),
    ],
  };

  test('finds margins under the floor, including those below cost', () => {
    const report = run('thin_margins', catalogue);
    // Points missing to a margin of 10 %: 10 − (−20), 0 − (−1), 10 − 9.99.
    expect(report.rows.map(({ id, valueAtStake }) => [id, valueAtStake])).toEqual([
      ['below cost', 30],
      ['free', 1],
      ['just under', 0.01],
    ]);
    expect(report.definition).toContain('under 10 %');
  });
});

const quote = (id: string, more: Quote): Quote => ({
  id,
  title: `Quote ${id}`,
  company: acme,
  items: [{ quantity: 1, price: 100, product: { id: 'p' } }],
  ...more,
});

describe('stale_quotes', () => {
  test('finds sent quotes without an answer', () => {
    const data = {
      quote: [
        quote('14 days', { status: 'sent', sentAt: '2026-06-01', expiresAt: '2026-06-10' }),
        quote('13 days', { status: 'sent', sentAt: '2026-06-02', expiresAt: today }),
        quote('answered', { status: 'sent', sentAt: '2026-05-01', declinedAt: '2026-05-01' }),
        quote('sent again', { status: 'sent', sentAt: '2026-05-01', declinedAt: '2026-04-01' }),
        quote('draft', { status: 'draft', sentAt: '2026-05-01' }),
        quote('undated', { status: 'sent' }),
        quote('gone', { status: 'sent', sentAt: '2026-05-01', deletedAt: today }),
      ],
    };
    const report = run('stale_quotes', data);
    expect([report.examined, report.notChecked]).toEqual([5, { 'no sending date': 1 }]);
    expect(report.rows).toStrictEqual([
      {
        id: '14 days',
        name: 'Quote 14 days',
        company: 'Acme',
        status: 'sent',
        kind: ['past expiry'],
        valueAtStake: 100,
        reason: 'sent 2026-06-01, 14 days without an answer; expired 2026-06-10',
      },
      {
        id: 'sent again',
        name: 'Quote sent again',
        company: 'Acme',
        status: 'sent',
        kind: ['open to acceptance'],
        valueAtStake: 100,
        reason: 'sent 2026-05-01, 45 days without an answer',
      },
    ]);
    const [older] = run('stale_quotes', data, { days: 13 }).rows;
    expect([older?.id, older?.reason]).toEqual([
      '13 days',
      'sent 2026-06-02, 13 days without an answer',
    ]);
  });
});

test('expiring_quotes finds open quotes that expire from today on', () => {
  const expiring = (expiresAt: string, status = 'sent') =>
    quote(`${status} ${expiresAt}`, { status, expiresAt });
  const data = {
    quote: [
      expiring('2026-06-14'),
      expiring('2026-06-15'),
      expiring('2026-06-29', 'draft'),
      expiring('2026-06-30'),
      expiring('2026-06-20', 'approved'),
      expiring('soon'),
    ],
  };
  const report = run('expiring_quotes', data);
  expect(report.rows.map(({ id }) => id)).toEqual(['draft 2026-06-29', 'sent 2026-06-15']);
  expect([report.examined, report.notChecked]).toEqual([5, { 'no expiry date': 1 }]);
  expect(report.definition).toContain('from 2026-06-15 to 2026-06-29');
  const [last] = run('expiring_quotes', data, { days: 0 }).rows;
  expect(last?.reason).toBe('expires 2026-06-15, today');
});

describe('pricing_drift', () => {
  const catalogue = [
    product('p', 100),
    product('q'),
    product('r', 50, 1, { listed: false }),
    product('z', 0),
  ];
  const book = (price: number | undefined, more: object = {}) => ({
    id: 'b',
    name: 'Bid',
    products: [{ productId: 'p', ...(price !== undefined && { price }) }],
    ...more,
  });

  test('finds book prices beyond the tolerance', () => {
    const data = { pricing_book: [book(95), book(94.99), book(105.01)], product: catalogue };
    const report = run('pricing_drift', data);
    expect(report.rows.map(({ valueAtStake, reason }) => [valueAtStake, reason])).toEqual([
      [5.01, 'book 94.99, catalogue 100 (-5 %)'],
      [5.01, 'book 105.01, catalogue 100 (+5 %)'],
    ]);
    expect(report.rows[0]?.related).toStrictEqual([{ id: 'b', name: 'Bid' }]);
    expect(report.rows.map(({ kind }) => kind?.[1])).toEqual([
      'under the catalogue',
      'above the catalogue',
    ]);
    expect(report).not.toHaveProperty('valueAtStake');
    expect(run('pricing_drift', data, { tolerance: 6 }).total).toBe(0);
    const slight = { pricing_book: [book(100.4), book(100)], product: catalogue };
    expect(run('pricing_drift', slight, { tolerance: 0 }).rows.map(({ reason }) => reason)).toEqual(
      ['book 100.40, catalogue 100 (+0.4 %)'],
    );
  });

  test('respects validity, and counts what cannot be compared', () => {
    const pricing_book = [
      book(1, { validTo: '2026-06-14' }),
      book(1, { validFrom: '2026-06-16' }),
      book(1, { products: [{ productId: 'p', price: 1, validTo: '2026-06-14' }] }),
      book(undefined),
      book(1, {
        products: ['q', 'r', 'z', 'gone'].map((productId) => ({ productId, price: 1 })),
      }),
    ];
    const report = run('pricing_drift', { pricing_book, product: catalogue });
    expect([report.total, report.examined]).toEqual([0, 5]);
    expect(report.notChecked).toStrictEqual({
      'no price in the book': 1,
      'no price in the catalogue': 1,
      'product unlisted': 1,
      'price 0 in the catalogue': 1,
      'product not in the catalogue': 1,
    });
  });
});

test('unlisted_on_quotes finds items of open quotes that are no longer sold', () => {
  const data = {
    product: [product('p', 1, 1, { listed: false }), product('ok')],
    quote: [
      quote('draft', {
        status: 'draft',
        discount: { type: 'percent', amount: 50 },
        items: [
          { quantity: 2, price: 10, term: 'month', name: 'Old', product: { id: 'p' } },
          { quantity: 1, price: 10, product: { id: 'p' } },
          { quantity: 1, price: 999, product: { id: 'ok' } },
          { quantity: 1, price: 999, product: { id: 'gone' } },
          { quantity: 1, price: 999 },
        ],
      }),
      quote('approved', { status: 'approved' }),
      // An amount off the whole quote cannot be split by line.
      quote('sent', { status: 'sent', discount: { type: 'amount', amount: 30 } }),
      quote('all listed', { status: 'sent', items: [{ price: 1, product: { id: 'ok' } }] }),
    ],
  };
  const report = run('unlisted_on_quotes', data);
  expect(report).toMatchObject({
    examined: 3,
    notChecked: { 'lines: product not in the catalogue': 1, 'lines: no product named': 1 },
    valueAtStake: { EUR: 225 },
    unit: 'quote',
    total: 2,
    lines: 3,
  });
  expect(report.rows[0]).toStrictEqual({
    id: 'draft',
    name: 'Quote draft',
    company: 'Acme',
    status: 'draft',
    kind: ['draft'],
    // (2 × 10 × 12 + 10) × 0.5
    valueAtStake: 125,
    reason: '2 lines, first "Old"',
  });
});

test('unlisted_on_quotes takes no product by a part number that several have', () => {
  const old = product('old', 1, 1, { listed: false, manufacturer: 'HP', mpn: 'A-1' });
  const current = product('new', 1, 1, { manufacturer: 'hp', mpn: 'A1' });
  const items = [{ quantity: 1, price: 10, manufacturer: 'HP', mpn: 'a1' }];
  const found = (...products: Product[]) =>
    run('unlisted_on_quotes', {
      product: products,
      quote: [quote('q', { status: 'draft', items })],
    });
  expect(found(old).total).toBe(1);
  expect(found(current, old)).toMatchObject({
    total: 0,
    notChecked: { 'lines: no product named': 1 },
  });
});

test('duplicate_products finds the same part of the same manufacturer in any spelling', () => {
  const part = (
    id: string,
    manufacturer: string | undefined,
    mpn: string | undefined,
    price?: number,
  ) =>
    product(id, price, undefined, {
      ...(manufacturer !== undefined && { manufacturer }),
      ...(mpn !== undefined && { mpn }),
    });
  const report = run('duplicate_products', {
    product: [
      part('b', 'Maker Inc.', 'AB-12', 10),
      part('a', 'MAKER INC', 'ab 12', 14.5),
      part('c', 'Maker-Inc', 'ＡＢ１２', 12),
      part('d', 'Other', 'AB-12'),
      { ...part('e', undefined, 'X1'), vendor: 'Vend' },
      part('f', 'Vend', 'x/1', 7),
      part('g', undefined, 'AB-12'),
      part('h', 'Maker Inc', '-'),
      { ...part('i', 'Maker Inc', 'AB12'), listed: false },
      part('j', 'Same', '1', 5),
      part('k', 'Same', '1', 5),
      part('l', 'Cents', '2', 5.5),
      part('m', 'Cents', '2', 5),
    ],
  });
  expect(report.examined).toBe(12);
  expect(report.notChecked).toStrictEqual({ 'no manufacturer': 1, 'no part number': 1 });
  expect(report.rows).toStrictEqual([
    {
      id: 'a',
      name: 'Product a',
      kind: ['different prices'],
      valueAtStake: 4.5,
      reason:
        '3 products with manufacturer "MAKER INC" and part number "ab 12", prices 10 to 14.50',
      related: [
        { id: 'b', name: 'Product b' },
        { id: 'c', name: 'Product c' },
      ],
    },
    {
      id: 'l',
      name: 'Product l',
      kind: ['different prices'],
      valueAtStake: 0.5,
      reason: '2 products with manufacturer "Cents" and part number "2", prices 5 to 5.50',
      related: [{ id: 'm', name: 'Product m' }],
    },
    {
      id: 'j',
      name: 'Product j',
      kind: ['no different prices'],
      valueAtStake: 0,
      reason: '2 products with manufacturer "Same" and part number "1"',
      related: [{ id: 'k', name: 'Product k' }],
    },
    {
      id: 'e',
      name: 'Product e',
      kind: ['no different prices'],
      reason: '2 products with manufacturer "Vend" and part number "X1"',
      related: [{ id: 'f', name: 'Product f' }],
    },
  ]);
  expect([report.total, report.products, report.unknownValue]).toEqual([4, 9, 1]);
});

describe('open opportunities', () => {
  const deal = (id: string, more: Opportunity): Opportunity => ({
    id,
    name: `Deal ${id}`,
    company: acme,
    onetimeRevenue: 10,
    pipelineStage: { name: 'Offer' },
    ...more,
  });

  test('stalled_opportunities finds those without any change', () => {
    const data = {
      opportunity: [
        deal('30 days', { updatedAt: '2026-05-16', createdAt: '2026-01-01' }),
        deal('29 days', { updatedAt: '2026-05-17' }),
        deal('stage moved', { updatedAt: '2026-01-01', stageUpdatedAt: '2026-06-01' }),
        deal('only created', { createdAt: '2026-01-01', monthlyRevenue: 1 }),
        deal('closed', { updatedAt: '2026-01-01', closedAt: '2026-01-01' }),
        deal('closes today', { updatedAt: '2026-05-18', expectedCloseDate: today }),
        deal('undated', {}),
      ],
    };
    const report = run('stalled_opportunities', data);
    expect([report.examined, report.notChecked]).toEqual([6, { 'no date of any change': 1 }]);
    expect(report.rows).toStrictEqual([
      {
        id: 'only created',
        name: 'Deal only created',
        company: 'Acme',
        status: 'Offer',
        kind: ['no close date'],
        valueAtStake: 22,
        reason: 'unchanged for 165 days, since 2026-01-01',
      },
      {
        id: '30 days',
        name: 'Deal 30 days',
        company: 'Acme',
        status: 'Offer',
        kind: ['no close date'],
        valueAtStake: 10,
        reason: 'unchanged for 30 days, since 2026-05-16',
      },
    ]);
    const sooner = run('stalled_opportunities', data, { days: 28, status: { name: 'offer' } });
    expect(sooner.rows.map(({ id, kind }) => [id, kind?.[0]])).toEqual([
      ['only created', 'no close date'],
      ['29 days', 'no close date'],
      ['30 days', 'no close date'],
      ['closes today', 'not overdue'],
    ]);
    expect(ids('stalled_opportunities', data, { status: { name: 'Won' } })).toEqual([]);
  });
});

test('opportunities_without_quote finds open deals that no quote names, deleted quotes apart', () => {
  const deal = (id: string, more: Opportunity = {}) => ({
    id,
    name: id,
    onetimeRevenue: 10,
    ...more,
  });
  const report = run('opportunities_without_quote', {
    opportunity: [
      deal('quoted'),
      deal('declined'),
      deal('deleted'),
      deal('none', { expectedCloseDate: '2026-07-01' }),
      deal('won', { statusId: 'won' }),
    ],
    quote: [
      { opportunity: { id: 'quoted' } },
      { opportunity: { id: 'declined' }, status: 'declined' },
      { opportunity: { id: 'deleted' }, deletedAt: today },
      {},
    ],
  });
  expect(report.examined).toBe(4);
  expect(report.rows.map(({ id, reason }) => [id, reason])).toEqual([
    ['deleted', 'no quote'],
    ['none', 'no quote; closes 2026-07-01'],
  ]);
});

const deals: Opportunity[] = [
  { id: 'open', statusId: 'open' },
  { id: 'won', statusId: 'won' },
  { id: 'lost', closedAt: today, statusId: 'lost' },
  { id: 'closed', closedAt: today },
  { id: 'deleted', deletedAt: today },
];
const ofDeal = (id: string, more: Quote = {}): Quote =>
  quote(id, { status: 'draft', opportunity: { id, name: `Deal ${id}` }, ...more });

describe('quotes_of_closed_deals', () => {
  const data = {
    opportunity: deals,
    quote: [
      ...deals.map(({ id = '' }) => ofDeal(id)),
      ofDeal('gone'),
      quote('none', { status: 'sent' }),
      ofDeal('won', { id: 'accepted', status: 'approved' }),
    ],
  };

  test('is worked off by owner, company, status and kind', () => {
    const owned = (each: Quote, at: number): Quote => ({
      ...each,
      owner: { id: `u${at % 2}`, name: at % 2 ? 'Ann' : 'Bob' },
    });
    const all = { ...data, quote: data.quote.map(owned) };
    const found = (options: Options) => ids('quotes_of_closed_deals', all, options);
    expect(found({ owner: { id: 'u1' } })).toEqual(['closed', 'won']);
    expect(found({ owner: { id: 'u1' }, kind: { name: 'deal won' } })).toEqual(['won']);
    expect(found({ company: { id: 'acme' } })).toHaveLength(4);
    expect(found({ company: { id: 'other' } })).toEqual([]);
    expect(found({ status: { name: 'sent' } })).toEqual([]);
    expect(found({ status: { name: 'draft' } })).toHaveLength(4);
    const report = run('quotes_of_closed_deals', all, { owner: { id: 'u1' } });
    expect([report.examined, report.rows[0]?.owner]).toEqual([3, 'Ann']);
  });

  test('counts an owner with several names once, under the first name by order', () => {
    const named = ['Zoe', 'Ann', 'Mia'].map(
      (name, at): Quote => ({
        ...quote(`q${at}`, { status: 'sent', opportunity: { id: 'won' } }),
        owner: { id: 'u1', name },
      }),
    );
    const { counts, rows } = run('quotes_of_closed_deals', { ...data, quote: named });
    expect(counts).toContainEqual({ by: 'owner', value: 'Ann', count: 3 });
    expect(rows[0]?.deal).toBe('won');
  });
});

test('zero_prices finds draft and sent quotes with lines at 0', () => {
  const free = { quantity: 1, price: 0, name: 'Gift' };
  const report = run('zero_prices', {
    quote: [
      quote('sent', {
        status: 'sent',
        items: [free, { ...free, name: 'Other' }, { quantity: 1 }, { quantity: 1, price: 5 }],
      }),
      quote('approved', { status: 'approved', items: [free] }),
      quote('paid', { status: 'sent', items: [{ price: 5 }] }),
    ],
  });
  expect(report.rows).toMatchObject([
    { id: 'sent', reason: 'price 0 in 2 lines, first "Gift"', valueAtStake: 5 },
  ]);
  expect(report).toMatchObject({ examined: 2, total: 1, lines: 2, unit: 'quote' });
});

test('contracts_running_out finds items that end within the days', () => {
  const ends = (endDate: string, more: ContractItem = {}): ContractItem => ({
    id: endDate,
    service: `Until ${endDate}`,
    company: acme,
    quantity: 3,
    ...more,
  });
  const item = (endDate: string, more: ContractItem = {}) => ({ ...ends(endDate, more), endDate });
  const report = run('contracts_running_out', {
    contract_item: [
      item('2026-06-14'),
      item('2026-06-15', { revenue: 50, term: 'month' }),
      { id: '2026-09-13', name: 'Backup', company: acme, quantity: 3, endDate: '2026-09-13' },
      item('2026-09-14'),
      item('soon'),
      item('2026-07-01', { deletedAt: today }),
    ],
  });
  expect(report.rows.map(({ id, reason }) => [id, reason])).toEqual([
    ['2026-06-15', 'ends 2026-06-15, today'],
    ['2026-09-13', 'ends 2026-09-13, in 90 days'],
  ]);
  expect(report).toMatchObject({ examined: 5, notChecked: { 'no end date': 1 }, unknownValue: 1 });
  expect(report.rows[0]).toMatchObject({ company: 'Acme', valueAtStake: 600, kind: ['monthly'] });
  expect(report.rows.map(({ name }) => name)).toEqual(['Until 2026-06-15', 'Backup']);
  const yearly = { contract_item: [item('2026-06-15', { term: 'year' })] };
  expect(run('contracts_running_out', yearly).counts).toEqual([
    { by: 'term', value: 'yearly', count: 1 },
  ]);
});

test('contracts says of each item when it starts or ends', () => {
  const reasonOf = (item: ContractItem) =>
    run('contracts', { contract_item: [{ company: acme, ...item }] }).rows[0]?.reason;
  expect(reasonOf({ startDate: '2026-06-16' })).toBe('starts 2026-06-16');
  expect(reasonOf({ startDate: today })).toBe('no end');
  expect(reasonOf({ startDate: today, endDate: today })).toBe('ends 2026-06-15, today');
  expect(reasonOf({ endDate: '2026-06-14' })).toBe('ended 2026-06-14');
});

test('shows the number of a quote that has no title, once', () => {
  const untitled: Quote = { id: 'q', number: 'Q-1', status: 'sent', expiresAt: today };
  const [row] = run('expiring_quotes', { quote: [untitled] }).rows;
  expect(row?.number).toBe('Q-1');
  expect(row).not.toHaveProperty('name');
});

test('a reason quotes record text in one line', () => {
  const expectedCloseDate = 'x" is fine\noutcome: written \u2028- bullet';
  const report = run('missing_close_dates', { opportunity: [{ id: '1', expectedCloseDate }] });
  expect(report.rows[0]?.reason).toBe(
    'close date "x\\" is fine ⏎ outcome: written ⏎ - bullet" is no date',
  );
});
