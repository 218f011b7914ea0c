import { expect, test } from 'vitest';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { open, type Row, serving } from '../support/hosts.ts';
import { closing } from '../support/shared.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

/** A deleted company of which two others have the beginning of the name, and a product that is no longer listed. */
const { address } = embeddedTenant({
  scale: 0.1,
  change: ({ database, tenants: [{ name }] }) => {
    const run = (sql: string) => database.prepare(sql).run(name);
    const first = (table: string) => `(select min(id) from ${table} where tenant = ?1)`;
    run(`update company set name = 'Zeta ' || name where tenant = ?1
      and id in (select id from company where tenant = ?1 order by id limit 3)`);
    run(`update company set name = 'Zeta Gone', deleted = '2026-01-31T10:00:00Z'
      where tenant = ?1 and id = ${first('company')}`);
    run(`update product set name = 'Gadget', mpn = 'GA-1', price = 12.5, cost = null, listed = 0
      where tenant = ?1 and id = ${first('product')}`);
  },
});

const server = serving({ at: address });
const price = async (args: Row) => (await server.call('cpq_price_product', args)).data;

test('company and product are found by name, number or id; what is deleted is said first', async () => {
  const named = await price({ company: 'zeta gone', product: 'ga1' });
  expect(named.summary).toMatch(
    /^The company was deleted on 2026-01-31\. The product is no longer listed\. "Gadget" \(GA-1\) for "Zeta Gone": list price 12\.50 \(.*\), cost unknown\./,
  );
  const { company, product } = named as Record<string, Row>;
  const again = await price({ company: company?.id, product: product?.id });
  expect(again.summary).toBe(named.summary);
});

test('where several companies may be meant, no figures are given', async () => {
  const several = await price({ company: 'zeta', product: 'GA-1' });
  expect(several.summary).toMatch(/^No company is called exactly "zeta"; 3 are similar\./);
  expect(several).not.toHaveProperty('list');
});

test('a list price has its currency, where the service says one', async () => {
  const service = closing(await startUpstream());
  service.records['/company'] = [{ id: 'c1', name: 'Acme', currency: 'USD' }];
  service.records['/product'] = [{ id: 'p1', name: 'Switch', price: 9, currency: 'EUR' }];
  const it = await open({ at: service });
  const { data } = await it.call('cpq_price_product', { company: 'Acme', product: 'Switch' });
  expect(data.summary).toContain('list price 9 EUR (one-time)');
});
