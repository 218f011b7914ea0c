import { Big } from 'big.js';
import { beforeAll, expect, test } from 'vitest';
import { differencesBetween } from '../support/facts.ts';
import type { Connection, Row } from '../support/hosts.ts';
import { dealsOf } from '../support/oracle/deals.ts';
import { later, openAmong, sums } from '../support/oracle/pipeline.ts';
import { describeTenant, describeTenants, type TenantFixture } from '../support/oracle/tenants.ts';

type Amounts = Record<string, number>;
type Figures = Row & { count: number; oneTime?: Amounts; monthly?: Amounts };
interface Brief extends Row {
  open: Figures;
  groups: { rows: Figures[] };
  closed: { won: Figures; lost: Figures; winRatePercentByValue?: Amounts };
  unknown?: Amounts;
  deleted?: number;
}

const groupings = ['stage', 'owner', 'company', 'category', 'source', 'close_month'];
const exact = ['value', 'oneTime', 'monthly'] as const;
const weighted = ['weightedValue'] as const;

/** Sums of amounts by currency, in decimals. */
function added(rows: readonly Row[], key: string): Map<string, Big> {
  const sums = new Map<string, Big>();
  for (const row of rows) {
    for (const [currency, amount] of Object.entries((row[key] ?? {}) as Amounts)) {
      sums.set(currency, (sums.get(currency) ?? new Big(0)).plus(amount));
    }
  }
  return sums;
}

/** Expects that the parts add up to the whole; each rounded part may be off by a cent. */
function expectWhole(parts: readonly Row[], whole: Row, key: string, cents: number): void {
  const summed = added(parts, key);
  const all = added([whole], key);
  expect([...summed.keys()].sort()).toEqual([...all.keys()].sort());
  for (const [currency, sum] of summed) {
    const amiss = sum.minus(all.get(currency) ?? 0).abs();
    expect(amiss.toNumber(), `${key} in ${currency}`).toBeLessThanOrEqual(cents / 100);
  }
}

const countOf = (rows: readonly Figures[]): number =>
  rows.reduce((sum, { count }) => sum + count, 0);

describeTenants((load) => {
  let fixture: TenantFixture;
  let connection: Connection;
  const brief = async (args: Row = {}) =>
    (await connection.call('cpq_brief_pipeline', args)).data as Brief;
  beforeAll(async () => {
    fixture = await load();
    connection = await fixture.server();
  });

  /** Amounts with fractions of a cent are rounded in every part. */
  const cents = (parts: readonly unknown[]) => (fixture.withEdgeCases ? parts.length : 0);

  test.each(groupings)('the groups by %s add up to the open pipeline', async (by) => {
    const { open, groups } = await brief({ by });
    expect(countOf(groups.rows)).toBe(open.count);
    for (const key of exact) expectWhole(groups.rows, open, key, cents(groups.rows));
    for (const key of weighted) expectWhole(groups.rows, open, key, groups.rows.length);
  });

  test('all other figures are the same for every grouping', async () => {
    // The notes speak of the groups.
    const others = { by: 0, groups: 0, notes: 0, coverage: 0 };
    const first = await brief();
    for (const by of groupings.slice(1)) {
      expect({ ...(await brief({ by })), ...others }).toEqual({ ...first, ...others });
    }
  });

  test.each(['owner', 'stage'] as const)('the parts by %s add up to the whole', async (filter) => {
    const column = filter === 'owner' ? 'ownerId' : 'pipelineStageId';
    const ids = fixture.ask(`select distinct ${column} as id from opportunity
      where tenant = ?1 and ?2 <> '' and ${column} is not null`);
    const whole = await brief();
    const parts = await Promise.all(ids.map(({ id }) => brief({ [filter]: id })));
    const without = openAmong(dealsOf(fixture.ask), {}).filter((deal) => !deal[filter].id);
    const rest = { count: without.length, ...sums(without) } as Figures;
    const opens = [...parts.map(({ open }) => open), rest];
    expect(countOf(opens)).toBe(whole.open.count);
    for (const key of exact) expectWhole(opens, whole.open, key, cents(opens));
  });

  test('before today, from today and without a date add up to every open deal', async () => {
    const whole = await brief();
    const before = await brief({ close_to: later(fixture.today, -1) });
    const after = await brief({ close_from: fixture.today });
    const dayless = whole.unknown?.expectedCloseDate ?? 0;
    expect(before.open.count + after.open.count + dayless).toBe(whole.open.count);
    expect((whole.overdue as Row).total).toBe(before.open.count);
  });

  test('a higher minimum value matches fewer deals', async () => {
    const counts: number[] = [];
    for (const min_value of [0, 1, 10_000, 50_000, 1_000_000]) {
      counts.push((await brief({ min_value })).open.count);
    }
    expect(counts).toEqual([...counts].sort((one, other) => other - one));
    const { open, unknown } = await brief();
    expect((counts[0] ?? 0) + (unknown?.revenue ?? 0)).toBe(open.count);
  });

  test('two adjacent periods add up to one', async () => {
    const [early, middle, late] = [-200, -80, -20].map((days) => later(fixture.today, days));
    const first = await brief({ period_from: early, period_to: middle });
    const second = await brief({ period_from: later(middle ?? '', 1), period_to: late });
    const both = await brief({ period_from: early, period_to: late });
    for (const how of ['won', 'lost'] as const) {
      const parts = [first.closed[how], second.closed[how]];
      expect(countOf(parts)).toBe(both.closed[how].count);
      expectWhole(parts, both.closed[how], 'value', cents(parts));
    }
  });

  test('what a check has at stake is the sum of its findings', async () => {
    for (const check of ['quotes_of_closed_deals', 'stale_quotes', 'stalled_opportunities']) {
      const { data } = await connection.call('cpq_check_sales_data', { check, size: 100 });
      const rows = data.rows as Row[];
      const amounts = rows.map(({ valueAtStake, currency = data.currency }) => ({
        of: valueAtStake === undefined ? {} : { [String(currency)]: valueAtStake },
      }));
      expect(data.shown).toBe(data.total);
      expectWhole(amounts, { of: data.valueAtStake }, 'of', rows.length);
    }
  });

  test('text and structured content have the same facts', async () => {
    const [company, quote] = ['company', 'quote'].map(
      (table) =>
        fixture.ask(`select id from ${table} where tenant = ?1 and ?2 <> '' limit 1`)[0]?.id,
    );
    const calls: [tool: string, args: Row][] = [
      ...groupings.map((by): [string, Row] => ['cpq_brief_pipeline', { by, rows: 5 }]),
      ['cpq_brief_company', { company }],
      ['cpq_brief_quote', { quote }],
      ['cpq_list_quotes', { size: 10 }],
      ['cpq_check_sales_data', { check: 'stale_quotes' }],
      ['cpq_check_sales_data', { check: 'below_cost' }],
    ];
    for (const [tool, args] of calls) {
      const { text, data } = await connection.call(tool, args);
      const { onlyData, onlyText } = differencesBetween(text, data);
      expect(onlyData, tool).toEqual([]);
      expect(
        onlyText.filter((word) => /^\d/.test(word)),
        tool,
      ).toEqual([]);
    }
  });
});

describeTenant({ seed: 6, today: '2026-09-30', scale: 0.1, first: true }, (load) => {
  let fixture: TenantFixture;
  beforeAll(async () => {
    fixture = await load();
  });
  /** Asks a new server, which has read nothing yet. */
  const anew = async (args: Row = {}): Promise<Brief> => {
    const { call, close } = await fixture.serverAnew();
    const { data } = await call('cpq_brief_pipeline', args);
    await close();
    return data as Brief;
  };

  test('the order of records does not matter', async () => {
    const before = await anew({ by: 'company', rows: 50 });
    for (const table of ['opportunity', 'company']) {
      fixture.change(`update ${table} set rowid = -rowid where tenant = ?`);
    }
    const after = await anew({ by: 'company', rows: 50 });
    expect({ ...after, coverage: 0 }).toEqual({ ...before, coverage: 0 });
  });

  test('a won deal is in no open figure', async () => {
    const before = await anew();
    const stage = fixture.ask(
      `select id from pipeline_stage where tenant = ?1 and ?2 <> '' and outcome = 'won'`,
    )[0]?.id;
    const revenue = { onetimeRevenue: 1234.56, monthlyRevenue: 10, valueMonths: 24 };
    await fixture.put('/opportunity/ext/NEW-1', {
      name: 'A deal',
      pipelineStageId: stage,
      ...revenue,
    });
    const after = await anew();
    expect({ ...after.open, groups: after.groups }).toEqual({
      ...before.open,
      groups: before.groups,
    });
    expect(after.closed.won.count).toBe(before.closed.won.count + 1);
    const more = added([after.closed.won], 'value').get('unknown currency') ?? new Big(0);
    const had = added([before.closed.won], 'value').get('unknown currency') ?? new Big(0);
    expect(more.minus(had).toNumber()).toBe(1474.56);
  });

  test('an added open deal is in one group, and in the total', async () => {
    const before = await anew();
    const [stage] = fixture.ask(
      `select id, name from pipeline_stage where tenant = ?1 and ?2 <> '' and position = 1`,
    );
    const deal = { name: 'Another', pipelineStageId: stage?.id, onetimeRevenue: 0.07 };
    await fixture.put('/opportunity/ext/NEW-2', deal);
    const after = await anew();
    expect(after.open.count).toBe(before.open.count + 1);
    const [now, then] = [after, before].map(
      ({ groups }) => groups.rows.find(({ name }) => name === stage?.name)?.count ?? 0,
    );
    expect((now ?? 0) - (then ?? 0)).toBe(1);
    const sums = [after, before].map(({ open }) =>
      added([open], 'oneTime').get('unknown currency'),
    );
    expect(sums[0]?.minus(sums[1] ?? 0).toNumber()).toBe(0.07);
  });

  test('a deleted deal leaves the figures, and is counted', async () => {
    const before = await anew();
    const open = (before.stalled as { rows: Row[] }).rows[0]?.id;
    fixture.change(
      `update opportunity set deletedAt = '2026-09-30' where tenant = ? and id = ?`,
      String(open),
    );
    const after = await anew();
    expect(after.open.count).toBe(before.open.count - 1);
    expect(after.deleted).toBe((before.deleted ?? 0) + 1);
  });

  test('doubling all revenue doubles every sum', async () => {
    const before = await anew({ by: 'owner' });
    fixture.change(`update opportunity set onetimeRevenue = 2 * onetimeRevenue,
      monthlyRevenue = 2 * monthlyRevenue where tenant = ?`);
    const after = await anew({ by: 'owner' });
    for (const key of exact) expectWhole([before.open, before.open], after.open, key, 0);
    for (const key of weighted) expectWhole([before.open, before.open], after.open, key, 1);
    expect(after.closed.winRatePercentByValue).toEqual(before.closed.winRatePercentByValue);
    expect(after.groups.rows.map(({ name }) => name)).toEqual(
      before.groups.rows.map(({ name }) => name),
    );
  });
});
