import { describe, expect, test } from 'vitest';
import { preflight } from '../../src/briefs/quote/preflight.ts';
import { currenciesOf } from '../../src/figures/money.ts';
import { hasUnknownItems, quoteTotals, sumQuotes } from '../../src/figures/quote-totals.ts';
import { listRecords } from '../../src/lists/list-records.ts';
import type { Quote } from '../../src/service/records/records.ts';
import { startService } from '../support/compatibility/service.ts';
import type { Switches } from '../support/compatibility/switches.ts';
import { quoteTotals as trueTotals } from '../support/compatibility/truth.ts';
import {
  type OpenOptions,
  openTenant,
  sharedStateOf,
  toolCall,
} from '../support/hardening-tenant.ts';
import { closing } from '../support/shared.ts';

/** The items of quotes, where rows of a list lack them and the record by id has them. */

async function serving(change: Partial<Switches>, options: Partial<OpenOptions> = {}) {
  const service = closing(await startService(change));
  const { url, key } = service;
  return { service, tenant: closing(openTenant({ url, key, limits: {}, ...options })) };
}

describe('rows without items', () => {
  test('have unknown items until these are read, once each', async () => {
    const { service, tenant } = await serving({ items: 'by id only' });
    const { records } = await tenant.collection('quote', toolCall());
    // Reading three of them, no drafts, showed that quotes have items.
    expect(records.filter(hasUnknownItems)).toHaveLength(records.length - 3);
    expect(sharedStateOf(tenant).pages.traits('quote').items).toBe('by id');
    const some = records.filter(hasUnknownItems).slice(0, 20);
    const before = service.requests();
    const { quotes, missing } = await tenant.completeItems(some, some, toolCall());
    expect(missing).toBe(0);
    expect(service.requests() - before).toBe(20);
    for (const quote of quotes) {
      const truth = service.storedData['/quote'].find(({ id }) => id === quote.id);
      expect(quoteTotals(quote)).toEqual(truth && trueTotals(truth));
      expect(quote.unreadable).toBeUndefined();
    }
    // When read again, unchanged quotes are not requested by id.
    tenant.updates.invalidate('quote');
    const again = await tenant.collection('quote', toolCall());
    expect(again.records.filter(hasUnknownItems)).toHaveLength(records.length - 23);
    expect(service.requests() - before).toBe(22);
  });

  test('cost a request more once, not for each list', async () => {
    const { service, tenant } = await serving({ items: 'by id only' });
    const { notes } = await listRecords(tenant, 'quote', { size: 20 }, toolCall());
    expect(notes?.join()).toMatch(/leave out the items of quotes/);
    const before = service.requests();
    await tenant.list('quote', { size: 20 }, toolCall());
    expect(service.requests() - before).toBe(1);
  });

  test('have totals in lists as soon as their items are read', async () => {
    const { tenant } = await serving({ items: 'by id only' });
    const withPrice = { size: 200, filters: 'oneTime:>0' };
    const listed = async () =>
      (await listRecords(tenant, 'quote', withPrice, toolCall())).records.map(({ id }) => id);
    const before = await listed();
    const { records } = await tenant.collection('quote', toolCall());
    const { quotes } = await tenant.completeItems(records, records, toolCall());
    const priced = quotes.filter((quote) => (quoteTotals(quote).oneTime ?? 0) > 0);
    expect(priced.length).toBeGreaterThan(before.length);
    expect(await listed()).toEqual(priced.map(({ id }) => id));
  });

  test('leave their reserve of the rate budget to others', async () => {
    const budget = { requests: 40, windowSeconds: 600 };
    const { service, tenant } = await serving({ items: 'by id only' }, { budget });
    const { records } = await tenant.collection('quote', toolCall());
    const { quotes, missing } = await tenant.completeItems(records, records, toolCall());
    expect(service.requests()).toBe(36);
    expect(missing).toBe(quotes.filter(hasUnknownItems).length);
    expect(missing).toBeGreaterThan(100);
  });
});

describe('rows with items', () => {
  test('cost nothing', async () => {
    const { service, tenant } = await serving({});
    const { records } = await tenant.collection('quote', toolCall());
    const before = service.requests();
    expect(await tenant.completeItems(records, records, toolCall())).toEqual({
      quotes: records,
      missing: 0,
    });
    expect(service.requests()).toBe(before);
  });

  test('that have none are known to have none', async () => {
    const { service, tenant } = await serving({});
    for (const quote of service.storedData['/quote']) quote.items = [];
    const { records } = await tenant.collection('quote', toolCall());
    expect(records.map(quoteTotals)).toEqual(records.map(() => ({ items: 0 })));
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
