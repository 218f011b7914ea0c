import { expect, test } from 'vitest';
import { CollectionCache } from '../../src/reading/cache.ts';
import { Collections } from '../../src/reading/collections.ts';
import { ServicePages } from '../../src/reading/service-pages.ts';
import type { ApiClient } from '../../src/service/client.ts';
import type { Page } from '../../src/service/page.ts';
import type { RecordOf, Resource } from '../../src/service/records/records.ts';
import type { EarlierReading, SharedCollections } from '../../src/state/port.ts';
import { toolCall } from '../support/hardening-tenant.ts';

const company = { id: 'c1', name: 'Before' };
const deal = { id: 'o1', company: { id: 'c1', name: 'Before' } };

/** Deals keep the name of their company, as where an update does not show them. */
const client: Pick<ApiClient, 'page' | 'pageParam'> = {
  pageParam: 'from',
  async page<R extends Resource>(resource: R): Promise<Page<RecordOf[R]>> {
    const records = [resource === 'company' ? company : deal];
    return { records: structuredClone(records) as RecordOf[R][], total: 1, countedIn: 'total' };
  },
};

/** What every process reads is kept for the others. */
function keptInMemory(): SharedCollections {
  const kept = new Map<string, string>();
  return {
    async getOrLoad({ collection }, _, load) {
      const text = kept.get(collection);
      const earlier = text === undefined ? undefined : (JSON.parse(text) as EarlierReading);
      const loaded = await load(earlier);
      kept.set(collection, JSON.stringify({ ...loaded, isOutdated: false }));
      return loaded;
    },
    ageOf: async () => undefined,
  };
}

test('a new process knows the companies that another one saw renamed', async () => {
  const shared = { collections: keptInMemory(), tenant: 'tenant', reader: 'reader' };
  const start = () =>
    new Collections({
      host: 'model',
      pages: new ServicePages(client),
      cache: new CollectionCache(1),
      freshness: { freshMs: 0, staleMs: 0 },
      shared,
      budget: () => ({ limit: 500, onCostly: undefined }),
    });
  const before = start();
  await before.read('opportunity', toolCall());
  await before.read('company', toolCall());
  company.name = 'After';
  await before.read('company', toolCall());
  const after = start();
  await after.read('company', toolCall());
  const { records } = await after.read('opportunity', toolCall());
  expect(records[0]?.company).toEqual({ id: 'c1', name: 'After' });
});
