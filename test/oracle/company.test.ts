import { beforeAll, expect, test } from 'vitest';
import type { Row } from '../support/hosts.ts';
import { expectedCompany, type Tenant } from '../support/oracle/company.ts';
import { dealsOf } from '../support/oracle/deals.ts';
import { picked } from '../support/oracle/order.ts';
import { quotesOf, reportedTotals } from '../support/oracle/quotes.ts';
import type { Company } from '../support/oracle/recent-activity.ts';
import { text } from '../support/oracle/sql.ts';
import { describeTenants, type TenantFixture } from '../support/oracle/tenants.ts';

/** The fields of each list that are compared; the others are copied from the record. */
const compared: Record<string, readonly string[]> = {
  contacts: ['id'],
  open: ['id', 'value', 'currency', 'closes'],
  quotes: ['id', 'status', 'acceptance', ...reportedTotals],
  contractItems: ['id', 'state', 'starts', 'ends'],
  discountGroups: ['id', 'appliesTo', 'discounts'],
  pricingBooks: ['id', 'appliesTo', 'products'],
  recentActivity: ['day', 'what', 'kind', 'id'],
};
const aside = new Set(['beta']);

function figuresIn(data: Row): Row {
  const parts = [...Object.keys(compared), 'closed', 'deleted']
    .filter((part) => part in data)
    .map((part) => {
      const told = data[part] as Row & { rows?: Row[] };
      const kept = Object.entries(told).filter(([key]) => !aside.has(key));
      const rows = told.rows?.map((row) => picked(row, compared[part] ?? []));
      return [part, { ...Object.fromEntries(kept), ...(rows && { rows }) }];
    });
  return Object.fromEntries(parts);
}

describeTenants((load) => {
  let fixture: TenantFixture;
  let tenant: Tenant;
  let companies: Company[];
  beforeAll(async () => {
    fixture = await load();
    tenant = {
      ask: fixture.ask,
      today: fixture.today,
      deals: dealsOf(fixture.ask),
      quotes: quotesOf(fixture.ask),
    };
    const rows = fixture.ask('select id, name from company where tenant = ? and ? <> 0');
    companies = rows.map((row) => ({ id: String(row.id), name: text(row, 'name') }));
  });

  test('the brief of every company', async () => {
    for (const company of companies) {
      const { data } = await fixture.call('cpq_brief_company', { company: company.id, rows: 8 });
      expect(figuresIn(data), company.id).toEqual(expectedCompany(tenant, company, 8));
    }
  });
});
