import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { openCommon } from '../../src/commands/common.ts';
import { readSettings } from '../../src/config.ts';
import { deleteExpiredSnapshots } from '../../src/history/history.ts';
import { createLog } from '../../src/log.ts';
import { localState } from '../../src/state/files/local.ts';
import type { State } from '../../src/state/port.ts';
import { closing, newFolder } from '../support/shared.ts';
import { storedHistory } from '../support/stored-history.ts';

/** The snapshots of tenants that nobody reads any more, such as those of a key that was replaced. */

/** Stores a snapshot on the day that is so many days before today. */
async function store(state: State, tenant: string, keepDays: number, ...daysAgo: number[]) {
  for (const back of daysAgo) {
    const takenAt = new Date(Date.now() - back * 86_400_000);
    const history = storedHistory(state.snapshots(tenant), keepDays, () => takenAt);
    await history.save([{ id: 'a' }], takenAt);
  }
}

const tenantsIn = async (state: State) => (await state.stored()).map(({ tenant }) => tenant);

test('expire after the days that they were stored for, and nothing remains of the last one', async () => {
  const state = localState(newFolder());
  await store(state, 'month', 30, 50, 40, 29);
  await store(state, 'year', 400, 50, 40);
  const later = (days: number) => new Date(Date.now() + days * 86_400_000);
  const days = async (tenant: string) =>
    (await storedHistory(state.snapshots(tenant), 400).days()).length;
  expect([await days('month'), await days('year')]).toEqual([3, 2]);
  await deleteExpiredSnapshots(state, new Date());
  expect([await days('month'), await days('year')]).toEqual([1, 2]);
  await deleteExpiredSnapshots(state, later(62));
  expect([await tenantsIn(state), await days('year')]).toEqual([['year'], 2]);
  await deleteExpiredSnapshots(state, later(500));
  expect(await state.stored()).toEqual([]);
});

test('are left alone where it is not known for how long they are kept', async () => {
  const state = localState(newFolder());
  await store(state, 'tenant', 30, 29);
  for (const unknown of ['', 'unknown', '0', '-1']) {
    await state.snapshots('tenant').write('keep-days', Buffer.from(unknown));
    await deleteExpiredSnapshots(state, new Date(Date.now() + 100 * 86_400_000));
    expect((await state.snapshots('tenant').names()).length).toBe(2);
  }
});

test('are deleted by every server, a minute after its start and each day, until it is closed', async () => {
  const settings = readSettings(['--state-dir', newFolder()], {});
  const toFake = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] as const;
  vi.useFakeTimers({ toFake: [...toFake] });
  closing({ close: async () => void vi.useRealTimers() });
  const { state } = await openCommon(settings, createLog(settings.logLevel));
  for (const [index, waitMs] of [60_000, 86_400_000].entries()) {
    const tenant = `tenant${index}`;
    await store(state, tenant, 30, 31, 1);
    const days = () => storedHistory(state.snapshots(tenant), 30).days();
    expect(await days()).toHaveLength(2);
    vi.advanceTimersByTime(waitMs);
    while ((await days()).length > 1) await setImmediate();
    expect(await days()).toHaveLength(1);
  }
  await state.close();
  expect(vi.getTimerCount()).toBe(0);
});

test('are found beside other files and copies, and expire although those of one tenant cannot be read', async () => {
  const folder = newFolder();
  const state = localState(folder);
  await store(state, 'tenant', 30, 31, 1);
  await cp(join(folder, 'history-tenant'), join(folder, 'history-tenant.bak'), { recursive: true });
  await writeFile(join(folder, 'history-notes.txt'), 'notes');
  // Instead of the file there is a folder, which cannot be read.
  await mkdir(join(folder, 'history-another', 'keep-days'), { recursive: true });
  expect(await tenantsIn(state)).toEqual(['another', 'tenant']);
  await expect(deleteExpiredSnapshots(state, new Date())).rejects.toThrow();
  expect(await storedHistory(state.snapshots('tenant'), 30).days()).toHaveLength(1);
  expect(await readdir(join(folder, 'history-tenant.bak'))).toHaveLength(3);
});
