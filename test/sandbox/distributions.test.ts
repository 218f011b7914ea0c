import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';

/** Whether the data is that of a sales team, by SQL over the tables; `tenant = ?` is in every query. */
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ now: new Date('2026-06-15T09:00:00Z') });
});
afterAll(() => sandbox.close());

/** Leaves out records that lack the measured fields on purpose. */
const regular = (resource: string, id: string) =>
  `not exists (select 1 from edge_case a where a.tenant = ?1 and a.resource = '${resource}' and a.id = ${id}
    and a.kind in ('zero value', 'null value', 'no value', 'zero price', 'no price', 'null cost', 'no cost',
      'no product', 'no company', 'e-mail of another contact'))`;
const dealValue = `(cast(onetimeRevenue as real) + cast(monthlyRevenue as real) * coalesce(valueMonths, 0))`;
const host = `replace(website, 'https://www.', '')`;

/** Figures of one tenant. */
function figuresOf(tenant: string) {
  const rows = (sql: string) =>
    sandbox.database.prepare(sql).all(tenant) as Record<string, number | string>[];
  const numbers = (sql: string) => rows(sql).map(({ it }) => Number(it));
  const number = (sql: string) => {
    const [found] = numbers(`select (${sql}) as it where ?1 <> ''`);
    if (found === undefined) throw new Error(sql);
    return found;
  };
  const share = (condition: string, from: string) =>
    number(`select avg(iif(${condition}, 1.0, 0.0)) from ${from}`);
  return { rows, numbers, number, share };
}

const tenants = ['harborpeak', 'nordlicht'];

describe.each(tenants)('the deals of %s', (tenant) => {
  const { rows, numbers, number, share } = figuresOf(tenant);

  test('values of deals are log-normal: most between 2,000 and 80,000, a few large', () => {
    const logs = numbers(`select ln(${dealValue}) as it from opportunity o
      where tenant = ?1 and ${regular('opportunity', 'o.id')} order by 1`);
    const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
    const deviation = Math.sqrt(
      logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / logs.length,
    );
    const median = logs[logs.length >> 1] ?? 0;
    expect(Math.exp(median)).toBeGreaterThan(8_000);
    expect(Math.exp(median)).toBeLessThan(24_000);
    expect(deviation).toBeGreaterThan(0.6);
    expect(deviation).toBeLessThan(1.2);
    expect(Math.abs(mean - median)).toBeLessThan(deviation / 3);
    const usual = logs.filter((log) => log > Math.log(2_000) && log < Math.log(80_000));
    expect(usual.length / logs.length).toBeGreaterThan(0.85);
    expect(logs.some((log) => log > Math.log(120_000))).toBe(true);
    expect(logs.every((log) => log < Math.log(600_000))).toBe(true);
  });

  test('open deals: 10–20 % overdue, about 15 % stalled', () => {
    const open = `opportunity where tenant = ?1 and outcome = 'open' and deletedAt is null`;
    const overdue = share(`substr(coalesce(expectedCloseDate, '9'), 1, 10) < '2026-06-15'`, open);
    expect(overdue).toBeGreaterThan(0.1);
    expect(overdue).toBeLessThan(0.2);
    const stalled = share(
      `substr(max(stageUpdatedAt, updatedAt), 1, 10) <= date('2026-06-15', '-30 days')`,
      open,
    );
    expect(stalled).toBeGreaterThan(0.1);
    expect(stalled).toBeLessThan(0.2);
  });

  test('30–45 % of the decided deals are won; owners differ, and the end of a quarter is busy', () => {
    const decided = `opportunity where tenant = ?1 and outcome in ('won', 'lost')`;
    const winRate = share(`outcome = 'won'`, decided);
    expect(winRate).toBeGreaterThan(0.3);
    expect(winRate).toBeLessThan(0.45);
    const owners = rows(`select count(*) as deals, avg(iif(outcome = 'won', 1.0, 0.0)) as rate
      from ${decided} group by ownerId`);
    const deals = owners.map((owner) => Number(owner.deals));
    expect(Math.max(...deals)).toBeGreaterThan(3 * Math.min(...deals));
    const rates = owners
      .filter((owner) => Number(owner.deals) >= 8)
      .map(({ rate }) => Number(rate));
    expect(Math.max(...rates) - Math.min(...rates)).toBeGreaterThan(0.15);
    expect(share(`cast(substr(closedAt, 6, 2) as integer) % 3 = 0`, decided)).toBeGreaterThan(0.4);
    expect(share(`substr(closedAt, 6, 2) = '08'`, decided)).toBeLessThan(1 / 12);
  });

  test('in half a year of weeks, some deals are won, some slip, and most stay as they are', () => {
    sandbox.past(tenant).recordsAt('2026-06-01');
    const weeks = rows(`with version as (
        select opportunityId, at, cast((julianday('2026-06-15') - julianday(at)) / 7 as integer) as week,
          record ->> '$.expectedCloseDate' as closes,
          lag(record ->> '$.expectedCloseDate') over (partition by opportunityId order by at, rowid) as before
        from opportunity_version where tenant = ?1)
      select week, count(distinct opportunityId) as deals, sum(iif(closes > before, 1, 0)) as slips,
        (select count(*) from opportunity o where o.tenant = ?1 and o.outcome = 'won'
          and cast((julianday('2026-06-15') - julianday(o.closedAt)) / 7 as integer) = week) as wins
      from version where week between 0 and 25 group by week`);
    const mean = (column: string) =>
      weeks.reduce((sum, week) => sum + Number(week[column]), 0) / weeks.length;
    const open = number(`select count(*) from opportunity where tenant = ?1 and outcome = 'open'`);
    expect(weeks).toHaveLength(26);
    expect(mean('deals')).toBeGreaterThan(open / 10);
    expect(mean('deals')).toBeLessThan(open / 2);
    expect(mean('slips')).toBeGreaterThan(1);
    expect(mean('slips')).toBeLessThan(open / 8);
    expect(mean('wins')).toBeGreaterThan(0.5);
    expect(mean('wins')).toBeLessThan(5);
  });
});

describe.each(tenants)('what deals are made of at %s', (tenant) => {
  const { rows, number, share } = figuresOf(tenant);

  test.each(['company', 'pricing_book', 'quote_template', 'quote_widget_template', 'owner'])(
    'names of %s are names, without numbers',
    (table) => {
      const named = `select name as it from ${table} where tenant = ?1`;
      expect(rows(`${named} and name glob '* [0-9]*'`)).toEqual([]);
      const twice = rows(`${named} group by name having count(*) > 1`).length;
      const wanted = number(`select count(*) from edge_case where tenant = ?1
        and resource = '${table}' and kind = 'name of another company'`);
      expect(twice).toBeLessThanOrEqual(wanted);
    },
  );

  test('contacts have the addresses of their companies, and deals and quotes their contacts', () => {
    const known = `contact t join company c on c.tenant = ?1 and c.id = t.companyId
      where t.tenant = ?1 and t.email is not null and c.website is not null and ${regular('contact', 't.id')}`;
    expect(share(`t.email like '%@' || ${host} and t.companyName = c.name`, known)).toBe(1);
    for (const table of ['opportunity', 'quote']) {
      const named = `${table} r join contact t on t.tenant = ?1 and t.id = r.contactId
        where r.tenant = ?1 and r.companyId is not null and ${regular('contact', 't.id')}`;
      expect(share('r.companyId = t.companyId', named)).toBe(1);
    }
  });

  test('irregular records are few, and the documentation lists all kinds', () => {
    const documented = readFileSync('docs/sandbox.md', 'utf8').replaceAll(/\s+/g, ' ');
    for (const { resource, kind, count } of rows(`select resource, kind, count(*) as count
      from edge_case where tenant = ?1 group by resource, kind`)) {
      expect(documented, `${resource}: ${kind}`).toContain(String(kind));
      const all = number(`select count(*) from ${resource} where tenant = ?1`);
      expect(Number(count) / all, `${resource}: ${kind}`).toBeLessThan(0.14);
    }
  });
});
