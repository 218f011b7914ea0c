import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openCommon } from '../../src/commands/tenant-handle.ts';
import { configuredTenants } from '../../src/commands/tenants.ts';
import { readSettings } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { fileIn } from '../support/access.ts';
import { toolCall } from '../support/hardening-tenant.ts';
import { closing, newFolder } from '../support/shared.ts';
import { place } from '../support/tenants.ts';

/** Two tenants in one process, each of which has read its companies. */
async function openTwo() {
  const [one, two] = await Promise.all([place('one', 1), place('two', 2)]);
  const described = { one: one.described, two: two.described };
  const path = await fileIn(newFolder(), 'tenants.json', { tenants: described });
  const settings = readSettings(['--tenants-file', path, '--state-dir', newFolder()], {
    CPQ_AUTH: 'token',
  });
  const common = await openCommon(settings, createLog(settings.logLevel));
  const tenants = await configuredTenants(settings, common);
  closing({ close: () => tenants.close() });
  for (const { tenant } of tenants.handles) await tenant.collection('company', toolCall());
  const keepOnly = async (name: 'one' | 'two') => {
    await writeFile(path, JSON.stringify({ tenants: { [name]: described[name] } }));
    tenants.reload(settings);
  };
  return { cache: common.cache, tenants, keepOnly };
}

test('a tenant that is removed from the file leaves the cache at once, and calls in flight still finish', async () => {
  const { cache, tenants, keepOnly } = await openTwo();
  const [one, two] = tenants.handles.map(({ tenant }) => tenant);
  const both = cache.bytes;
  await keepOnly('two');
  expect(one?.cached('company')).toBeUndefined();
  expect(two?.cached('company')).toBeDefined();
  expect(cache.bytes).toBeLessThan(both);
  const { coverage } = (await one?.collection('company', toolCall())) ?? {};
  expect(coverage).toMatchObject({ complete: true });
});
