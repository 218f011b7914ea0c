import { beforeAll, describe, expect, test } from 'vitest';
import { addDays } from '../../src/figures/days.ts';
import { compact } from '../../src/figures/naming.ts';
import { generatedPast } from '../../src/history/generated-history.ts';
import { compareQuotes, readQuoteStates } from '../../src/history/quote-changes.ts';
import { expectSum } from '../support/expect-sum.ts';
import fc from '../support/fast-check.ts';
import { addEdgeCases } from '../support/oracle/edge-cases.ts';
import type { AskedChanges } from '../support/oracle/pipeline-changes.ts';
import { expectedQuoteChanges } from '../support/oracle/quote-changes.ts';
import { optionsOf, type TenantPast, tenantPast } from '../support/oracle/tenant-past.ts';
import { startSandbox } from '../support/sandbox.ts';

/** The quotes of any two days, compared with what the versions in the database say. */

const today = '2026-06-15';
const seeds = [
  { seed: 1, tenant: 0, withEdgeCases: false },
  { seed: 3, tenant: 1, withEdgeCases: true },
];
const day = fc.integer({ min: -200, max: -1 }).map((days) => addDays(today, days));
const period = fc
  .tuple(day, day)
  .filter(([one, other]) => one !== other)
  .map((days) => days.sort() as [string, string]);

describe.each(seeds)(
  'seed $seed, edge cases added: $withEdgeCases',
  ({ seed, tenant, withEdgeCases }) => {
    let past: TenantPast;
    let history: ReturnType<typeof generatedPast>['quote'];
    beforeAll(async () => {
      const sandbox = await startSandbox({ seed, scale: 0.3, now: new Date(`${today}T09:00:00Z`) });
      if (withEdgeCases)
        for (const { name } of sandbox.tenants) addEdgeCases(sandbox.database, name, today);
      past = tenantPast(sandbox, tenant, today);
      history = generatedPast(sandbox.past(sandbox.tenants[tenant]?.name ?? '')).quote;
    });

    const changesOf = async ([opening, closing]: readonly [string, string], asked: object) => {
      const options = { ...asked, currencyOf: past.currencyOf, limit: 1_000, movement: undefined };
      const states = await readQuoteStates(history, { opening, closing }, undefined);
      if (!states) throw new Error('every day can be read');
      return compareQuotes(states, options);
    };

    test('every figure of any two days is that of the database, and they add up', async () => {
      const filters = fc
        .option(past.filters, { nil: {} as AskedChanges })
        .map(({ owner, company, currency }) => compact({ owner, company, currency }));
      const seen = new Set<string>();
      await fc.assert(
        fc.asyncProperty(period, filters, async (days, asked) => {
          const { owner, company, currency } = optionsOf(asked, past.currencyOf);
          const { rows, moves } = await changesOf(days, compact({ owner, company, currency }));
          const { opening, closing, steps, sent } = expectedQuoteChanges(past.ask, days, asked);
          const found = Object.fromEntries(rows.map(({ step, ...row }) => [step, row]));
          expect(found).toEqual({ opening, ...steps, closing });
          expect(moves).toEqual(sent ? [{ move: 'sent', ...sent }] : []);
          const values = rows.map(({ firstYearValue }) => firstYearValue);
          expectSum(values.slice(0, -1), values.at(-1));
          for (const { step } of rows) seen.add(step);
        }),
        { numRuns: 30 },
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
  },
);
