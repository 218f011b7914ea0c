import { beforeAll, expect, test } from 'vitest';
import type { Row } from '../support/hosts.ts';
import { expectedQuotes, type Filters } from '../support/oracle/all-quotes.ts';
import { only } from '../support/oracle/order.ts';
import { later } from '../support/oracle/pipeline.ts';
import { type Quote, quotesOf, statusOf } from '../support/oracle/quotes.ts';
import { describeTenants, type TenantFixture } from '../support/oracle/tenants.ts';

const groupings = ['status', 'acceptance', 'owner', 'company', 'month', 'currency', 'deal_state'];
const shown = ['id', 'number', 'company', 'owner', 'status', 'dealState', 'currency'];
const rowFields = new Set([...shown, 'firstYearValue', 'sent', 'approved', 'expires']);

/** By name, or by the id where several groups share the name. */
const byKey = (rows: unknown, key: string): Row =>
  Object.fromEntries(
    (rows as Row[]).map(({ id, [key]: name, ...figures }) => [String(id ?? name), figures]),
  );

function briefIn(data: Row): Row {
  const { total, unknown, otherTerms, deleted } = data;
  const { rows } = data.quotes as { rows: Row[] };
  return only({
    total,
    unknown,
    otherTerms,
    deleted,
    acceptance: byKey(data.acceptance, 'acceptance'),
    groups: byKey((data.groups as Row).rows, 'name'),
    rows: rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => rowFields.has(name))),
    ),
  });
}

let fixture: TenantFixture;
let quotes: Quote[];

const check = async (by: string, filters: Filters, groups = 200) => {
  const args = { by, ...filters, size: 20, groups };
  const { data } = await fixture.call('cpq_brief_quotes', args);
  const expected = expectedQuotes(quotes, by, filters);
  const all = expected.rows as Row[];
  const { rows } = data.quotes as { rows: Row[] };
  // An answer with many groups has fewer rows.
  expect(rows.length).toBeGreaterThanOrEqual(filters.show ? 0 : Math.min(1, all.length));
  const told = briefIn(data);
  // Of more groups than were asked for, the last row has the others.
  const named = Object.entries(expected.groups as Row).filter(
    ([name]) => name in (told.groups as Row),
  );
  const some = Object.fromEntries(
    Object.entries(told.groups as Row).filter(([name]) => !/^\d+ others$/.test(name)),
  );
  expect(told).toEqual({ ...expected, groups: told.groups, rows: all.slice(0, rows.length) });
  expect(some).toEqual(Object.fromEntries(named));
  const counted = Object.values(told.groups as Record<string, { count: number }>);
  // By a line, a quote counts in several.
  if (by !== 'category' && by !== 'product')
    expect(counted.reduce((sum, { count }) => sum + count, 0)).toBe(all.length);
  expect(data.quotes).toMatchObject({ total: all.length });
};

describeTenants((load) => {
  beforeAll(async () => {
    fixture = await load();
    quotes = quotesOf(fixture.ask);
  });

  extraFigureTests();

  test.each(groupings)('all quotes by %s', (by) => check(by, {}));

  test('of many groups the last are one', () => check('company', {}, 3));

  test('the quotes of an owner, of a company, of a status and of a currency', async () => {
    const quote = quotes.find(
      ({ ownerId, companyId, statusCategory }) => ownerId && companyId && statusCategory === 'sent',
    );
    const { ownerId = '', companyId = '', currency = '' } = quote ?? {};
    await check('company', { owner: ownerId });
    await check('status', { company: companyId });
    await check('owner', { status: 'sent' });
    await check('month', { currency });
  });

  test.each(['created', 'declined', 'expires'] as const)(
    'a period and the months of the day on which quotes were %s',
    (date) =>
      check('month', {
        date,
        date_from: later(fixture.today, -90),
        date_to: later(fixture.today, 30),
      }),
  );

  test.each(['open to acceptance', 'past expiry'])('quotes that are %s', (acceptance) =>
    check('deal_state', { acceptance }),
  );

  test('a period tells how many quotes have no such date', async () => {
    const status = 'draft';
    const { data, text } = await fixture.call('cpq_brief_quotes', {
      status,
      date_from: '2020-01-01',
    });
    const without = quotes.filter((it) => statusOf(it) === status && !it.sent).length;
    expect(without).toBeGreaterThan(0);
    expect(data.period).toMatchObject({ date: 'sent', withoutDate: without });
    expect(text).toContain(`${without} more ${without === 1 ? 'has' : 'have'} no such date`);
  });

  test('expired, as an acceptance, is past expiry', async () => {
    const asked = async (acceptance: string) =>
      (await fixture.call('cpq_brief_quotes', { acceptance })).data.total;
    expect(await asked('Expired')).toEqual(await asked('past expiry'));
  });

  test.each(['won', 'none'])('quotes whose deal is %s', (deal_state) =>
    check('acceptance', { deal_state }),
  );

  test('quotes with lines of a manufacturer, and without lines', async () => {
    await check('owner', { item: 'fortinet' });
    await check('owner', { item: 'meraki' });
    await check('status', { item: '(none)' });
    await check('status', { item: 'None' });
  });

  test('every quote is on one page', async () => {
    const ids: unknown[] = [];
    for (let from: unknown = 0; from !== undefined; ) {
      const { data } = await fixture.call('cpq_brief_quotes', { from, size: 25 });
      const page = data.quotes as { rows: Row[]; next?: number };
      ids.push(...page.rows.map(({ id }) => id));
      from = page.next;
    }
    expect(ids).toEqual((expectedQuotes(quotes, 'status', {}).rows as Row[]).map(({ id }) => id));
  });

  test.each([{ owner: 'Nobody At All' }, { status: 'unheard of' }, { currency: 'XXX' }])(
    'a filter that nothing matches is a question: %j',
    async (args) => {
      const { text, data } = await fixture.call('cpq_brief_quotes', args);
      expect(text).toContain('No figures yet');
      expect(data).not.toHaveProperty('total');
    },
  );
});

function extraFigureTests(): void {
  test.each(['value', 'age', 'category', 'product'])('all quotes by %s', (by) => check(by, {}, 20));

  test.each([
    ['approval', 'owner'],
    ['approval', 'month'],
    ['days', 'company'],
    ['discount', 'status'],
    ['discount', 'category'],
  ])('the %s of all quotes by %s', async (extra, by) => {
    await check(by, { show: [extra] }, 20);
    await check('status', { show: ['approval', 'days', extra], date: 'created', sort: 'value' });
  });

  test.each(['age', 'expiry'])('all quotes by %s', (sort) => check('status', { sort }));

  test('groups by value', async () => {
    const args = { by: 'owner', sort: 'value', show: ['approval'], groups: 200 };
    const { data, text } = await fixture.call('cpq_brief_quotes', args);
    const amounts = (await fixture.call('cpq_brief_quotes', { by: 'owner', groups: 200 })).data;
    const worth = byKey((amounts.groups as Row).rows, 'name');
    const largest = (name: string) =>
      Math.max(0, ...Object.values((worth[name] as Row).firstYearValue ?? {}));
    const ranks = Object.keys(byKey((data.groups as Row).rows, 'name')).map(largest);
    expect(ranks).toEqual(ranks.toSorted((one, other) => other - one));
    expect(text).toContain('approved / (approved + declined)');
  });
}
