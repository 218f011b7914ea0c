import { describe, expect, test } from 'vitest';
import { localState } from '../../src/state/files/local.ts';
import { callerAt, callToolRequest, send, startKeyed } from '../support/access.ts';
import { openWriter } from '../support/consent.ts';
import type { Caller } from '../support/hosts.ts';
import { describeWith } from '../support/needs.ts';
import { startRedis } from '../support/redis.ts';
import { closing, newFolder } from '../support/shared.ts';
import { hookOf, keyOf, type Many, startMany } from '../support/tenants.ts';
import { until } from '../support/until.ts';
import { only } from '../support/upstream/behaviour.ts';
import { startUpstream, type Upstream } from '../support/upstream/upstream.ts';
import { deliver, webhooksAt } from '../support/webhooks.ts';

/** A key that the service stops accepting while the server runs. */

const key = keyOf('only');

const startService = async (): Promise<Upstream> =>
  closing(await startUpstream({ keys: new Set([key]) }));

const serve = (upstream: Upstream, env: Record<string, string> = {}): Promise<Many> => {
  const entry = {
    baseUrl: upstream.url,
    apiKey: key,
    webhookSecret: hookOf('only'),
    grants: ['read', 'opportunity:write'],
    toolsets: ['routes', 'briefs', 'changes', 'events'],
  };
  return startMany({ only: entry }, ['only'], env, 'read,opportunity:write');
};

const callerOf = async (server: Many): Promise<Caller> =>
  closing(await callerAt(server, server.as('only')));

const revoke = (upstream: Upstream) => upstream.set({ keys: new Set<string>() });

const event = (id: string) => ({ id, event: 'company.updated', data: { id, name: `Name ${id}` } });

const deliverTo = (server: Many, id: string) =>
  deliver(webhooksAt(server.url, 'only'), event(id), { 'x-webhook-secret': hookOf('only') });

const fromMemory: [string, Record<string, unknown>][] = [
  ['cpq_find', { query: 'Acme' }],
  ['cpq_list_categories', {}],
  ['cpq_brief_pipeline', {}],
  ['cpq_list_events', {}],
  ['cpq_list_changes', {}],
];

test('a refused key is refused in all processes, and no other key of the tenant', async () => {
  const { url, set } = closing(await startUpstream());
  const state = localState(newFolder());
  const open = (key: string) => openWriter({ baseUrl: url, key }, { state });
  const all = await Promise.all(['one-key-0123', 'one-key-0123', 'other-key-0123'].map(open));
  set({ keys: new Set(['other-key-0123']) });
  const [first, , other] = all;
  expect((await first?.call('cpq_list_companies', {}))?.isError).toBe(true);
  expect(all.map(({ tenant }) => tenant.key.refused)).toEqual([true, true, false]);
  expect((await other?.call('cpq_list_companies', {}))?.isError).toBe(false);
});

describe('after the service refused the key', () => {
  test('nothing is answered from the cache until the service accepts a request again', async () => {
    const upstream = await startService();
    const server = await serve(upstream);
    const { ask } = await callerOf(server);
    expect((await deliverTo(server, 'kept')).status).toBe(200);
    for (const [tool, args] of fromMemory) expect((await ask(tool, args)).isError).toBe(false);
    revoke(upstream);
    expect((await ask('cpq_list_companies')).text).toContain('key was not accepted');
    for (const [tool, args] of fromMemory) {
      const { isError, text } = await ask(tool, args);
      expect({ tool, isError, text }).toMatchObject({
        isError: true,
        text: expect.stringContaining('key was not accepted'),
      });
    }
    // An outage says nothing about the key.
    upstream.set({ status: { code: 503 } });
    expect((await ask('cpq_list_events')).isError).toBe(true);
    upstream.set({ status: undefined, keys: new Set([key]) });
    const accepted = upstream.requests.length;
    for (const [tool, args] of fromMemory) expect((await ask(tool, args)).isError).toBe(false);
    // What was read before is read anew.
    const read = upstream.requests.slice(accepted).map(({ route }) => route);
    expect(read).toEqual(expect.arrayContaining(['/category', '/opportunity', '/quote']));
    // The key is not checked any more.
    const before = upstream.requests.length;
    for (const [tool, args] of fromMemory) expect((await ask(tool, args)).isError).toBe(false);
    expect(upstream.requests).toHaveLength(before);
  });

  test('a collection that it may no longer read is not answered from the cache', async () => {
    const upstream = await startService();
    const { ask } = await callerOf(await serve(upstream));
    const find = () => ask('cpq_find', { query: 'a', kinds: ['contact'] });
    expect((await find()).isError).toBe(false);
    const forbidden = { code: 403, message: 'Forbidden resource' };
    upstream.set({ status: only(forbidden, { path: '/contact' }) });
    expect((await ask('cpq_list_contacts')).isError).toBe(true);
    const barred = await find();
    expect(barred.isError).toBe(true);
    expect(barred.text).toMatch(/does not let this key read .*contact/);
  });

  test('a caller with that key is refused', async () => {
    const upstream = await startService();
    const team = await startKeyed(upstream.url);
    const headers = { 'api-key': key };
    expect((await send(team, { headers })).status).toBe(200);
    revoke(upstream);
    const listing = await send(team, { headers, body: callToolRequest('cpq_list_companies') });
    expect(listing.text).toContain('key was not accepted');
    expect((await send(team, { headers })).status).toBe(401);
  });
});

describeWith('redis', 'replicas with a shared cache', () => {
  test('all stop answering as soon as one key refusal is seen', async () => {
    const redis = await startRedis();
    const upstream = await startService();
    const env = { CPQ_REDIS_URL: redis.url.href };
    const [one, two] = await Promise.all([serve(upstream, env), serve(upstream, env)]);
    const [here, there] = await Promise.all([callerOf(one), callerOf(two)]);
    expect((await deliverTo(one, 'kept')).status).toBe(200);
    for (const [tool, args] of fromMemory) {
      expect((await here.ask(tool, args)).isError).toBe(false);
      expect((await there.ask(tool, args)).isError).toBe(false);
    }
    revoke(upstream);
    expect((await here.ask('cpq_list_companies')).isError).toBe(true);
    await until(async () => (await there.ask('cpq_list_events')).isError).toBe(true);
    for (const [tool, args] of fromMemory) expect((await there.ask(tool, args)).isError).toBe(true);
  });
});
