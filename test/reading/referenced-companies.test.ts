import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { localBus } from '../../src/state/bus.ts';
import { localState } from '../../src/state/files/local.ts';
import { openTenant, toolCall } from '../support/hardening-tenant.ts';
import { type ObservedServer, startObservedServer } from '../support/observed.ts';
import { closing, newFolder } from '../support/shared.ts';
import { limit } from '../support/upstream/behaviour.ts';
import { type FaultName, faults } from '../support/upstream/faults.ts';

let it: ObservedServer;
beforeEach(async () => {
  it = await startObservedServer();
  for (const row of it.upstream.records['/opportunity']) delete row.currency;
  // Only the first list also asks whether the total is right.
  await askedFor({ fields: ['name'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await it.close();
});

/** The paths that a list of three opportunities asks for. */
async function askedFor(args: object = {}): Promise<string[]> {
  const before = it.upstream.requests.length;
  await it.plain({ name: 'cpq_list_opportunities', arguments: { size: 3, ...args } });
  return it.upstream.requests.slice(before).map(({ path }) => path.replace('/public-api', ''));
}

const companyIds = () =>
  it.upstream.records['/opportunity']
    .slice(0, 3)
    .map(({ company }) => (company as { id: string }).id);

test('companies that exist are read with one request, and then remembered for five minutes', async () => {
  const rows = companyIds().map((id) => ({ id, name: 'Acme', currency: 'USD' }));
  it.upstream.records['/company'].push(...rows);
  expect(await askedFor()).toEqual(['/opportunity', '/company']);
  expect(await askedFor()).toEqual(['/opportunity']);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 6 * 60_000 });
  expect(await askedFor()).toEqual(['/opportunity', '/company']);
  // As a webhook does: one may have another name now.
  it.tenant.updates.invalidate('company');
  expect(await askedFor()).toEqual(['/opportunity', '/company']);
});

test.each(['company', 'product'] as const)(
  'a %s is remembered until an event says that it changed',
  async (resource) => {
    const [row = {}] = it.upstream.records[`/${resource}`];
    const id = String(row.id);
    const name = async () =>
      (await it.tenant.referenced(resource, [id], toolCall())).found.get(id)?.name;
    const before = await name();
    row.name = 'Renamed';
    expect(await name()).toBe(before);
    it.tenant.updates.invalidate(resource);
    expect(await name()).toBe('Renamed');
  },
);

test('companies that do not exist are asked for once', async () => {
  const each = companyIds().map((id) => `/company/${id}`);
  const [list, filtered, ...single] = await askedFor();
  expect([list, filtered]).toEqual(['/opportunity', '/company']);
  // Few, because all programs of a tenant share its requests.
  expect(single).toHaveLength(2);
  expect(each).toEqual(expect.arrayContaining(single));
  expect(await askedFor()).toEqual(['/opportunity']);
});

test.each<[FaultName, boolean]>([
  ['500', true],
  ['reset', true],
  ['truncated', true],
  ['no-permission', false],
  ['404', false],
])('after %s companies are asked for again: %s', async (fault, isAskedAgain) => {
  it.upstream.set(limit(faults[fault], { path: '/company' }));
  expect(await askedFor()).toContain('/company');
  it.upstream.set({ status: undefined, cut: undefined, truncate: undefined });
  expect((await askedFor()).includes('/company')).toBe(isAskedAgain);
});

test('companies are not asked for where no amounts are shown', async () => {
  expect(await askedFor({ fields: ['name', 'stage', 'company'] })).toEqual(['/opportunity']);
  expect(await askedFor({ fields: ['name', 'oneTime'] })).toContain('/company');
});

test('what was read is dropped where events may have been missed', async () => {
  const bus = localBus();
  const state = { ...localState(newFolder()), bus };
  const tenant = closing(openTenant({ url: it.upstream.url, state }));
  await tenant.collection('company', toolCall());
  expect(tenant.cached('company')).toBeDefined();
  bus.notifyAllMissed();
  expect(tenant.cached('company')).toBeUndefined();
});
