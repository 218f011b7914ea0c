import { describe, expect, test } from 'vitest';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { open, type Row, serving } from '../support/hosts.ts';

const { address, sql: rows } = embeddedTenant({ scale: 0.1 });
const server = serving({ at: address });

async function row(sql: string): Promise<Row> {
  const [first] = await rows(`${sql} limit 1`);
  if (!first) throw new Error(`nothing for ${sql}`);
  return first;
}

describe('cpq_find', () => {
  test('finds each of several numbers', async () => {
    const { numbers } = await row(`select group_concat(number, ' ') as numbers from
      (select min(number) as number from quote where tenant = ? group by number having count(*) = 1 limit 2)`);
    const { data } = await server.call('cpq_find', { query: numbers });
    const hits = (data.groups as Row[]).flatMap((group) => group.hits as Row[]);
    expect(hits.map(({ number }) => number).sort()).toEqual(String(numbers).split(' ').sort());
    expect(data.summary).toContain('2 match exactly');
  });

  test('tells of an unreadable price only with the product', async () => {
    const own = embeddedTenant({
      change: ({ database }) =>
        database.exec(`update product set price = '1.299,00' where mpn = 'SMT-1Y3T22'`),
    });
    const anew = await open({ at: own.address });
    await anew.call('cpq_check_sales_data', { check: ['below_cost'] });
    const other = await anew.call('cpq_find', { query: 'Kestrel Foods' });
    expect(other.data.summary).toMatch(/^Found for /);
    const priced = await anew.call('cpq_find', { query: 'SMT-1Y3T22' });
    expect(priced.data.summary).toMatch(/^Incomplete: the price of 1 of 1,260 products/);
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
