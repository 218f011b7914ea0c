import { describe, expect, test } from 'vitest';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import type { Row } from '../support/hosts.ts';
import { inProcess } from '../support/in-process.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { closing } from '../support/shared.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

function change({ database, tenants: [{ name }] }: Sandbox): void {
  const run = (sql: string) => database.prepare(sql).run(name);
  const first = (table: string) => `(select min(id) from ${table} where tenant = ?1)`;
  run(
    `update company set name = 'Zeta ' || iif(id = ${first('company')}, 'Gone', name), deleted = iif(id = ${first('company')}, '2026-01-31T10:00:00Z', deleted) where tenant = ?1 and id in (select id from company where tenant = ?1 order by id limit 3)`,
  );
  run(
    `update product set name = 'Gadget', mpn = 'GA-1', price = 12.5, cost = null, listed = 0 where tenant = ?1 and id = ${first('product')}`,
  );
  run(`update pricing_book set validFrom = null, validTo = null, companyIds = '[]', classificationIds = '[]'
    where tenant = ?1 and id = ${first('pricing_book')}`);
  run(`update pricing_book_product set validTo = null, productId = ${first('product')}
    where tenant = ?1 and rowid = (select min(rowid) from pricing_book_product
      where pricingBookId = ${first('pricing_book')})`);
}
const { server, open } = embeddedTenant({ scale: 0.1, change });

async function price(args: Row): Promise<{ data: Row; summary: string; text: string }> {
  const { data, text } = await server.call('cpq_price_product', args);
  return { data, summary: String(data.summary), text };
}

describe('cpq_price_product', () => {
  test('finds company and product by name, number or id, and says first what is deleted', async () => {
    const named = await price({ company: 'zeta gone', product: 'ga1' });
    expect(named.summary).toMatch(
      /^The company was deleted on 2026-01-31\. The product is no longer listed\. "Gadget" \(GA-1\) for "Zeta Gone": list price 12\.50 \(.*\), cost unknown\./,
    );
    const { company, product } = named.data as Record<string, Row>;
    const again = await price({ company: company?.id, product: product?.id });
    expect(again.summary).toBe(named.summary);
  });

  test('asks which company or product is meant, without figures', async () => {
    const several = await price({ company: 'zeta', product: 'GA-1' });
    expect(several.summary).toMatch(/^No company is called exactly "zeta"; 3 are similar\./);
    const none = await price({ company: 'Zeta Gone', product: 'no such thing at all' });
    expect(none.summary).toMatch(/^No product is called/);
    for (const { data } of [several, none]) expect(data).not.toHaveProperty('list');
  });

  test('leaves undecided from which price a discount is taken, where there is no book', async () => {
    const service = await startUpstream();
    service.records['/company'] = [{ id: 'c1', name: 'Acme', currency: 'EUR' }];
    service.records['/product'] = [{ id: 'p1', name: 'Switch', price: 9, currency: 'EUR' }];
    service.records['/pricing-book'] = [];
    const ofAll = { id: 'g1', name: 'Volume', companyIds: ['c1'], discounts: [{ amount: 5 }] };
    service.records['/quote-discount-group'] = [ofAll];
    const it = await inProcess.start({ baseUrl: closing(service).url, key: 'price0'.repeat(6) });
    const { text } = await it.call('cpq_price_product', { company: 'Acme', product: 'Switch' });
    expect(text).toContain('list price 9 EUR');
    expect(text).toContain('1 discount from discount groups.');
    expect(text).toMatch(/does not say .* from which price a discount is taken: a person decides/);
  });

  test('says that prices of books are missing where they may not be read', async () => {
    const other = await open({
      grants: 'company:read,product:read',
    });
    const { data, text } = await other.call('cpq_price_product', {
      company: 'Zeta Gone',
      product: 'GA-1',
    });
    expect(text).toMatch(
      /Without pricing book records, since pricing_book:read is not granted here/,
    );
    expect(text).not.toMatch(/No pricing book|lowest/);
    expect(data).not.toHaveProperty('prices');
    expect(data).not.toHaveProperty('discounts');
    await other.close();
  });
});
