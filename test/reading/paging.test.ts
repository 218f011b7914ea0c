import { describe, expect, test } from 'vitest';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import {
  type Connection,
  everyHostHere,
  everything,
  open,
  type Row,
  serving,
} from '../support/hosts.ts';
import { listTools, serviceRecords } from '../support/samples.ts';
import { sample } from '../support/sampling.ts';
import type { Address } from '../support/sandbox.ts';
import { closing } from '../support/shared.ts';
import { type Behaviour, only, type Total } from '../support/upstream/behaviour.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

const { address } = embeddedTenant({ as: 'all' });
const server = serving({ at: address, ...everything });
const each = Object.entries(listTools);

/** Follows page.next to the end. The totals must agree all the way. */
async function readAll({ call }: Connection, name: string, args: Row): Promise<Row[]> {
  const all: Row[] = [];
  for (let from: number | undefined = 0; from !== undefined; ) {
    const { records, page } = await call(name, { ...args, from });
    expect(page).toMatchObject({ from, shown: records.length });
    expect(records.length).toBeGreaterThan(0);
    all.push(...records);
    if (page.next !== undefined) expect(page.next).toBe(from + records.length);
    else expect(page.total).toBe(all.length);
    from = page.next;
  }
  return all;
}

/** The ids of all records of a route, read without the server's code. */
async function everyIdOf(at: Address, path: string, search: string): Promise<unknown[]> {
  const ids: unknown[] = [];
  for (;;) {
    const page = await serviceRecords(at, path, `?size=100&from=${ids.length}${search}`);
    const found = page.map(({ id }) => id).filter((id) => !ids.includes(id));
    if (found.length === 0) return ids;
    ids.push(...found);
  }
}

async function expectAll(it: Connection, name: string, args: Row, search = ''): Promise<void> {
  const ids = (await readAll(it, name, args)).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const path = listTools[name] ?? '';
  expect(ids.toSorted()).toEqual((await everyIdOf(await address(), path, search)).toSorted());
}

for (const [at, host] of sample([...everyHostHere.entries()], 2)) {
  describe(host.name, () => {
    const server = serving({ at: address, on: host, ...everything });

    test.each(sample(each, 3, at))(
      '%s is read to the end without loss or repetition',
      async (name) => {
        await expectAll(await server(), name, { size: 100 });
      },
    );
  });
}

describe('pages of other shapes', () => {
  test.each(each)('%s, 17 at a time', async (name) => {
    await expectAll(await server(), name, { size: 17 });
  });

  test.each(sample(each, 2, 1))(
    '%s, when full records exceed the limit of an answer',
    async (name) => {
      await expectAll(await server(), name, { size: 60, detail: 'full' });
    },
  );

  test('with bundles', async () => {
    const search = '&includeBundles=true';
    await expectAll(
      await server(),
      'cpq_list_products',
      { size: 100, include_bundles: true },
      search,
    );
  });

  test('of search results on a route with undocumented paging', async () => {
    const query = 'a';
    const it = await server();
    await expectAll(it, 'cpq_list_contract_items', { size: 50, query }, `&query=${query}`);
    const { page } = await it.call('cpq_list_contract_items', { size: 1, query });
    expect(page.total).toBeGreaterThan(100);
  });

  test('of search results, in the requested order', async () => {
    const filters = 'status:sent';
    const search = `&${new URLSearchParams({ filters })}`;
    await expectAll(await server(), 'cpq_list_quotes', { size: 50, filters }, search);
    const sorted = await readAll(await server(), 'cpq_list_companies', {
      size: 50,
      sort: '+name',
      fields: ['name'],
    });
    const theirs = await serviceRecords(await address(), '/company', '?size=100&sort=%2Bname');
    expect(sorted.slice(0, 100).map(({ id }) => id)).toEqual(theirs.map(({ id }) => id));
  });
});

describe('pages of a service that counts otherwise', () => {
  const totals: Total[] = ['absent', 'text', { off: 30 }, { off: -30 }];
  test.each(totals)('%j: no page has more rows than there are', async (total) => {
    const upstream = closing(await startUpstream({ counts: { '/product': 60 } }));
    upstream.set({ total });
    const { call } = await open({ at: upstream });
    const ids = new Set<unknown>();
    for (let from: number | undefined = 0; from !== undefined; ) {
      const { records, page } = await call('cpq_list_products', { size: 17, from });
      for (const { id } of records) ids.add(id);
      expect(page.shown).toBe(records.length);
      if (records.length > 0) expect(page.total).toBeGreaterThanOrEqual(from + records.length);
      from = page.next;
    }
    expect(ids.size).toBe(60);
  });
});

test.each<[string, Behaviour]>([
  ['nothing', {}],
  ['404', { status: only({ code: 404 }, { if: ({ query }) => Number(query.get('from')) >= 60 }) }],
])('a list ends where the service answers %s behind it', async (_, behaviour) => {
  const upstream = closing(await startUpstream({ counts: { '/product': 60 } }));
  upstream.set(behaviour);
  const { call } = await open({ at: upstream });
  for (const [from, shown] of [
    [40, 20],
    [60, 0],
    [80, 0],
  ] as const)
    expect((await call('cpq_list_products', { from, size: 20 })).records.length).toBe(shown);
});

describe('beyond the end', () => {
  test.each(each)('%s reports how many records there are', async (name) => {
    const { page } = await server.call(name, { size: 1 });
    const beyond = await server.call(name, { from: page.total, size: 1 });
    expect(beyond.records).toEqual([]);
    expect(beyond.text).toMatch(
      new RegExp(`No [a-z ]+ from ${page.total}: there are ${page.total}\\.`),
    );
    expect(String(beyond.data.notes).length).toBeGreaterThan(40);
    const last = await server.call(name, { from: page.total - 1, size: 7 });
    expect(last.page).toEqual({ shown: 1, from: page.total - 1, total: page.total });
    expect(last.coverage.complete).toBe(last.coverage.read === last.coverage.total);
  });
});
