import type { Database } from '../../../src/sandbox/index.ts';

/** Values that occur in real tenants but not in the sandbox: every nth row of a table, in order of creation. */
const updates: readonly [table: string, every: number, at: number, set: string][] = [
  ['quote_item', 17, 1, `term = 'Monthly'`],
  ['quote_item', 17, 2, `term = 'per year'`],
  ['quote_item', 17, 3, `term = 'One-Time'`],
  ['quote_item', 17, 4, `term = 'quarter'`],
  ['quote_item', 17, 5, `term = 'per  Quarter '`],
  ['quote_item', 17, 6, `term = null`],
  ['quote_item', 23, 3, `quantity = null`],
  ['quote_item', 23, 4, `quantity = 0`],
  ['quote_item', 23, 5, `quantity = 2.5`],
  ['quote_item', 23, 6, `price = null`],
  ['quote_item', 23, 7, `price = 'on request'`],
  ['quote_item', 23, 8, `price = 0`],
  ['quote_item', 23, 9, `price = cost`],
  ['quote_item', 23, 10, `price = 0.125, cost = 0.0625, quantity = 3`],
  ['quote_item', 23, 11, `discount = 33.333`],
  ['quote_item', 23, 12, `discount = 100`],
  ['quote_item', 23, 13, `discount = '12.5'`],
  ['quote_item', 23, 14, `setupPrice = 0, setupCost = 0`],
  ['quote_item', 23, 15, `setupPrice = 99.995, setupCost = null`],
  ['quote_item', 23, 16, `setupPrice = null, setupCost = 12`],
  ['quote_item', 29, 7, `discount = 21`],
  ['quote', 11, 1, `discountType = 'percent', discountAmount = 25`],
  ['quote', 11, 2, `discountType = 'Fixed', discountAmount = '150.5550'`],
  ['quote', 11, 3, `discountType = 'coupon', discountAmount = 10`],
  ['quote', 11, 4, `discountType = null, discountAmount = 5`],
  ['quote', 11, 5, `discountType = '%', discountAmount = 7.77`],
  ['quote', 11, 6, `discountType = 'amount', discountAmount = 1000000`],
  ['quote', 11, 7, `discountType = 'percentage', discountAmount = 20`],
  ['quote', 13, 2, `status = null`],
  ['quote', 13, 3, `status = 'On hold'`],
  ['quote', 13, 4, `status = 'ACCEPTED'`],
  ['quote', 13, 5, `status = 'rejected'`],
  ['quote', 13, 6, `status = ' ', approvedAt = null, declinedAt = null, expiredAt = null`],
  ['quote', 26, 6, `sentAt = null`],
  ['quote', 19, 3, `sentAt = null`],
  ['quote', 19, 4, `expiresAt = '2025-02-30'`],
  ['quote', 31, 5, `paymentTermId = null, contactId = null`],
  ['opportunity', 13, 1, `valueMonths = 0`],
  ['opportunity', 13, 2, `valueMonths = null`],
  ['opportunity', 13, 3, `onetimeRevenue = null`],
  ['opportunity', 13, 4, `monthlyRevenue = ''`],
  ['opportunity', 13, 5, `onetimeRevenue = 0.105, monthlyRevenue = '33.3350'`],
  ['opportunity', 13, 6, `probability = -1`],
  ['opportunity', 17, 3, `expectedCloseDate = '2025-02-30'`],
  ['opportunity', 17, 4, `createdAt = null`],
  ['opportunity', 17, 5, `stageUpdatedAt = null`],
  ['opportunity', 17, 6, `stageUpdatedAt = null, updatedAt = null`],
  ['opportunity', 19, 2, `ownerId = null`],
  ['opportunity', 19, 3, `contactId = null, categoryId = null`],
  ['company', 9, 1, `currency = ' usd '`],
  ['company', 9, 2, `currency = 'gbp'`],
  ['company', 9, 3, `currency = ''`],
  ['company', 9, 4, `classificationId = null`],
  ['company', 21, 5, `deleted = '2024-12-24T10:00:00Z'`],
  ['product', 19, 1, `price = 0`],
  ['product', 19, 2, `price = round(cast(cost as real) / 0.9, 4)`],
  ['product', 19, 3, `price = cost`],
  ['product', 19, 4, `cost = null, price = null`],
  ['product', 19, 5, `mpn = ' '`],
  ['product', 23, 6, `manufacturer = ' - ', vendor = 'Cisco'`],
  ['product', 23, 7, `listed = 0`],
  ['category', 4, 1, `name = lower(name)`],
  ['contact', 13, 1, `email = 'none'`],
  ['contact', 13, 2, `email = ' '`],
  ['contact', 17, 4, `email = ' Office@Shared.example'`],
  ['contact', 17, 5, `email = 'office@shared.example', phone = '+41 (0)44 555 12 12 ext. 3'`],
  ['contact', 17, 6, `mobilePhone = '0041 44 555 12 12'`],
  ['contact', 13, 3, `externalIdentifier = ' '`],
  ['contract_item', 11, 1, `term = 'quarter'`],
  ['contract_item', 11, 2, `revenue = null`],
  ['contract_item', 11, 3, `companyId = null`],
  ['contract_item', 11, 4, `term = null`],
  ['contract_item', 11, 5, `deletedAt = '2024-12-30'`],
  ['pricing_book', 3, 2, `validFrom = '2024-01-01', validTo = '2024-12-31'`],
  ['pricing_book', 5, 1, `validFrom = null, validTo = null`],
  ['pricing_book_product', 17, 1, `validTo = '2024-12-31'`],
  ['pricing_book_product', 17, 2, `price = null`],
  ['pricing_book_product', 17, 3, `productId = 'nowhere'`],
];

/** Turns rows into edge cases. Outcomes stay, because the hidden column with the outcome would not change. */
export function addEdgeCases(database: Database, tenant: string, today: string): void {
  for (const [table, every, at, set] of updates) {
    const chosen = `select rowid from (
      select rowid, row_number() over (order by rowid) n from ${table} where tenant = ?
    ) where n % ${every} = ${at}`;
    database.prepare(`update ${table} set ${set} where rowid in (${chosen})`).run(tenant);
  }
  namesakes(database, tenant);
  atTheLimit(database, tenant);
  onTheDay(database, tenant, today);
}

/** Contacts with only the name of their company, and products that are the same part under other spellings. */
function namesakes(database: Database, tenant: string): void {
  const run = (sql: string) => database.prepare(sql).run(tenant);
  run(`update contact set companyName = (
      select upper(c.name) from company c where c.tenant = contact.tenant and c.id = contact.companyId
    ), companyId = null where tenant = ? and rowid % 8 = 1`);
  run(`update product as p set mpn = lower(replace(twin.mpn, '-', ' / ')),
      manufacturer = upper(twin.manufacturer), vendor = null
    from product twin where p.tenant = ? and twin.tenant = p.tenant and twin.rowid = p.rowid - 1
      and p.rowid % 41 = 5 and twin.mpn is not null and twin.manufacturer is not null`);
}

/** Prices that differ from those of a book or the catalogue by exactly the tolerance. */
function atTheLimit(database: Database, tenant: string): void {
  const run = (sql: string) => database.prepare(sql).run(tenant);
  run(`update quote_item as i set price = round(cast(e.price as real) * 1.01, 6), discount = null
    from pricing_book_product e where i.tenant = ? and e.tenant = i.tenant
      and e.productId = i.productId and e.price is not null and i.rowid % 2 = 0`);
  run(`update pricing_book_product as e set price = round(cast(p.price as real) * 1.05, 6)
    from product p where e.tenant = ? and p.tenant = e.tenant and p.id = e.productId
      and p.price is not null and e.rowid % 5 = 0`);
  run(`update quote set approvedAt = substr(sentAt, 1, 10) where tenant = ? and rowid % 4 = 0
    and lower(status) = 'sent'`);
  run(`update quote set declinedAt = date(substr(sentAt, 1, 10), '-1 day') where tenant = ?
    and rowid % 4 = 1 and lower(status) = 'sent'`);
}

/** Dates at the ends of every period. */
function onTheDay(database: Database, tenant: string, today: string): void {
  for (const end of ['validFrom', 'validTo']) {
    database
      .prepare(`update pricing_book_product set ${end} = ? where tenant = ? and rowid % 7 = ?`)
      .run(today, tenant, end === 'validFrom' ? 1 : 2);
  }
  const edges = [-31, -30, -29, -15, -14, -13, -1, 0, 1, 7, 8, 14, 15, 30, 31];
  edges.forEach((edge, at) => {
    const shifted = database.prepare('select date(?, ?) as day').all(today, `${edge} days`);
    const { day } = shifted[0] as { day: string };
    const nth = `rowid in (select rowid from (select rowid, row_number() over (order by rowid) n
      from %t where tenant = ?) where n % ${edges.length * 2} = ${at + 3})`;
    const run = (table: string, set: string) =>
      database.prepare(`update ${table} set ${set} where ${nth.replace('%t', table)}`).run(tenant);
    run('quote', `expiresAt = '${day}'`);
    run('opportunity', `expectedCloseDate = '${day}T23:59:00-05:00'`);
    if (edge > 0) return;
    run('quote', `sentAt = iif(sentAt is null, null, '${day}T00:30:00+02:00')`);
    run('opportunity', `updatedAt = '${day}', stageUpdatedAt = '2024-01-01'`);
  });
}
