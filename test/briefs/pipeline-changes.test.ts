import { describe, expect, test } from 'vitest';
import type { PipelineFilters } from '../../src/briefs/pipeline/pipeline.ts';
import { toDeal } from '../../src/figures/deals.ts';
import { runSteps } from '../../src/figures/steps.ts';
import { changeGroups, forecastRows } from '../../src/history/changes-between.ts';
import { compareRecords } from '../../src/history/movements.ts';
import { namedPeriod } from '../../src/history/period-start.ts';
import {
  changeRows,
  DealSeries,
  dealRules,
  type StageExit,
  stageOrder,
  stageRows,
} from '../../src/history/pipeline-changes.ts';
import type { Opportunity } from '../../src/service/records/records.ts';

const open = (id: string, value: number, more: Opportunity = {}): Opportunity => ({
  id,
  currency: 'EUR',
  onetimeRevenue: value,
  ...more,
});
type Pair = readonly [Opportunity | undefined, Opportunity | undefined];
const readDeal = (record: Opportunity) => toDeal(record, new Map(), '0-1');
const orderOf = (pairs: readonly Pair[]) => {
  const both = pairs.flatMap(([one, other]) => [...(one ? [one] : []), ...(other ? [other] : [])]);
  return runSteps(stageOrder(both, readDeal));
};
const compared = (pairs: readonly Pair[], filters: PipelineFilters = {}) => {
  const rules = dealRules('2026-06-01', filters, readDeal, orderOf(pairs));
  return runSteps(
    compareRecords(
      pairs.map(([before, after]) => ({ before, after })),
      rules,
    ),
  );
};

describe('a pipeline that is compared', () => {
  test('has no part for a deal that is in it on neither day', () => {
    const won = open('won', 1, { statusId: 'won', closedAt: '2026-05-01' });
    expect(compared([[undefined, won]]).changes).toEqual([]);
    expect(compared([[won, won]]).changes).toEqual([]);
    expect(compared([[undefined, open('new', 1)]]).changes).toHaveLength(1);
    // The period begins after its first day.
    const isIn = (closedAt: string) =>
      compared([[undefined, { ...won, closedAt }]]).changes.length > 0;
    expect(['2026-06-01', '2026-06-02', 'soon'].map(isIn)).toEqual([false, true, true]);
  });

  test('tells where deals moved', () => {
    const at = (id: string, stage: string, probability: number, closes: string) =>
      open(id, 1, { pipelineStage: { id: stage }, probability, expectedCloseDate: closes });
    const { moves } = compared([
      [at('a', 'one', 0.1, '2026-07-01'), at('a', 'two', 0.5, '2026-07-02')],
      [at('b', 'two', 0.5, '2026-07-01'), at('b', 'one', 0.1, '2026-06-30')],
      [
        at('c', 'two', 0.5, '2026-07-01'),
        { ...at('c', 'two', 0.5, '2026-07-01'), owner: { id: 'u' } },
      ],
    ]);
    expect(moves).toEqual([
      { move: 'stageForward', count: 1, value: { EUR: 1 } },
      { move: 'stageBack', count: 1, value: { EUR: 1 } },
      { move: 'slipped', count: 1, value: { EUR: 1 } },
      { move: 'pulledIn', count: 1, value: { EUR: 1 } },
      { move: 'ownerChanged', count: 1, value: { EUR: 1 } },
    ]);
  });
});

test.each<[string, Opportunity | undefined, Opportunity | undefined, object]>([
  ['new', undefined, open('d', 9), { new: 9, closing: 9 }],
  ['reopened', open('d', 9, { statusId: 'lost' }), open('d', 9), { new: 9, closing: 9 }],
  ['valueUp', open('d', 9), open('d', 11), { opening: 9, valueChanged: 2, closing: 11 }],
  ['valueDown', open('d', 9), open('d', 8), { opening: 9, valueChanged: -1, closing: 8 }],
  ['won', open('d', 9), open('d', 9, { statusId: 'won' }), { opening: 9, won: -9 }],
  ['lost', open('d', 9), open('d', 9, { statusId: 'lost' }), { opening: 9, lost: -9 }],
  [
    'closedUnknown',
    open('d', 9),
    open('d', 9, { statusId: 'closed' }),
    { opening: 9, removed: -9 },
  ],
  ['removed', open('d', 9), undefined, { opening: 9, removed: -9 }],
])('a group shows a deal that is %s in its column', (step, before, after, figures) => {
  const { changes } = compared([[before, after]]);
  const { rows } = runSteps(changeGroups(changes, 'owner', 8));
  const amounts = Object.entries(figures).map(([column, EUR]) => [column, { EUR }]);
  expect(changes[0]?.movement).toEqual([step]);
  expect(rows).toEqual([{ name: 'no owner', ...Object.fromEntries(amounts) }]);
});

// 17 June 2026 is a Wednesday.
test.each([
  ['2w', '2026-06-03'],
  ['1d', '2026-06-16'],
  ['today', '2026-06-16'],
  ['yesterday', '2026-06-15'],
  ['wednesday', '2026-06-16'],
  [' Thursday ', '2026-06-10'],
  ['sunday', '2026-06-13'],
  ['This week', '2026-06-14'],
  ['last-week', '2026-06-07', '2026-06-14'],
  ['this_month', '2026-05-31'],
  ['last month', '2026-04-30', '2026-05-31'],
  ['this quarter', '2026-03-31'],
  ['last_quarter', '2025-12-31', '2026-03-31'],
  ['2026-06-15', '2026-06-14'],
  ['fortnight', undefined],
  ['constructor', undefined],
])('a period since %s begins after %s, and ends on %s', (since, opening, closing?) => {
  const period = opening === undefined ? undefined : { opening, ...(closing && { closing }) };
  expect(namedPeriod(since, '2026-06-17')).toEqual(period);
});

const asLeft = ({ outcome }: StageExit) => outcome;

test('a week begins on Monday', () => {
  expect(namedPeriod('this_week', '2026-06-14')).toEqual({ opening: '2026-06-07' });
  const whole = { opening: '2026-06-07', closing: '2026-06-14' };
  expect(namedPeriod('last_week', '2026-06-15')).toEqual(whole);
  const winter = { opening: '2025-09-30', closing: '2025-12-31' };
  expect(namedPeriod('last_quarter', '2026-01-01')).toEqual(winter);
});

test('a conversion is shown from five deals on', () => {
  const exits = Array.from(
    { length: 5 },
    (_, at): StageExit => ({
      deal: {},
      from: 'one',
      label: { name: 'One' },
      to: undefined,
      outcome: at < 2 ? 'won' : 'lost',
      days: 1,
    }),
  );
  expect(stageRows(exits, new Map(), asLeft)[0]).toMatchObject({
    won: 2,
    lost: 3,
    conversionPercent: 40,
    winRatePercent: 40,
  });
  expect(stageRows(exits.slice(1), new Map(), asLeft)[0]).not.toHaveProperty('conversionPercent');
});

test('only a later close date of an open deal is a slip', () => {
  const closing = (date: string, more: Opportunity = {}) => ({
    id: 'd',
    expectedCloseDate: date,
    ...more,
  });
  const series = new DealSeries([closing('2026-06-10')]);
  series.observe(closing('2026-06-10', { name: 'Renamed' }), '2026-06-01');
  expect(series.slips.size).toBe(0);
  series.observe(closing('2026-06-12'), '2026-06-02');
  series.observe(closing('2026-06-13'), '2026-06-02');
  series.observe(closing('2026-06-11'), '2026-06-03');
  series.observe(closing('2026-06-21'), '2026-06-04');
  series.observe(closing('soon'), '2026-06-05');
  series.observe(closing('2026-06-21'), '2026-06-06');
  series.observe(closing('2026-06-22', { statusId: 'won', closedAt: '2026-06-07' }), '2026-06-07');
  expect(series.slips.get('d')).toBe(3);
});

describe('a row of a deal that changed', () => {
  const before: Opportunity = {
    id: 'd',
    currency: 'EUR',
    onetimeRevenue: 100,
    pipelineStage: { name: 'One' },
    expectedCloseDate: '2026-07-01',
  };
  const deal = (record: Opportunity) => toDeal(record, new Map(), '0-1');
  const rowOf = (was: Opportunity | undefined, is: Opportunity | undefined) => {
    const pair = { before: was && deal(was), after: is && deal(is) };
    const series = { slips: new Map(), changedAt: new Map() };
    const rows = changeRows([{ ...pair, effects: [], movement: ['slipped'] }], series, {
      limit: 5,
    });
    return runSteps(rows).rows[0];
  };

  test('has what was before and after, and the difference of the values', () => {
    const after = {
      ...before,
      onetimeRevenue: 150,
      owner: { name: 'Ada' },
      expectedCloseDate: '2026-07-03',
    };
    expect(rowOf(before, after)).toMatchObject({
      owner: '(none) → Ada',
      stage: 'One',
      value: 150,
      valueChange: 50,
      closes: '2026-07-01 → 2026-07-03',
      slipDays: 2,
    });
    expect(rowOf(after, after)).not.toHaveProperty('slipDays');
    expect(rowOf(after, before)?.owner).toBe('Ada → (none)');
    const owned = (id: string, name: string) => ({ ...before, owner: { id, name } });
    expect(rowOf(owned('u', 'Ada'), owned('u', 'Ada Byron'))?.owner).toBe('Ada Byron');
    expect(rowOf(owned('u', 'Ada'), owned('v', 'Bob'))?.owner).toBe('Ada → Bob');
  });
});

test('the forecast tells what became of the deals that were expected to close', async () => {
  const rowsOf = (pairs: readonly Pair[], filters: PipelineFilters) => {
    const records = (at: 0 | 1) => pairs.map((pair) => pair[at]).filter((it) => it !== undefined);
    const then = { day: '2026-06-01', records: records(0) };
    const now = { day: '2026-06-30', records: records(1) };
    return forecastRows(then, now, filters, (record) => toDeal(record, new Map(), '0-1'));
  };
  const deal = (id: string, more: Opportunity = {}): Opportunity => {
    const common = { owner: { id: 'u1' }, currency: 'EUR', onetimeRevenue: 10, probability: 0.5 };
    return { id, ...common, expectedCloseDate: '2026-06-30', ...more };
  };
  const won = { statusId: 'won', closedAt: '2026-06-20' };
  const before = { expectedCloseDate: '2026-06-01' };
  const later = { expectedCloseDate: '2026-07-01' };
  const pairs: Pair[] = [
    [deal('won'), deal('won', { ...won, onetimeRevenue: 12 })],
    [deal('open'), deal('open')],
    [deal('gone'), undefined],
    [deal('overdue', before), deal('overdue', before)],
    [deal('early', later), deal('early', { ...won, ...later })],
    [deal('late', before), deal('late', { ...won, onetimeRevenue: 3 })],
    [deal('undated', { expectedCloseDate: '' }), deal('undated', { ...won, onetimeRevenue: 4 })],
    [deal('given', { owner: { id: 'u2' } }), deal('given', { ...won, onetimeRevenue: 5 })],
    [undefined, deal('other', { ...won, owner: { id: 'u2' }, onetimeRevenue: 7 })],
  ];
  expect(await rowsOf(pairs, { owner: { id: 'u1' } })).toEqual([
    { deals: 'expected', count: 3, value: { EUR: 30 }, weightedValue: { EUR: 15 } },
    { deals: 'won', count: 1, value: { EUR: 12 } },
    { deals: 'stillOpen', count: 1, value: { EUR: 10 } },
    { deals: 'removed', count: 1, value: { EUR: 10 } },
    { deals: 'wonLate', count: 1, value: { EUR: 3 } },
    { deals: 'wonEarly', count: 1, value: { EUR: 10 } },
    { deals: 'wonNew', count: 1, value: { EUR: 5 } },
    { deals: 'wonUndated', count: 1, value: { EUR: 4 } },
  ]);
  expect(await rowsOf([], {})).toEqual([]);
  expect(await rowsOf([[undefined, deal('new', won)]], {})).toMatchObject([
    { deals: 'expected', count: 0 },
    { deals: 'wonNew', count: 1 },
  ]);
});

test('an exit has the stage that follows if the deal is open, and the days in the one that it left', () => {
  const before: Opportunity = {
    id: 'd',
    pipelineStage: { id: 'one', name: 'One' },
    stageUpdatedAt: '2026-06-01',
  };
  const exitOf = (fields: Opportunity) => {
    const series = new DealSeries([before]);
    series.observe({ ...before, pipelineStage: { id: 'two' }, ...fields }, '2026-06-10T08:00:00Z');
    return series.exits[0];
  };
  expect(exitOf({ stageUpdatedAt: '2026-06-04T09:00:00Z' })).toMatchObject({
    from: 'id one',
    label: { id: 'one', name: 'One' },
    to: 'id two',
    outcome: 'open',
    days: 3,
  });
  const won = (closedAt: string) => exitOf({ statusId: 'won', closedAt });
  expect(won('2026-06-01')).toMatchObject({ to: undefined, outcome: 'won', days: 0 });
  expect(won('2026-05-31')).toMatchObject({ outcome: 'won', days: undefined });
  // The snapshot before kept the day; the same time read now is no later one.
  const lost = { stageUpdatedAt: '2026-06-01T10:16:59Z', statusId: 'lost', closedAt: '2026-06-08' };
  expect(exitOf(lost)).toMatchObject({ outcome: 'lost', days: 7 });
});

test('a stage has one name, or its id without any, and counts the moves forward and back', () => {
  const exit = (label: StageExit['label'], to: string): StageExit => {
    return { deal: {}, from: 'id s', label, to, outcome: 'open', days: undefined };
  };
  const order = new Map([
    ['id r', 0.1],
    ['id s', 0.5],
    ['id t', 0.9],
  ]);
  const labels = [
    { id: 's', name: 'Zulu' },
    { id: 's', name: 'Alpha' },
  ];
  const exits = [...labels.map((label) => exit(label, 'id t')), exit({ id: 's' }, 'id r')];
  expect(stageRows(exits, order, asLeft)).toEqual([
    { name: 'Alpha', left: 3, forward: 2, back: 1, probabilityPercent: 50 },
  ]);
  expect(stageRows([exit({ id: 's' }, 'id r')], order, asLeft)).toEqual([
    { id: 's', left: 1, back: 1, probabilityPercent: 50 },
  ]);
});
