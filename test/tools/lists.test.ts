import { describe, expect, test } from 'vitest';
import { openWriter } from '../support/consent.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { open, type Row, serving } from '../support/hosts.ts';
import { addressIn, requestsTo, startSandbox } from '../support/sandbox.ts';

/** On a fixed day, because filters below name years and months of its data. */
const {
  sandbox,
  address,
  sql: rows,
} = embeddedTenant({ scale: 0.1, now: new Date('2026-11-20T09:00:00Z') });
const server = serving({ at: address });

const list = async (tool: string, args: Row) => server.call(`cpq_list_${tool}`, args);

const countOf = async (sql: string): Promise<number> =>
  Number((await rows(`select count(*) as n from ${sql}`))[0]?.n);

/** The requests to a route that the service was sent. */
async function requestsFor(route: string): Promise<unknown[]> {
  const running = await sandbox();
  return requestsTo(running).filter(({ path }) =>
    new URL(path, running.url).pathname.endsWith(route),
  );
}

test.each([
  ['not told where only the quotes found lack it', "where title = 'Handover'", false],
  ['told where all quotes lack it', '', true],
])('a field of lines that no row has is %s', async (_, which, told) => {
  const own = embeddedTenant({
    now: new Date('2026-11-20T09:00:00Z'),
    change: ({ database }) =>
      database.exec(`update quote set title = 'Handover' where rowid % 3 = 0;
        update quote_item set term = null where quoteId in (select id from quote ${which})`),
  });
  for (const filters of ['', 'oneTime:>0']) {
    const fresh = await open({ at: own.address });
    const args = { query: 'Handover', filters };
    const { text, records } = await fresh.call('cpq_list_quotes', args);
    expect(text.includes('no quote line has term')).toBe(told);
    expect(records.length).toBeGreaterThan(10);
  }
});

test('a filter takes the id of a source, a category or a contact', async () => {
  for (const name of ['source', 'category', 'contact']) {
    const [{ id, n }] = (await rows(`select ${name}Id as id, count(*) as n from opportunity
      where tenant = ? and ${name}Id is not null group by 1 order by 2 desc limit 1`)) as [Row];
    const { page } = await list('opportunities', { filters: `${name}:${id}` });
    expect([name, page.total]).toEqual([name, n]);
  }
});

test('none means neither name nor id, also where the id is of nothing', async () => {
  const names = ['company', 'owner', 'pipelineStage', 'contact'];
  const gone = names.map((name) => `${name}Id = 'gone0gone0gone0gone0'`).join(', ');
  const own = embeddedTenant({
    scale: 0.1,
    change: ({ database }) => database.exec(`update opportunity set ${gone} where rowid % 3 = 0`),
  });
  const ownServer = await open({ at: own.address });
  for (const name of names) {
    const filters = `${name.replace('pipelineS', 's')}:none`;
    const { page } = await ownServer.call('cpq_list_opportunities', { filters });
    const [none] = await own.sql(`select count(*) as n from opportunity where tenant = ?
      and ${name}Id is null`);
    expect([name, page.total]).toEqual([name, none?.n]);
  }
});

describe('a filter', () => {
  test('takes keys in any letter case, and fields of the service', async () => {
    const expected = await countOf(`opportunity o join pipeline_stage s on s.tenant = o.tenant
      and s.id = o.pipelineStageId where o.tenant = ? and s.name = 'Won'`);
    for (const filters of ['STAGE:won', 'pipelineStage.name:Won', 'pipelineStage:Won'])
      expect((await list('opportunities', { filters })).page.total, filters).toBe(expected);
  });

  test('that matches none of many values, and is similar to none, is answered with some', async () => {
    const distinct = await countOf(`(select distinct coalesce(manufacturer, vendor) m from product
      where tenant = ? and m is not null and coalesce(productType, '') <> 'bundle')`);
    const none = await list('products', { filters: 'manufacturer:qqqq' });
    expect(String(none.data.notes)).toMatch(
      new RegExp(`There are ${distinct}, such as "\\w[^"]*"(, "[^"]+"){7}\\.`),
    );
  });

  test.each([
    ['stage:Proposal|Lost', `s.name in ('Proposal out', 'Lost')`, 'read as "Proposal out".'],
    ['stage:Lost|Zzzz', `s.name = 'Lost'`, 'No record has the stage "Zzzz". There are: '],
  ])('names those of several values that no record has: %s', async (filters, which, note) => {
    const fresh = await open({ at: address });
    const { page, data } = await fresh.call('cpq_list_opportunities', { filters, size: 1 });
    expect(String(data.notes)).toContain(note);
    expect(page.total).toBe(
      await countOf(`opportunity o join pipeline_stage s on s.tenant = o.tenant
        and s.id = o.pipelineStageId where o.tenant = ? and ${which}`),
    );
  });

  test('by the name of two companies says so on every page', async () => {
    const own = embeddedTenant({ now: new Date('2026-11-20T09:00:00Z') });
    for (const filters of ['company:Vantage Brewing', 'company:vantage-brewing']) {
      const fresh = await open({ at: own.address });
      const { data, page } = await fresh.call('cpq_list_quotes', { filters, size: 1 });
      expect(page.total).toBeGreaterThan(1);
      expect(String(data.notes)).toContain('Several companies are called "Vantage Brewing"');
    }
  });

  test('shows its key in the rows, like an order, unless all have the same text', async () => {
    const [row] = (await list('quotes', { sort: '-sent', size: 1 })).records;
    expect(row?.sent).toMatch(/^\d{4}-/);
    for (const filters of ['created:>2000-01-01', 'created:2026']) {
      const { records } = await list('opportunities', { filters, size: 1 });
      expect(records[0]?.created).toMatch(/^\d{4}-/);
    }
    const nested = await list('quotes', { sort: '-discount.amount', size: 1 });
    expect(Number(nested.records[0]?.['discount.amount'])).toBeGreaterThan(0);
    const same = await list('opportunities', {
      filters: 'source:(any),category:Security',
      size: 1,
    });
    expect(same.records[0]).toHaveProperty('source');
    expect(same.records[0]).not.toHaveProperty('category');
  });

  test('for bundles finds bundles', async () => {
    const expected = await countOf(`product where tenant = ? and lower(productType) = 'bundle'`);
    for (const filters of ['productType:bundle', 'productType:bundle,price:>=0'])
      expect((await list('products', { filters })).page.total).toBe(expected);
    const ofSeveral = await list('products', { filters: 'productType:product|Bundle' });
    const all = `lower(productType) in ('product', 'bundle')`;
    expect(ofSeveral.page.total).toBe(await countOf(`product where tenant = ? and ${all}`));
    const { page } = await list('products', { filters: 'price:>=0', include_bundles: false });
    const others = await countOf(`product where tenant = ? and lower(productType) <> 'bundle'
      and price is not null and cast(price as real) >= 0`);
    expect(page.total).toBe(others);
  });

  test('takes a product without the flag as listed, also where every product passes the filter', async () => {
    const all = await list('products', {});
    const { page, data } = await list('products', { filters: 'listed:true|false' });
    expect(page.total).toBe(all.page.total);
    expect(data.notes).toBeUndefined();
  });
});

test('records of one day are sorted by their time, also where the order is made here', async () => {
  const times = async (sort: string) => {
    const args = { filters: 'created:>2000-01-01', sort, fields: ['createdAt'], size: 100 };
    const { records } = await list('opportunities', args);
    return records.map(({ createdAt }) => String(createdAt));
  };
  const ascending = await times('+created');
  const days = ascending.map((time) => time.slice(0, 10));
  expect(new Set(days).size).toBeLessThan(new Set(ascending).size);
  expect(ascending).toEqual(ascending.toSorted());
  expect(await times('-created')).toEqual((await times('-created')).toSorted().reverse());
});

describe('names of referenced records', () => {
  test('pricing books show their companies', async () => {
    const expected =
      await countOf(`pricing_book where tenant = ? and json_array_length(companyIds) = 0
      and json_array_length(classificationIds) = 0`);
    const { page, text } = await list('pricing_books', { filters: 'for:everyone' });
    expect(page.total).toBe(expected);
    expect(text).not.toMatch(/companies of a classification|Books for everyone or/);
    const [book] = await rows('select id from pricing_book where tenant = ? limit 1');
    const { database } = await sandbox();
    const [company] = await rows('select id, name from company where tenant = ? limit 1');
    database
      .prepare(
        `update pricing_book set companyIds = ?, classificationIds = '["gold"]' where id = ?`,
      )
      .run(JSON.stringify([company?.id]), String(book?.id));
    database
      .prepare(`update company set classificationId = 'gold' where id = ?`)
      .run(String(company?.id));
    const anew = await open({ at: address });
    const filters = `for:${company?.name}`;
    const { records, text: noted } = await anew.call('cpq_list_pricing_books', { filters });
    expect(records).toMatchObject([{ id: book?.id }]);
    expect(records[0]?.for).toContain(company?.name);
    for (const id of [company?.id, 'gold']) {
      const ofId = await anew.call('cpq_list_pricing_books', { filters: `for:${id}` });
      expect(ofId.records).toMatchObject([{ id: book?.id }]);
    }
    expect(noted).toContain('classificationId gold');
    expect(noted).toContain('Books for everyone or');
    expect(noted).toContain('cpq_list_companies with filters classificationId:ID');
    const unnamed = await open({ at: address, grants: 'pricing_book:read' });
    const some = await unnamed.call('cpq_list_pricing_books', { filters: `${filters}|everyone` });
    const none = await unnamed.call('cpq_list_pricing_books', { filters });
    expect([none.page.total, none.text]).toEqual([0, expect.stringContaining('takes their ids')]);
    expect(some.text).toContain('takes their ids');
    const both = { filters: `${filters}|${company?.id}` };
    const mixed = await unnamed.call('cpq_list_pricing_books', both);
    expect(mixed.text).toContain('takes their ids');
    expect(some.text + none.text).not.toContain('No record has');
    expect(some.text).not.toContain('Books for everyone or');
    const ofId = { filters: `for:${company?.id}` };
    const known = await unnamed.call('cpq_list_pricing_books', ofId);
    expect(known.text).not.toContain('takes their ids');
    const its = { filters: 'classificationId:gold' };
    expect((await anew.call('cpq_list_companies', its)).records).toMatchObject([company ?? {}]);
  });

  test('are read where a column that is asked for needs them', async () => {
    const [company] = await rows(`select c.id, w.name from company c
      join owner w on w.tenant = c.tenant and w.id = c.accountManagerId
      join opportunity o on o.tenant = w.tenant and o.ownerId = w.id where c.tenant = ? limit 1`);
    const fields = ['accountManager'];
    const anew = await open({ at: address });
    const args = { resource: 'company', id: company?.id, fields };
    const before = await anew.call('cpq_get_record', { ...args, fields: [] });
    expect(before.data.record).not.toHaveProperty('accountManager');
    expect(before.text).toContain('fields accountManager reads it');
    const brief = { company: company?.id, parts: ['contacts'] };
    const unnamed = await anew.call('cpq_brief_company', brief);
    expect(unnamed.data.company).not.toHaveProperty('accountManager');
    expect(unnamed.text).toContain('fields accountManager reads all deals');
    const { data } = await anew.call('cpq_get_record', args);
    expect(data.record).toMatchObject({ accountManager: company?.name });
    const named = await anew.call('cpq_brief_company', brief);
    expect(named.data.company).toMatchObject({ accountManager: company?.name });
    expect(named.text).not.toContain('reads all deals');
    const again = await open({ at: address });
    const { records } = await again.call('cpq_list_companies', {
      filters: `id:${company?.id}`,
      fields,
    });
    expect(records[0]).toMatchObject({ accountManager: company?.name });
  });

  test('companies show the account manager once one of their deals was read', async () => {
    await server.call('cpq_brief_pipeline');
    const [company] = await rows(`select c.id, c.name as company, w.name from company c
      join owner w on w.tenant = c.tenant and w.id = c.accountManagerId
      join opportunity o on o.tenant = w.tenant and o.ownerId = w.id where c.tenant = ? limit 1`);
    const { records } = await list('companies', { filters: `id:${company?.id}` });
    expect(records[0]).toMatchObject({ accountManager: company?.name });
    expect(records[0]).not.toHaveProperty('accountManagerId');
    const whole = await server.call('cpq_get_record', { resource: 'company', id: company?.id });
    expect(whole.data.record).toMatchObject({ accountManager: company?.name });
    expect(whole.text).not.toContain('reads it');
    const { records: similar } = await server.call('cpq_brief_company', {
      company: String(company?.company).slice(0, -1),
    });
    expect(similar.find(({ id }) => id === company?.id)).toMatchObject({
      accountManager: company?.name,
    });
  });
});

test('names of referenced records are read again when one of them changed', async () => {
  const own = await startSandbox({ scale: 0.1 });
  const it = await openWriter(addressIn(own));
  const { name: tenant } = own.tenants[0];
  const rename = own.database.prepare(`update product set name = ? where tenant = ? and id =
    (select productId from pricing_book_product where tenant = ?2 order by rowid limit 1)`);
  for (const name of ['Named before', 'Named after']) {
    rename.run(name, tenant);
    it.tenant.updates.invalidate('product');
    expect((await it.call('cpq_list_pricing_books', {})).text).toContain(name);
  }
});

describe('products of pricing books', () => {
  const inBook = `pricing_book_product e join pricing_book b on b.tenant = e.tenant and b.id = e.pricingBookId
    join product p on p.tenant = e.tenant and p.id = e.productId where e.tenant = ?`;
  const booksWith = async (product: string) =>
    (await rows(`select distinct b.id from ${inBook} and p.name = '${product}'`)).map(
      ({ id }) => id,
    );
  const named = (products: unknown) =>
    (products as Row[])
      .map(({ productId, name, mpn }) => `${productId} ${name} ${mpn ?? ''}`)
      .sort();
  /** A new server, over a tenant whose first book has some more products. */
  async function fresh(grants = 'read') {
    await rows(`insert into pricing_book_product (tenant, pricingBookId, productId, price)
      select tenant, (select min(id) from pricing_book where tenant = p.tenant), id, 10 from product p
      where tenant = ?1 and id not in (select productId from pricing_book_product where tenant = ?1)
      order by id limit max(0, 12 - (select count(*) from pricing_book_product where tenant = ?1))`);
    return open({ at: address, grants });
  }

  test('are named with one request, in the list and in a record', async () => {
    const { call } = await fresh();
    const before = (await requestsFor('/product')).length;
    const { records, text } = await call('cpq_list_pricing_books');
    expect((await requestsFor('/product')).length).toBe(before + 1);
    for (const { id, product, products } of records) {
      const expected = await rows(
        `select e.productId, p.name, p.mpn from ${inBook} and b.id = '${id}'`,
      );
      expect(products).toBe(expected.length);
      const [names, more] = [expected.map(({ name }) => name), expected.length - 3];
      expect(names).toEqual(expect.arrayContaining((product as string[]).slice(0, 3)));
      if (more > 0) expect((product as string[]).slice(3)).toEqual([`${more} more`]);
      const { data } = await call('cpq_get_record', { resource: 'pricing_book', id });
      expect(named((data.record as Row).products)).toEqual(named(expected));
    }
    // Names with commas are separated by semicolons.
    expect(text).toMatch(/\|[^|]+; [^|]+; [^|]+; \d+ more\|/m);
  });

  test('can be filtered by name, by part number in any spelling, and by id', async () => {
    const [product] = await rows(`select p.id, p.name, p.mpn from ${inBook} and p.mpn like '%-%'
      and p.name not like '%|%' order by p.id limit 1`);
    const { id, name, mpn } = product as { id: string; name: string; mpn: string };
    const expected = await booksWith(name.replaceAll("'", "''"));
    const { call } = await fresh();
    for (const text of [name, name.toUpperCase(), mpn, mpn.replace('-', '').toLowerCase(), id]) {
      const { records } = await call('cpq_list_pricing_books', { filters: `product:${text}` });
      expect(records.map((row) => row.id).sort(), text).toEqual(expected.sort());
    }
    const { records, data } = await call('cpq_list_pricing_books', { filters: 'product:zzzz' });
    expect(records).toEqual([]);
    expect(String(data.notes)).toMatch(/No record has the product "zzzz"\. There are: "/);
  });

  test('are not read for fields without their names', async () => {
    const { call } = await fresh();
    const before = (await requestsFor('/product')).length;
    const { records } = await call('cpq_list_pricing_books', { fields: ['validFrom'] });
    const about = { resource: 'pricing_book', id: records[0]?.id, fields: ['validFrom'] };
    await call('cpq_get_record', about);
    expect((await requestsFor('/product')).length).toBe(before);
    const named = await call('cpq_get_record', { ...about, fields: ['product'] });
    const [product] = await rows(`select p.name from ${inBook} and b.id = '${records[0]?.id}'`);
    expect((named.data.record as Row).product).toContainEqual(product?.name);
  });

  test('keep their ids where products may not be read', async () => {
    const { call, refused } = await fresh('pricing_book:read');
    const { records } = await call('cpq_list_pricing_books', { detail: 'full' });
    expect(records.length).toBeGreaterThan(0);
    expect(named(records[0]?.products)[0]).toMatch(/^\w{20} undefined $/);
    expect((await call('cpq_list_pricing_books')).records[0]).not.toHaveProperty('product');
    expect(await refused('cpq_list_pricing_books', { filters: 'product:x' })).toMatch(
      /product:read/,
    );
  });
});
