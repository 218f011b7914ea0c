import { expect, test } from 'vitest';
import { createSurface } from '../../src/mcp/surface.ts';
import { grantNames, parseGrants } from '../../src/tenant/grants.ts';
import { toolsets } from '../../src/tool-kit/define-tool.ts';
import { catalog } from '../../tools/catalog.ts';
import fc from '../support/fast-check.ts';
import { openTenant, toolCall } from '../support/hardening-tenant.ts';
import { closing } from '../support/shared.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

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

test('what is held is told to those alone who may read it', async () => {
  const counts = { '/company': 3, '/contact': 3 };
  const { url } = closing(await startUpstream({ counts }));
  const tenant = closing(openTenant({ url }));
  for (const name of ['company', 'contact'] as const) await tenant.collection(name, toolCall());
  expect([...tenant.heldSince().keys()]).toEqual(['company', 'contact']);
  const limited = tenant.withGrants(parseGrants(['contact:read']));
  expect([...limited.heldSince().keys()]).toEqual(['contact']);
  expect([limited.cached('company'), limited.cached('contact')?.length]).toEqual([undefined, 3]);
});

test('a tool that only views call is listed with another one that has its view', () => {
  const grants = fc.subarray([...grantNames]);
  fc.assert(
    fc.property(grants, fc.subarray([...toolsets]), (granted, some) => {
      const selection = { toolsets: new Set(some), tools: new Set<string>() };
      const { list, listWithViews } = createSurface(parseGrants(granted), selection);
      const names = new Set(list.map(({ name }) => name));
      const shown = catalog.filter(({ name }) => names.has(name)).map(({ view }) => view);
      const forViews = catalog.filter(({ view, forView }) => forView && shown.includes(view));
      expect(listWithViews.map(({ name }) => name)).toEqual([
        ...names,
        ...forViews.map(({ name }) => name),
      ]);
    }),
  );
});
