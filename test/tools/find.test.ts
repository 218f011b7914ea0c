import { describe, expect, test } from 'vitest';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import type { Row } from '../support/hosts.ts';

const { server, sql: rows } = embeddedTenant({
  scale: 0.1,
  change: ({ database, tenants }) =>
    void database
      .prepare(
        `update product set mpn = 'TWIN-1' where tenant = ?1 and id in
          (select id from product where tenant = ?1 order by id desc limit 2)`,
      )
      .run(tenants[0].name),
});

async function row(sql: string): Promise<Row> {
  const [first] = await rows(`${sql} limit 1`);
  if (!first) throw new Error(`nothing for ${sql}`);
  return first;
}

interface Hit extends Row {
  kind: string;
}

async function find(query: unknown): Promise<{ hits: Hit[]; summary: string; notes: string[] }> {
  const { data } = await server.call('cpq_find', { query });
  const {
    groups,
    summary,
    notes = [],
  } = data as { groups: Row[]; summary: string; notes?: string[] };
  const hits = groups.flatMap(({ kind, hits }) =>
    (hits as Row[]).map((hit) => ({ ...hit, kind: String(kind) })),
  );
  return { hits, summary, notes };
}

describe('cpq_find', () => {
  test('puts an exact match first and marks it as deleted', async () => {
    const { id, number, deletedAt } = await row(
      'select id, number, deletedAt from quote where tenant = ? and deletedAt is not null',
    );
    const { hits } = await find(number);
    const deleted = String(deletedAt).slice(0, 10);
    expect(hits[0]).toMatchObject({ id, number, exact: true, deleted });
  });

  test('reports a single match as one', async () => {
    const { id, mpn } =
      await row(`select id, mpn from product p where tenant = ? and mpn like '%-______'
      and substr(mpn, -1) <> substr(mpn, -2, 1)
      and not exists (select 1 from product o where o.tenant = p.tenant and o.id <> p.id and o.mpn = p.mpn)`);
    const typed = String(mpn).replace(/(.)(.)$/, '$2$1');
    const { hits, summary, notes } = await find(typed);
    expect(hits.map((hit) => hit.id)).toEqual([id]);
    expect(summary).toMatch(/1 product; none matches exactly/);
    expect(notes.join(' ')).not.toMatch(/several/i);
  });

  test('finds each of several numbers', async () => {
    const { numbers } = await row(`select group_concat(number, ' ') as numbers from
      (select min(number) as number from quote where tenant = ? group by number having count(*) = 1 limit 2)`);
    const { hits, summary } = await find(String(numbers));
    expect(hits.map(({ number }) => number).sort()).toEqual(String(numbers).split(' ').sort());
    expect(summary).toContain('2 match exactly');
  });

  test('tells of an unreadable price only with the product', async () => {
    const own = embeddedTenant({
      change: ({ database }) =>
        database.exec(`update product set price = '1.299,00' where mpn = 'SMT-1Y3T22'`),
    });
    const anew = await own.open();
    await anew.call('cpq_check_sales_data', { check: ['below_cost'] });
    const other = await anew.call('cpq_find', { query: 'Kestrel Foods' });
    expect(other.data.summary).toMatch(/^Found for /);
    const priced = await anew.call('cpq_find', { query: 'SMT-1Y3T22' });
    expect(priced.data.summary).toMatch(/^Incomplete: the price of 1 of 1,260 products/);
  });

  test('has a person asked where several match exactly, and not where one does', async () => {
    const twins = await find('twin 1');
    expect(twins.hits.filter(({ exact }) => exact)).toHaveLength(2);
    expect(twins.notes.join(' ')).toContain('ask the person which one is meant');
    const { name } = await row(
      `select name from company c where tenant = ? and not exists (select 1 from company o
        where o.tenant = c.tenant and o.id <> c.id and lower(o.name) = lower(c.name))`,
    );
    const one = await find(name);
    expect(one.hits.filter(({ exact }) => exact)).toHaveLength(1);
    expect(one.notes).toEqual([]);
  });
});

describe('cpq_get_record', () => {
  const get = async (args: Row) => server.call('cpq_get_record', args);

  test.each([
    ['quote', 'number', 'quote', 'number is not null and deletedAt is null'],
    ['opportunity', 'externalIdentifier', 'opportunity', "externalIdentifier <> ''"],
    ['product', 'externalIdentifier', 'product', "externalIdentifier <> ''"],
  ])('reads a whole %s by its %s', async (resource, column, table, condition) => {
    const { id, word } = await row(
      `select id, ${column} as word from ${table} where tenant = ? and ${condition}`,
    );
    const { data } = await get({ resource, id: word });
    const byId = await get({ resource, id });
    expect(data.record).toEqual(byId.data.record);
    expect(data.record).toMatchObject({ id });
  });

  test.each([
    ['quote', 'deletedAt'],
    ['contact', 'deleted'],
  ])('says first that a %s is deleted', async (resource, column) => {
    const { id, day } = await row(
      `select id, substr(${column}, 1, 10) as day from ${resource} where tenant = ? and ${column} is not null`,
    );
    const { text, data } = await get({ resource, id, fields: ['id'] });
    expect(text).toMatch(new RegExp(`^Deleted on ${day}: ${resource} `));
    expect(data.summary).toMatch(/^Deleted on /);
  });

  test('finds a product by its part number, however it is written', async () => {
    const { id, mpn } = await row(`select id, mpn from product p where tenant = ? and mpn like '%-%'
      and not exists (select 1 from product o
        where o.tenant = p.tenant and o.id <> p.id and lower(o.mpn) = lower(p.mpn))`);
    for (const part of [mpn, String(mpn).toLowerCase().replaceAll('-', ' ')])
      expect((await get({ resource: 'product', id: part })).data.record).toMatchObject({ id });
  });

  test('names the products that share a part number', async () => {
    const args = { resource: 'product', id: 'twin 1' };
    const words = await server.refused('cpq_get_record', args);
    const twins = await rows(`select id from product where tenant = ? and mpn = 'TWIN-1'`);
    expect(twins).toHaveLength(2);
    for (const { id } of twins) expect(words).toContain(String(id));
    expect(words).toMatch(/^2 products are called "twin 1": .* call again with its id\.$/);
  });

  test('finds the current one of two quotes with one number', async () => {
    const idOf = async (not: string) =>
      (await row(`select id from quote where tenant = ? and deletedAt is ${not} null`)).id;
    const [current, deleted] = [await idOf(''), await idOf('not')];
    await rows(
      `update quote set number = 'TWIN-Q' where tenant = ? and id in (?, ?)`,
      String(deleted),
      String(current),
    );
    const { data } = await get({ resource: 'quote', id: 'TWIN-Q' });
    expect(data.record).toMatchObject({ id: current });
  });

  test('finds no record by an unknown number, or one without letters and digits', async () => {
    for (const id of ['Q-0000-0000', '---'])
      expect(await server.refused('cpq_get_record', { resource: 'quote', id })).toMatch(
        /no such record/,
      );
  });
});
