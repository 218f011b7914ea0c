import { beforeAll, expect, test } from 'vitest';
import type { Row } from '../support/hosts.ts';
import { roundedOr, sumOf } from '../support/oracle/decimal.ts';
import { only, picked } from '../support/oracle/order.ts';
import { type Books, booksOf, flawsOf } from '../support/oracle/preflight.ts';
import { type Product, productsOf } from '../support/oracle/products.ts';
import {
  amountOff,
  firstYearOf,
  lineRowOf,
  netOf,
  type Quote,
  quotesOf,
  reportedTotals,
  termsOf,
  totalsOf,
} from '../support/oracle/quotes.ts';
import { describeTenants, type TenantFixture } from '../support/oracle/tenants.ts';

const ofLine = ['line', 'quantity', 'price', 'discount', 'term', 'total', 'cost', 'margin'];
const lineFigures = [...ofLine, 'setupPrice', 'setupCost'];

describeTenants((load) => {
  let fixture: TenantFixture;
  let quotes: Quote[];
  let products: Map<string, Product>;
  let books: Books;
  beforeAll(async () => {
    fixture = await load();
    quotes = quotesOf(fixture.ask);
    products = new Map(productsOf(fixture.ask).map((product) => [product.id, product]));
    books = booksOf(fixture.ask);
  });

  const expectedBrief = (quote: Quote, discountLimit = 20) => {
    const flaws = flawsOf(quote, { today: fixture.today, products, books, discountLimit });
    const stops = flaws.filter(({ severity }) => severity === 'stop').length;
    return only({
      expiresInDays: quote.expires === undefined ? undefined : quote.expiresIn,
      currency: quote.currency,
      totals: totalsOf(quote),
      firstYearValue: roundedOr(firstYearOf(netOf(quote))),
      terms: termsOf(quote),
      ...setupAndDiscount(quote),
      flaws: flaws.slice(0, 15),
      stops,
      checks: flaws.length - stops,
      lines: quote.lines.map(lineRowOf),
    });
  };
  const briefIn = (data: Row) => {
    const { expiresInDays, currency, totals, firstYearValue, terms, setup, discount } = data;
    const { preflight, lines } = data;
    const { stops, checks, rows } = preflight as { stops: number; checks: number; rows: Row[] };
    return only({
      expiresInDays,
      currency,
      totals,
      firstYearValue,
      terms,
      setup,
      discount,
      flaws: rows.map((row) => picked(row, ['code', 'severity', 'line'])),
      stops,
      checks,
      lines: (lines as { rows: Row[] }).rows.map((row) => picked(row, lineFigures)),
    });
  };

  test('the brief of every quote', async () => {
    for (const quote of quotes) {
      const { data } = await fixture.call('cpq_brief_quote', { quote: quote.id, lines: 200 });
      expect(briefIn(data), quote.id).toEqual(expectedBrief(quote));
    }
  });

  firstSentences(() => fixture);

  test('the brief with another discount limit', async () => {
    for (const quote of quotes.slice(0, 12)) {
      const args = { quote: quote.id, lines: 200, discount_limit: 5 };
      const { data } = await fixture.call('cpq_brief_quote', args);
      expect(briefIn(data), quote.id).toEqual(expectedBrief(quote, 5));
    }
  });

  test('the totals of every quote in a list', async () => {
    const listed: Row[] = [];
    for (let from: number | undefined = 0; from !== undefined; ) {
      const { records, page, coverage } = await fixture.call('cpq_list_quotes', { size: 40, from });
      expect(coverage.total).toBe(quotes.length);
      listed.push(...records);
      from = page.next;
    }
    const byId = new Map(quotes.map((quote) => [quote.id, quote]));
    expect(listed).toHaveLength(quotes.length);
    for (const row of listed) {
      const quote = byId.get(String(row.id));
      expect(picked(row, reportedTotals), String(row.id)).toEqual(quote && totalsOf(quote));
    }
  });

  test('coverage counts the quote and the collections that it is checked against', async () => {
    const { coverage } = await fixture.call('cpq_brief_quote', { quote: quotes[0]?.id });
    const [row] = fixture.ask(`select 1 +
      (select count(*) from company where tenant = ?1) +
      (select count(*) from opportunity where tenant = ?1) +
      (select count(*) from pricing_book where tenant = ?1) +
      (select count(*) from product where tenant = ?1) as total where ?2 <> ''`);
    expect(coverage).toMatchObject({ complete: true, read: row?.total, total: row?.total });
  });
});

function firstSentences(fixture: () => TenantFixture): void {
  test.each([
    ['it was deleted', 'deletedAt is not null', /\bDeleted on \d{4}-\d\d-\d\d: Quote /],
    [
      'it was answered',
      `status in ('approved', 'declined') and deletedAt is null`,
      /The customer has answered/,
    ],
    ['it has expired', `status = 'expired' and deletedAt is null`, /can no longer be accepted/],
  ])('the brief first says that %s', async (_, where, words) => {
    const { ask, call } = fixture();
    const quotes = ask(`select id from quote where tenant = ?1 and ?2 <> '' and ${where} limit 4`);
    expect(quotes).not.toEqual([]);
    for (const { id } of quotes) {
      const { text } = await call('cpq_brief_quote', { quote: id });
      expect(text.split('\n')[0]).toMatch(words);
      expect(text).not.toContain('goes out');
    }
  });
}

function setupAndDiscount(quote: Quote): Row {
  const setups = quote.lines.filter(({ hasSetup }) => hasSetup);
  const sum = (what: 'setupPrice' | 'setupCost') =>
    roundedOr(sumOf(setups.map((line) => line[what])));
  const { discountAmount } = quote;
  const amount = roundedOr(amountOff(quote));
  const applies = amount === undefined && totalsOf(quote).discountNotApplied === undefined;
  const percent = applies && !discountAmount?.eq(0) ? roundedOr(discountAmount, 10) : undefined;
  return only({
    setup:
      setups.length === 0 ? undefined : only({ price: sum('setupPrice'), cost: sum('setupCost') }),
    discount: amount === undefined && percent === undefined ? undefined : only({ amount, percent }),
  });
}
