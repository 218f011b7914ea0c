import { beforeAll, expect, test } from 'vitest';
import type { Connection, Row } from '../support/hosts.ts';
import { describeTenant, type TenantFixture } from '../support/oracle/tenants.ts';

type Cpq = Connection['call'];

const idsIn = (rows: unknown): string[] => (rows as Row[]).map(({ id }) => String(id));

let fixture: TenantFixture;
let call: Cpq;

/** The rows of a kind; expects at least one. */
const edgeCases = (table: string, kind: string, where = 'true'): Row[] => {
  const sql = `select r.* from edge_case a join ${table} r on r.tenant = a.tenant and r.id = a.id
    where a.tenant = ?1 and ?2 <> '' and a.resource = ?3 and a.kind = ?4 and ${where}`;
  const rows = fixture.ask(sql, table, kind);
  expect(rows.length, `${table}: ${kind}`).toBeGreaterThan(0);
  return rows;
};
const openDeals = async (): Promise<Row[]> => {
  const { records, page } = await call('cpq_brief_pipeline', { deals_from: 0, rows: 100 });
  expect(page.shown).toBe(page.total);
  return records;
};
const found = async (check: string, args: Row = {}): Promise<string[]> => {
  const { data } = await call('cpq_check_sales_data', { check, size: 100, ...args });
  expect(data.shown, `${check}: all rows are needed`).toBe(data.total);
  return idsIn(data.rows);
};
const flaws = async (quote: unknown): Promise<Row[]> => {
  const { data } = await call('cpq_brief_quote', { quote });
  return (data.preflight as { rows: Row[] }).rows;
};
const codes = async (quote: unknown) => (await flaws(quote)).map(({ code }) => code);

/** Rows that are edge cases on purpose, with the expected result of each kind. */
describeTenant({ seed: 4, today: '2026-03-10', scale: 0.15 }, (load) => {
  beforeAll(async () => {
    fixture = await load();
    ({ call } = await fixture.server());
  });

  dealTests();
  productTests();
  quoteTests();
});

function dealTests(): void {
  test('a deleted deal is in no figure', async () => {
    const open = idsIn(await openDeals());
    const deleted = edgeCases('opportunity', 'soft-deleted');
    for (const { id } of deleted) expect(open).not.toContain(id);
    const { data } = await call('cpq_brief_pipeline');
    expect(data.deleted).toBe(deleted.length);
  });

  test('a deal whose closing time is null is open', async () => {
    const open = idsIn(await openDeals());
    for (const { id, deletedAt } of edgeCases('opportunity', 'null closedAt')) {
      if (deletedAt === null) expect(open).toContain(id);
    }
  });

  test('money given as text is read', async () => {
    const values = new Map((await openDeals()).map(({ id, value }) => [id, value]));
    const deals = edgeCases(
      'opportunity',
      'money as text',
      `r.outcome = 'open' and r.deletedAt is null and typeof(r.onetimeRevenue) = 'text'`,
    );
    for (const { id, onetimeRevenue, monthlyRevenue, valueMonths } of deals) {
      const value = Number(onetimeRevenue) + Number(monthlyRevenue) * Number(valueMonths ?? 12);
      expect(values.get(id)).toBe(value);
    }
  });

  test('a value of 0 is known, null or a missing one is not', async () => {
    const values = new Map((await openDeals()).map((deal) => [deal.id, deal.value]));
    const where = `r.outcome = 'open' and r.deletedAt is null`;
    for (const { id } of edgeCases('opportunity', 'zero value', where))
      expect(values.get(id)).toBe(0);
    const unknown = ['null value', 'no value'].flatMap((kind) => edgeCases('opportunity', kind));
    for (const { id } of unknown) expect(values.get(id)).toBeUndefined();
  });

  test('a close date with an offset is the day as written', async () => {
    const { data } = await call('cpq_brief_pipeline', { by: 'close_month', rows: 50 });
    const { overdue, closingSoon } = data as Record<string, { rows: Row[] }>;
    const days = new Map(
      [...(overdue?.rows ?? []), ...(closingSoon?.rows ?? [])].map(({ id, closes }) => [
        id,
        closes,
      ]),
    );
    for (const { id, expectedCloseDate } of edgeCases('opportunity', 'close date with offset')) {
      expect([undefined, String(expectedCloseDate).slice(0, 10)]).toContain(days.get(id));
    }
  });

  test('a deal closed on a date without a time is closed on that day', async () => {
    for (const { closedAt, outcome } of edgeCases(
      'opportunity',
      'closed without time',
      'r.deletedAt is null',
    )) {
      const period = { period_from: closedAt, period_to: closedAt };
      const { data } = await call('cpq_brief_pipeline', period);
      const closed = data.closed as Record<string, Row>;
      const name = outcome === 'unknown' ? 'outcomeUnknown' : String(outcome);
      expect(closed[name]?.count).toBeGreaterThan(0);
    }
  });

  test.each([
    ['no stage', 'stage', 'no stage'],
    ['no company', 'company', 'no company'],
  ])('a deal with %s has a group of its own', async (kind, by, name) => {
    const where = `r.outcome = 'open' and r.deletedAt is null`;
    const deals = fixture.ask(
      `select id from opportunity r where tenant = ?1 and ?2 <> '' and ${where}
         and ${by === 'stage' ? 'pipelineStageId' : 'companyId'} is null`,
    );
    edgeCases('opportunity', kind);
    const { data } = await call('cpq_brief_pipeline', { by });
    const row = (data.groups as { rows: Row[] }).rows.find((group) => group.name === name);
    if (row) expect(row.count).toBe(deals.length);
    else expect(by === 'company' || deals.length === 0).toBe(true);
  });
}

function productTests(): void {
  test('text with instructions is shown as text, without invisible characters', async () => {
    const ids = [
      ...edgeCases('opportunity', 'instructions'),
      ...edgeCases('opportunity', 'invisible characters'),
    ];
    for (const { id } of ids) {
      const { text } = await call('cpq_get_record', { resource: 'opportunity', id });
      expect(text).not.toMatch(/[\u200b-\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u);
    }
  });

  test.each([
    ['no price', 'no price'],
    ['no cost', 'no cost'],
  ])('a product with %s is not checked, but counted', async (kind, reason) => {
    const { data } = await call('cpq_check_sales_data', { check: 'below_cost', size: 100 });
    const listed = edgeCases('product', kind).filter((product) => product.listed !== 0);
    for (const { id } of listed) expect(idsIn(data.rows)).not.toContain(id);
    expect((data.notChecked as Row)[reason]).toBeGreaterThanOrEqual(listed.length);
  });

  test('a product at price 0 is below its cost', async () => {
    const under = await found('below_cost');
    for (const { id, listed, cost } of edgeCases('product', 'zero price')) {
      if (listed !== 0 && Number(cost) > 0) expect(under).toContain(id);
    }
  });

  test('a part number in another spelling is the same part', async () => {
    const { data } = await call('cpq_check_sales_data', { check: 'duplicate_products', size: 100 });
    const rows = data.rows as (Row & { related: Row[] })[];
    const parts = rows.flatMap(({ id, related }) => [id, ...related.map((other) => other.id)]);
    const twins = edgeCases('product', 'mpn of another product in other spelling');
    const listed = twins.filter((product) => product.listed !== 0);
    expect(listed.filter(({ id }) => parts.includes(id)).length).toBeGreaterThan(0);
  });

  test('a blank term is one-time', async () => {
    const [product] = edgeCases('product', 'blank term');
    const { data } = await call('cpq_get_record', { resource: 'product', id: product?.id });
    expect((data.record as Row | undefined)?.term ?? '').toBe('');
  });
}

function quoteTests(): void {
  test('a quote without items must be fixed', async () => {
    for (const { id } of edgeCases('quote', 'no items')) {
      expect(await codes(id)).toContain('no_items');
    }
  });

  test('a quote without a company or contact is reported', async () => {
    for (const { id } of edgeCases('quote', 'no company')) {
      expect(await codes(id)).toContain('missing_company');
    }
    for (const { id } of edgeCases('quote', 'null contact')) {
      expect(await codes(id)).toContain('missing_contact');
    }
  });

  test.each(['expiry without time', 'expiry with offset'])(
    'an %s is the day as written',
    async (kind) => {
      for (const { id, expiresAt } of edgeCases('quote', kind)) {
        const { data } = await call('cpq_brief_quote', { quote: id });
        expect(data.expires).toBe(String(expiresAt).slice(0, 10));
      }
    },
  );

  test('a status in odd letter case is the status', async () => {
    for (const { id, status } of edgeCases('quote', 'status in odd case')) {
      const { data } = await call('cpq_brief_quote', { quote: id });
      expect(data.status).toBe(String(status).toLowerCase());
    }
  });

  test('a deleted quote is in no check', async () => {
    const deleted = edgeCases('quote', 'soft-deleted').map(({ id }) => String(id));
    const all = [
      ...(await found('stale_quotes', { days: 0 })),
      ...(await found('unlisted_on_quotes')),
    ];
    expect(all.filter((id) => deleted.includes(id))).toEqual([]);
  });

  test('a deleted quote is reported as deleted first', async () => {
    for (const { id, deletedAt } of edgeCases('quote', 'soft-deleted')) {
      const { text, data } = await call('cpq_brief_quote', { quote: id });
      expect(text).toMatch(/^Deleted on \d{4}-\d{2}-\d{2}: Quote /);
      expect(text).not.toContain('found nothing');
      expect(text).not.toContain('goes out');
      expect(data.deleted).toBe(String(deletedAt).slice(0, 10));
      expect(await codes(id)).toContain('deleted_quote');
    }
  });

  test('an answered quote has no pre-flight check', async () => {
    const answered = fixture.ask(`select id, status from quote where tenant = ?1 and ?2 <> ''
      and status in ('approved', 'declined') and deletedAt is null limit 6`);
    for (const { id } of answered) {
      const { text, data } = await call('cpq_brief_quote', { quote: id });
      expect(text.split('\n')[0]).toContain('The customer has answered');
      expect(text).not.toContain('goes out');
      expect((data.preflight as { rows: Row[] }).rows.map(({ code }) => code)).not.toContain(
        'expired',
      );
    }
  });

  test('an expired quote does not go out', async () => {
    const expired = fixture.ask(`select id from quote where tenant = ?1 and ?2 <> ''
      and status = 'expired' and deletedAt is null limit 3`);
    expect(expired).not.toEqual([]);
    for (const { id } of expired) {
      const { text } = await call('cpq_brief_quote', { quote: id });
      expect(text.split('\n')[0]).toContain('It can no longer be accepted');
      expect(text).not.toContain('goes out');
    }
  });

  test('a line without a cost has no margin', async () => {
    for (const { id, quoteId } of edgeCases('quote_item', 'no cost')) {
      const { data } = await call('cpq_brief_quote', { quote: quoteId, lines: 200 });
      const at = fixture.ask(
        `select id from quote_item where tenant = ?1 and ?2 <> '' and quoteId = ?3 order by rowid`,
        String(quoteId),
      );
      const line = (data.lines as { rows: Row[] }).rows[at.findIndex((item) => item.id === id)];
      expect(line).not.toHaveProperty('margin');
      expect(line).not.toHaveProperty('cost');
    }
  });
}

/** One quote whose figures are calculated by hand. */
describeTenant({ seed: 5, today: '2026-03-10', scale: 0.05 }, (load) => {
  const setUp = async (discount: string) => {
    const fixture = await load();
    const [quote] = fixture.ask(
      `select q.id from quote q where tenant = ?1 and ?2 <> '' and deletedAt is null
         and (select count(*) from quote_item i where i.tenant = ?1 and i.quoteId = q.id) >= 4
       order by rowid limit 1`,
    );
    const id = String(quote?.id);
    fixture.change(`delete from quote_item where tenant = ? and quoteId = ? and position > 3`, id);
    const lines = [
      `term = null, quantity = 3, price = 0.1, cost = 0.08, discount = 0, setupPrice = null, setupCost = null`,
      `term = 'month', quantity = 10, price = '19.99', cost = 15, discount = 15, setupPrice = 100, setupCost = 40`,
      `term = 'yearly', quantity = null, price = 1200, cost = null, discount = null, setupPrice = null, setupCost = null`,
      `term = 'per quarter', quantity = 2, price = 50, cost = 60, discount = 0, setupPrice = null, setupCost = 25`,
    ];
    lines.forEach((set, at) => {
      const nth = `rowid = (select rowid from quote_item where tenant = ?1 and quoteId = ?2
        order by rowid limit 1 offset ${at})`;
      fixture.change(`update quote_item set ${set} where ${nth}`, id);
    });
    fixture.change(`update quote set ${discount} where tenant = ? and id = ?`, id);
    const { call } = await fixture.server();
    return (await call('cpq_brief_quote', { quote: id })).data;
  };

  test('the totals of a quote calculated by hand', async () => {
    const data = await setUp(`discountType = 'percent', discountAmount = 10`);
    // 3 × 0.10 + setup 100 = 100.30; 10 × 19.99 × 0.85 = 169.915; 1 × 1200; 2 × 50; all less 10 %.
    expect(data.totals).toEqual({
      items: 4,
      oneTime: 90.27,
      monthly: 152.92,
      yearly: 1080,
      otherTerms: { quarter: 90 },
      unknownPrices: 1,
      assumedQuantities: 1,
    });
    // 90.27 + 12 × 152.9235 + 1080: the monthly total is not rounded first.
    expect(data.firstYearValue).toBe(3005.35);
    expect(data.setup).toEqual({ price: 100, cost: 65 });
    expect(data.terms).toEqual([
      // 0.27 + 90 against 0.24 + 40 + 25: a setup without a price is not charged, but its cost counts.
      { term: 'one-time', price: 90.27, cost: 65.24, profit: 25.03, margin: 27.7 },
      { term: 'monthly', price: 152.92, cost: 150, profit: 2.92, margin: 1.9 },
      { term: 'yearly', withoutPriceOrCost: 1 },
      { term: 'quarter', price: 90, cost: 120, profit: -30, margin: -33.3 },
    ]);
    const { rows } = data.lines as { rows: Row[] };
    // (0.1 − 0.08) / 0.1; (16.9915 − 15) / 16.9915; (50 − 60) / 50
    expect(rows.map(({ margin }) => margin)).toEqual([20, 11.7, undefined, -20]);
  });
});
