import { describe, expect, test } from 'vitest';
import { meaningFrom, offsetValue, probedOffset, probedSize } from '../../src/reading/offset.ts';
import type { OffsetMeaning } from '../../src/reading/profile.ts';
import { startService } from '../support/compatibility/service.ts';
import type { Switches } from '../support/compatibility/switches.ts';
import fc from '../support/fast-check.ts';
import { openTenant, sharedStateOf, toolCall } from '../support/hardening-tenant.ts';
import { closing } from '../support/shared.ts';

const meanings = ['records', 'records from 1', 'pages', 'pages from 1'] as const;

/** The keys that a service sends if its offset counts in this way. */
function served(counts: OffsetMeaning['counts'], value: number, size: number, all: number) {
  const first = counts.endsWith('from 1') ? value - 1 : value;
  const start = counts.startsWith('pages') ? first * size : first;
  return Array.from({ length: all }, (_, at) => `r${at}`).slice(start, start + size);
}

describe('the meaning of an offset', () => {
  test.each(meanings)('is learnt from one page: %s', (counts) => {
    const sample = served('records', 0, 7, 30);
    const page = served(counts, probedOffset, probedSize, 30);
    expect(meaningFrom(sample, page, probedSize)).toBe(counts);
  });

  test('is none where the first page is repeated', () => {
    const sample = served('records', 0, 7, 30);
    expect(meaningFrom(sample, sample.slice(0, probedSize), probedSize)).toBe('ignored');
    expect(meaningFrom(sample, [], probedSize)).toBeUndefined();
  });

  test('is the page that begins there', () => {
    const size = fc.integer({ min: 1, max: 100 });
    fc.assert(
      fc.property(fc.constantFrom(...meanings), fc.nat(50), size, (counts, page, rows) => {
        const value = offsetValue(counts, page * rows, rows);
        expect(served(counts, value, rows, 6_000)[0]).toBe(`r${page * rows}`);
      }),
    );
  });
});

describe('what is learnt about a route', () => {
  const opened = async (change: Partial<Switches>) => {
    const service = closing(await startService(change));
    const tenant = closing(openTenant({ url: service.url, key: service.key }));
    return { service, tenant };
  };

  test('is not requested again', async () => {
    const { service, tenant } = await opened({ maxSize: { rows: 25, over: 400 } });
    await tenant.list('company', { size: 100 }, toolCall());
    const before = service.requests();
    await tenant.list('company', { size: 100 }, toolCall());
    // One request for the page; what a short page means is already known.
    expect(service.requests() - before).toBe(1);
    expect(sharedStateOf(tenant).pages.traits('company').maxSize).toBe(25);
  });

  test('costs no request where the service is as documented', async () => {
    const { service, tenant } = await opened({});
    await tenant.list('company', { size: 20 }, toolCall());
    await tenant.list('company', { size: 20, from: 20 }, toolCall());
    await tenant.list('company', { size: 20, from: 40 }, toolCall());
    expect(service.requests()).toBe(3);
  });

  test('applies to other routes, too', async () => {
    const offset = { name: 'page', counts: 'pages from 1', otherwise: 'ignored' } as const;
    const { service, tenant } = await opened({ offset });
    const { records } = await tenant.list('company', { size: 20, from: 40 }, toolCall());
    const ids = service.storedData['/company'].slice(40, 60).map(({ id }) => id);
    expect(records.map(({ id }) => id)).toEqual(ids);
    expect(sharedStateOf(tenant).pages.traits('company').offset).toEqual({
      name: 'page',
      counts: 'pages from 1',
    });
    const quotes = await tenant.list('quote', { size: 10, from: 10 }, toolCall());
    const quoteIds = service.storedData['/quote'].slice(10, 20).map(({ id }) => id);
    expect(quotes.records.map(({ id }) => id)).toEqual(quoteIds);
  });
});

describe('a large size answered with status 500', () => {
  test('does not prevent reading single records', async () => {
    const service = closing(await startService({ maxSize: { rows: 25, over: 500 } }));
    const tenant = closing(
      openTenant({ url: service.url, key: service.key, firstRetryDelayMs: 1, limits: {} }),
    );
    const collections = ['company', 'contact', 'opportunity', 'product'] as const;
    const read = await Promise.all(collections.map((it) => tenant.collection(it, toolCall())));
    expect(read.map(({ coverage }) => coverage.complete)).toEqual([true, true, true, true]);
    const [company] = service.storedData['/company'];
    const record = await tenant.getRecord('company', 'id', String(company?.id), toolCall());
    expect(record.name).toBe(company?.name);
  });
});
