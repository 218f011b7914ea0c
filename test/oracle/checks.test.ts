import { beforeAll, expect, test } from 'vitest';
import type { Row } from '../support/hosts.ts';
import { checks, expectedReport, type Parameters } from '../support/oracle/checks.ts';
import { describeWorlds, type World } from '../support/oracle/worlds.ts';

/** With the currency of every amount, which stands above the rows where it is the same for all. */
function reportIn(data: Row): Row {
  const { examined, unjudged, valueAtStake, unknownValue, total, currency } = data;
  const rows = (data.rows as Row[]).map(({ id, valueAtStake, currency: own }) => ({
    id,
    ...(valueAtStake === undefined ? {} : { valueAtStake, currency: own ?? currency }),
  }));
  const told = { examined, unjudged, valueAtStake, unknownValue, total, rows };
  return Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined));
}

const others: [check: string, Parameters][] = [
  ['thin_margins', { floor: 0 }],
  ['thin_margins', { floor: 25.5 }],
  ['thin_margins', { floor: -50 }],
  ['thin_margins', { floor: 100 }],
  ['stale_quotes', { days: 0 }],
  ['stale_quotes', { days: 30 }],
  ['stale_quotes', { days: 3650 }],
  ['expiring_quotes', { days: 0 }],
  ['expiring_quotes', { days: 90 }],
  ['pricing_drift', { tolerance: 0 }],
  ['pricing_drift', { tolerance: 1 }],
  ['pricing_drift', { tolerance: 12.5 }],
  ['pricing_drift', { tolerance: 100 }],
  ['stalled_opportunities', { days: 0 }],
  ['stalled_opportunities', { days: 29 }],
  ['stalled_opportunities', { days: 365 }],
];
const asked: [check: string, Parameters][] = [
  ...Object.keys(checks).map((check): [string, Parameters] => [check, {}]),
  ...others,
];

describeWorlds((load) => {
  let world: World;
  beforeAll(async () => {
    world = await load();
  });

  test.each(asked)('%s %j', async (check, parameters) => {
    const { call } = await world.server();
    const { data } = await call('cpq_check_sales_data', { check, ...parameters, size: 100 });
    const expected = expectedReport(check, world.ask, world.today, parameters);
    // An answer that would be too long is cut at a row, and says how many there are.
    const shown = (data.rows as Row[]).length;
    expect(shown).toBe(data.shown);
    expect(shown).toBeGreaterThanOrEqual(Math.min(expected.total, 60));
    expect(reportIn(data)).toEqual({ ...expected, rows: expected.rows.slice(0, shown) });
  });
});
