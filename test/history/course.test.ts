import { expect, test } from 'vitest';
import { addDays, daysBetween } from '../../src/figures/days.ts';
import { type ResultOf, runSteps } from '../../src/figures/steps.ts';
import { compareDeals, forecastRows, pushesOf } from '../../src/history/changes-between.ts';
import { readPeriod } from '../../src/history/compare.ts';
import { matchingExits, periodDeals, stageRows } from '../../src/history/pipeline-changes.ts';

import fc from '../support/fast-check.ts';
import { type DayDeal, dealsOn } from '../support/oracle/pipeline-changes.ts';
import {
  expectedCourse,
  expectedForecast,
  expectedPushes,
} from '../support/oracle/pipeline-course.ts';
import { optionsOf, tenantPast } from '../support/oracle/tenant-past.ts';
import { startTenants } from '../support/oracle/tenants.ts';
import { quickOrAll } from '../support/sampling.ts';

/** Compares the figures of every day of a period with the versions of records in the database. */

const today = '2026-06-15';
const seeds = [
  { seed: 1, tenant: 0, withEdgeCases: false },
  { seed: 3, tenant: 1, withEdgeCases: true },
];
/** Number of past days that the test covers, because reading them all takes long. */
const observed = quickOrAll(60, 200);

const day = fc.integer({ min: -observed, max: -1 }).map((days) => addDays(today, days));
/** All days of a period of this length are read. */
const period = fc
  .tuple(day, day)
  .map((days) => days.sort() as [string, string])
  .filter(([from, to]) => from !== to && daysBetween(from, to) <= 60);

function expectPushes(
  { pushes, groups, deals }: ResultOf<typeof pushesOf>,
  own: ReturnType<typeof expectedPushes>,
): void {
  expect(pushes).toEqual(own.pushes);
  // Owners with equal numbers go by name, which the database has not for every day.
  const rows = groups.rows.map(({ name: _, id: __, ...row }) => row);
  expect(rows).toEqual(expect.arrayContaining(own.groups));
  expect(rows.map(({ pushed }) => pushed)).toEqual(own.groups.map((row) => row.pushed));
  expect(deals.total).toBe(own.deals.total);
  expect(deals.rows.map(({ id }) => id).sort()).toEqual(own.deals.rows);
}

test.each(seeds)(
  'slips, pushes, stages and the forecast are those of the database: seed $seed, edge cases added: $withEdgeCases',
  async ({ seed, tenant, withEdgeCases }) => {
    const sandbox = await startTenants({ seed, today, scale: 0.5, withEdgeCases });
    const past = tenantPast(sandbox, tenant, today);
    const known = new Map<string, ReadonlyMap<string, DayDeal>>();
    const deals = (day: string) => {
      const found = known.get(day) ?? dealsOn(past.ask, day);
      known.set(day, found);
      return found;
    };
    const days = past.days.filter((day) => day >= addDays(today, -observed));
    const history = { days: async () => [...days], reader: () => past.reader };
    await fc.assert(
      fc.asyncProperty(
        period,
        fc.option(past.filters, { nil: {}, freq: 1 }),
        fc.integer({ min: 1, max: 3 }),
        async ([from, to], asked, atLeast) => {
          const requested = { opening: from, closing: to };
          const states = await readPeriod(history, days, requested, undefined);
          if (!states) throw new Error('every day can be read');
          const options = optionsOf(asked, past.currencyOf);
          const readDeal = periodDeals(states, past.currencyOf);
          const { order, changes } = await compareDeals(states, options, readDeal);
          const { exits, slips } = states.series;
          const expected = expectedCourse(
            deals,
            days.filter((day) => from <= day && day <= to),
            asked,
          );
          expect(slips).toEqual(expected.slips);
          const left = runSteps(matchingExits(exits, options, readDeal));
          const stages = stageRows(left, order, (exit) => states.series.outcomeNow(exit));
          expect(stages).toEqual(expected.stages);
          const rows = await forecastRows(states.opening, states.closing, options, readDeal);
          const both = [...deals(from).values(), ...deals(to).values()];
          const scale = both.some(({ probability }) => probability?.gt(1)) ? 100 : 1;
          expect(rows).toEqual(expectedForecast(deals, [from, to], scale, asked));
          const by = { by: 'owner' as const, atLeast, limit: 1_000 };
          const own = expectedPushes(deals(to), expected.slips, atLeast, asked);
          expectPushes(runSteps(pushesOf(changes, slips, by)), own);
        },
      ),
      { numRuns: quickOrAll(20, 150) },
    );
  },
);
