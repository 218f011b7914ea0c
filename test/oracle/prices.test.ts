import { beforeAll, expect, test } from 'vitest';
import type { Row } from '../support/hosts.ts';
import { only } from '../support/oracle/order.ts';
import { later } from '../support/oracle/pipeline.ts';
import { expectedPrices, type Pair, pairsOf } from '../support/oracle/prices.ts';
import { describeTenants, type TenantFixture } from '../support/oracle/tenants.ts';

const withoutNames = (rows: readonly Row[]): Row[] => rows.map(({ name: _, ...row }) => row);

/** The figures of an answer, without names of records. */
function figuresIn({ product, list, prices, notCounted, discounts }: Row): Row {
  const { term, listed } = product as Row;
  const rowsIn = (listing: unknown) => withoutNames((listing as { rows: Row[] }).rows);
  return only({
    term,
    listed,
    list,
    prices: rowsIn(prices),
    reasons: (notCounted as Row | undefined)?.reasons,
    notCounted: notCounted && rowsIn(notCounted),
    discounts: rowsIn(discounts),
  });
}

describeTenants((load) => {
  let fixture: TenantFixture;
  let pairs: Pair[];
  beforeAll(async () => {
    fixture = await load();
    pairs = pairsOf(fixture.ask);
  });

  test('what companies may be quoted for products', async () => {
    expect(pairs.length).toBeGreaterThan(10);
    for (const pair of pairs) {
      const { data } = await fixture.call('cpq_price_product', { ...pair });
      expect(figuresIn(data), JSON.stringify(pair)).toEqual(expectedPrices(fixture.ask, pair));
    }
  });

  test('what they may be quoted on another day', async () => {
    for (const days of [-200, 180])
      for (const pair of pairs.slice(0, 20)) {
        const asked = { ...pair, on: later(fixture.today, days) };
        const { data, text } = await fixture.call('cpq_price_product', asked);
        expect(figuresIn(data), JSON.stringify(asked)).toEqual(expectedPrices(fixture.ask, asked));
        expect(text).not.toContain(' today');
      }
  });
});
