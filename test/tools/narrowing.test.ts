import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { checkNames } from '../../src/briefs/checks/checks.ts';
import { resources, routes } from '../../src/service/routes.ts';
import { grantNames, readGrant } from '../../src/tenant/grants.ts';
import type { AnyTool } from '../../src/tool-kit/define-tool.ts';
import { openWriter } from '../support/consent.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import type { Row } from '../support/hosts.ts';
import { readTools, sampleFor, serviceRecords } from '../support/samples.ts';
import { requestsTo } from '../support/sandbox.ts';
import { closing, shared } from '../support/shared.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

/** That the rows left are the right ones is tested by SQL in `test/oracle`; here, that no filter is without effect. */
const { sandbox, address } = embeddedTenant({ scale: 0.2, as: 'all' });
const server = shared(async () => openWriter(await address()));

async function call(tool: string, args: Row): Promise<Row> {
  const { isError, text, data } = await (await server()).call(tool, args);
  if (isError) throw new Error(`${tool} ${JSON.stringify(args)}: ${text}`);
  return data;
}

/** Arguments that choose a record or a question, or how much of the same rows is shown, and in which form. */
const others = new Set(
  'resource id company product quote query check open_deals size from rows groups deals_from lines detail fields sort by show sections parts depth kinds include_bundles outcome date on since period_from period_to target rates stalled_days discount_limit floor days tolerance until'.split(
    ' ',
  ),
);

const rowsOf = async (path: string): Promise<Row[]> => {
  const all = await serviceRecords(await address(), path, '?size=100');
  return all.filter(({ deletedAt }) => !deletedAt);
};

/** The name or text that the most records have in this field, but not all. */
async function frequent(path: string, field: string): Promise<string> {
  const counts = new Map<string, number>();
  for (const { [field]: value } of await rowsOf(path)) {
    const [name = ''] = String((value as Row | undefined)?.name ?? value ?? '').split(/ *[|:,]/);
    if (name !== '') counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const [[found] = []] = [...counts].toSorted(([, a], [, b]) => b - a);
  if (found === undefined) throw new Error(`${path} has no ${field}`);
  return found;
}

const at = (path: string, field: string) => () => frequent(path, field);
const inThreeWeeks = () => new Date(Date.now() + 21 * 86_400_000).toISOString().slice(0, 10);
const monthAgo = () => new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10);
const deals = '/opportunity';
/** The name of a group that has some of the open deals. */
const groupBy = (by: string) => async () => {
  const { open, groups } = await call('cpq_brief_pipeline', { by, groups: 100 });
  const some = ({ name, count }: Row) =>
    Number(count) < Number((open as Row).count) && !String(name).startsWith('no ');
  const found = (groups as { rows: Row[] }).rows.find(some);
  if (!found) throw new Error(`no group by ${by} has a part of the deals`);
  return found.name;
};
const dealFilters = {
  owner: groupBy('owner'),
  company: groupBy('company'),
  stage: groupBy('stage'),
  category: groupBy('category'),
  source: groupBy('source'),
  currency: () => 'JPY',
  close_from: inThreeWeeks,
  close_to: monthAgo,
  min_value: () => 50_000,
};

interface Table {
  /** Arguments of the call that is narrowed. */
  base?: Row;
  count(answer: Row): unknown;
  filters: Record<string, () => unknown>;
}
const inPage = ({ page }: Row) => (page as Row | undefined)?.total;
const listed = (filters: Table['filters']): Table => ({ count: inPage, filters });
const by =
  (key: string, path: string, field = key) =>
  async () =>
    `${key}:${await frequent(path, field)}`;

/** Each filter of each tool that reads, with a value that only some of its rows have. */
const tables: Record<string, Table> = {
  cpq_list_companies: listed({ query: at('/company', 'name'), filters: by('type', '/company') }),
  cpq_list_contacts: listed({
    query: at('/contact', 'lastName'),
    filters: by('email', '/contact'),
  }),
  cpq_list_opportunities: listed({
    query: at(deals, 'name'),
    filters: by('stage', deals, 'pipelineStage'),
  }),
  cpq_list_products: listed({
    query: at('/product', 'name'),
    filters: by('manufacturer', '/product'),
  }),
  cpq_list_quotes: listed({ query: at('/quote', 'number'), filters: by('status', '/quote') }),
  cpq_list_pricing_books: listed({ filters: by('name', '/pricing-book') }),
  cpq_list_contract_items: listed({
    query: at('/contract/items', 'service'),
    filters: by('vendor', '/contract/items'),
  }),
  cpq_brief_pipeline: {
    count: ({ open }) => (open as Row | undefined)?.count,
    filters: dealFilters,
  },
  cpq_pipeline_deals: { base: { deals_from: 0, rows: 5 }, count: inPage, filters: dealFilters },
  cpq_brief_quotes: {
    count: ({ total }) => (total as Row | undefined)?.count,
    filters: {
      owner: at('/quote', 'owner'),
      company: at('/quote', 'company'),
      status: at('/quote', 'status'),
      currency: () => 'CAD',
      acceptance: () => 'expired',
      deal_state: () => 'won',
      date_from: monthAgo,
      date_to: monthAgo,
      item: () => '(none)',
    },
  },
};

/** Tools over what this server keeps itself, whose filters are tested where the tests fill it. */
const logs: Record<string, string> = {
  cpq_list_events: 'subject event since until id',
  cpq_list_changes: 'since until opportunity',
  cpq_pipeline_changes: `movement pushes ${Object.keys(dealFilters).join(' ')}`,
};

const checkFilters = ['owner', 'company', 'status', 'label', 'kind'];

test('every argument of every tool that reads is a filter in these tables, or none', () => {
  for (const { name, input } of readTools) {
    const tested = [
      ...Object.keys(tables[name]?.filters ?? {}),
      ...(logs[name] ?? '').split(' '),
      ...(name === 'cpq_check_sales_data' ? checkFilters : []),
    ];
    const left = Object.keys(input.shape).filter((argument) => !tested.includes(argument));
    expect(
      left.filter((argument) => !others.has(argument)),
      name,
    ).toEqual([]);
  }
});

describe.each(Object.entries(tables))('%s', (tool, { base = {}, count, filters }) => {
  test.each(Object.entries(filters))('narrows by %s, or says why not', async (filter, choose) => {
    const [whole, value] = [Number(count(await call(tool, base))), await choose()];
    const narrowed = await call(tool, { ...base, [filter]: value });
    const left = count(narrowed);
    const what = `${filter}: ${value}: ${narrowed.summary}`;
    if (left === undefined) expect(narrowed.summary, what).toContain('No figures yet');
    else expect(0 < Number(left) && Number(left) < whole, what).toBe(true);
  });
});

describe('an argument of 0', () => {
  const quoteWithDiscount = async () => {
    const hasOne = ({ items }: Row) =>
      (items as Row[]).some(({ discount }) => 0 < Number(discount) && Number(discount) < 20);
    return { quote: (await rowsOf('/quote')).find(hasOne)?.id };
  };
  const checking = (check: string) => async () => ({ check: [check] });
  test.each<[string, string, () => Promise<Row>]>([
    ['cpq_brief_pipeline', 'rows groups stalled_days min_value target', async () => ({})],
    ['cpq_brief_quotes', 'groups size', async () => ({})],
    ['cpq_brief_company', 'rows', async () => ({ company: await groupBy('company')() })],
    ['cpq_brief_quote', 'lines discount_limit', quoteWithDiscount],
    ['cpq_check_sales_data', 'floor', checking('thin_margins')],
    ['cpq_check_sales_data', 'days', checking('stale_quotes')],
    ['cpq_check_sales_data', 'tolerance', checking('pricing_drift')],
  ])('is not taken for a missing one in %s: %s', async (tool, names, choose) => {
    const args = await choose();
    for (const name of names.split(' '))
      expect(await call(tool, { ...args, [name]: 0 }), name).not.toEqual(await call(tool, args));
  });
});

describe('a company that has none of the records', () => {
  /** The name of a company that no record of a route refers to. */
  const unused = async (path: string): Promise<unknown> => {
    const used = (await rowsOf(path)).map(({ company }) => (company as Row | undefined)?.id);
    return (await rowsOf('/company')).find(({ id }) => !used.includes(id))?.name;
  };
  test.each([
    ['cpq_brief_pipeline', {}, deals, ({ open }: Row) => (open as Row | undefined)?.count],
    ['cpq_pipeline_deals', { deals_from: 0 }, deals, inPage],
    ['cpq_brief_quotes', {}, '/quote', ({ total }: Row) => (total as Row | undefined)?.count],
    ['cpq_check_sales_data', { check: ['stale_quotes'] }, '/quote', ({ total }: Row) => total],
  ])('is known all the same to %s', async (tool, args, path, count) => {
    const answer = await call(tool, { ...args, company: await unused(path) });
    expect([count(answer), answer.summary]).toEqual([0, expect.stringContaining('Only company')]);
  });
});

describe('a collection that may not be read', () => {
  const answerFor = async (tool: AnyTool, grants: string[]) => {
    const before = requestsTo(await sandbox()).length;
    const { call } = await openWriter(await address(), { grants });
    const answer = await call(tool.name, await sampleFor(tool, await address()));
    const sent = requestsTo(await sandbox()).slice(before);
    return { answer, paths: sent.map(({ path }) => path.replace(/^.*\/public-api|\?.*/g, '')) };
  };
  const briefs = readTools.filter(({ toolset }) => toolset === 'briefs');
  test.each(briefs.map((tool) => [tool.name, tool] as const))('is named by %s', async (_, tool) => {
    const { paths } = await answerFor(tool, ['read']);
    for (const resource of resources) {
      const grant = readGrant(resource);
      const isRead = paths.some((path) => `${path}/`.startsWith(`${routes[resource].path}/`));
      if (tool.needs.includes(grant) || !isRead) continue;
      const grants = grantNames.filter((each) => each.endsWith(':read') && each !== grant);
      const { answer } = await answerFor(tool, grants);
      const words = [`Without ${resource.replaceAll('_', ' ')} records`, `${grant} is not granted`];
      // Nothing is computed without a history.
      expect(answer.text).toMatch(new RegExp([...words, 'No history'].join('|')));
    }
  });
});

describe('a question that rests on a collection that may not be read', () => {
  test.each([
    ['cpq_brief_pipeline', { by: 'label' }, 'company'],
    ['cpq_brief_pipeline', { by: 'country' }, 'company'],
    ['cpq_brief_pipeline', { by: 'product' }, 'quote'],
    ['cpq_brief_quotes', { by: 'deal_state' }, 'opportunity'],
    ['cpq_brief_quotes', { deal_state: 'won' }, 'opportunity'],
  ])('is refused by %s %o', async (tool, args, resource) => {
    const grants = ['opportunity:read', 'quote:read', 'company:read'];
    const without = grants.filter((grant) => grant !== `${resource}:read`);
    const { call: ask } = await openWriter(await address(), { grants: without });
    expect((await ask(tool, args)).text).toContain(`${resource}:read is not granted here. The`);
  });
});

test('a quote is briefed where nothing else may be read', async () => {
  const { call: ask } = await openWriter(await address(), { grants: ['quote:read'] });
  const [quote] = await rowsOf('/quote');
  const { data, text } = await ask('cpq_brief_quote', { quote: quote?.id });
  expect(data).toMatchObject({ id: quote?.id, preflight: expect.anything() });
  expect(text).toContain('Without company records, since company:read is not granted here');
});

describe.each(checkNames)('cpq_check_sales_data, %s', (check) => {
  test('has for a status, a kind or an owner as many findings as it counts of them', async () => {
    const { counts = [] } = await call('cpq_check_sales_data', { check });
    for (const { by, value, count } of counts as Row[]) {
      const filter = by === 'owner' || by === 'status' ? by : 'kind';
      if (value === 'no owner') continue;
      const own = await call('cpq_check_sales_data', { check, [String(filter)]: value });
      expect([value, own.total]).toEqual([value, count]);
    }
  });
});

test('a brief of several collections is as old as the oldest of them', async () => {
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['Date'] });
  const { call: ask } = await openWriter(await address());
  const asOf = async (tool: string, args: Row = {}) =>
    ((await ask(tool, args)).data.coverage as Row).asOf;
  const first = await asOf('cpq_brief_pipeline');
  vi.setSystemTime(Date.now() + 120_000);
  expect(await asOf('cpq_list_quotes')).not.toBe(first);
  for (const args of [{}, { by: 'deal_state' }])
    expect(await asOf('cpq_brief_quotes', args)).toBe(first);
});

describe('a field that figures rest on', () => {
  const line = 'price quantity term discount setupPrice setupCost cost'.split(' ');
  const time = '2026-01-02T03:04:05Z';
  const ref = { id: 'a', name: 'A' };
  const numbers = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 1]));
  const times = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, time]));
  const quoteTimes = 'createdAt updatedAt sentAt expiresAt approvedAt declinedAt'.split(' ');
  const amounts = 'onetimeRevenue monthlyRevenue valueMonths probability'.split(' ');
  const profits = ['oneTimeProfit', 'monthlyProfit'];
  const dealTimes = 'expectedCloseDate createdAt updatedAt stageUpdatedAt closedAt'.split(' ');
  const contact = { ...ref, companyId: 'a', email: 'a@b.example', phone: '1', mobilePhone: '2' };
  const item = { ...numbers(line), term: 'month', name: 'N', product: ref };
  const quote = { ...ref, ...times(quoteTimes), company: ref, owner: ref, status: 'sent' };
  const deal = { ...ref, ...numbers([...amounts, ...profits]), ...times(dealTimes) };
  const odd = [{ odd: 1 }];
  const duplicates = { check: 'duplicate_contacts' };

  test.each([
    ['cpq_brief_quotes', '/quote', line.map((name) => `items.${name}`)],
    ['cpq_brief_quotes', '/quote', quoteTimes],
    ['cpq_brief_pipeline', '/opportunity', [...amounts, ...profits, ...dealTimes]],
    ['cpq_check_sales_data', '/contact', ['email', 'companyId', 'phone', 'mobilePhone']],
  ] as const)('is named first by %s where it cannot be read', async (tool, path, fields) => {
    const { url, records } = closing(await startUpstream());
    for (const field of fields) {
      const [name = '', part] = field.split('.');
      const whole = {
        '/quote': { ...quote, items: [item] },
        '/opportunity': deal,
        '/contact': contact,
      };
      const lacking = part ? { items: [{ ...item, [part]: odd }] } : { [name]: odd };
      records[path] = [{ ...whole[path], ...lacking }];
      const { call: ask } = await openWriter({ baseUrl: url, key: `unread-field-${field}` });
      const { text } = await ask(tool, path === '/contact' ? duplicates : {});
      expect(text.split('. ')[0], field).toMatch(`the ${part ?? name} of 1 `);
    }
  });
});

const ranked = 'The groups shown have the most quotes';
test.each<[Row, string[], number]>([
  [{}, [], 5],
  [{ by: 'owner', groups: 1 }, [ranked], 5],
  [{ by: 'owner', groups: 1, sort: 'value' }, ['Ranked by the largest sum.'], 5],
  [{ by: 'owner', groups: 1, sort: 'value', currency: 'USD' }, [], 5],
  [{ by: 'age', groups: 1 }, [], 5],
  [{ by: 'value', groups: 1 }, [], 5],
  [{ by: 'month', groups: 1 }, [], 5],
  [{ item: 'a' }, ['Amounts are of whole quotes'], 5],
  [{ item: 'a', by: 'product', groups: 300 }, [], 5],
  [{ item: 'none' }, [], 1],
  [{ show: ['days', 'approval'] }, ['Days from', 'approvalRatePercent'], 0],
  [{ show: ['discount'], size: 1 }, ['List: '], 1],
])('a brief of quotes %o has its notes and rows', async (args, said, shown) => {
  const { notes = [], quotes } = await call('cpq_brief_quotes', args);
  expect(notes).toEqual(said.map((words) => expect.stringContaining(words)));
  expect((quotes as Row).rows).toHaveLength(shown);
});

test('what deals of other companies lack is not said of a company', async () => {
  const { url, records } = closing(await startUpstream());
  records['/company'] = ['Ann', 'Ben'].map((name) => ({ id: name, name }));
  const deal = { id: 'a', name: 'A', company: { id: 'Ann', name: 'Ann' }, onetimeRevenue: 1 };
  const company = { id: 'Ben', name: 'Ben' };
  records['/opportunity'] = [deal, { ...deal, id: 'b', company, onetimeRevenue: undefined }];
  const { call: ask } = await openWriter({ baseUrl: url, key: 'gaps-of-others-key-1' });
  const of = async (name: string) => (await ask('cpq_brief_company', { company: name })).text;
  expect(await of('Ben')).toMatch(/^[^.]*1 of 2 opportunities has no onetimeRevenue/);
  expect(await of('Ann')).not.toMatch(/^[^.]*1 of 2 opportunities/);
});

test('a brief without any deal says why that may be', async () => {
  const { url } = closing(await startUpstream({ counts: { '/opportunity': 0 } }));
  const { call: ask } = await openWriter({ baseUrl: url, key: 'no-deals-key-0123' });
  const { text } = await ask('cpq_brief_pipeline', {});
  expect(text).toContain('The service gave no opportunity at all: the API key may not see any.');
});

test('who asks for deals without a source is told how to list them', async () => {
  for (const source of ['none', 'No source', 'without source']) {
    const { text } = await (await server()).call('cpq_brief_pipeline', { source });
    expect(text).toContain('Records without source: filters source:none of the list tools.');
  }
});

test('a limit of one of several checks is taken, and one of none refused', async () => {
  const both = ['stale_quotes', 'thin_margins'];
  const { checks } = await call('cpq_check_sales_data', { check: both, days: 3_650, floor: 90 });
  const alone = async (check: string, args: Row) =>
    (await call('cpq_check_sales_data', { check: [check], ...args })).total;
  expect((checks as Row[]).map(({ found }) => found)).toEqual([
    await alone('stale_quotes', { days: 3_650 }),
    await alone('thin_margins', { floor: 90 }),
  ]);
  const { text } = await (await server()).call('cpq_check_sales_data', {
    check: both,
    tolerance: 1,
  });
  expect(text).toBe('tolerance is for pricing_drift: leave it out.');
});

test('a brief of quotes says that it leaves out the states of many deals', async () => {
  const { url } = closing(await startUpstream({ counts: { '/opportunity': 2_500, '/quote': 20 } }));
  const { call: ask } = await openWriter({ baseUrl: url, key: 'many-deals-key-0123' });
  const words = 'states of the opportunities are left out';
  expect((await ask('cpq_brief_quotes', {})).text).toContain(words);
  for (const args of [{ date_to: '2000-01-01' }, { acceptance: 'accepted' }, { by: 'deal_state' }])
    expect((await ask('cpq_brief_quotes', args)).text).not.toContain(words);
});

test('a name that only deleted quotes have is none to ask a brief for', async () => {
  const { url, records } = closing(await startUpstream());
  const of = (name: string) => ({
    id: name,
    number: name,
    status: name,
    owner: { id: name, name },
  });
  const company = { id: 'Dora', name: 'Dora' };
  records['/quote'] = [of('Ann'), { ...of('Dora'), company, deletedAt: '2026-01-02T03:04:05Z' }];
  const { call: ask } = await openWriter({ baseUrl: url, key: 'deleted-names-key-01' });
  for (const [by, told] of [
    ['owner', 'No owner is called "Dora"'],
    ['company', 'No company is called "Dora"'],
    ['status', 'None has the status "Dora"'],
  ] as const)
    expect((await ask('cpq_brief_quotes', { [by]: 'Dora' })).text).toContain(`${told}. No figures`);
  expect((await ask('cpq_brief_quotes', { owner: 'Ann' })).text).toContain('Only owner "Ann"');
});
