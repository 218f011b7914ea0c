import { beforeAll, expect, test } from 'vitest';
import type { Row } from '../support/hosts.ts';
import { checks, expectedReport, type Parameters, recurringOn } from '../support/oracle/checks.ts';
import { dealsOf } from '../support/oracle/deals.ts';
import { sumsBy } from '../support/oracle/decimal.ts';
import { grouped, only } from '../support/oracle/order.ts';
import { given } from '../support/oracle/sql.ts';
import { describeTenants, type TenantFixture } from '../support/oracle/tenants.ts';

/** Adds the currency to every row; the answer states it once where it is the same for all. */
function reportIn(data: Row): Row {
  const { examined, notChecked, valueAtStake, unknownValue, total, currency } = data;
  const { counts, lines, products, contacts } = data;
  const rows = (data.rows as Row[]).map((row) => {
    const { id, valueAtStake, currency: own, number, owner, status, kind, deal } = row;
    const about = { number, owner, status, kind: (kind as string[] | undefined)?.toSorted(), deal };
    const value = valueAtStake === undefined ? {} : { valueAtStake, currency: own ?? currency };
    return only({ id, ...value, ...about });
  });
  const reported = {
    examined,
    notChecked,
    valueAtStake,
    unknownValue,
    total,
    counts,
    lines,
    products,
    contacts,
  };
  return only({ ...reported, rows });
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
  ['contracts', { days: 400 }],
  ['contracts_running_out', { days: 0 }],
  ['contracts_running_out', { days: 400 }],
  ['stalled_opportunities', { days: 0 }],
  ['stalled_opportunities', { days: 29 }],
  ['stalled_opportunities', { days: 365 }],
];
const asked: [check: string, Parameters][] = [
  ...Object.keys(checks).map((check): [string, Parameters] => [check, {}]),
  ...others,
];

describeTenants((load) => {
  let fixture: TenantFixture;
  beforeAll(async () => {
    fixture = await load();
  });

  test.each(asked)('%s %j', async (check, parameters) => {
    const { call } = await fixture.server();
    const { data } = await call('cpq_check_sales_data', { check, ...parameters, size: 100 });
    const expected = expectedReport(check, fixture.ask, fixture.today, parameters);
    // A long answer is cut at a row and says how many rows there are.
    const shown = (data.rows as Row[]).length;
    expect(shown).toBe(data.shown);
    expect(shown).toBeGreaterThanOrEqual(Math.min(expected.total, 60));
    expect(reportIn(data)).toEqual({ ...expected, rows: expected.rows.slice(0, shown) });
  });

  test('the findings of every owner are all findings, page by page', async () => {
    const { call } = await fixture.server();
    const check = 'quotes_of_closed_deals';
    const whole = expectedReport(check, fixture.ask, fixture.today);
    const owners = whole.counts?.filter(({ by }) => by === 'owner') ?? [];
    expect(owners.length).toBeGreaterThan(1);
    for (const { value, count } of owners.filter((row) => row.value !== 'no owner')) {
      const ids: unknown[] = [];
      for (let from: unknown = 0; from !== undefined; ) {
        const { data } = await call('cpq_check_sales_data', { check, owner: value, from, size: 2 });
        expect(data.total).toBe(count);
        ids.push(...(data.rows as Row[]).map(({ id }) => id));
        from = data.next;
      }
      const own = whole.rows.filter(({ owner }) => owner === value);
      expect(ids).toEqual(own.map(({ id }) => id));
    }
  });

  test('recurring revenue of contracts by month', async () => {
    const { call } = await fixture.server();
    const { data } = await call('cpq_check_sales_data', { check: 'contracts', size: 1 });
    const months =
      fixture.ask(`with recursive m(n) as (select 0 union select n + 1 from m where n < 11)
      select date(?2, 'start of month', (n + 1) || ' months', '-1 day') as last, ?1 as tenant from m`);
    expect(months).toHaveLength(12);
    expect(data.recurringRevenue).toEqual(
      months.map(({ last }) => recurringOn(fixture.ask, String(last))),
    );
  });

  test('the findings of every label, with the open deals of their companies', async () => {
    const { call } = await fixture.server();
    const labelled = fixture.ask(`${given} select c.id,
        iif(e.type = 'object', json_extract(e.value, '$.name'), e.value) as label
      from it join company c using (tenant), json_each(c.labels) e`);
    const open = dealsOf(fixture.ask).filter(({ outcome }) => outcome === 'open');
    const check = 'stalled_opportunities';
    expect(labelled.length).toBeGreaterThan(0);
    for (const [label, companies] of grouped(labelled, (row) => String(row.label))) {
      const ids = new Set(companies.map(({ id }) => id));
      const own = open.filter((deal) => ids.has(deal.company.id ?? ''));
      const args = { check, days: 0, label, open_deals: true, size: 100 };
      const { data } = await call('cpq_check_sales_data', args);
      if (own.length > 0) expect(data.examined).toBe(own.length);
      for (const row of (data.rows ?? []) as Row[]) {
        const company = own.find(({ id }) => id === row.id)?.company.id;
        const beside = own.filter((deal) => deal.company.id === company);
        const { openDeals, openDealsValue } = row;
        const value = sumsBy(beside, (deal) => deal.value);
        expect({ openDeals, openDealsValue }).toEqual({
          openDeals: beside.length,
          openDealsValue: value,
        });
      }
    }
  });

  test.each([
    { check: 'stale_quotes', owner: 'Nobody At All' },
    { check: 'stale_quotes', company: 'Nobody At All' },
    { check: 'stalled_opportunities', status: 'nobody at all' },
    { check: 'below_cost', kind: 'nobody at all' },
  ])('a filter that nothing matches is a question: %j', async (args) => {
    const { call } = await fixture.server();
    const { data, text } = await call('cpq_check_sales_data', args);
    expect(text).toContain('No figures yet');
    expect(data).not.toHaveProperty('total');
    expect(data).not.toHaveProperty('rows');
  });
});
