import { expect, test } from 'vitest';
import { parseGrants } from '../../src/tenant/grants.ts';
import { openTenant, toolCall } from '../support/hardening-tenant.ts';
import { closing } from '../support/shared.ts';

/** Only what is granted can be read and written, whatever a tool asks for: no request is sent. */

const denied = { kind: 'not-granted' };
const history = { keepDays: 10, onError: () => {} };
const tenantWith = (...grants: string[]) =>
  closing(openTenant({ url: 'http://127.0.0.1:9', grants: parseGrants(grants), history }));

test('the past of a collection has the grant of the collection', async () => {
  const tenant = tenantWith('opportunity:read');
  await expect(tenant.history('quote')).rejects.toMatchObject(denied);
  expect(await tenant.history('opportunity')).toBeDefined();
  const quotes = tenantWith('quote:read');
  await expect(quotes.history('opportunity')).rejects.toMatchObject(denied);
  expect(await quotes.history('quote')).toBeDefined();
});

test('a write has a grant of its own, and so has the record before it', async () => {
  const { writes } = tenantWith('read');
  await expect(writes.upsert('E-1', { name: 'A' }, toolCall())).rejects.toMatchObject(denied);
  await expect(tenantWith('quote:read').writes.raw('1', toolCall())).rejects.toMatchObject(denied);
});
