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
const isHardware = `lower(productType) = 'product' and coalesce(term, '') = ''`;
const isService = `lower(productType) in ('service', 'labor')`;
const margin = '(1 - cast(cost as real) / cast(price as real))';
const host = `replace(website, 'https://www.', '')`;

/** Totals of the quotes over the months of their contracts. */
const quoteTotals = `select q.id, q.opportunityId, q.companyId, q.contactId,
    sum(i.quantity * cast(i.price as real) * (1 - i.discount / 100.0) * (1 - iif(q.discountType = 'percentage', q.discountAmount, 0) / 100.0)
      * case i.term when 'month' then q.contractDurationAmount when 'year' then q.contractDurationAmount / 12.0 else 1 end)
      + sum(coalesce(cast(i.setupPrice as real), 0)) - iif(q.discountType = 'amount', q.discountAmount, 0) as total
  from quote q join quote_item i on i.tenant = q.tenant and i.quoteId = q.id
  where q.tenant = ?1 and ${regular('quote', 'q.id')} group by q.id`;

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

  test('quotes fit their deals', () => {
    const ratios = numbers(`select t.total / ${dealValue} as it from (${quoteTotals}) t
      join opportunity o on o.tenant = ?1 and o.id = t.opportunityId
      where ${regular('opportunity', 'o.id')}
        and not exists (select 1 from quote_item i join edge_case a on a.tenant = ?1 and a.id = i.id
          where i.tenant = ?1 and i.quoteId = t.id)`);
    expect(ratios.length).toBeGreaterThan(100);
    const near = ratios.filter((ratio) => ratio > 0.7 && ratio < 1.4);
    expect(near.length / ratios.length).toBeGreaterThan(0.95);
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
  const { rows, numbers, number, share } = figuresOf(tenant);

  test('margins are those of the trade', () => {
    const priced = `product p where tenant = ?1 and ${regular('product', 'p.id')} and`;
    expect(share(`${margin} between 0.08 and 0.205`, `${priced} ${isHardware}`)).toBeGreaterThan(
      0.9,
    );
    expect(share(`${margin} between 0.395 and 0.605`, `${priced} ${isService}`)).toBeGreaterThan(
      0.9,
    );
    const monthly = `product p where tenant = ?1 and term = 'month' and ${regular('product', 'p.id')}`;
    expect(
      share(
        'cast(price as real) between 10 and 250',
        `${monthly} and lower(productType) <> 'bundle'`,
      ),
    ).toBeGreaterThan(0.97);
  });

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

  test('quantities fit the size of the company', () => {
    const seats = `quote_item i join quote q on q.tenant = ?1 and q.id = i.quoteId
      join company c on c.tenant = ?1 and c.id = q.companyId
      where i.tenant = ?1 and i.term is not null and i.unit in ('seat', 'device')
        and c.customFields ->> '$.employees' is not null`;
    const fits = `i.quantity <= 10 + 1.3 * (c.customFields ->> '$.employees')`;
    expect(share(fits, seats)).toBeGreaterThan(0.98);
    const running = `contract_item i join company c on c.tenant = ?1 and c.id = i.companyId
      where i.tenant = ?1 and c.customFields ->> '$.employees' is not null`;
    expect(share(`i.quantity <= c.customFields ->> '$.employees'`, running)).toBe(1);
  });

  test('a bundle costs about what its parts cost', () => {
    const ratios =
      numbers(`select cast(p.price as real) / sum(e.value ->> '$.quantity' * cast(part.price as real)) as it
      from product p, json_each(p.bundleItems) e
      join product part on part.tenant = ?1 and part.id = e.value ->> '$.productId'
      where p.tenant = ?1 and lower(p.productType) = 'bundle' and ${regular('product', 'p.id')}
      group by p.id having min(${regular('product', 'part.id')})`);
    expect(ratios.length).toBeGreaterThan(15);
    expect(Math.min(...ratios)).toBeGreaterThan(0.9);
    expect(Math.max(...ratios)).toBeLessThan(1.05);
  });

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
