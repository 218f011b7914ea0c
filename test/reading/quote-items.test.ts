import { describe, expect, test } from 'vitest';
import { preflight } from '../../src/briefs/quote/preflight.ts';
import { currenciesOf } from '../../src/figures/money.ts';
import { hasUnknownItems, quoteTotals, sumQuotes } from '../../src/figures/quote-totals.ts';
import { listRecords } from '../../src/lists/list-records.ts';
import type { Quote } from '../../src/service/records/records.ts';
import { fieldGaps } from '../../src/tenant/field-gaps.ts';
import { type Choices, startService } from '../support/compatibility/service.ts';
import { openTenant, toolCall } from '../support/hardening-tenant.ts';
import { closing } from '../support/shared.ts';

/** The items of quotes, where rows of a list lack them and the record by id has them. */

async function serving(change: Choices) {
  const service = closing(await startService(change));
  const { url, key } = service;
  return { service, tenant: closing(openTenant({ url, key, limits: {} })) };
}

describe('rows without items', () => {
  test.each(['absent', 'empty'])('have unknown items, and cost no request: %s', async (items) => {
    const isEmpty = items === 'empty';
    const { service, tenant } = await serving(isEmpty ? {} : { itemsById: true });
    if (isEmpty) for (const quote of service.storedData['/quote']) quote.items = [];
    const { records } = await tenant.collection('quote', toolCall());
    expect(records.filter(hasUnknownItems)).toHaveLength(records.length);
    const before = service.requests.length;
    await tenant.list('quote', { size: 20 }, toolCall());
    expect(service.requests.length - before).toBe(1);
    const { coverage } = await listRecords(tenant, 'quote', { size: 20 }, toolCall());
    expect(coverage.fields).toMatchObject([{ record: 'quote', field: 'items', rows: 20 }]);
  });

  test('make an answer about items partial', async () => {
    const { tenant } = await serving({ itemsById: true });
    const read = await tenant.collection('quote', toolCall());
    const rows = read.records.length;
    expect(await fieldGaps(tenant, 'quote', read, ['items.price'])).toEqual([
      { record: 'quote', field: 'items', of: rows, rows, example: 'left out' },
    ]);
    expect(await fieldGaps(tenant, 'quote', read, ['number'])).toEqual([]);
  });
});

describe('rows with items', () => {
  test('are known, and so are those that have none', async () => {
    const { service, tenant } = await serving({});
    const { records } = await tenant.collection('quote', toolCall());
    expect(records.filter(hasUnknownItems)).toEqual([]);
    const { length } = service.storedData['/quote'];
    for (const quote of service.storedData['/quote'].slice(1)) quote.items = [];
    tenant.updates.invalidate('quote');
    const read = await tenant.collection('quote', toolCall());
    const counts = read.records.map(quoteTotals).map(({ items }) => items);
    expect(counts.toSorted()).toEqual([...Array(length - 1).fill(0), expect.any(Number)]);
  });
});

describe('a quote of unknown items', () => {
  const options = {
    today: '2026-06-15',
    discountLimit: 20,
    currencyOf: currenciesOf([]),
  };
  const unread: Quote = {
    id: 'q',
    unreadable: { items: '3 items' },
    discount: { type: 'amount', amount: 5 },
  };

  test('has no totals, rather than totals of nothing', () => {
    expect(quoteTotals(unread)).toEqual({});
    expect(sumQuotes([unread, { id: 'r' }])).toEqual({
      totals: {},
      firstYear: undefined,
      unknownPrices: 0,
      unknownItems: 1,
    });
  });

  test('is not said to have none', () => {
    const codes = preflight({ quote: unread }, options).map(({ code }) => code);
    expect(codes).toContain('items_unread');
    expect(codes).not.toContain('no_items');
  });
});
