import { beforeAll, expect, test } from 'vitest';
import type { Row } from '../support/hosts.ts';
import {
  checks,
  expectedReport,
  type Parameters,
  recurringOn,
  runningContracts,
} from '../support/oracle/checks.ts';
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

let fixture: TenantFixture;

describeTenants((load) => {
  beforeAll(async () => {
    fixture = await load();
  });

  test.each(asked)('%s %j', async (check, parameters) => {
    const { data } = await fixture.call('cpq_check_sales_data', {
      check,
      ...parameters,
      size: 100,
    });
    const expected = expectedReport(check, fixture.ask, fixture.today, parameters);
    // A long answer is cut at a row and says how many rows there are.
    const shown = (data.rows as Row[]).length;
    expect(shown).toBe(data.shown);
    expect(shown).toBeGreaterThanOrEqual(Math.min(expected.total, 60));
    expect(reportIn(data)).toEqual({ ...expected, rows: expected.rows.slice(0, shown) });
  });

  test('the findings of every owner are all findings, page by page', async () => {
    const check = 'quotes_of_closed_deals';
    const whole = expectedReport(check, fixture.ask, fixture.today);
    const owners = whole.counts?.filter(({ by }) => by === 'owner') ?? [];
    expect(owners.length).toBeGreaterThan(1);
    for (const { value, count } of owners.filter((row) => row.value !== 'no owner')) {
      const ids: unknown[] = [];
      for (let from: unknown = 0; from !== undefined; ) {
        const { data } = await fixture.call('cpq_check_sales_data', {
          check,
          owner: value,
          from,
          size: 2,
        });
        expect(data.total).toBe(count);
        ids.push(...(data.rows as Row[]).map(({ id }) => id));
        from = data.next;
      }
      const own = whole.rows.filter(({ owner }) => owner === value);
      expect(ids).toEqual(own.map(({ id }) => id));
    }
  });

  figureTests();

  test('the findings of every label, with the open deals of their companies', async () => {
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
      const { data } = await fixture.call('cpq_check_sales_data', args);
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
    const { data, text } = await fixture.call('cpq_check_sales_data', args);
    expect(text).toContain('No figures yet');
    expect(data).not.toHaveProperty('total');
    expect(data).not.toHaveProperty('rows');
  });
});

function figureTests(): void {
  test('recurring revenue of contracts by month', async () => {
    const { data } = await fixture.call('cpq_check_sales_data', { check: 'contracts', size: 1 });
    const months =
      fixture.ask(`with recursive m(n) as (select -12 union select n + 1 from m where n < 11)
      select date(?2, 'start of month', (n + 1) || ' months', '-1 day') as last, ?1 as tenant from m`);
    expect(months).toHaveLength(24);
    expect(data.recurringRevenue).toEqual(
      months.map(({ last }) => recurringOn(fixture.ask, String(last))),
    );
  });

  test('revenue of running contracts by term, and of recurring ones by company', async () => {
    const { data } = await fixture.call('cpq_check_sales_data', { check: 'contracts', size: 1 });
    const running = runningContracts(fixture.ask);
    const byTerm = [...grouped(running, ({ term }) => term)].map(([term, its]) => ({
      term,
      items: its.length,
      revenue: sumsBy(its, ({ revenue }) => revenue),
    }));
    const terms = ['one-time', 'monthly', 'yearly', 'quarter'];
    byTerm.sort((one, other) => terms.indexOf(one.term) - terms.indexOf(other.term));
    expect(data.runningByTerm).toEqual(byTerm);
    const recurring = running.filter(({ term }) => ['monthly', 'yearly'].includes(term));
    const companies = [...grouped(recurring, (it) => it.companyId).values()].map((its) => ({
      name: its[0]?.company,
      items: its.length,
      revenuePerYear: sumsBy(its, ({ perYear }) => perYear),
    }));
    const { rows, total } = data.companies as { rows: Row[]; total: number };
    expect(total).toBe(companies.length);
    const named = rows.filter(({ groups }) => groups === undefined);
    for (const { name, items, revenuePerYear } of named)
      expect(companies).toContainEqual({ name, items, revenuePerYear });
    const largest = (row: Row) =>
      Math.max(0, ...Object.values(row.revenuePerYear ?? {}).map(Number));
    const ranks = companies.map(largest).sort((a, b) => b - a);
    expect(named.map(largest)).toEqual(ranks.slice(0, named.length));
    expect(rows.reduce((sum, { items }) => sum + Number(items), 0)).toBe(recurring.length);
  });

  test('several checks in one call: each as alone, without its counts', async () => {
    const check = ['stale_quotes', 'thin_margins', 'stalled_opportunities', 'contracts'];
    const { data, text } = await fixture.call('cpq_check_sales_data', { check, size: 2 });
    const rows = data.rows as Row[];
    for (const [at, name] of check.entries()) {
      const alone = (await fixture.call('cpq_check_sales_data', { check: name, size: 2 })).data;
      const { definition, examined, valueAtStake, unknownValue } = alone;
      const figures = { check: name, found: alone.total, examined, definition };
      expect((data.checks as Row[])[at]).toEqual(only({ ...figures, valueAtStake, unknownValue }));
      expect(rows.filter((row) => row.check === name).map(({ id }) => id)).toEqual(
        (alone.rows as Row[]).map(({ id }) => id),
      );
      expect(text).toContain(`${alone.total} `);
    }
    expect(await fixture.refused('cpq_check_sales_data', { check, from: 2 })).toContain(
      'for one check',
    );
    expect(await fixture.refused('cpq_check_sales_data', { check: [] })).toContain(
      'must name a check',
    );
    const [owner] = fixture.ask(`${given} select w.name from it join quote q using (tenant)
      join owner w on w.tenant = q.tenant and w.id = q.ownerId where w.name <> '' limit 1`);
    const ofOwner = { check: 'stale_quotes,contracts', owner: String(owner?.name) };
    const { notes, checks: own } = (await fixture.call('cpq_check_sales_data', ofOwner)).data;
    expect(own).toMatchObject([{ check: 'stale_quotes' }]);
    expect(String(notes)).toContain('Contracts: The filter owner does not apply');
    const asked = { check: 'stale_quotes,contracts', owner: 'Nobody At All' };
    expect((await fixture.call('cpq_check_sales_data', asked)).data.summary).toContain(
      'No owner is called',
    );
  });
}
