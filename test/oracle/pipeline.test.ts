import { beforeAll, describe, expect, test } from 'vitest';
import { differencesBetween } from '../support/facts.ts';
import fc from '../support/fast-check.ts';
import type { Row } from '../support/hosts.ts';
import { sharesOf } from '../support/oracle/deal-lines.ts';
import { type Deal, dealsOf } from '../support/oracle/deals.ts';
import { sumsBy } from '../support/oracle/decimal.ts';
import { byWorth, only } from '../support/oracle/order.ts';
import {
  type Asked,
  closedWithin,
  expectedPipeline,
  later,
  openAmong,
  rowOfDeal,
} from '../support/oracle/pipeline.ts';
import { given } from '../support/oracle/sql.ts';
import { describeTenants, type TenantFixture } from '../support/oracle/tenants.ts';

/** Parts of an answer that SQL cannot compute: sentences and times of reading. */
const words = new Set(['summary', 'notes', 'coverage', 'probability']);
/** Text in compared rows is not compared: names are shown without invisible characters. */
const asides = new Set(['company', 'ask']);

function figuresIn(data: Row): Row {
  const told = Object.entries(data).filter(([key]) => !words.has(key));
  return Object.fromEntries(told.map(([key, value]) => [key, bare(value, key)]));
}

function bare(value: unknown, inside: string): unknown {
  if (Array.isArray(value)) return value.map((row) => bare(row, inside));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(
    ([key]) => !asides.has(key) && (key !== 'name' || inside === 'groups'),
  );
  return Object.fromEntries(kept.map(([key, part]) => [key, bare(part, inside)]));
}

/** In capitals, except ß, which has no capital of one letter. */
const shouted = (name: string): string => name.replace(/[a-zäöüéó]/g, (it) => it.toUpperCase());

const groupings = [
  ...['stage', 'owner', 'company', 'category', 'source', 'close_month', 'close_quarter'],
  ...['band', 'size'],
];

let fixture: TenantFixture;
let deals: Deal[];

const compareWith = async (asked: Asked) => {
  const { text, data } = await fixture.call('cpq_brief_pipeline', asked);
  const { records: _records, page: _page, ...figures } = data;
  expect(figuresIn(figures)).toEqual(expectedPipeline(deals, fixture.today, asked));
  expect(differencesBetween(text, data).onlyData).toEqual([]);
  return data;
};
const nameOf = (what: 'owner' | 'company' | 'category' | 'stage') => {
  const [deal] = deals.filter(({ outcome, [what]: ref }) => outcome === 'open' && ref.name);
  return { id: deal?.[what].id ?? '', name: deal?.[what].name ?? '' };
};

describeTenants((load) => {
  beforeAll(async () => {
    fixture = await load();
    deals = dealsOf(fixture.ask);
  });

  groupAndFilterTests();
  companyGroupTests();
  lineGroupTests();
  salesFigureTests();
  valueTests();
  closedDealTests();
  requestTests();
  coverageAndRowTests();
});

function groupAndFilterTests(): void {
  test.each(groupings)('the open pipeline by %s', async (by) => {
    const data = await compareWith({ by, rows: 50 });
    expect(data.open).toMatchObject({ count: expect.any(Number) });
  });

  test('the order of groups is told where they have several currencies', async () => {
    const currencies = new Set(openAmong(deals, {}).map(({ currency }) => currency));
    const isTold = async (args: Row) =>
      (await fixture.call('cpq_brief_pipeline', args)).text.includes('Ranked by the largest sum');
    expect(await isTold({ by: 'owner' })).toBe(currencies.size > 1);
    expect(await isTold({ by: 'close_month' })).toBe(false);
  });

  test('without arguments', async () => {
    await compareWith({});
  });

  test.each(['owner', 'company', 'category', 'stage'] as const)('of one %s', async (what) => {
    const { id, name } = nameOf(what);
    const byName = await compareWith({ [what]: ` ${shouted(name)} ` });
    const byId = await compareWith({ [what]: id, by: 'source' });
    expect((byName.open as Row).count).toBeGreaterThan(0);
    if (what !== 'company') expect(byId.open).toEqual(byName.open);
  });

  test('of one currency, open or closed', async () => {
    const inIts = async (currency: string) => {
      await compareWith({ currency, outcome: 'closed', period_from: later(fixture.today, -400) });
      return (await compareWith({ currency, by: 'owner' })).open as Row;
    };
    const currencies = new Set(deals.map(({ currency }) => currency.toLowerCase()));
    let count = 0;
    for (const currency of currencies) count += Number((await inIts(currency)).count);
    expect(count).toBe(openAmong(deals, {}).length);
  });

  test('of an unknown owner: a question, and no figures', async () => {
    const { data } = await fixture.call('cpq_brief_pipeline', { owner: 'Nobody at all' });
    expect(data.summary).toBe('No owner is called "Nobody at all". No figures yet.');
    const names = new Set(deals.map(({ owner }) => owner.name));
    expect((data.records as Row[]).length).toBeGreaterThan(0);
    for (const { name } of data.records as Row[]) expect(names).toContain(name);
    expect(data).not.toHaveProperty('open');
  });

  test.each([
    ['close_from', 'close_to'],
    ['period_from', 'period_to'],
  ])('a window with %s after %s is refused', async (from, to) => {
    const words = await fixture.refused('cpq_brief_pipeline', {
      [from]: '2026-02-01',
      [to]: '2026-01-31',
    });
    expect(words).toContain(`${from}: must not be after ${to}`);
  });

  test('a period that would begin after today is refused', async () => {
    const words = await fixture.refused('cpq_brief_pipeline', {
      period_from: later(fixture.today, 1),
    });
    expect(words).toContain('must not be after period_to, which is today');
    await compareWith({ period_from: fixture.today });
  });

  test.each([
    ['from today', 0, undefined],
    ['up to today', undefined, 0],
    ['within a month', -15, 15],
  ])('expected to close %s', async (_, from, to) => {
    const close_from = from === undefined ? {} : { close_from: later(fixture.today, from) };
    const close_to = to === undefined ? {} : { close_to: later(fixture.today, to) };
    const { notes } = await compareWith({ ...close_from, ...close_to, by: 'close_month' });
    const without = openAmong(deals, {}).filter(({ closes }) => !closes).length;
    const told = `${without} open ${without === 1 ? 'deal' : 'deals'} without a close date`;
    if (without > 0) expect(String(notes)).toContain(told);
    else expect(String(notes)).not.toContain('without a close date');
  });
}

function companyGroupTests(): void {
  test.each([
    [
      'label',
      `select o.id, iif(e.type = 'object', json_extract(e.value, '$.name'), e.value) as name
        from it join opportunity o using (tenant)
        join company c on c.tenant = o.tenant and c.id = o.companyId, json_each(c.labels) e`,
    ],
    [
      'country',
      `select o.id, json_extract(c.address, '$.country') as name from it
        join opportunity o using (tenant)
        join company c on c.tenant = o.tenant and c.id = o.companyId`,
    ],
    [
      'city',
      `select o.id, json_extract(c.address, '$.city') as name from it
        join opportunity o using (tenant)
        join company c on c.tenant = o.tenant and c.id = o.companyId`,
    ],
    [
      'customFields.region',
      `select o.id, json_extract(o.customFields, '$.region') as name from it
        join opportunity o using (tenant)`,
    ],
  ])('the open pipeline by %s', async (by, sql) => {
    const { data } = await fixture.call('cpq_brief_pipeline', {
      by,
      groups: 50,
      sections: ['groups'],
    });
    const named = fixture.ask(`${given} ${sql}`).filter(({ name }) => name);
    const open = openAmong(deals, {});
    const expected = new Map<string, unknown>();
    for (const name of new Set(named.map((row) => String(row.name)))) {
      const ids = new Set(named.flatMap((row) => (row.name === name ? String(row.id) : [])));
      const own = open.filter(({ id }) => ids.has(id));
      if (own.length > 0) expected.set(name, [own.length, sumsBy(own, ({ value }) => value)]);
    }
    const ids = new Set(named.map(({ id }) => id));
    const others = open.filter(({ id }) => !ids.has(id));
    if (others.length > 0)
      expected.set(`no ${by.replace('customFields.', '')}`, [
        others.length,
        sumsBy(others, ({ value }) => value),
      ]);
    const { rows } = data.groups as { rows: Row[] };
    expect(new Map(rows.map(({ name, count, value }) => [name, [count, value]]))).toEqual(expected);
    expect(expected.size).toBeGreaterThan(0);
  });
}

function lineGroupTests(): void {
  test.each(['product', 'product_category'])(
    'the pipeline by the %s of quote lines',
    async (by) => {
      const shares = sharesOf(fixture.ask, by === 'product' ? 'product' : 'category');
      for (const asked of [{}, { outcome: 'won', period_from: '2020-01-01' }]) {
        const wide = 'outcome' in asked ? closedWithin(deals, fixture.today, asked) : deals;
        const its = wide.filter(({ outcome }) => outcome === (asked.outcome ?? 'open'));
        const { data, text } = await fixture.call('cpq_brief_pipeline', {
          by,
          groups: 500,
          ...asked,
        });
        const expected = shares(its);
        const rows = (data.groups as { rows: Row[] }).rows.map((row) => ({
          count: row.count ?? row.won,
          value: row.value ?? row.wonValue ?? {},
          ...(row.id ? { id: row.id } : { name: row.name }),
        }));
        for (const row of rows.filter(({ count }) => count !== 0))
          expect(expected, JSON.stringify(row)).toContainEqual(row);
        // An answer has as many rows as fit.
        expect(rows.length).toBeGreaterThan(10);
        const all = 'outcome' in asked ? wide : its;
        expect((data.groups as Row).total).toBe(shares(all).length / 2);
        expect(text).toContain('divided among the lines of its last quote');
      }
      // Merged groups count a deal once.
      const { data } = await fixture.call('cpq_brief_pipeline', { by, groups: 0 });
      const { open, groups } = data as { open: Row; groups: { rows: Row[] } };
      expect(groups.rows).toMatchObject([{ count: open.count, value: open.value }]);
    },
  );
}

function salesFigureTests(): void {
  test('a group by a custom field that no deal has is refused, with those that some have', async () => {
    const text = await fixture.refused('cpq_brief_pipeline', { by: 'customFields.regin' });
    expect(text).toMatch(
      /No opportunity has "customFields\.regin"\. Known: .*customFields\.region/,
    );
    expect(await fixture.refused('cpq_brief_pipeline', { by: 'regin' })).toContain(
      'must be one of stage,',
    );
  });

  test.each([
    {},
    { by: 'band' },
    { outcome: 'won' },
    { period_from: '2020-01-01', close_to: '2030-12-31' },
  ])('velocity, and the gap to a target, with %o', async (asked) => {
    const data = await compareWith({ ...asked, show: ['velocity'], target: 1_234_567.89 });
    expect(data.target).toMatchObject({ gap: expect.anything() });
    const currency = openAmong(deals, {})[0]?.currency.toLowerCase() ?? '';
    const reached = await compareWith({ ...asked, currency, target: 1 });
    expect(reached.target).toBeDefined();
  });

  test('one currency is converted at a rate of the caller', async () => {
    const code = deals.find(({ outcome, currency }) => outcome === 'open' && currency.length === 3);
    const rates = `${code?.currency}=1.2345 XTS`;
    const asked = { rates, show: ['velocity', 'profit'], target: 5_000 };
    const { open } = await compareWith(asked);
    expect((open as Row).value).toHaveProperty('XTS');
    await compareWith({ rates, outcome: 'closed', show: ['profit'] });
    expect(await fixture.refused('cpq_brief_pipeline', { rates: 'CAD to USD' })).toContain(
      'must be such as',
    );
  });
}

function valueTests(): void {
  test.each([0, 20_000, 100_000])('worth at least %i', async (min_value) => {
    await compareWith({ min_value });
  });

  test('of exactly the value of a deal, and a cent more', async () => {
    const [largest] = openAmong(deals, {});
    const min_value = Number(largest?.value);
    expect((await compareWith({ min_value })).open).toMatchObject({ count: 1 });
    expect((await compareWith({ min_value: min_value + 0.01 })).open).toEqual({ count: 0 });
  });

  test.each([
    ['a year', -365, 0],
    ['a day', 0, 0],
    ['a month that is over', -60, -30],
    ['the time to come', 1, 365],
  ])('won and lost over %s', async (_, from, to) => {
    await compareWith({
      period_from: later(fixture.today, from),
      period_to: later(fixture.today, to),
    });
  });

  test('won and lost up to a day', async () => {
    await compareWith({ period_to: later(fixture.today, -100) });
  });

  test.each([1, 14, 90, 3650])('stalled for %i days', async (stalled_days) => {
    await compareWith({ stalled_days, rows: 3 });
  });
}

function closedDealTests(): void {
  test.each(['won', 'lost', 'closed'])('deals that were %s, by each', async (outcome) => {
    const period_from = later(fixture.today, -400);
    for (const by of groupings) await compareWith({ outcome, by, period_from });
    await compareWith({ outcome, show: ['profit'], groups: 2, owner: nameOf('owner').name });
  });

  test.each(['won', 'lost', 'closed'])('the list of those that were %s', async (outcome) => {
    const period = {
      period_from: later(fixture.today, -200),
      period_to: later(fixture.today, -10),
    };
    const asked = { outcome, ...period, show: ['profit', 'ask'] };
    const its = closedWithin(deals, fixture.today, asked)
      .filter((deal) => outcome === 'closed' || deal.outcome === outcome)
      .sort(byWorth);
    const list = { ...asked, sections: ['deals'], rows: 30 };
    const { records, page } = await fixture.call('cpq_brief_pipeline', list);
    expect(page.total).toBe(its.length);
    expect(records.length).toBeGreaterThan(0);
    expect(records.length).toBe(page.shown);
    for (const [at, record] of records.entries()) {
      const deal = its[at];
      if (!deal) throw new Error(`There is no deal ${at}`);
      expect(record).toMatchObject(rowOfDeal(deal, asked));
      expect([record.closed, record.daysToClose]).toEqual([deal.closed, deal.daysToClose]);
      const word = deal.outcome === 'closed_unknown' ? 'closed' : deal.outcome;
      expect(record.outcome).toBe(outcome === 'closed' ? word : undefined);
    }
  });
}

function requestTests(): void {
  test('random filters together', async () => {
    const named = (what: 'owner' | 'company' | 'category' | 'stage' | 'source') => {
      const ids = deals.flatMap(({ [what]: { id } }) => id ?? []);
      return fc.constantFrom(...new Set(ids));
    };
    const day = fc.integer({ min: -400, max: 60 }).map((days) => later(fixture.today, days));
    const asked = fc.record(
      {
        by: fc.constantFrom(...groupings),
        outcome: fc.constantFrom('open', 'won', 'lost', 'closed'),
        owner: named('owner'),
        company: named('company'),
        category: named('category'),
        stage: named('stage'),
        source: named('source'),
        currency: fc.constantFrom(...new Set(deals.map(({ currency }) => currency.toLowerCase()))),
        close_from: day,
        period_from: day,
        min_value: fc.constantFrom(0, 500, 20_000),
        groups: fc.integer({ min: 1, max: 12 }),
        rows: fc.integer({ min: 0, max: 9 }),
        show: fc.constant(['profit']),
        stalled_days: fc.integer({ min: 1, max: 200 }),
      },
      { requiredKeys: [] },
    );
    const valid = asked.map(({ period_from, stage, close_from, stalled_days, ...others }) => ({
      ...others,
      ...(period_from && { period_from, period_to: '2029-01-01' }),
      ...((others.outcome ?? 'open') === 'open' && only({ stage, close_from, stalled_days })),
    }));
    await fc.assert(
      fc.asyncProperty(valid, async (asked) => void (await compareWith(asked))),
      { numRuns: 15 },
    );
  });

  test('as many groups as are asked for', async () => {
    for (const by of ['company', 'close_month']) {
      await compareWith({ by, groups: 3 });
      await compareWith({ by, groups: 60 });
    }
  });

  test('who says by what to group gets the groups beside the chosen sections', async () => {
    const chosen = { outcome: 'won', sections: ['closed'] };
    expect((await fixture.call('cpq_brief_pipeline', chosen)).data).not.toHaveProperty('groups');
    const { data } = await fixture.call('cpq_brief_pipeline', { ...chosen, by: 'owner' });
    expect(data).toMatchObject({ by: 'owner', groups: { total: expect.any(Number) } });
  });

  test('what the customers of open deals ask for, cut', async () => {
    const { records } = await fixture.call('cpq_brief_pipeline', {
      sections: ['deals'],
      show: ['ask'],
    });
    const asks = new Map(deals.map(({ id, ask }) => [id, ask]));
    expect(records.some(({ ask }) => ask !== undefined)).toBe(true);
    for (const { id, ask } of records) {
      const whole = asks.get(String(id));
      if (ask === undefined) expect(whole?.trim() ?? '').toBe('');
      else expect(String(ask).length).toBeLessThanOrEqual(241);
    }
  });
}

function coverageAndRowTests(): void {
  test('the scale of probability is reported', async () => {
    const { data } = await fixture.call('cpq_brief_pipeline');
    const [row] = fixture.ask(
      'select probabilityScale as top from tenant where tenant = ?1 and ?2 <> 0',
    );
    expect(data.probability).toMatchObject({ scale: `0-${row?.top}` });
  });

  test('coverage includes every opportunity, and every company for its currency', async () => {
    const { coverage } = await fixture.call('cpq_brief_pipeline');
    const [row] = fixture.ask(
      `select (select count(*) from opportunity where tenant = ?1) +
         (select count(*) from company where tenant = ?1) as total where ?2 <> ''`,
    );
    expect(coverage).toMatchObject({ complete: true, read: row?.total, total: row?.total });
  });

  test('all open deals, the largest first, a hundred at a time', async () => {
    const open = openAmong(deals, {});
    const first = await fixture.call('cpq_brief_pipeline', { deals_from: 0, rows: 100 });
    expect(first.records.map(({ id }) => id)).toEqual(open.slice(0, 100).map(({ id }) => id));
    const last = await fixture.call('cpq_brief_pipeline', { deals_from: open.length - 1 });
    expect(last.records.map(({ id }) => id)).toEqual(open.slice(-1).map(({ id }) => id));
    expect(last.page).toEqual({ shown: 1, from: open.length - 1, total: open.length });
  });
}

describe('the oracle itself', () => {
  test('adds days across the end of a leap year', () => {
    expect(later('2028-02-29', 1)).toBe('2028-03-01');
    expect(later('2025-01-01', -1)).toBe('2024-12-31');
  });
});
