import { beforeAll, describe, expect, test } from 'vitest';
import { addDays } from '../../src/figures/days.ts';
import { compact } from '../../src/figures/fields.ts';
import { runSteps } from '../../src/figures/steps.ts';
import { compareDeals, dailyTotals } from '../../src/history/changes-between.ts';
import { generatedPast } from '../../src/history/generated-history.ts';
import { changeRows, periodDeals } from '../../src/history/pipeline-changes.ts';
import { quoteChanges, readQuoteStates } from '../../src/history/quote-changes.ts';
import fc from '../support/fast-check.ts';
import {
  type AskedChanges,
  dealsOn,
  expectedChanges,
  expectedDays,
} from '../support/oracle/pipeline-changes.ts';
import { expectedQuoteChanges } from '../support/oracle/quote-changes.ts';
import { optionsOf, type TenantPast, tenantPast } from '../support/oracle/tenant-past.ts';
import { startTenants } from '../support/oracle/tenants.ts';
import { quickOrAll } from '../support/sampling.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { shared } from '../support/shared.ts';

/** Compares any two days of the embedded tenants with the versions of records in the database. */

const today = '2026-06-15';
const seeds = [
  { seed: 1, tenant: 0, withEdgeCases: false },
  { seed: 3, tenant: 1, withEdgeCases: true },
];

describe.each(seeds)(
  'seed $seed, edge cases added: $withEdgeCases',
  ({ seed, tenant, withEdgeCases }) => {
    const sandbox = shared(() => startTenants({ seed, today, scale: 0.3, withEdgeCases }));
    describe.each(quickOrAll([tenant], [0, 1]))('tenant %i', (at) => {
      compareTenant(sandbox, at);
      compareQuotesOf(sandbox, at);
    });
  },
);

test('thousands of deals are compared and listed in slices, between which other work gets its turn', async () => {
  const dealsOf = (value: number) =>
    Array.from({ length: 10_000 }, (_, at) => ({ id: `o${at}`, onetimeRevenue: at + value }));
  const states = {
    opening: { day: '2026-06-01', records: dealsOf(0) },
    closing: { day: '2026-06-02', records: dealsOf(1) },
  };
  let turns = 0;
  const counting = setInterval(() => {
    turns += 1;
  });
  const { changes } = await compareDeals(states, {}, periodDeals(states, new Map()));
  clearInterval(counting);
  expect(turns).toBeGreaterThan(1);
  const series = { slips: new Map(), changedAt: new Map() };
  expect([...changeRows(changes, series, { limit: 5 })].length).toBeGreaterThan(100);
});

const day = fc.integer({ min: -200, max: -1 }).map((days) => addDays(today, days));
const period = fc
  .tuple(day, day)
  .filter(([one, other]) => one !== other)
  .map((days) => days.sort() as [string, string]);

function compareTenant(sandbox: () => Promise<Sandbox>, at: number): void {
  let past: TenantPast;
  beforeAll(async () => {
    past = tenantPast(await sandbox(), at, today);
  });

  test('every figure of any two days is that of the database', async () => {
    await fc.assert(
      fc.asyncProperty(period, fc.option(past.filters, { nil: {} }), async ([from, to], asked) => {
        const states = await past.statesOf(from, to);
        const options = optionsOf(asked, past.currencyOf);
        const found = await compareDeals(states, options, periodDeals(states, past.currencyOf));
        const expected = expectedChanges(past.ask, from, to, asked);
        const { opening, closing, steps } = expected;
        const rows = found.rows.map(({ step, ...row }) => [step, row]);
        expect(Object.fromEntries(rows)).toEqual({ opening, ...steps, closing });
        expect([rows.at(0)?.[0], rows.at(-1)?.[0]]).toEqual(['opening', 'closing']);
      }),
      { numRuns: quickOrAll(20, 40) },
    );
  });

  test('the totals of any days are those of the database', async () => {
    const days = fc.uniqueArray(day, { minLength: 2, maxLength: 5 }).map((list) => list.sort());
    await fc.assert(
      fc.asyncProperty(days, past.filters, async (days, asked) => {
        const { currencyOf, reader } = past;
        const states = await past.statesOf(days[0] ?? '', days.at(-1) ?? '');
        const { rows } = await dailyTotals(
          { ...states, between: days.slice(1, -1), reader },
          optionsOf(asked, currencyOf),
          periodDeals(states, currencyOf),
          days.length,
        );
        expect(rows).toEqual(expectedDays(past.ask, days, asked));
      }),
      { numRuns: quickOrAll(10, 20) },
    );
  });

  test('the days have a past that moves', async () => {
    const days = [-200, -130, -60, -1].map((days) => addDays(today, days));
    const opened = days.map(
      (day) =>
        [...dealsOn(past.ask, day).values()].filter(({ outcome }) => outcome === 'open').length,
    );
    expect(Math.min(...opened)).toBeGreaterThan(15);
    expect(new Set(opened).size).toBeGreaterThan(1);
  });
}

function compareQuotesOf(sandbox: () => Promise<Sandbox>, at: number): void {
  let past: TenantPast;
  let history: ReturnType<typeof generatedPast>['quote'];
  beforeAll(async () => {
    const started = await sandbox();
    past = tenantPast(started, at, today);
    history = generatedPast(started.past(started.tenants[at]?.name ?? '')).quote;
  });

  const changesOf = async ([opening, closing]: readonly [string, string], asked: object) => {
    const options = { ...asked, currencyOf: past.currencyOf, limit: 1_000, movement: undefined };
    const states = await readQuoteStates(history, { opening, closing }, undefined);
    if (!states) throw new Error('every day can be read');
    return runSteps(quoteChanges(states, options));
  };

  test('every figure of the quotes of any two days is that of the database', async () => {
    const filters = fc
      .option(past.filters, { nil: {} as AskedChanges })
      .map(({ owner, company, currency }) => compact({ owner, company, currency }));
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(period, filters, async (days, asked) => {
        const { owner, company, currency } = optionsOf(asked, past.currencyOf);
        const { rows, moves } = await changesOf(days, compact({ owner, company, currency }));
        const { opening, closing, steps, sent } = expectedQuoteChanges(past.ask, days, asked);
        type Figures = Omit<(typeof rows)[number], 'step'>;
        const figuresOf = ({ count, firstYearValue: value, unknownValue }: Figures) =>
          compact({ count, value, unknownValue });
        const found = Object.fromEntries(rows.map((row) => [row.step, figuresOf(row)]));
        expect(found).toEqual({ opening, ...steps, closing });
        expect(moves.map(figuresOf)).toEqual(sent ? [sent] : []);
        for (const { step } of rows) seen.add(step);
      }),
      { numRuns: quickOrAll(30, 60) },
    );
    const common = ['new', 'valueUp', 'accepted', 'declined', 'expired'];
    expect([...seen]).toEqual(expect.arrayContaining(common));
  });

  test('the quotes that changed are listed, the largest first', async () => {
    const { rows, quotes } = await changesOf([addDays(today, -60), addDays(today, -1)], {});
    const count = (movement: string) =>
      quotes.rows.filter((row) => row.movement.some((it) => it === movement)).length;
    for (const { step, ...row } of rows.slice(1, -1))
      expect([step, count(step)]).toEqual([step, row.count]);
    expect(quotes.total).toBe(quotes.rows.length);
    const accepted = quotes.rows.find(({ movement }) => movement.includes('accepted'));
    expect(accepted?.status).toMatch(/approved$/);
  });
}
