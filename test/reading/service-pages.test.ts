import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ListPage } from '../../src/reading/list-page.ts';
import type { Company } from '../../src/service/records/records.ts';
import { type Choices, startService } from '../support/compatibility/service.ts';
import fc from '../support/fast-check.ts';
import { openTenant, sharedStateOf, toolCall } from '../support/hardening-tenant.ts';
import { closing } from '../support/shared.ts';
import { visible } from '../support/upstream/paging.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

/** What is learnt about the service from its answers: sizes, and whether offsets work. */

const hour = 3_600_000;
const pages = { name: 'page', counts: 'pages from 1' } as const;

afterEach(() => {
  vi.useRealTimers();
});

const later = (ms: number): void => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
};

async function opened(change: Choices) {
  const service = closing(await startService(change));
  const { url, key } = service;
  const tenant = closing(openTenant({ url, key, firstRetryDelayMs: 1, limits: {} }));
  const traits = () => sharedStateOf(tenant).pages.traits('company');
  const list = async (size: number, from = 0) =>
    (await tenant.list('company', { size, from }, toolCall())).records;
  return { service, tenant, traits, list };
}

describe('a page size that is refused', () => {
  test('is not requested again for a day', async () => {
    const { service, list, traits } = await opened({ maxSize: { rows: 25, over: 400 } });
    await list(100);
    expect(traits().maxSize).toBe(25);
    const before = service.requests.length;
    await list(100);
    expect(service.requests.length - before).toBe(1);
    service.set({ maxSize: 1_000 });
    later(25 * hour);
    expect(await list(100)).toHaveLength(100);
  });

  test('is learnt later, too', async () => {
    const { service, list } = await opened({});
    await list(100);
    service.set({ maxSize: { rows: 25, over: 400 } });
    expect(await list(100)).toHaveLength(25);
  });
});

describe('a large size answered with status 500', () => {
  test('is replaced by a smaller one', async () => {
    const { service, list, traits } = await opened({ maxSize: { rows: 50, over: 500 } });
    expect(await list(100)).toHaveLength(50);
    expect(traits().maxSize).toBe(50);
    // The sizes 100, 50 and 100 again, two that show that the offset works, one behind the page, and the last row.
    expect(service.requests.length).toBe(7);
  });

  test('is not learnt from a single 500', async () => {
    const { list, traits, service } = await opened({
      maxSize: { rows: 50, over: 500 },
      rewrite: () => (reply) => {
        service.set({ maxSize: 1_000 });
        return reply;
      },
    });
    expect(await list(100)).toHaveLength(100);
    expect(traits()).not.toHaveProperty('maxSize');
  });

  test('does not prevent reading the companies of many rows', async () => {
    const { service, tenant } = await opened({ maxSize: { rows: 25, over: 500 } });
    const ids = service.storedData['/company'].slice(0, 60).map(({ id }) => String(id));
    const { found } = await tenant.referenced('company', ids, toolCall());
    expect([...found.keys()]).toEqual(ids);
  });

  test('does not prevent reading single records', async () => {
    const { service, tenant } = await opened({ maxSize: { rows: 25, over: 500 } });
    const collections = ['company', 'contact', 'opportunity', 'product'] as const;
    const read = await Promise.all(collections.map((it) => tenant.collection(it, toolCall())));
    expect(read.map(({ coverage }) => coverage.complete)).toEqual([true, true, true, true]);
    const [company] = service.storedData['/company'];
    const record = await tenant.getRecord('company', 'id', String(company?.id), toolCall());
    expect(record.name).toBe(company?.name);
  });
});

test('a service that ignores filters and cuts pages is not asked for the same ids again', async () => {
  const { service, tenant } = await opened({
    filters: 'ignored',
    maxSize: 25,
  });
  const ids = service.storedData['/company'].slice(0, 30).map(({ id }) => String(id));
  await tenant.referenced('company', [...ids, 'of-none-of-them-00001'], toolCall());
  expect(service.requests.length).toBeLessThan(40);
});

/** One in eleven is not shown, the seventh first: not on the first page, right behind it, or on it. */
test.each([
  [4, 4],
  [6, 60],
  [50, 60],
])(
  'counted records that are not shown, in pages of at most %i rows, repeat no others',
  async (rows, onFirst) => {
    const change = { maxSize: rows, hidden: { oneIn: 11, counted: true } };
    const { service, tenant } = await opened(change);
    const seen: unknown[] = [];
    let from: number | undefined = 0;
    while (from !== undefined) {
      const page: ListPage<Company> = await tenant.list('company', { size: 60, from }, toolCall());
      if (from === 0) expect(page.records).toHaveLength(onFirst);
      seen.push(...page.records.map(({ id }) => id));
      from = page.next;
    }
    expect(seen).toEqual(visible(service.storedData['/company'], change).map(({ id }) => id));
  },
);

test('a company is not looked for by an id that rows have in another letter case', async () => {
  const upstream = closing(await startUpstream({ counts: { '/opportunity': 120 }, maxSize: 10 }));
  for (const [at, row] of upstream.records['/opportunity'].entries())
    row.company = at % 2 ? { id: 'ACME1', name: 'Acme' } : { id: 'OTHER2', name: 'Other' };
  const tenant = closing(openTenant({ url: upstream.url, limits: {} }));
  const deals = async (id: string) =>
    (await tenant.collection('opportunity', toolCall(), { of: { id, name: 'Acme' } })).records;
  expect(await deals('acme1')).toHaveLength(120);
  tenant.updates.clearCaches();
  expect(await deals('ACME1')).toHaveLength(60);
});

describe('the offset', () => {
  test('is checked once, by two small pages, and the total by one', async () => {
    const { service, list } = await opened({});
    await list(20);
    await list(20, 20);
    await list(20, 40);
    expect(service.requests.length).toBe(6);
  });

  test.each(['pages', 'pages from 1', 'records from 1'] as const)(
    'that counts %s is not used: one long page is read',
    async (counts) => {
      const { service, tenant, list, traits } = await opened({ offset: { counts } });
      const ids = service.storedData['/company'].slice(40, 60).map(({ id }) => id);
      expect((await list(20, 40)).map(({ id }) => id)).toEqual(ids);
      expect(traits().offset).toBe('ignored');
      const { coverage } = await tenant.collection('company', toolCall());
      expect(coverage).toMatchObject({ complete: true, read: 130 });
    },
  );

  test('that does not work leaves what one page cannot hold unread', async () => {
    const { tenant } = await opened({ offset: pages, maxSize: 50 });
    const { coverage } = await tenant.collection('company', toolCall());
    expect(coverage).toMatchObject({ complete: false, total: 130 });
    expect(coverage.reason).toMatch(/no offset parameter works \(the setting page-param/);
  });

  test('that changes its meaning is noticed', async () => {
    const { service, tenant } = await opened({});
    await tenant.collection('company', toolCall());
    service.set({ offset: pages });
    tenant.updates.invalidate('company');
    const { coverage } = await tenant.collection('company', toolCall());
    expect(coverage).toMatchObject({ complete: true, read: 130 });
  });
});

describe('a wrong total', () => {
  const size = fc.integer({ min: 5, max: 50 });
  test('is never told as the number of records, even in the first list', async () => {
    const upstream = closing(await startUpstream({ counts: { '/company': 60 } }));
    const wrong = fc.integer({ min: -60, max: 120 }).filter((off) => off !== 0);
    const page = fc.record({ size, from: fc.integer({ min: 0, max: 55 }) });
    const askAgain = fc.boolean();
    const property = fc.asyncProperty(wrong, page, askAgain, async (off, asked, again) => {
      upstream.set({ total: { off } });
      const tenant = openTenant({ url: upstream.url, limits: {} });
      try {
        if (again) await tenant.list('company', asked, toolCall());
        const { coverage } = await tenant.list('company', asked, toolCall());
        if (coverage.total !== 60)
          expect(coverage.reason).toMatch(/^(not counted|the service counts \d+ but gave 60)$/);
      } finally {
        await tenant.close();
      }
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test.each([
    ['counts right', {}],
    ['counts in another way each time', { total: { moves: 3 } }],
    ['ignores the offset', { ignoreFrom: true }],
    ['counts too many', { total: { off: 3 } }],
    [
      'counts too many, and refuses offsets behind the end',
      { total: { off: 3 }, beyondEnd: 'refused' },
    ],
  ] as const)('of a service that %s is looked for on one day once', async (_, behaviour) => {
    const upstream = closing(await startUpstream({ counts: { '/company': 130 } }));
    upstream.set(behaviour);
    const tenant = closing(openTenant({ url: upstream.url, limits: {} }));
    const list = () => tenant.list('company', { size: 20 }, toolCall());
    for (let at = 0; at < 3; at++) await list();
    const before = upstream.requests.length;
    await list();
    expect(upstream.requests.length - before).toBe(1);
  });
});
