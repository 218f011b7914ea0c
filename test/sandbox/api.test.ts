import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, type SandboxTenant, startSandbox } from '../../src/sandbox/index.ts';
import { ask, first, type Record, rows, walk } from '../support/sandbox-client.ts';

let sandbox: Sandbox;
let tenant: SandboxTenant;
const get = (path: string) => ask(tenant, path);

const total = async (path: string) => (await get(path)).json.total;

beforeAll(async () => {
  sandbox = await startSandbox({ scale: 0.3, rateLimit: false });
  [tenant] = sandbox.tenants;
});
afterAll(() => sandbox.close());

describe('the list routes', () => {
  test.each(['company', 'contact', 'opportunity', 'quote', 'pricing-book', 'quote-discount-group'])(
    '/%s answers in an envelope with the total of all matches',
    async (path) => {
      const { status, json } = await get(`${path}?size=3`);
      const table = path === 'quote-discount-group' ? 'discount_group' : path.replace('-', '_');
      const sql = `select count(*) n from ${table} where tenant = ?`;
      expect(status).toBe(200);
      expect(json.results).toHaveLength(3);
      expect(json.total).toBe(first(sandbox, sql, tenant.name).n);
    },
  );

  test.each(['quote-template', 'quote-widget-template', 'category', 'category/tree'])(
    '/%s answers with a bare array',
    async (path) => {
      const { json } = await get(path);
      expect(Array.isArray(json)).toBe(true);
      expect(json.length).toBeGreaterThan(0);
    },
  );

  test.each([
    ...['company?fiter=type:customer', 'pricing-book?filters=name:x', 'quote-template?sort=name'],
    ...['contract/items?sort=name', 'contact?includeBundles=true', 'category/tree?sort=name'],
    ...['company/none?size=1', 'opportunity?Size=1'],
  ])('/%s is refused: the route has no such parameter', async (path) => {
    const [, name] = /\?(\w+)=/.exec(path) ?? [];
    const { status, json } = await get(path);
    expect([status, json.message]).toEqual([400, [`parameter ${name} is unknown`]]);
  });

  test('contract items come in an envelope and can be searched', async () => {
    const [item] = (await get('contract/items?size=1')).json.results;
    const { json } = await get(`contract/items?query=${encodeURIComponent(item.service)}`);
    expect(json.results.map((found: Record) => found.id)).toContain(item.id);
    expect(json.total).toBeLessThan((await get('contract/items')).json.total);
  });

  test('a page has 20 records by default, and 100 at most', async () => {
    expect((await get('contact')).json.results).toHaveLength(20);
    expect((await get('product?size=5000')).json.results).toHaveLength(100);
  });

  test.each(['opportunity', 'quote', 'product', 'contact'])(
    'reading /%s page by page finds every record once',
    async (path) => {
      const found = await walk(tenant, path, 37);
      const { total } = (await get(path)).json;
      expect(found).toHaveLength(total);
      expect(new Set(found.map(({ id }) => id)).size).toBe(total);
    },
  );

  test('bundles are in the product list only when requested', async () => {
    const all = first(sandbox, 'select count(*) n from product where tenant = ?', tenant.name).n;
    const plain = (await get('product')).json.total;
    expect(plain).toBeLessThan(all);
    expect((await get('product?includeBundles=true')).json.total).toBe(all);
  });

  test('the category tree leaves out categories without products', async () => {
    const names = (nodes: Record[]): string[] =>
      nodes.flatMap(({ name, children }) => [name, ...names(children)]);
    const whole = names((await get('category/tree?includeEmpty=true')).json);
    const used = names((await get('category/tree')).json);
    expect(whole).toHaveLength((await get('category')).json.length);
    expect(whole).toContain('Tapes');
    expect(used).not.toContain('Tapes');
  });
});

describe('one record', () => {
  test.each([
    'company',
    'contact',
    'opportunity',
    'product',
    'quote',
    'pricing-book',
    'quote-discount-group',
  ])('/%s/{id} is the record of the list', async (path) => {
    const [record] = (await get(`${path}?size=1`)).json.results;
    expect((await get(`${path}/${record.id}`)).json).toEqual(record);
  });

  test.each(['quote-template', 'quote-widget-template'])(
    '/%s/{id} is the record, too',
    async (path) => {
      const [record] = (await get(path)).json;
      expect((await get(`${path}/${record.id}`)).json).toEqual(record);
    },
  );

  test.each(['company', 'contact', 'product'])(
    '/%s/ext/{externalIdentifier} is the record with the external identifier',
    async (path) => {
      const list = (await get(`${path}?size=100`)).json.results;
      const record = list.find((found: Record) => found.externalIdentifier);
      const { json } = await get(`${path}/ext/${record.externalIdentifier}`);
      expect(json).toEqual(record);
    },
  );

  test('an opportunity cannot be read by its external identifier', async () => {
    const { externalIdentifier } = first(
      sandbox,
      'select externalIdentifier from opportunity where tenant = ? and externalIdentifier is not null',
      tenant.name,
    );
    expect((await get(`opportunity/ext/${externalIdentifier}`)).status).toBe(404);
  });

  test('nested records carry id and name', async () => {
    const [quote] = (await get('quote?size=1&filters=status:sent&sort=number')).json.results;
    const company = (await get(`company/${quote.company.id}`)).json;
    expect(quote.company).toMatchObject({ id: company.id, name: company.name });
    expect(quote.owner.name).toBeTypeOf('string');
    expect(quote.items[0]).toMatchObject({ quantity: expect.anything(), name: expect.any(String) });
    const [book] = (await get('pricing-book?size=1')).json.results;
    expect(book.products[0].productId).toBeTypeOf('string');
  });
});

describe('filters', () => {
  const count = (condition: string) =>
    first(
      sandbox,
      `select count(*) n from opportunity where tenant = ? and ${condition}`,
      tenant.name,
    ).n;

  test('a comma is and, a pipe is or', async () => {
    const stages = rows(
      sandbox,
      'select id from pipeline_stage where tenant = ? order by position',
      tenant.name,
    );
    const [a, b] = [stages[0].id, stages[2].id];
    expect(await total(`opportunity?filters=pipelineStage.id:${a}|${b}`)).toBe(
      count(`pipelineStageId in ('${a}', '${b}')`),
    );
    expect(await total(`opportunity?filters=pipelineStage.id:${a},statusId:open`)).toBe(
      count(`pipelineStageId = '${a}' and statusId = 'open'`),
    );
  });

  test('text values match in any letter case, ids only exactly', async () => {
    const sent = "select count(*) n from quote where tenant = ? and lower(status) = 'sent'";
    expect(await total('quote?filters=status:SENT')).toBe(first(sandbox, sent, tenant.name).n);
    const { id } = first(
      sandbox,
      'select id from company where id <> upper(id) and tenant = ?',
      tenant.name,
    );
    expect(await total(`company?filters=id:${id}`)).toBe(1);
    expect(await total(`company?filters=id:${id.toUpperCase()}`)).toBe(0);
  });

  test('letter case does not count in any alphabet', async () => {
    const { id } = (await get('company?size=1')).json.results[0];
    sandbox.database.prepare('update company set name = ? where id = ?').run('Ödön Ñandú', id);
    expect(await total(`company?filters=name:${encodeURIComponent('öDÖN ñANDÚ')}`)).toBe(1);
    expect(await total(`company?query=${encodeURIComponent('ÑANDÚ')}`)).toBe(1);
  });

  test('contacts are filtered by the id of their company', async () => {
    const { id, n } = first(
      sandbox,
      `select companyId id, count(*) n from contact where tenant = ? and companyId is not null
        group by companyId order by n desc`,
      tenant.name,
    );
    expect(await total(`contact?filters=company.id:${id}`)).toBe(n);
  });

  test('keys reach into nested records, items, custom fields and labels', async () => {
    const quotes = await walk(tenant, 'quote', 100);
    const product = quotes.find(({ items }) => items[0]?.product).items[0].product.id;
    const withProduct = quotes.filter(({ items }) =>
      items.some((item: Record) => item.product?.id === product),
    );
    expect(await total(`quote?filters=items.product.id:${product}`)).toBe(withProduct.length);
    const north = (await walk(tenant, 'opportunity', 100)).filter(
      ({ customFields }) => customFields?.region === 'North',
    );
    expect(await total('opportunity?filters=customFields.region:north')).toBe(north.length);
    const labelled = (await walk(tenant, 'company', 100)).filter(({ labels = [] }) =>
      labels.some((label: Record) => (label.name ?? label) === 'VIP'),
    );
    expect(await total('company?filters=labels:vip')).toBe(labelled.length);
  });
});

describe('special filters', () => {
  test('a product without the flag counts as listed', async () => {
    const all = await total('product');
    const unlisted = await total('product?filters=listed:false');
    const sql = `select count(*) n from product
      where tenant = ? and listed = 0 and lower(productType) <> 'bundle'`;
    expect(unlisted).toBe(first(sandbox, sql, tenant.name).n);
    expect(unlisted).toBeGreaterThan(0);
    expect(await total('product?filters=listed:true')).toBe(all - unlisted);
  });

  test('an unknown key or a malformed filter is refused with an array of messages', async () => {
    const { status, json } = await get('company?filters=colour:red');
    expect(status).toBe(400);
    expect(json).toEqual({
      message: ['filters: unknown key "colour"'],
      error: 'Bad Request',
      statusCode: 400,
    });
    expect((await get('company?filters=type')).status).toBe(400);
    for (const value of ['cheap', '', '1x'])
      expect((await get(`opportunity?filters=onetimeRevenue:1|${value}`)).status).toBe(400);
    expect((await get('opportunity?filters=onetimeRevenue:1.50|-2e3')).status).toBe(200);
    expect((await get("company?filters=customFields.x');drop table company;--:1")).status).toBe(
      200,
    );
  });
});

describe('free text, sorting and paging', () => {
  test('free text looks for every word, in any letter case', async () => {
    const [company] = (await get('company?size=1')).json.results;
    const words = company.name.toUpperCase().split(' ').reverse().join(' ');
    const { json } = await get(`company?query=${encodeURIComponent(words)}`);
    expect(json.results.map(({ id }: Record) => id)).toContain(company.id);
    expect(await total('company?query=nothing%20is%20called%20that')).toBe(0);
    const { mpn, id } = first(
      sandbox,
      'select mpn, id from product where tenant = ? and mpn is not null',
      tenant.name,
    );
    const found = (await get(`product?query=${encodeURIComponent(mpn)}`)).json.results;
    expect(found.map((product: Record) => product.id)).toContain(id);
  });

  test('sorts by number as number, by date as date, and puts what is missing last', async () => {
    const values = (await walk(tenant, 'opportunity?sort=-onetimeRevenue', 100)).map(
      ({ onetimeRevenue }) => onetimeRevenue,
    );
    const known = values.filter((value) => value != null).map(Number);
    expect(known).toEqual([...known].sort((a, b) => b - a));
    expect(values.slice(known.length).every((value) => value == null)).toBe(true);
    const dates = (await walk(tenant, 'opportunity?sort=%2BexpectedCloseDate', 100))
      .flatMap(({ expectedCloseDate }) => expectedCloseDate ?? [])
      .map((date: string) => Date.parse(date));
    expect(dates).toEqual([...dates].sort((a, b) => a - b));
  });

  test('time zones count when dates are sorted', async () => {
    const [late, early] = (await get('quote?size=2')).json.results;
    const set = sandbox.database.prepare('update quote set expiresAt = ? where id = ?');
    set.run('2099-01-01T23:00:00-05:00', late.id);
    set.run('2099-01-02T01:00:00Z', early.id);
    const { results } = (await get('quote?size=2&sort=-expiresAt')).json;
    expect(results.map(({ id }: Record) => id)).toEqual([late.id, early.id]);
  });

  test('more words or filters than it can search are refused', async () => {
    expect((await get(`company?query=${'a '.repeat(1_100)}`)).status).toBe(400);
    expect((await get(`company?filters=${'type:a,'.repeat(1_100)}type:a`)).status).toBe(400);
  });

  test('a plus that is not sent as %2B, or an unknown field, is refused', async () => {
    expect((await get('company?sort=+name')).status).toBe(400);
    expect((await get('company?sort=-colour')).status).toBe(400);
  });

  test.each(['size=0', 'size=-1', 'size=abc', 'size=1.5', 'from=-1', 'from=x'])(
    '%s is refused',
    async (query) => {
      const { status, json } = await get(`company?${query}`);
      expect(status).toBe(400);
      expect(json.message).toBeInstanceOf(Array);
    },
  );
});
