import { describe, expect, test } from 'vitest';
import {
  closedBrief as closedSteps,
  type PipelineOptions,
  pipelineBrief,
} from '../../src/briefs/pipeline/pipeline.ts';
import type { DealOutcome } from '../../src/briefs/pipeline/won-and-lost.ts';
import { tenantDeals } from '../../src/figures/deals.ts';
import { runSteps } from '../../src/figures/steps.ts';
import type { Opportunity } from '../../src/service/records/records.ts';

const today = '2026-06-15';
const currencyOf = new Map([
  ['de', 'EUR'],
  ['us', 'USD'],
]);
const dealsOf = (opportunities: readonly Opportunity[]) =>
  runSteps(tenantDeals(opportunities, currencyOf));
const brief = (opportunities: Opportunity[], options: Partial<PipelineOptions> = {}) =>
  runSteps(pipelineBrief(dealsOf(opportunities), { today, ...options }));

const closedBrief = (
  opportunities: Opportunity[],
  outcome: DealOutcome,
  options: PipelineOptions,
) => runSteps(closedSteps(dealsOf(opportunities), outcome, options));

const german = { id: 'de', name: 'Hansa' };
const american = { id: 'us', name: 'Beacon' };
const offer = { id: 's1', name: 'Offer' };
const intake = { id: 's2', name: 'Intake' };
const anna = { id: 'u1', name: 'Anna' };
const ben = { id: 'u2', name: 'Ben' };

/** Three open deals in two currencies, calculated by hand below. */
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
const b: Opportunity = {
  id: 'b',
  name: 'Backup',
  company: german,
  owner: ben,
  pipelineStage: offer,
  probability: 0.25,
  onetimeRevenue: 0.2,
  createdAt: '2025-12-31',
  stageUpdatedAt: '2026-05-01',
  updatedAt: '2026-05-16',
  expectedCloseDate: '2026-06-15',
};
const c: Opportunity = {
  id: 'c',
  name: 'Cabling',
  company: american,
  owner: anna,
  pipelineStage: intake,
  monthlyRevenue: 100,
  createdAt: '2026-06-01',
  expectedCloseDate: '2026-07-15',
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

test('the open pipeline: reports what is overdue, closing soon and stalled', () => {
  const { overdue, closingSoon, stalled } = brief([a, b, c]);
  expect(overdue).toStrictEqual({
    total: 1,
    value: { EUR: 1360.1 },
    weightedValue: { EUR: 680.05 },
    shown: 1,
    rows: [
      {
        id: 'a',
        name: 'Switches',
        company: 'Hansa',
        value: 1360.1,
        currency: 'EUR',
        closes: '2026-06-01',
      },
    ],
  });
  const [row] = brief([a, b, c], { maxRows: 3 }).overdue.rows;
  expect(row).toMatchObject({ id: 'a', weightedValue: 680.05, probability: 0.5 });
  // Today and today + 30 are included; 12 months where none are given.
  expect([closingSoon.from, closingSoon.to]).toEqual([today, '2026-07-15']);
  expect(closingSoon.value).toStrictEqual({ EUR: 0.2, USD: 1200 });
  expect(closingSoon.rows.map(({ id }) => id)).toEqual(['c', 'b']);
  // b was last updated 30 days ago; c was created 14 days ago and never updated.
  expect(stalled.rows).toStrictEqual([
    { id: 'b', name: 'Backup', company: 'Hansa', value: 0.2, currency: 'EUR', idleDays: 30 },
  ]);
  expect(brief([a, b, c], { stalledAfterDays: 31 }).stalled.total).toBe(0);
  expect(brief([{}], { stalledAfterDays: 0 }).stalled.total).toBe(0);
  expect(brief([a, a, a]).overdue).toMatchObject({ total: 3, shown: 2 });
  expect(brief([a, b, c], { today: '2026-06-14' }).closingSoon.total).toBe(1);
});

test('the open pipeline: reports an empty pipeline', () => {
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
});

test('the open pipeline: counts everything that a bare record lacks', () => {
  expect(brief([{}]).unknown).toStrictEqual({
    revenue: 1,
    probability: 1,
    currency: 1,
    createdAt: 1,
    stageUpdatedAt: 1,
    expectedCloseDate: 1,
    lastChange: 1,
  });
  expect(brief([{}]).groups.rows).toStrictEqual([{ name: 'no stage', count: 1 }]);
});

describe('groups', () => {
  const deals = Array.from(
    { length: 9 },
    (_, at): Opportunity => ({
      ...a,
      id: `d${at}`,
      name: `Deal ${at}`,
      owner: { id: `u${at}`, name: `Owner ${at}` },
      onetimeRevenue: 100 * (at + 1),
      monthlyRevenue: 0,
      expectedCloseDate: `2026-0${9 - at}-10`,
      createdAt: `2026-01-0${at + 1}`,
      stageUpdatedAt: `2026-06-0${at + 1}`,
    }),
  );

  test('folds groups beyond the limit so that the sums still add up', () => {
    const { groups } = brief(deals, { by: 'owner', maxGroups: 3 });
    expect([groups.shown, groups.total]).toEqual([3, 9]);
    expect(groups.rows.map(({ name, count }) => [name, count])).toEqual([
      ['Owner 8', 1],
      ['Owner 7', 1],
      ['Owner 6', 1],
      ['6 others', 6],
    ]);
    expect(groups.rows[3]).toStrictEqual({
      name: '6 others',
      count: 6,
      value: { EUR: 2100 },
      weightedValue: { EUR: 1050 },
      oneTime: { EUR: 2100 },
      monthly: { EUR: 0 },
      // Days 165 to 160, and 14 to 9.
      ageDays: 163,
      daysInStage: 12,
      groups: 6,
    });
  });

  test('shows close months in their order, what is overdue apart from the month that has begun', () => {
    const closing = ['2026-07-01', '2026-06-14', '2026-06-15', '2026-05-01', '2027-01-31', ''];
    const months = closing.map((expectedCloseDate, at) => ({
      ...a,
      id: `${at}`,
      expectedCloseDate,
    }));
    const rows = (maxGroups?: number) =>
      brief(months, { by: 'close_month', ...(maxGroups && { maxGroups }) }).groups.rows;
    expect(rows().map(({ name, count }) => [name, count])).toEqual([
      ['overdue', 2],
      ['2026-06', 1],
      ['2026-07', 1],
      ['2027-01', 1],
      ['no close date', 1],
    ]);
    expect(rows(3).map(({ name, count }) => [name, count])).toEqual([
      ['overdue', 2],
      ['2026-06', 1],
      ['2026-07', 1],
      ['2 others', 2],
    ]);
  });

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

describe('filters', () => {
  const count = (options: Partial<PipelineOptions>) => brief([a, b, c], options).open.count;

  test('counts the deals that refer to the matched record', () => {
    expect(count({ owner: anna })).toBe(2);
    expect(count({ company: american })).toBe(1);
    expect(count({ stage: offer, owner: ben })).toBe(1);
    expect(count({ category: { id: 'g1' } })).toBe(0);
    expect(count({ source: { name: 'Web' } })).toBe(0);
    expect(count({ currency: { name: 'EUR' } })).toBe(2);
    expect(count({ currency: { name: 'USD' } })).toBe(1);
  });

  test('includes both ends of the close dates', () => {
    expect(count({ closeFrom: '2026-06-15' })).toBe(2);
    expect(count({ closeTo: '2026-06-15' })).toBe(2);
    expect(count({ closeFrom: '2026-06-02', closeTo: '2026-06-15' })).toBe(1);
    expect(brief([{}], { closeTo: '2030-01-01' }).open.count).toBe(0);
  });

  test('applies the minimum to the value with its months, and leaves unknown values out', () => {
    expect(count({ minValue: 1200 })).toBe(2);
    expect(count({ minValue: 1200.01 })).toBe(1);
    const { open, notes } = brief([a, {}], { minValue: 0 });
    expect(open.count).toBe(1);
    expect(notes?.[0]).toContain('1 deal of unknown value omitted');
    // Only deals that the brief would otherwise be about.
    const options = { today, currencyOf, minValue: 0 };
    expect(brief([a, {}], { minValue: 0, owner: anna }).notes?.[0]).toContain('0 deals of unknown');
    expect(closedBrief([a, {}], 'lost', options).notes?.[0]).toContain('0 deals of unknown');
    const inOffer = brief([a, { pipelineStage: intake }], { minValue: 0, stage: offer });
    expect(inOffer.notes?.[1]).toContain('0 deals of unknown');
    const lost = closed('l', { statusId: 'lost' });
    expect(closedBrief([a, {}, lost], 'lost', options).notes?.[0]).toContain('1 deal of unknown');
  });
});

describe('won and lost', () => {
  const won = (value: number, more: Opportunity = {}) =>
    closed(`w${value}`, { statusId: 'won', onetimeRevenue: value, ...more });
  const lost = (value: number, more: Opportunity = {}) =>
    closed(`l${value}`, { statusId: 'lost', onetimeRevenue: value, ...more });

  test('narrows won and lost by owner and company, not by stage and close dates', () => {
    const deals = [a, closed('w', { statusId: 'won' })];
    expect(brief(deals, { owner: anna }).closed.won.count).toBe(1);
    expect(brief(deals, { owner: ben }).closed.won.count).toBe(0);
    const { closed: untouched, notes } = brief(deals, { stage: offer, closeFrom: '2026-06-01' });
    expect(untouched.won.count).toBe(1);
    const narrowed =
      'The filters by stage and close date apply to open deals only, not to won and lost ones.';
    expect(notes).toEqual([narrowed]);
    for (const alone of [{ stage: offer }, { closeFrom: today }, { closeTo: today }]) {
      expect(brief(deals, alone).notes).toEqual([narrowed]);
    }
  });

  test('reports the win rate by count and by value, per currency', () => {
    const { closed: period } = brief([
      won(300),
      won(100, { company: american }),
      lost(600),
      lost(100, { company: american, monthlyRevenue: 10, valueMonths: 20 }),
      lost(50),
      closed('u', { onetimeRevenue: 7 }),
    ]);
    expect(period).toStrictEqual({
      from: '2026-03-17',
      to: today,
      won: { count: 2, value: { EUR: 300, USD: 100 } },
      lost: { count: 3, value: { EUR: 650, USD: 300 } },
      outcomeUnknown: { count: 1, value: { EUR: 7 } },
      countByCurrency: { EUR: 4, USD: 2 },
      winRatePercent: 40,
      // 300 of 950, and 100 of 400.
      winRatePercentByValue: { EUR: 31.6, USD: 25 },
    });
  });

  test('has no rate where nothing was decided or nothing was worth anything', () => {
    expect(brief([a]).closed).not.toHaveProperty('winRatePercent');
    const { closed: period } = brief([won(0), lost(0, { onetimeRevenue: undefined } as never)]);
    expect(period.winRatePercent).toBe(50);
    expect(period).not.toHaveProperty('winRatePercentByValue');
    expect(brief([won(-1)]).closed).not.toHaveProperty('winRatePercentByValue');
    expect(brief([won(0.5), lost(0.5)]).closed.winRatePercentByValue).toEqual({ EUR: 50 });
  });

  test('treats a won deal without a closing time as closed, in no period', () => {
    const { closedAt: _none, ...undated } = won(5);
    const { open, closed: period, unknown, notes } = brief([a, undated, lost(3)]);
    expect(open.count).toBe(1);
    expect(period.won.count).toBe(0);
    expect(unknown).toStrictEqual({ closedAt: 1 });
    expect(notes).toEqual(['1 closed deal without a closing date: in no period.']);
    const options = { today, currencyOf };
    expect(closedBrief([undated, lost(3)], 'won', options).unknown).toEqual({ closedAt: 1 });
  });
});

describe('deals that are closed', () => {
  const ended = (id: string, statusId: string, more: Opportunity): Opportunity =>
    closed(id, { statusId, createdAt: '2026-04-01', oneTimeProfit: 10, ...more });
  const deals = [
    ended('w1', 'won', { onetimeRevenue: 300, closedAt: '2026-04-11' }),
    ended('w2', 'won', { onetimeRevenue: 100, closedAt: '2026-05-02', owner: ben }),
    ended('l1', 'lost', { onetimeRevenue: 500, closedAt: '2026-05-03' }),
    ended('l2', 'lost', { onetimeRevenue: 50, closedAt: '2026-05-03', owner: ben, createdAt: '' }),
    ended('u1', 'x', { onetimeRevenue: 7, owner: ben }),
    ended('w9', 'won', { onetimeRevenue: 900, closedAt: '2025-01-01' }),
  ];
  const about = (outcome: 'won' | 'lost' | 'closed', options: Partial<PipelineOptions> = {}) =>
    closedBrief(deals, outcome, { today, ...options });

  test('by owner: value, win rate and days, ranked by what was won', () => {
    expect(about('won').groups.rows).toStrictEqual([
      {
        name: 'Anna',
        won: 1,
        wonValue: { EUR: 300 },
        daysToWin: 10,
        lost: 1,
        lostValue: { EUR: 500 },
        daysToLose: 32,
        winRatePercent: 50,
        winRatePercentByValue: { EUR: 37.5 },
      },
      {
        name: 'Ben',
        won: 1,
        wonValue: { EUR: 100 },
        daysToWin: 31,
        lost: 1,
        lostValue: { EUR: 50 },
        outcomeUnknown: 1,
        winRatePercent: 50,
        winRatePercentByValue: { EUR: 66.7 },
      },
    ]);
    expect(about('won').closed).toMatchObject({ won: { count: 2, daysToClose: 21 } });
  });

  test('if it is about lost deals, ranked by what was lost', () => {
    const bens = { ...deals[3], onetimeRevenue: 5000 } as Opportunity;
    const rows = closedBrief([...deals, bens], 'lost', { today }).groups.rows;
    expect(rows.map(({ name }) => name)).toEqual(['Ben', 'Anna']);
  });
});

describe('what is shown on request', () => {
  const asking = (description: string) =>
    brief([{ ...a, description, oneTimeProfit: 100, monthlyProfit: 2 }], {
      show: ['ask', 'profit'],
    });

  test('profit divided among the products of a deal, as its value is', () => {
    const [big, small] = [
      { price: 30, product: { id: 'p1' } },
      { price: 10, product: { id: 'p2' } },
    ];
    const { rows } = brief([{ ...a, onetimeRevenue: 80, monthlyRevenue: 0, oneTimeProfit: 20 }], {
      by: 'product',
      quotes: [{ id: 'q', opportunity: { id: 'a' }, items: [big, small] }],
      show: ['profit'],
    }).groups;
    expect(rows.map(({ id, value, profit }) => [id, value, profit])).toEqual([
      ['p1', { EUR: 60 }, { EUR: 15 }],
      ['p2', { EUR: 20 }, { EUR: 5 }],
    ]);
  });

  test('the customer’s ask on one line, cut', () => {
    const askIn = (description: string) => asking(description).overdue.rows[0]?.ask;
    expect(askIn(' Two\n switches ')).toBe('Two switches');
    expect(askIn(' \n')).toBeUndefined();
    expect(askIn('x'.repeat(240))).toBe('x'.repeat(240));
    expect(askIn('x'.repeat(241))).toBe(`${'x'.repeat(240)}…`);
    expect(askIn(`${'x'.repeat(235)}<strong>y</strong>`)).toBe(`${'x'.repeat(235)}…`);
  });
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

test('a target without open deals is in the currency of the won ones, and says what it leaves out', () => {
  const won = { company: german, statusId: 'won', closedAt: today };
  const deals = [
    { ...won, id: 'w1', onetimeRevenue: 120 },
    { ...won, id: 'w2' },
    { ...won, id: 'w3', onetimeRevenue: 7, company: american },
    { ...won, id: 'w4', onetimeRevenue: 5 },
  ];
  const { target } = brief(deals, { target: 100 });
  expect(target).toMatchObject({
    won: { EUR: 125 },
    gap: { EUR: -25 },
    wonInOtherCurrencies: 1,
    wonWithoutValue: 1,
  });
});
