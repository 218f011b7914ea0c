import { Big } from 'big.js';
import { expect, test } from 'vitest';
import { pipelineBy } from '../../src/briefs/pipeline/pipeline-groups.ts';
import { addDays } from '../../src/figures/days.ts';
import { compact } from '../../src/figures/fields.ts';
import { runSteps } from '../../src/figures/steps.ts';
import { changeGroups, changesBetween, compareDeals } from '../../src/history/changes-between.ts';
import { readPeriod } from '../../src/history/compare.ts';
import type { StepRow } from '../../src/history/movements.ts';
import { type ChangeOptions, periodDeals } from '../../src/history/pipeline-changes.ts';
import { quoteChanges, readQuoteStates } from '../../src/history/quote-changes.ts';
import { toRecord } from '../../src/service/records/recognition.ts';
import type { Opportunity, Quote } from '../../src/service/records/records.ts';
import { changesAnswer } from '../../src/tool-kit/pipeline-change-answers.ts';
import fc from '../support/fast-check.ts';
import { memoryStore } from '../support/memory-snapshots.ts';
import { storedHistory, storedQuoteHistory } from '../support/stored-history.ts';

/** Histories as a hostile or faulty service makes them: the figures add up, and nothing happens twice. */

const today = '2026-06-15';
const at = (day: string, time = '12:00:00') => new Date(`${day}T${time}Z`);

/** Compares the first of some days, each with its deals, with the last. */
async function compareDays(
  days: readonly (readonly [day: string, records: readonly Opportunity[]])[],
  filters: Partial<ChangeOptions> = {},
) {
  const last = days.at(-1)?.[0] ?? today;
  const history = storedHistory(memoryStore(), 400, () => at(last, '23:59:59'));
  for (const [day, records] of days) await history.save(records, at(day));
  const requested = { opening: days[0]?.[0] ?? today, closing: last };
  const states = await readPeriod(history, await history.days(), requested, undefined);
  if (!states) throw new Error('the days can be read');
  const options: ChangeOptions = { currencyOf: new Map(), ...filters };
  const readDeal = periodDeals(states, options.currencyOf);
  const found = await compareDeals(states, options, readDeal);
  const groups = pipelineBy.flatMap((by) =>
    [2, 100].map((limit) => runSteps(changeGroups(found.changes, by, limit)).rows),
  );
  const sources = { requested, states, filters, days: [], coverage: {}, notes: [], asked: {} };
  const changes = await changesBetween(states, options, { by: 'day' });
  const answer = changesAnswer(changes, undefined, sources);
  const notes = (answer.notes ?? []).map(String);
  const { series, isPartial } = states;
  const totals = 'days' in changes ? changes.days?.rows : undefined;
  return { ...found, groups, series, isPartial, notes, totals };
}

const deal = (id: string, more: Partial<Opportunity> = {}): Opportunity => ({
  id,
  onetimeRevenue: 100,
  currency: 'EUR',
  pipelineStage: { id: 's1', name: 'Discovery' },
  stageUpdatedAt: '2026-06-01',
  ...more,
});
const namesOf = (steps: readonly StepRow[]) => steps.map(({ step }) => step);

const entering = ['new', 'reopened', 'movedIn', 'transferredIn'];
const leaving = ['won', 'lost', 'closedUnknown', 'removed', 'movedOut', 'transferredOut'];

type Days = Parameters<typeof compareDays>[0];
/** The deal `a` in two states. */
const changed = (before: Partial<Opportunity>, after: Partial<Opportunity>): Days => [
  ['2026-06-10', [deal('a', before)]],
  ['2026-06-12', [deal('a', after)]],
];
const restored: Days = [
  ['2026-06-10', [deal('a')]],
  ['2026-06-11', [deal('a', { deletedAt: '2026-06-11' })]],
  ['2026-06-12', [deal('a')]],
];
const of = (company: string, owner: string) => ({
  company: { id: company, name: `Company ${company}` },
  owner: { id: owner },
});
const merged = changed(of('c1', 'w1'), of('c2', 'w2'));
const renamed = changed(
  { company: { id: 'c1', name: 'Old' } },
  { company: { id: 'c1', name: 'New' } },
);
const wonByAnother = changed(
  { owner: { id: 'w1' } },
  { owner: { id: 'w2' }, statusId: 'won', closedAt: '2026-06-12' },
);
const later = changed(
  { expectedCloseDate: '2026-06-20', pipelineStage: { id: 's1' } },
  { expectedCloseDate: '2026-07-20', pipelineStage: { id: 's2' } },
);
const [won, lost] = [{ statusId: 'won' }, { statusId: 'lost' }];
const wonAfterwards = changed(
  { ...lost, closedAt: '2026-06-01' },
  { ...won, closedAt: '2026-06-11' },
);
/** The service only says it otherwise now. */
const saidOtherwise = changed(
  { ...won, closedAt: '2026-06-01' },
  { ...lost, closedAt: '2026-06-01' },
);
const wonOnce = deal('a', { ...won, closedAt: '2026-06-11' });
const wonAndThen = (last: Opportunity[]): Days => [
  ['2026-06-10', [deal('a'), deal('b')]],
  ['2026-06-11', [wonOnce, deal('b')]],
  ['2026-06-12', last],
];
const wonSince = (createdAt: string): Days => [
  ['2026-06-10', []],
  ['2026-06-12', [deal('a', { ...won, createdAt, closedAt: '2026-06-10' })]],
];

test.each<[what: string, days: Days, steps: string[], filters?: Partial<ChangeOptions>]>([
  ['were deleted and restored', restored, []],
  ['were deleted on the first day, and restored', restored.slice(1), ['reopened']],
  ['left a company', merged, ['transferredOut'], { company: { id: 'c1' } }],
  ['came to a company', merged, ['transferredIn'], { company: { id: 'c2' } }],
  ['left an owner', merged, ['transferredOut'], { owner: { id: 'w1' } }],
  ['have another company and owner, unfiltered', merged, []],
  ['are of a company that was renamed', renamed, [], { company: { id: 'c1' } }],
  ['another owner won', wonByAnother, ['transferredOut'], { owner: { id: 'w1' } }],
  ['came and were won', wonByAnother, ['transferredIn', 'won'], { owner: { id: 'w2' } }],
  ['were lost, and then won', wonAfterwards, ['reopened', 'won']],
  ['were won, and are said to be lost', saidOtherwise, []],
  ['were won, and are listed no more', wonAndThen([deal('b')]), ['won']],
  ['were open, and are listed no more', [...restored.slice(0, 1), [today, []]], ['removed']],
  ['left a period', later, ['movedOut'], { closeTo: '2026-06-30' }],
  ['left a stage', later, ['transferredOut'], { stage: { id: 's1' } }],
  ['were won, and deleted', wonAndThen([{ ...wonOnce, deletedAt: '2026-06-12' }]), ['removed']],
  ['were made and won on the first day', wonSince('2026-06-10'), ['new', 'won']],
  ['were made before it, and were not listed', wonSince('2026-06-09'), []],
])('deals that %s', async (_, days, steps, filters = {}) => {
  const { rows, totals } = await compareDays(days, filters);
  expect(namesOf(rows.slice(1, -1))).toEqual(steps);
  const counts = [totals?.[0], totals?.at(-1)].map((total) => total?.count);
  expect(counts).toEqual([rows[0]?.count, rows.at(-1)?.count]);
});

test('deals that change their currency leave one sum and enter the other, also when they are won', async () => {
  const won = deal('a', {
    currency: 'USD',
    onetimeRevenue: 80,
    statusId: 'won',
    closedAt: '2026-06-12',
  });
  const found = await compareDays([
    ['2026-06-10', [deal('a')]],
    ['2026-06-12', [won]],
  ]);
  expect(found.rows.slice(1, -1)).toEqual([
    { step: 'currencyChanged', count: 1, value: { EUR: -100, USD: 80 } },
    { step: 'won', count: 1, value: { USD: -80 } },
  ]);
});

test('deals may have slipped more often where a day of work is missing between two days', async () => {
  const isPartial = async (from: string, to: string) =>
    (
      await compareDays([
        [from, [deal('a')]],
        [to, [deal('a')]],
      ])
    ).isPartial;
  expect(await isPartial('2026-06-05', '2026-06-08')).toBe(false);
  expect(await isPartial('2026-06-04', '2026-06-08')).toBe(true);
  expect(await isPartial('2026-06-08', '2026-06-10')).toBe(true);
});

test('deals of a former key are told only where the present one reads them, too', async () => {
  const store = memoryStore();
  const historyOf = (owner: string) => storedHistory(store, 400, () => at('2026-06-12'), owner);
  for (const day of ['2026-06-10', '2026-06-11'])
    await historyOf('wide').save([deal('a'), deal('secret')], at(day));
  const present = { day: '2026-06-12', takenAt: at('2026-06-12'), records: [deal('a')] };
  const period = { opening: '2026-06-10', closing: '2026-06-12' };
  const openingOf = async (owner: string) =>
    (await readPeriod(historyOf(owner), ['2026-06-10'], period, present))?.opening;
  expect((await openingOf('wide'))?.records).toHaveLength(2);
  expect(await openingOf('narrow')).toMatchObject({ records: [{ id: 'a' }], isOthers: true });
  const history = historyOf('narrow');
  expect(await readPeriod(history, await history.days(), period, undefined)).toBeUndefined();
});

const reference = (ids: readonly string[]) =>
  fc.option(
    fc.constantFrom(...ids).map((id) => ({ id, name: `named ${id}` })),
    { nil: undefined },
  );
const state = {
  onetimeRevenue: fc.constantFrom(0, 0.105, 33.335, 1_000, -50, undefined),
  monthlyRevenue: fc.constantFrom(0, 9.999, undefined),
  currency: fc.constantFrom('EUR', 'USD', ' eur ', 'euros', undefined),
  owner: reference(['w1', 'w2']),
  company: reference(['c1', 'c2']),
  pipelineStage: reference(['s1', 's2']),
  statusId: fc.constantFrom('open', 'won', 'lost', 'closed', undefined),
  closedAt: fc.constantFrom('2026-06-11', '2026-06-13T23:30:00-05:00', 'soon', undefined),
  deletedAt: fc.constantFrom('2026-06-12', undefined, undefined, undefined),
  expectedCloseDate: fc.constantFrom('2026-06-30', '2026-08-01', '2026-02-30', undefined),
  stageUpdatedAt: fc.constantFrom('2026-06-09', '2026-06-12T10:00:00Z', undefined),
  probability: fc.constantFrom(0, 0.5, 50, undefined),
};
const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const dayOfDeals = fc.uniqueArray(fc.record({ id, ...state }), { selector: (it) => it.id });
const filter = fc.record(
  {
    owner: fc.constantFrom({ id: 'w1' }, { id: 'w2' }),
    company: fc.constant({ id: 'c1' }),
    stage: fc.constant({ id: 's1' }),
    currency: fc.constantFrom({ name: 'EUR' }, { name: 'unknown currency' }),
    closeTo: fc.constant('2026-07-15'),
    minValue: fc.constantFrom(0, 500),
  },
  { requiredKeys: [] },
);
const record = (raw: object) => toRecord('opportunity', JSON.parse(JSON.stringify(raw)));

type Amounts = Readonly<Record<string, number>> | undefined;

/** Expects that parts add up to a whole, to the cent, in every currency. */
function expectSum(parts: readonly Amounts[], whole: Amounts): void {
  const sums = new Map<string, Big>();
  const add = (amounts: Amounts, sign: number) => {
    for (const [currency, amount] of Object.entries(amounts ?? {}))
      sums.set(currency, (sums.get(currency) ?? new Big(0)).plus(new Big(amount).times(sign)));
  };
  for (const part of parts) add(part, 1);
  add(whole, -1);
  expect([...sums].filter(([, sum]) => !sum.eq(0)).map(([currency]) => currency)).toEqual([]);
}

test('in any history opening + movements = closing, in value and number, in the whole and in every group', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(dayOfDeals, { minLength: 2, maxLength: 4 }),
      filter,
      async (lists, filters) => {
        const days = lists.map(
          (list, index) => [addDays('2026-06-10', index), list.map(record)] as const,
        );
        const { rows, groups } = await compareDays(days, filters);
        const [opening, closing] = [rows[0], rows.at(-1)];
        const steps = rows.slice(1, -1);
        expectSum([opening?.value, ...steps.map(({ value }) => value)], closing?.value);
        const count = (names: readonly string[]) =>
          steps.reduce((sum, { step, count }) => sum + (names.includes(step) ? count : 0), 0);
        expect(Number(opening?.count) + count(entering) - count(leaving)).toBe(closing?.count);
        for (const all of groups) {
          for (const { opening, closing, id: _, name: __, groups: ___, ...columns } of all)
            expectSum([opening, ...Object.values(columns)], closing);
          const closings = all.map((group) => group.closing);
          expectSum(closings, closing?.value);
        }
      },
    ),
    { numRuns: 60 },
  );
});

const quote = fc.record({
  id,
  status: fc.constantFrom('draft', 'sent', 'Approved', 'declined', 'expired', 'on hold', undefined),
  currency: state.currency,
  owner: state.owner,
  sentAt: fc.constantFrom('2026-06-09', '2026-06-11T09:00:00Z', undefined),
  approvedAt: fc.constantFrom('2026-06-08', '2026-06-12', undefined),
  expiresAt: fc.constantFrom('2026-06-11', '2026-07-01', 'later', undefined),
  deletedAt: state.deletedAt,
  items: fc.constantFrom([], [{ price: 33.335, quantity: 3 }], [{ price: 0.105, term: 'month' }]),
  unreadable: fc.constantFrom(undefined, undefined, { items: 'only in the record by id' }),
});
const dayOfQuotes = fc.uniqueArray(quote, { selector: (it) => it.id });

test('and so it is with quotes', async () => {
  const asQuote = ({
    unreadable,
    items,
    ...raw
  }: {
    unreadable: Record<string, string> | undefined;
    items: unknown;
  }): Quote => ({
    ...toRecord('quote', JSON.parse(JSON.stringify(unreadable ? raw : { ...raw, items }))),
    ...compact({ unreadable }),
  });
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(dayOfQuotes, { minLength: 2, maxLength: 2 }),
      fc.boolean(),
      async (lists, isFiltered) => {
        const history = storedQuoteHistory(memoryStore(), 400, () => at(today));
        for (const [index, list] of lists.entries())
          await history.save(list.map(asQuote), at(addDays('2026-06-10', index * 2)));
        const requested = { opening: '2026-06-10', closing: '2026-06-12' };
        const options = {
          ...(isFiltered ? { owner: { id: 'w1' } } : {}),
          currencyOf: new Map(),
          limit: 10,
          movement: undefined,
        };
        const states = await readQuoteStates(history, requested, undefined);
        const compared = states && runSteps(quoteChanges(states, options));
        const rows = compared?.rows ?? [];
        const [opening, closing] = [rows[0], rows.at(-1)];
        const steps = rows.slice(1, -1);
        expectSum(
          [opening?.firstYearValue, ...steps.map((row) => row.firstYearValue)],
          closing?.firstYearValue,
        );
        const count = (names: readonly string[]) =>
          steps.reduce((sum, { step, count }) => sum + (names.includes(step) ? count : 0), 0);
        const gone = [
          'accepted',
          'declined',
          'expired',
          'otherStatus',
          'removed',
          'transferredOut',
        ];
        expect(Number(opening?.count) + count(entering) - count(gone)).toBe(closing?.count);
        for (const { step } of steps) seen.add(step);
      },
    ),
    { numRuns: 100 },
  );
  expect([...seen]).toEqual(
    expect.arrayContaining([
      'reopened',
      'valueKnown',
      'currencyChanged',
      'transferredOut',
      'otherStatus',
    ]),
  );
});
