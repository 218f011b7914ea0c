import { Big } from 'big.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { addDays } from '../../src/briefs/days.ts';
import type { CurrencyOf } from '../../src/briefs/money.ts';
import { changeGroups } from '../../src/briefs/pipeline-change-groups.ts';
import {
  type ChangeOptions,
  compareStates,
  type PipelineState,
  scopeOf,
  stepRows,
} from '../../src/briefs/pipeline-changes.ts';
import { pipelineBy } from '../../src/briefs/pipeline-groups.ts';
import { PastHistory } from '../../src/tenant/history/known-past.ts';
import fc from '../support/fast-check.ts';
import { type AskedChanges, dealsOn, expectedChanges } from '../support/oracle/pipeline-changes.ts';
import { spoil } from '../support/oracle/spoil.ts';
import type { Rows } from '../support/oracle/sql.ts';
import { type Sandbox, startSandbox } from '../support/sandbox.ts';
import { shared } from '../support/shared.ts';

/** Any two days of the embedded tenants, compared with what the versions in the database say. */

const today = '2026-06-15';
const worlds = [
  { seed: 1, spoilt: false },
  { seed: 3, spoilt: true },
];

describe.each(worlds)('seed $seed, spoilt $spoilt', ({ seed, spoilt }) => {
  const sandbox = shared(async () => {
    const started = await startSandbox({ seed, scale: 0.3, now: new Date(`${today}T09:00:00Z`) });
    if (spoilt) for (const { name } of started.tenants) spoil(started.database, name, today);
    return started;
  });
  describe.each([0, 1])('tenant %i', (at) => compareTenant(sandbox, at));
});

const day = fc.integer({ min: -200, max: -1 }).map((days) => addDays(today, days));
const period = fc
  .tuple(day, day)
  .filter(([one, other]) => one !== other)
  .map((days) => days.sort() as [string, string]);

function compareTenant(sandbox: () => Promise<Sandbox>, at: number): void {
  let database: Sandbox['database'];
  let name: string;
  let history: PastHistory;
  const states = new Map<string, PipelineState>();
  beforeAll(async () => {
    const started = await sandbox();
    ({ database } = started);
    name = started.tenants[at]?.name ?? '';
    history = new PastHistory(started.past(name));
  });
  const ask = (sql: string, ...more: (string | number | null)[]) =>
    database.prepare(sql).all(name, ...more) as Rows;
  const stateOf = async (day: string): Promise<PipelineState> => {
    const known = states.get(day);
    if (known) return known;
    const { records = [] } = (await history.reader().read(day)) ?? {};
    const state = { day, records };
    states.set(day, state);
    return state;
  };
  const currencyOf = () => {
    const rows = ask(`select id, upper(trim(currency)) as currency from company
      where tenant = ? and coalesce(trim(currency), '') <> ''`);
    return new Map(rows.map(({ id, currency }) => [String(id), String(currency)]));
  };
  const idsOf = (column: string) =>
    ask(
      `select distinct ${column} as id from opportunity where tenant = ? and ${column} is not null`,
    )
      .map(({ id }) => String(id))
      .sort();

  const filter = () => {
    const one = (column: string) => fc.constantFrom(...idsOf(column));
    const near = fc.integer({ min: -220, max: 200 }).map((days) => addDays(today, days));
    return fc.record(
      {
        owner: one('ownerId'),
        company: one('companyId'),
        stage: one('pipelineStageId'),
        category: one('categoryId'),
        source: one('sourceId'),
        close_from: near,
        close_to: near,
        min_value: fc.constantFrom(0, 1, 1_000, 20_000.5, 100_000),
      },
      { requiredKeys: [] },
    );
  };
  test('every figure of any two days is that of the database', async () => {
    await fc.assert(
      fc.asyncProperty(period, fc.option(filter(), { nil: {} }), async ([from, to], asked) => {
        const found = compareStates(
          await stateOf(from),
          await stateOf(to),
          optionsOf(asked, currencyOf()),
        );
        const expected = expectedChanges(ask, from, to, asked);
        expect(found.opening).toEqual(expected.opening);
        expect(found.closing).toEqual(expected.closing);
        const steps = stepRows(found.changes).map(({ step, ...row }) => [step, row]);
        expect(Object.fromEntries(steps)).toEqual(expected.steps);
      }),
      { numRuns: 40 },
    );
  });

  test('opening + movements = closing, in the whole and in every group', async () => {
    const by = fc.constantFrom(...pipelineBy);
    await fc.assert(
      fc.asyncProperty(period, filter(), by, fc.boolean(), async ([from, to], asked, by, plain) => {
        const options = optionsOf(plain ? {} : asked, currencyOf());
        const found = compareStates(await stateOf(from), await stateOf(to), options);
        const movements = stepRows(found.changes).map(({ value }) => value);
        expectSum([found.opening.value, ...movements], found.closing.value);
        const groups = changeGroups(found.changes, by, scopeOf(options), 4);
        for (const row of groups.rows) {
          const { opening, closing, ...rest } = row;
          const { id: _id, name: _name, groups: _groups, ...columns } = rest;
          expectSum([opening, ...Object.values(columns)], closing);
        }
        expectSum(
          groups.rows.map(({ closing }) => closing),
          found.closing.value,
        );
      }),
      { numRuns: 60 },
    );
  });

  test('the days have a past that moves', async () => {
    const days = [-200, -130, -60, -1].map((days) => addDays(today, days));
    const opened = days.map(
      (day) => [...dealsOn(ask, day).values()].filter(({ outcome }) => outcome === 'open').length,
    );
    expect(Math.min(...opened)).toBeGreaterThan(15);
    expect(new Set(opened).size).toBeGreaterThan(1);
  });
}

const optionsOf = (asked: AskedChanges, currencyOf: CurrencyOf): ChangeOptions => ({
  ...Object.fromEntries(
    (['owner', 'company', 'stage', 'category', 'source'] as const).flatMap((field) =>
      asked[field] === undefined ? [] : [[field, { id: asked[field] }]],
    ),
  ),
  ...(asked.close_from === undefined ? {} : { closeFrom: asked.close_from }),
  ...(asked.close_to === undefined ? {} : { closeTo: asked.close_to }),
  ...(asked.min_value === undefined ? {} : { minValue: asked.min_value }),
  currencyOf,
});

type Amounts = Readonly<Record<string, number>> | undefined;

/** Whether parts add up to a whole, to the cent, in every currency. */
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
