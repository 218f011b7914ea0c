import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { ask, first, type Record, rows, walk } from '../support/sandbox-client.ts';
import { newFolder } from '../support/shared.ts';

const NOW = new Date('2031-05-14T10:00:00Z');

describe('reproducible data', () => {
  const snapshot = async (options: { seed?: number; now?: Date }) => {
    const sandbox = await startSandbox({ scale: 0.05, now: NOW, rateLimit: false, ...options });
    const [tenant] = sandbox.tenants;
    const found = await Promise.all(
      ['company', 'contact', 'opportunity', 'product', 'quote', 'pricing-book'].map((path) =>
        walk(tenant, path, 100),
      ),
    );
    await sandbox.close();
    return found;
  };

  test('another day changes only the dates, and with them the order of the quotes', async () => {
    const later = await snapshot({ now: new Date('2031-09-01T10:00:00Z') });
    const names = (found: Record[][]) =>
      found.map((list) => list.map(({ id, name }) => `${id} ${name}`).sort());
    expect(names(later)).toEqual(names(await snapshot({})));
  });

  test('tenants of one sandbox do not share records', async () => {
    const sandbox = await startSandbox({ scale: 0.05 });
    const sql = 'select id from company group by id having count(distinct tenant) > 1';
    expect(rows(sandbox, sql)).toEqual([]);
    await sandbox.close();
  });

  test('the smallest scale has one of everything', async () => {
    const sandbox = await startSandbox({ scale: 0.001 });
    for (const table of [
      'company',
      'contact',
      'opportunity',
      'product',
      'quote',
      'contract_item',
    ]) {
      expect(first(sandbox, `select count(*) n from ${table}`).n).toBeGreaterThanOrEqual(2);
    }
    await sandbox.close();
  });
});

describe('a database file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = newFolder();
  });

  test('keeps written data and keys, and is not filled again', async () => {
    const file = join(folder, 'kept.db');
    const before = await startSandbox({ file, scale: 0.05 });
    const [tenant] = before.tenants;
    const body = { name: 'Still here' };
    const { json } = await ask(tenant, 'opportunity/ext/KEEP-1', { method: 'PUT', body });
    const { total } = (await ask(tenant, 'opportunity')).json;
    await before.close();

    const after = await startSandbox({ file, scale: 0.5, seed: 99 });
    const [again] = after.tenants;
    expect(again.keys).toEqual(tenant.keys);
    expect(first(after, 'select count(*) n from api_key').n).toBe(6);
    expect((await ask(again, `opportunity/${json.id}`)).json).toEqual(json);
    expect((await ask(again, 'opportunity')).json.total).toBe(total);
    await after.close();
  });

  test('a missing folder is an error', async () => {
    await expect(startSandbox({ file: join(folder, 'no', 'such', 'x.db') })).rejects.toThrow();
  });

  test('a port in use is an error', async () => {
    const sandbox = await startSandbox();
    const port = Number(new URL(sandbox.url).port);
    await expect(startSandbox({ port })).rejects.toThrow(/EADDRINUSE/);
    await sandbox.close();
  });
});
