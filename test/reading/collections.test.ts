import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { readingCall } from '../../src/mcp/tool-run.ts';
import { CollectionCache } from '../../src/reading/cache.ts';
import { SharedWalk } from '../../src/reading/shared-walk.ts';
import { localState } from '../../src/state/files/local.ts';
import type { SharedCollections, SharedReading } from '../../src/state/port.ts';
import { searchIndexOf } from '../../src/tenant/lookup.ts';
import { readDeals } from '../../src/tenant/prepared.ts';
import type { Tenant } from '../../src/tenant/tenant.ts';
import { type OpenTenantOptions, openTenant, toolCall } from '../support/hardening-tenant.ts';
import { newFolder } from '../support/shared.ts';
import { serve } from '../support/tenant-server.ts';
import { hold, soon } from '../support/until.ts';
import type { Upstream } from '../support/upstream/behaviour.ts';
import { faults } from '../support/upstream/faults.ts';
import { generateRecords } from '../support/upstream/records.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

/** Collections are read once for all waiting callers, and cached for a while. */

const minute = 60_000;
let upstream: Upstream;
const tenants: Tenant[] = [];

beforeEach(async () => {
  upstream = await startUpstream({ counts: { '/company': 45, '/pricing-book': 45 } });
  upstream.set({ maxSize: 10 });
});

afterEach(async () => {
  vi.useRealTimers();
  for (const tenant of tenants.splice(0)) await tenant.close();
  await vi.waitFor(() => expect(upstream.openSockets()).toBe(0), soon);
  await upstream.close();
});

function tenantOf(options: Partial<OpenTenantOptions> = {}): Tenant {
  const tenant = openTenant({ url: upstream.url, ...options });
  tenants.push(tenant);
  return tenant;
}

const companies = (tenant: Tenant, call = toolCall()) => tenant.collection('company', call);
const stopClock = () => void vi.useFakeTimers({ toFake: ['Date'] });
const later = (ms: number) => void vi.setSystemTime(Date.now() + ms);
const insert = () => upstream.records['/company'].push(...generateRecords('/company', 1, 77));
const sent = () => upstream.requests.length;

/** Blocks the requests after the first page until it is opened. */
function gate(): { open: () => void; waiting: () => number } {
  const { held, release } = hold();
  let waiting = 0;
  upstream.set({
    onRequest: (n) => {
      if (n === 1) return undefined;
      waiting += 1;
      return held;
    },
  });
  return { open: release, waiting: () => waiting };
}

test('a collection has the order of the list, whichever page arrives first', async () => {
  const { held, release } = hold();
  upstream.set({
    onRequest: (n) => {
      if (n === 5) setTimeout(release, 50);
      return n === 2 ? held : undefined;
    },
  });
  const { records } = await companies(tenantOf());
  expect(records.map(({ id }) => id)).toEqual(upstream.records['/company'].map(({ id }) => id));
});

test('the records of a collection are frozen, with what they contain', async () => {
  const contents = { city: 'Bath', tags: [{ name: 'A' }] };
  for (const row of upstream.records['/company']) row.address = contents;
  const { records } = await companies(tenantOf());
  const parts = records.flatMap((record) => [record, record.address, record.address?.tags]);
  expect(parts).toHaveLength(135);
  expect(parts.every((part) => part !== undefined && Object.isFrozen(part))).toBe(true);
});

describe('one reading', () => {
  test('serves all waiting calls', async () => {
    const alone = tenantOf();
    await companies(alone);
    const cost = sent();
    upstream.requests.length = 0;
    const tenant = tenantOf();
    const all = await Promise.all(Array.from({ length: 60 }, () => companies(tenant)));
    expect(new Set(all).size).toBe(1);
    expect(all[0]?.records).toHaveLength(45);
    expect(sent()).toBe(cost);
    await companies(tenant);
    expect(sent()).toBe(cost);
  });

  test('is separate for each collection and tenant', async () => {
    const [one, other] = [tenantOf(), tenantOf()];
    const read = await Promise.all([
      companies(one),
      companies(other),
      one.collection('pricing_book', toolCall()),
    ]);
    expect(new Set(read.map(({ records }) => records)).size).toBe(3);
  });

  test('continues for the others when one call is cancelled', async () => {
    const blocked = gate();
    const tenant = tenantOf();
    const stop = new AbortController();
    const leaving = companies(tenant, toolCall({ signal: stop.signal }));
    const staying = [companies(tenant), companies(tenant)];
    await vi.waitFor(() => expect(blocked.waiting()).toBeGreaterThan(0), soon);
    stop.abort(new Error('enough'));
    await expect(leaving).rejects.toThrow('enough');
    blocked.open();
    for (const { records } of await Promise.all(staying)) expect(records).toHaveLength(45);
    expect(upstream.requests.some(({ aborted }) => aborted)).toBe(false);
  });

  test('continues for the others when one call reaches its deadline', async () => {
    const blocked = gate();
    const tenant = tenantOf();
    const staying = companies(tenant);
    await expect(companies(tenant, toolCall({ time: 100 }))).rejects.toThrow('out of time');
    blocked.open();
    expect((await staying).coverage.complete).toBe(true);
  });

  test('ends when the last call is cancelled, and starts again for the next', async () => {
    const blocked = gate();
    const tenant = tenantOf();
    const stops = [new AbortController(), new AbortController()];
    const leaving = stops.map(({ signal }) => companies(tenant, toolCall({ signal })));
    await vi.waitFor(() => expect(blocked.waiting()).toBeGreaterThan(0), soon);
    for (const stop of stops) stop.abort(new Error('enough'));
    for (const one of leaving) await expect(one).rejects.toThrow('enough');
    const open = () => upstream.requests.filter(({ outcome }) => outcome === 'open');
    await vi.waitFor(() => expect(open()).toEqual([]), soon);
    blocked.open();
    expect((await companies(tenant)).coverage.complete).toBe(true);
  });

  test('is not started for a call that is already cancelled', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(companies(tenantOf(), toolCall({ signal }))).rejects.toThrow('enough');
    expect(sent()).toBe(0);
  });

  test('fails for all waiting calls, and is tried again by the next', async () => {
    upstream.set(faults['no-permission']);
    const tenant = tenantOf();
    const all = await Promise.allSettled([companies(tenant), companies(tenant)]);
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(sent()).toBe(1);
    upstream.set({ status: undefined });
    expect((await companies(tenant)).records).toHaveLength(45);
  });

  test('ends when the tenant is closed, even after a write', async () => {
    const blocked = gate();
    const tenant = tenantOf();
    const old = companies(tenant);
    await vi.waitFor(() => expect(blocked.waiting()).toBeGreaterThan(0), soon);
    tenant.updates.invalidate('company');
    const fresh = companies(tenant);
    const both = Promise.allSettled([old, fresh]);
    await tenant.close();
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await vi.waitFor(() => expect(upstream.openSockets()).toBe(0), soon);
    blocked.open();
  });
});

describe('the age of a cached collection', () => {
  test('is up to five minutes', async () => {
    stopClock();
    const tenant = tenantOf();
    const first = await companies(tenant);
    const cost = sent();
    insert();
    later(5 * minute - 1);
    expect(await companies(tenant)).toBe(first);
    expect(sent()).toBe(cost);
  });

  test('is not more: the call that needs it waits until it is brought up to date', async () => {
    stopClock();
    const tenant = tenantOf();
    await companies(tenant);
    insert();
    later(5 * minute);
    const anew = await companies(tenant);
    expect(anew.records).toHaveLength(46);
    expect(anew.asOf.getTime()).toBe(Date.now());
  });

  test('is that of the oldest where several are read', async () => {
    stopClock();
    const tenant = tenantOf();
    const { asOf } = await companies(tenant);
    later(minute);
    const { coverage } = await readDeals(tenant, toolCall());
    expect(coverage.asOf).toEqual(asOf);
  });

  test('is reported by a tool', async () => {
    stopClock();
    const tenant = tenantOf();
    const client = await serve(tenant).connect({ era: 'legacy' });
    const list = () => client.callTool({ name: 'cpq_list_pricing_books', arguments: {} });
    const then = new Date().toISOString().slice(0, 19);
    await list();
    later(7 * minute);
    const { structuredContent, content } = await list();
    expect(structuredContent).toMatchObject({ coverage: { asOf: `${then}Z`, complete: true } });
    expect(JSON.stringify(content)).toContain(then.slice(0, 16).replace('T', ' '));
  });
});

describe('a cached collection', () => {
  test('is kept when the service fails, which is tried again half a minute later', async () => {
    stopClock();
    const tenant = tenantOf({ circuitFailures: 1_000 });
    const first = await companies(tenant);
    later(6 * minute);
    upstream.set(faults['500']);
    upstream.requests.length = 0;
    expect(await companies(tenant)).toBe(first);
    // Three attempts to read what changed, whose order may be what fails, and three to read it whole.
    expect(sent()).toBe(6);
    later(20_000);
    expect(await companies(tenant)).toBe(first);
    expect(sent()).toBe(6);
    later(11_000);
    expect(await companies(tenant)).toBe(first);
    expect(sent()).toBe(12);
    later(30 * minute);
    await expect(companies(tenant)).rejects.toMatchObject({ kind: 'server-error' });
  });

  test('is not returned when the key is no longer accepted', async () => {
    stopClock();
    const tenant = tenantOf();
    await companies(tenant);
    later(6 * minute);
    upstream.set(faults['key-missing']);
    for (const _ of [1, 2])
      await expect(companies(tenant)).rejects.toMatchObject({ kind: 'key-refused' });
  });

  test('is kept when a new reading is incomplete', async () => {
    stopClock();
    const tenant = tenantOf();
    // They cannot be sorted, so that they are read whole again.
    const books = () => tenant.collection('pricing_book', toolCall());
    const first = await books();
    later(61 * minute);
    upstream.set(faults['later-forbidden']);
    const before = sent();
    expect(await books()).toBe(first);
    expect(sent()).toBeGreaterThan(before);
  });

  test.each([undefined, { sort: '+name' }])('is dropped by a write: %j', async (search) => {
    const tenant = tenantOf();
    const read = async () => (await tenant.collection('company', toolCall(), search)).records;
    await read();
    insert();
    tenant.updates.invalidate('company');
    expect(await read()).toHaveLength(46);
  });

  test('is not replaced by a reading that began before a write', async () => {
    const blocked = gate();
    const tenant = tenantOf();
    const old = companies(tenant);
    await vi.waitFor(() => expect(blocked.waiting()).toBeGreaterThan(0), soon);
    tenant.updates.invalidate('company');
    const fresh = companies(tenant);
    insert();
    blocked.open();
    const [before, after] = await Promise.all([old, fresh]);
    expect(before).not.toBe(after);
    expect(after.records).toHaveLength(46);
    expect(await companies(tenant)).toBe(after);
  });

  test('is none that began before a write', async () => {
    const blocked = gate();
    const tenant = tenantOf();
    const old = companies(tenant);
    await vi.waitFor(() => expect(blocked.waiting()).toBeGreaterThan(0), soon);
    tenant.updates.invalidate('company');
    blocked.open();
    await old;
    insert();
    expect((await companies(tenant)).records).toHaveLength(46);
  });
});

describe('a collection that the budget does not suffice to read again', () => {
  const tight = { limit: 20, windowMs: 10 * minute };
  const booksOf = (tenant: Tenant) => () => tenant.collection('pricing_book', toolCall());
  const tightTenant = () => tenantOf({ requestLimit: tight.limit });
  /** The service counts anew, and another program takes this. */
  const spend = (requests: number) => {
    upstream.reset();
    upstream.set({ maxSize: 10, rate: tight });
    upstream.budget.spend(requests);
  };
  const nearlyAll = tight.limit - 3;

  beforeEach(() => {
    stopClock();
    spend(0);
  });

  test('is returned with its time and the reason', async () => {
    const books = booksOf(tightTenant());
    const first = await books();
    later(120 * minute);
    spend(nearlyAll);
    const second = await books();
    expect([second.records, second.asOf]).toEqual([first.records, first.asOf]);
    const reason = expect.stringMatching(/budget is used up for now; .* from 2\S+Z on$/);
    expect(second.coverage).toEqual({ ...first.coverage, reason });
    await books();
    expect(sent()).toBe(1);
    later(11 * minute);
    spend(0);
    const third = await books();
    expect(third.coverage).toEqual(first.coverage);
    expect(third.asOf.getTime()).toBeGreaterThan(first.asOf.getTime());
    later(25 * 60 * minute);
    spend(nearlyAll);
    expect((await books()).coverage.complete).toBe(false);
  });

  test('is not returned after a change that is known of, whatever the budget', async () => {
    const tenant = tightTenant();
    const books = booksOf(tenant);
    await books();
    later(11 * minute);
    spend(nearlyAll);
    tenant.updates.invalidate('pricing_book');
    expect((await books()).coverage.complete).toBe(false);
  });

  test.each([
    ['cpq_list_pricing_books', {}, /^the tenant's rate budget/],
    [
      'cpq_check_sales_data',
      { check: 'pricing_drift' },
      /^older pricing book records, because the/,
    ],
  ])('is said first by %s to be old', async (name, args, reason) => {
    const client = await serve(tightTenant()).connect({ era: 'legacy' });
    const list = () => client.callTool({ name, arguments: args });
    const then = new Date().toISOString().slice(0, 19);
    await list();
    later(120 * minute);
    spend(nearlyAll);
    const { structuredContent } = await list();
    expect(structuredContent).toMatchObject({
      summary: expect.stringMatching(`^(Incomplete: .*\\. )?Only as of ${then}Z: `),
      coverage: { complete: true, reason: expect.stringMatching(reason) },
    });
  });
});

describe('a collection that is brought up to date', () => {
  const hour = 60 * minute;

  async function withDeals(options: Partial<OpenTenantOptions> = {}) {
    const own = await startUpstream({ counts: { '/company': 45, '/opportunity': 340 } });
    const tenant = openTenant({ url: own.url, ...options });
    onTestFinished(async () => {
      await tenant.close();
      await own.close();
    });
    const [company] = own.records['/company'];
    const name = String(company?.name);
    const deals = own.records['/opportunity'];
    for (const [at, row] of deals.entries())
      deals[at] = { ...row, company: { id: company?.id, name } };
    const dealsNow = () => tenant.collection('opportunity', toolCall());
    return { own, tenant, name, dealsNow };
  }

  test('takes a request or two, and is the same list if nothing changed', async () => {
    stopClock();
    const { own, dealsNow } = await withDeals();
    const first = await dealsNow();
    later(hour);
    own.requests.length = 0;
    const second = await dealsNow();
    expect(second.records).toBe(first.records);
    expect(second.asOf.getTime()).toBe(first.asOf.getTime() + hour);
    expect(own.requests.length).toBeLessThanOrEqual(3);
  });

  test('is read whole after a day', async () => {
    stopClock();
    const { own, dealsNow } = await withDeals();
    await dealsNow();
    own.requests.length = 0;
    later(25 * hour);
    await dealsNow();
    expect(own.requests.length).toBeGreaterThan(3);
  });

  test('is kept for a day from when it was read whole', async () => {
    stopClock();
    const keptHours: number[] = [];
    let copy: SharedReading | undefined;
    const collections: SharedCollections = {
      getOrLoad: async (_key, _freshMs, load) => {
        const read = await load(copy && { ...copy, isOutdated: false });
        keptHours.push(read.keepMs / hour);
        copy = read;
        return read;
      },
      ageOf: async () => copy?.ageMs,
    };
    const { dealsNow } = await withDeals({ state: { ...localState(newFolder()), collections } });
    for (let at = 0; at < 3; at++) {
      await dealsNow();
      later(2 * hour);
    }
    expect(keptHours).toEqual([24, 22, 20]);
  });

  test('has the new name of a company whose deals did not change', async () => {
    stopClock();
    const { own, tenant, name } = await withDeals();
    const dealsNow = () => readDeals(tenant, toolCall());
    await dealsNow();
    const rows = own.records['/company'];
    const updatedAt = new Date().toISOString();
    rows[0] = { ...rows[0], name: 'New Name Ltd', updatedAt } as (typeof rows)[number];
    later(hour);
    const { opportunity = [] } = (await dealsNow()).records;
    expect(opportunity.length).toBe(340);
    const names = new Set(opportunity.map(({ company }) => company?.name));
    expect([...names]).toEqual(['New Name Ltd']);
    expect(name).not.toBe('New Name Ltd');
  });
});

describe('an incomplete collection', () => {
  test('is cached for half a minute, and then read again', async () => {
    stopClock();
    const tenant = tenantOf();
    upstream.set(faults['later-forbidden']);
    const part = await companies(tenant);
    expect(part.coverage).toMatchObject({ complete: false, total: 45 });
    const cost = sent();
    later(29_999);
    expect(await companies(tenant)).toBe(part);
    expect(sent()).toBe(cost);
    later(1);
    upstream.set({ status: undefined });
    expect((await companies(tenant)).coverage).toEqual({ complete: true, read: 45, total: 45 });
  });

  test('replaces nothing and smaller parts', async () => {
    stopClock();
    const tenant = tenantOf();
    upstream.set(faults['later-forbidden']);
    const part = await companies(tenant);
    later(31_000);
    upstream.set(faults['500']);
    expect(await companies(tenant)).toBe(part);
    later(31_000);
    upstream.set({ maxSize: 3, status: undefined, ...faults['later-forbidden'] });
    upstream.set({ maxSize: 1 });
    expect(await companies(tenant)).toBe(part);
    later(31_000);
    upstream.set(faults['key-missing']);
    await expect(companies(tenant)).rejects.toMatchObject({ kind: 'key-refused' });
  });
});

describe('a clock that is set back three hours', () => {
  const hours = 3 * 60 * minute;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  });

  test('keeps no collection for longer, and no answer is of the future', async () => {
    const tenant = tenantOf();
    const { records } = await companies(tenant);
    vi.setSystemTime(Date.now() - hours);
    const soonAfter = await companies(tenant);
    expect(soonAfter.records).toEqual(records);
    expect(soonAfter.asOf.getTime()).toBeLessThanOrEqual(Date.now());
    insert();
    vi.advanceTimersByTime(31 * minute);
    expect((await companies(tenant)).records).toHaveLength(46);
  });

  test('keeps no search for longer', async () => {
    const tenant = tenantOf();
    const search = () => tenant.collection('company', toolCall(), { query: 'a', sort: 'name' });
    await search();
    vi.setSystemTime(Date.now() - hours);
    await search();
    const cost = sent();
    await search();
    expect(sent()).toBe(cost);
    vi.advanceTimersByTime(2 * minute);
    await search();
    expect(sent()).toBeGreaterThan(cost);
  });
});

describe('memory of the cache', () => {
  /** A collection of about this size. */
  const heavy = (count: number, kib: number) => {
    const note = 'x'.repeat((kib * 1024) / count / 2);
    for (const row of upstream.records['/company']) row.note = note;
    for (const row of upstream.records['/pricing-book']) row.note = note;
  };

  test('is limited, and drops the least recently used collection of any tenant', async () => {
    heavy(45, 400);
    const cache = new CollectionCache(1);
    const [one, other] = [tenantOf({ cache }), tenantOf({ cache })];
    const first = await companies(one);
    const second = await companies(other);
    expect(await companies(one)).toBe(first);
    expect(cache.bytes).toBeLessThanOrEqual(2 ** 20);
    await one.collection('pricing_book', toolCall());
    expect(cache.bytes).toBeLessThanOrEqual(2 ** 20);
    expect(await companies(one)).toBe(first);
    const cost = sent();
    expect(await companies(other)).not.toBe(second);
    expect(sent()).toBeGreaterThan(cost);
  });

  test('does not hold a collection that is too large, and tells the operator', async () => {
    const cache = new CollectionCache(1);
    const told: unknown[] = [];
    const onTooLarge = (...facts: unknown[]) => void told.push(facts);
    const [one, other] = [tenantOf({ cache }), tenantOf({ cache, onTooLarge })];
    const small = await companies(one);
    heavy(45, 3_000);
    const first = await companies(other);
    expect(first.records).toHaveLength(45);
    expect(told).toEqual([['company', expect.any(Number)]]);
    expect(await companies(one)).toBe(small);
    const cost = sent();
    const again = await companies(other);
    expect(again.records).toEqual(first.records);
    expect(sent()).toBeGreaterThan(cost);
    expect(cache.bytes).toBeLessThanOrEqual(2 ** 20);
    expect(told).toHaveLength(1);
    for (const kib of [45, 3_000]) {
      heavy(45, kib);
      other.updates.clearCaches();
      await companies(other);
    }
    expect(told).toHaveLength(2);
  });

  test('includes the search index, and what else is derived from a collection', async () => {
    heavy(45, 400);
    const cache = new CollectionCache(1);
    const [one, other] = [tenantOf({ cache }), tenantOf({ cache })];
    await companies(one);
    const { records } = await companies(other);
    const beforeNames = cache.bytes;
    other.derived.get([records], 'names', () => new Map([['id', 'name']]));
    expect(cache.bytes).toBeGreaterThan(beforeNames);
    const before = cache.bytes;
    const index = await searchIndexOf(other, 'company', records);
    expect(index.bytes).toBeGreaterThan(10_000);
    expect(cache.bytes).toBe(before + index.bytes);
    other.derived.get(
      [records],
      'large',
      () => 0,
      () => 300_000,
    );
    expect(cache.bytes).toBeLessThanOrEqual(2 ** 20);
    expect((await companies(other)).records).toBe(records);
    const cost = sent();
    expect((await companies(one)).records).toEqual(records);
    expect(sent()).toBeGreaterThan(cost);
  });

  test('includes searches, and is released when a tenant is closed', async () => {
    const cache = new CollectionCache(1);
    const [one, other] = [tenantOf({ cache }), tenantOf({ cache })];
    await companies(one);
    const before = cache.bytes;
    await one.collection('company', toolCall(), { query: 'a' });
    expect(cache.bytes).toBeGreaterThan(before);
    const ofOne = cache.bytes;
    await companies(other);
    await other.close();
    expect(cache.bytes).toBe(ofOne);
    await one.close();
    expect(cache.bytes).toBe(0);
  });
});

describe('progress', () => {
  interface Told {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }

  const follow = async (tenant: Tenant, name: string): Promise<Told[]> => {
    const reported: Told[] = [];
    const client = await serve(tenant).connect({ era: 'legacy' });
    await client.callTool({ name, arguments: {} }, { onprogress: (one) => reported.push(one) });
    return reported;
  };

  test.each(['cpq_list_pricing_books', 'cpq_brief_pipeline'])(
    'of %s never decreases',
    async (name) => {
      const reported = await follow(tenantOf(), name);
      expect(reported.length).toBeGreaterThan(2);
      for (const [at, { progress, total, message }] of reported.entries()) {
        expect(progress).toBeGreaterThan(reported[at - 1]?.progress ?? 0);
        expect(total ?? progress).toBeGreaterThanOrEqual(progress);
        expect(message).toMatch(/^Reading .+ records: \d+/);
      }
    },
  );

  test('is not beyond its total where more was read than the service counts', () => {
    const told: Record<string, unknown>[] = [];
    const { signal } = new AbortController();
    const { progress: report } = readingCall(signal, (params) => void told.push(params), 'token');
    report(12, 10, 'company');
    report(5, 20, 'quote');
    expect(told.map(({ progress, total }) => [progress, total])).toEqual([
      [12, 12],
      [17, 30],
    ]);
  });

  test('of a pass counts its pages', () => {
    const places: string[] = [];
    const walk = new SharedWalk('company', () => new Promise(() => {}));
    walk.join({
      ...toolCall(),
      progress: (_read, _total, _what, place = '') => places.push(place),
    });
    for (const read of [10, 20, 10, 20]) walk.report({ read, total: 40 }, 'company', 500);
    expect(places).toEqual(['page 1 of 4', 'page 2 of 4', 'page 1 of 4', 'page 2 of 4']);
  });

  test('is reported to every call that waits for the same reading', async () => {
    const tenant = tenantOf();
    const all = await Promise.all([
      follow(tenant, 'cpq_brief_pipeline'),
      follow(tenant, 'cpq_brief_pipeline'),
    ]);
    // 60 opportunities, and 45 companies for their currencies.
    for (const reported of all) expect(reported.at(-1)?.progress).toBe(105);
    const messages = all.flat().map(({ message }) => message);
    expect(messages.join('\n')).toMatch(/^Reading company records: \d+ of 45, page \d of \d/m);
  });

  test('is not reported for a cached collection', async () => {
    const tenant = tenantOf();
    await follow(tenant, 'cpq_list_pricing_books');
    expect(await follow(tenant, 'cpq_list_pricing_books')).toEqual([]);
  });
});
