import { Big } from 'big.js';
import { describe, expect, test } from 'vitest';
import { type PipelineOptions, pipelineBrief } from '../../src/briefs/pipeline/pipeline.ts';
import { tenantDeals } from '../../src/figures/deals.ts';
import { runSteps } from '../../src/figures/steps.ts';
import type { Opportunity } from '../../src/service/records/records.ts';
import { pipelineOptions } from '../support/pipeline-options.ts';

const today = '2026-06-15';
const currencyOf = new Map([
  ['de', 'EUR'],
  ['us', 'USD'],
]);
const dealsOf = (opportunities: readonly Opportunity[]) =>
  runSteps(tenantDeals(opportunities, currencyOf));
const brief = (opportunities: Opportunity[], options: Partial<PipelineOptions> = {}) =>
  runSteps(pipelineBrief(dealsOf(opportunities), { ...pipelineOptions, ...options }));

const german = { id: 'de', name: 'Hansa' };
const offer = { id: 's1', name: 'Offer' };
const anna = { id: 'u1', name: 'Anna' };

const a: Opportunity = {
  id: 'a',
  name: 'Switches',
  company: german,
  owner: anna,
  pipelineStage: offer,
  probability: 0.5,
  onetimeRevenue: 1000.1,
  monthlyRevenue: 10,
  valueMonths: 36,
  createdAt: '2026-01-01T08:00:00Z',
  stageUpdatedAt: '2026-06-05',
  updatedAt: '2026-06-10',
  expectedCloseDate: '2026-06-01',
};
const closed = (id: string, more: Opportunity): Opportunity => ({
  id,
  name: id,
  company: german,
  owner: anna,
  pipelineStage: { id: 's9', name: 'Done' },
  closedAt: '2026-05-01',
  ...more,
});

test('the open pipeline: reports an empty pipeline, and no unknown age as stalled', () => {
  expect(brief([])).toStrictEqual({
    today,
    by: 'stage',
    open: { count: 0 },
    groups: { shown: 0, total: 0, rows: [] },
    overdue: { total: 0, shown: 0, rows: [] },
    closingSoon: { from: today, to: '2026-07-15', total: 0, shown: 0, rows: [] },
    stalled: { afterDays: 30, total: 0, shown: 0, rows: [] },
    closed: { from: '2026-03-17', to: today, won: { count: 0 }, lost: { count: 0 } },
    probability: { scale: 'unknown', decided: 'no opportunity has a probability' },
  });
  expect(brief([{}], { stalledAfterDays: 0 }).stalled.total).toBe(0);
});

describe('groups', () => {
  test('counts a deal of several folded labels once', () => {
    const labelled = [
      { ...a, onetimeRevenue: 10, monthlyRevenue: 0, labels: ['Key', 'Renewal', 'Tender'] },
      { ...a, id: 'z', labels: ['Key'] },
    ];
    const { rows } = brief(labelled, { by: 'label', maxGroups: 1 }).groups;
    expect(rows.map(({ name, count }) => [name, count])).toEqual([
      ['Key', 2],
      ['2 others', 1],
    ]);
    expect(rows[1]).toMatchObject({ value: { EUR: 10 }, groups: 2 });
  });

  test('by product have their share of all amounts', () => {
    const deal = { ...a, onetimeRevenue: 100, monthlyRevenue: 10, valueMonths: 12 };
    const items = ['A', 'B', 'B', 'B'].map((name) => ({ name, price: 1 }));
    const quotes = [{ opportunity: { id: 'a' }, items }];
    const profits = { oneTimeProfit: 40, monthlyProfit: 5 };
    const asked = { by: 'product', quotes, show: ['profit'] } as const;
    const { rows } = brief([{ ...deal, ...profits }], asked).groups;
    const amounts = rows.map(({ name, value, oneTime, profit }) => [name, value, oneTime, profit]);
    expect(amounts).toEqual([
      ['B', { EUR: 165 }, { EUR: 75 }, { EUR: 75 }],
      ['A', { EUR: 55 }, { EUR: 25 }, { EUR: 25 }],
    ]);
  });

  test('count a deal once under a label that its company writes in another letter case', () => {
    const companies = [{ ...german, labels: ['vip'] }];
    const deals = [{ ...a, onetimeRevenue: 10, monthlyRevenue: 0, labels: ['VIP'] }];
    const { rows } = brief(deals, { by: 'label', companies }).groups;
    expect(rows).toMatchObject([{ name: 'VIP', count: 1, value: { EUR: 10 } }]);
  });

  test('by a custom field have the names of its choices, whatever their form', () => {
    const values = [{ id: 7, name: 'South' }, 'South', [{ code: 1 }, 2]];
    const deals = values.map((Region, at) => ({ ...a, id: `c${at}`, customFields: { Region } }));
    const { rows } = brief(deals, { by: 'customFields.Region' }).groups;
    const counted = rows.map(({ name, count }) => [name, count]);
    expect(Object.fromEntries(counted)).toEqual({ South: 2, '{"code":1}': 1, 2: 1 });
  });

  test('are combined after the limit, if there are several others', () => {
    const namesOf = (owners: string[]) => {
      const owned = owners.map((id) => ({ ...a, id, owner: { id, name: id } }));
      return brief(owned, { by: 'owner', maxGroups: 2 }).groups.rows.map(({ name }) => name);
    };
    expect(namesOf(['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
    expect(namesOf(['a', 'b', 'c', 'd'])).toEqual(['a', 'b', '2 others']);
  });

  test('uses the id, and the name where there is no id', () => {
    const renamed = [
      { ...a, id: '1', owner: { id: 'u1', name: 'Zoe' } },
      { ...a, id: '2', owner: { id: 'u1', name: 'Anna' } },
      { ...a, id: '3', owner: { name: 'anna' } },
      { ...a, id: '4', owner: { name: 'ANNA ' } },
    ];
    const { groups } = brief(renamed, { by: 'owner' });
    expect(groups.rows.map(({ id, name, count }) => [id, name, count])).toEqual([
      [undefined, 'ANNA', 2],
      ['u1', 'Anna', 2],
    ]);
    const [nameless] = brief([{ ...a, owner: { id: 'u7' } }], { by: 'owner' }).groups.rows;
    expect([nameless?.id, nameless?.name]).toEqual(['u7', undefined]);
  });
});

describe('won and lost', () => {
  const won = (value: number, more: Opportunity = {}) =>
    closed(`w${value}`, { statusId: 'won', onetimeRevenue: value, ...more });
  const lost = (value: number, more: Opportunity = {}) =>
    closed(`l${value}`, { statusId: 'lost', onetimeRevenue: value, ...more });

  test('has no rate where nothing was decided or nothing was worth anything', () => {
    expect(brief([a]).closed).not.toHaveProperty('winRatePercent');
    const { closed: period } = brief([won(0), lost(0, { onetimeRevenue: undefined } as never)]);
    expect(period.winRatePercent).toBe(50);
    expect(period).not.toHaveProperty('winRatePercentByValue');
    expect(brief([won(-1)]).closed).not.toHaveProperty('winRatePercentByValue');
    expect(brief([won(0.5), lost(0.5)]).closed.winRatePercentByValue).toEqual({ EUR: 50 });
  });
});

/** Named alike, so that a filter by id and one by name are the same. */
const ref = (name: string) => ({ id: name, name });
const matched: Opportunity = {
  ...a,
  ...{ category: ref('Voice'), source: ref('Web'), currency: 'EUR', expectedCloseDate: today },
};
const filters: [keyof PipelineOptions, unknown, Opportunity][] = [
  ['owner', anna, { owner: ref('Ben') }],
  ['company', german, { company: ref('Other') }],
  ['category', ref('Voice'), { category: ref('Data') }],
  ['source', ref('Web'), { source: ref('Fair') }],
  ['currency', { name: 'EUR' }, { currency: 'USD' }],
  ['minValue', 1_000, { onetimeRevenue: 1, monthlyRevenue: 0 }],
];
const ofOpen: typeof filters = [
  ['stage', offer, { pipelineStage: ref('Demo') }],
  ['closeFrom', today, { expectedCloseDate: '2026-06-14' }],
  ['closeTo', today, { expectedCloseDate: '2026-06-16' }],
];

test.each([...filters, ...ofOpen])('the filter by %s is of every figure', (field, value, other) => {
  const { expectedCloseDate: _1, ...undated } = matched;
  const { onetimeRevenue: _2, monthlyRevenue: _3, ...worthless } = matched;
  const open: Opportunity[] = [matched, undated, worthless];
  const ended: Opportunity[] = [
    ...['won', 'lost', ''].map((statusId) => ({ ...matched, closedAt: today, statusId })),
    { ...worthless, closedAt: today, statusId: 'won' },
    { ...matched, statusId: 'won' },
    { ...matched, deletedAt: today },
  ];
  const kinds = [...open, ...ended];
  const isOfOpen = ofOpen.some(([of]) => of === field);
  const others = (isOfOpen ? open : kinds).map((deal) => ({ ...deal, ...other }));
  const asked = { closeTo: '2026-07-01', minValue: 1, target: 9_999, [field]: value };
  const of = (deals: Opportunity[]) =>
    brief(
      deals.map((deal, at) => ({ ...deal, id: `${at}` })),
      asked,
    );
  const { probability: _4, ...own } = of(kinds);
  const { probability: _5, ...all } = of([...kinds, ...others]);
  expect(own.notes?.join()).toMatch(/1 open deal without a close.*; 2 deals of unknown.*1 closed/);
  expect(all).toEqual(own);
});

test('a number of months of 0 or less counts as missing: twelve are assumed', () => {
  for (const valueMonths of [0, -3]) {
    const { open, unknown } = brief([{ monthlyRevenue: 5, currency: 'EUR', valueMonths }]);
    expect([open.value, unknown?.valueMonths]).toEqual([{ EUR: 60 }, 1]);
  }
});

test('a deal is idle since its last change, or its creation if no change is known', () => {
  const changes = {
    stageUpdatedAt: '2026-05-10',
    updatedAt: '2026-05-12',
    createdAt: '2026-06-10',
  };
  const { createdAt } = changes;
  const idle = ({ ...deal }: Opportunity) =>
    brief([deal], { stalledAfterDays: 0 }).stalled.rows.map(({ idleDays }) => idleDays);
  expect([changes, { createdAt }, {}].map(idle)).toEqual([[34], [5], []]);
});

test('amounts converted at a rate are those of deals in the other currency', () => {
  const amounts = { onetimeRevenue: 100, monthlyRevenue: 10, oneTimeProfit: 30, monthlyProfit: 3 };
  const twice = { onetimeRevenue: 200, monthlyRevenue: 20, oneTimeProfit: 60, monthlyProfit: 6 };
  const dealsOf = (worth: typeof amounts, currency: string): Opportunity[] => [
    { ...a, ...worth, currency },
    closed('w', { ...worth, currency, statusId: 'won', createdAt: '2026-04-01' }),
    closed('l', { ...worth, currency, statusId: 'lost' }),
  ];
  const asked = { show: ['profit', 'velocity'], target: 900, minValue: 400 } as const;
  const rates = new Map([['EUR', { to: 'USD', rate: new Big(2) }]]);
  const { notes = [], ...converted } = brief(dealsOf(amounts, 'EUR'), { ...asked, rates });
  const { notes: others, ...plain } = brief(dealsOf(twice, 'USD'), asked);
  expect(converted).toEqual(plain);
  expect(notes.slice(1)).toEqual(others);
});

test('the customer’s ask is on one line, cut', () => {
  const askIn = (description: string) =>
    brief([{ ...a, description }], { show: ['ask'] }).overdue.rows[0]?.ask;
  expect(askIn(' Two\n switches ')).toBe('Two switches');
  expect(askIn(' \n')).toBeUndefined();
  expect(askIn('x'.repeat(240))).toBe('x'.repeat(240));
  expect(askIn('x'.repeat(241))).toBe(`${'x'.repeat(240)}…`);
  expect(askIn(`${'x'.repeat(235)}<strong>y</strong>`)).toBe(`${'x'.repeat(235)}…`);
});

test('velocity has the win rate of all won deals, and the mean value of those that have one', () => {
  const opened = { company: german, createdAt: '2026-06-01' };
  const won = { ...opened, statusId: 'won', closedAt: '2026-06-11' };
  const deals = [
    ...[
      { ...opened, id: 'o1' },
      { ...opened, id: 'o2' },
    ],
    ...[
      { ...won, id: 'w1', onetimeRevenue: 100 },
      { ...won, id: 'w2' },
    ],
    { ...opened, id: 'l1', statusId: 'lost', closedAt: '2026-06-02' },
  ];
  // 2 open deals × 100 × 2/3 ÷ 10 days.
  expect(brief(deals, { show: ['velocity'] }).velocity).toMatchObject({ perDay: { EUR: 13.33 } });
});
