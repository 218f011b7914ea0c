import { describe, expect, test } from 'vitest';
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
const compared = (pairs: readonly Pair[]) => {
  const rules = dealRules('2026-06-01', {}, readDeal, orderOf(pairs));
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

// 17 June 2026 is a Wednesday. A week begins on Monday.
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
  ['this_week', '2026-06-07', undefined, '2026-06-14'],
  ['last_week', '2026-06-07', '2026-06-14', '2026-06-15'],
  ['last_quarter', '2025-09-30', '2025-12-31', '2026-01-01'],
])('a period since %s begins after %s, and ends on %s', (since, opening, closing?, today?) => {
  const period = opening === undefined ? undefined : { opening, ...(closing && { closing }) };
  expect(namedPeriod(since, today ?? '2026-06-17')).toEqual(period);
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

test.each<[Opportunity['owner'], Opportunity['owner'], string]>([
  [undefined, { name: 'Ada' }, '(none) → Ada'],
  [{ name: 'Ada' }, undefined, 'Ada → (none)'],
  [{ id: 'u', name: 'Ada' }, { id: 'u', name: 'Ada Byron' }, 'Ada Byron'],
  [{ id: 'u', name: 'Ada' }, { id: 'v', name: 'Bob' }, 'Ada → Bob'],
])('a row of a deal that changed has its owners %o and %o as %s', (was, is, shown) => {
  const dealOf = (owner: Opportunity['owner']) => readDeal(open('d', 1, owner ? { owner } : {}));
  const pair = { before: dealOf(was), after: dealOf(is) };
  const series = { slips: new Map(), changedAt: new Map() };
  const changes = changeRows([{ ...pair, effects: [], movement: ['valueUp'] }], series, {
    limit: 5,
  });
  const { rows } = runSteps(changes);
  expect(rows[0]?.owner).toBe(shown);
});

test('the forecast of an owner has as new what was expected of another', async () => {
  const expected = open('given', 5, { owner: { id: 'u2' }, expectedCloseDate: '2026-06-30' });
  const won = { ...expected, owner: { id: 'u1' }, statusId: 'won', closedAt: '2026-06-20' };
  const then = { day: '2026-06-01', records: [expected] };
  const now = { day: '2026-06-30', records: [won] };
  expect(await forecastRows(then, now, { owner: { id: 'u1' } }, readDeal)).toMatchObject([
    { deals: 'expected', count: 0 },
    { deals: 'wonNew', count: 1, value: { EUR: 5 } },
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

const asLeft = ({ outcome }: StageExit) => outcome;

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
