import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ServiceProfile } from '../../src/reading/profile.ts';
import { localState } from '../../src/state/files/local.ts';
import { startService } from '../support/compatibility/service.ts';
import type { Switches } from '../support/compatibility/switches.ts';
import {
  newFolder,
  openTenant,
  removeFolder,
  sharedStateOf,
  toolCall,
} from '../support/hardening-tenant.ts';
import { closing } from '../support/shared.ts';

/**
 * What was learnt about the service is stored, used by the next process, and learnt again when it is no longer
 * true.
 */

const minute = 60_000;
const hour = 60 * minute;

afterEach(() => {
  vi.useRealTimers();
});

const later = (ms: number): void => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
};

async function newStateFolder(): Promise<string> {
  const folder = await newFolder();
  closing({ close: () => removeFolder(folder) });
  return folder;
}

async function serving(change: Partial<Switches>) {
  const service = closing(await startService(change));
  const open = (folder?: string) =>
    openTenant({
      url: service.url,
      key: service.key,
      firstRetryDelayMs: 1,
      limits: {},
      ...(folder === undefined ? {} : { state: localState(folder) }),
    });
  return { service, open };
}

const pages = { name: 'page', counts: 'pages from 1', otherwise: 'ignored' } as const;

describe('what was learnt about the service', () => {
  test('is used by the next process', async () => {
    const folder = await newStateFolder();
    const { service, open } = await serving({ maxSize: { rows: 25, over: 400 }, offset: pages });
    const first = open(folder);
    await first.collection('company', toolCall());
    const learnt = service.requests();
    await first.close();
    const second = closing(open(folder));
    expect(sharedStateOf(second).pages.traits('company').maxSize).toBeUndefined();
    const { coverage } = await second.collection('company', toolCall());
    expect(coverage.complete).toBe(true);
    // 130 companies in pages of 25.
    expect(service.requests() - learnt).toBe(6);
    expect(sharedStateOf(second).pages.traits('company')).toMatchObject({
      maxSize: 25,
      offset: { name: 'page', counts: 'pages from 1' },
      countedIn: 'total',
    });
  });

  test('is not stored for a service that is as documented', async () => {
    const folder = await newStateFolder();
    const { open } = await serving({});
    const tenant = open(folder);
    await tenant.collection('company', toolCall());
    await tenant.close();
    const file = join(folder, `service-${sharedStateOf(tenant).namespace}.json`);
    await expect(readFile(file)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('by another version, or with another offset parameter, is not used', async () => {
    const stored = { version: 2, pageParam: 'from', routes: { company: { maxSize: 25 } } };
    const open = async (value: unknown, pageParam = 'from') => {
      const profile = new ServiceProfile(pageParam, {
        load: async () => value,
        save: async () => {},
      });
      await profile.ready();
      return profile.all;
    };
    expect(await open(stored)).toEqual(stored.routes);
    expect(await open(stored, 'offset')).toEqual({});
    for (const value of [{ ...stored, version: 3 }, 'text', undefined, { version: 2 }]) {
      expect(await open(value)).toEqual({});
    }
  });

  test('is learnt again if it cannot be stored', async () => {
    const failing = { load: () => Promise.reject(new Error('lost')), save: () => Promise.reject() };
    const profile = new ServiceProfile('from', failing);
    await profile.ready();
    profile.learn('company', { maxSize: 25 });
    await profile.saved();
    expect(profile.of('company').maxSize).toBe(25);
  });

  test('is kept for a day', async () => {
    const profile = new ServiceProfile('from');
    profile.learn('company', { maxSize: 25 });
    later(23 * hour);
    expect(profile.of('company').maxSize).toBe(25);
    later(2 * hour);
    expect(profile.of('company').maxSize).toBeUndefined();
  });

  test('in a damaged file is learnt again', async () => {
    const folder = await newStateFolder();
    const { open } = await serving({ maxSize: { rows: 25, over: 400 } });
    const tenant = closing(open(folder));
    await writeFile(
      join(folder, `service-${sharedStateOf(tenant).namespace}.json`),
      '{"expiresAt":',
    );
    await tenant.collection('company', toolCall());
    expect(sharedStateOf(tenant).pages.traits('company').maxSize).toBe(25);
  });
});

describe('a page size that is answered with 500', () => {
  test('is tried again later', async () => {
    const { service, open } = await serving({ maxSize: { rows: 50, over: 500 } });
    const tenant = closing(open());
    await tenant.list('company', { size: 100 }, toolCall());
    expect(sharedStateOf(tenant).pages.traits('company').maxSize).toBe(50);
    service.set({ maxSize: { rows: 1_000, over: 'clamped' } });
    const half = await tenant.list('company', { size: 100 }, toolCall());
    expect(half.records).toHaveLength(50);
    later(11 * minute);
    const { records } = await tenant.list('company', { size: 100 }, toolCall());
    expect(records).toHaveLength(100);
  });

  test('is not learnt from a single 500', async () => {
    const { service, open } = await serving({ maxSize: { rows: 50, over: 500 } });
    const tenant = closing(open());
    const reading = tenant.list('company', { size: 100 }, toolCall());
    await vi.waitFor(() => expect(service.requests()).toBe(1), { interval: 1 });
    service.set({ maxSize: { rows: 1_000, over: 'clamped' } });
    expect((await reading).records).toHaveLength(100);
    expect(sharedStateOf(tenant).pages.traits('company')).not.toHaveProperty('maxSize');
  });
});

test('a page size that is refused only later is learnt', async () => {
  const { service, open } = await serving({});
  const tenant = closing(open());
  await tenant.list('company', { size: 100 }, toolCall());
  service.set({ maxSize: { rows: 25, over: 400 } });
  const { records } = await tenant.list('company', { size: 100 }, toolCall());
  expect(records).toHaveLength(25);
});

test('an offset that changes its meaning is learnt', async () => {
  const { service, open } = await serving({});
  const tenant = closing(open());
  await tenant.collection('company', toolCall());
  service.set({ offset: pages });
  later(40 * minute);
  const { coverage } = await tenant.collection('company', toolCall());
  expect(coverage).toMatchObject({ complete: true, read: 130 });
});
