import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { callerAt, startKeyed } from '../support/access.ts';
import { type Caller, open, type Row } from '../support/hosts.ts';
import { describeWith } from '../support/needs.ts';
import { startRedis } from '../support/redis.ts';
import { closing, newFolder } from '../support/shared.ts';
import { hookOf, keyOf, type Many, startMany } from '../support/tenants.ts';
import { startUpstream } from '../support/upstream/upstream.ts';
import { deliver, webhooksAt } from '../support/webhooks.ts';

/** Tenants at one address of the service that differ only in name and key. */

const writing = 'read,opportunity:write';
const newKey = keyOf('renewed');

async function startNeighbours(more: Record<string, string> = {}) {
  const keys = new Set([keyOf('north'), keyOf('south'), newKey]);
  const upstream = closing(await startUpstream({ keys }));
  const entryOf = (name: string): Row => ({
    baseUrl: upstream.url,
    apiKey: keyOf(name),
    webhookSecret: hookOf(name),
    grants: writing.split(','),
    consent: 'token',
    toolsets: ['routes', 'briefs', 'changes', 'events'],
    writesPerHour: 1,
  });
  const described = { north: entryOf('north'), south: entryOf('south') };
  const server = await startMany(described, ['north', 'south'], more, writing);
  return { upstream, server, described };
}

async function callers(server: Many): Promise<{ north: Caller; south: Caller }> {
  const at = async (name: string) => closing(await callerAt(server, server.as(name)));
  return { north: await at('north'), south: await at('south') };
}

/** Writes with the token of the preview. @returns the outcome, or the refusal */
async function write(caller: Caller, externalId: string): Promise<Row & { text: string }> {
  const args = { external_id: externalId, name: `Renamed ${externalId}` };
  const preview = await caller.ask('cpq_upsert_opportunity', args);
  const { confirm } = preview.data;
  if (confirm === undefined) return { ...preview.data, text: preview.text };
  const answer = await caller.ask('cpq_upsert_opportunity', { ...args, confirm });
  return { ...answer.data, text: answer.text };
}

const event = (id: string) => ({
  eventId: `event-${id}`,
  event: 'company.updated',
  data: { id, name: `Company ${id}` },
});

const deliverTo = (server: Many, name: string, payload: unknown) =>
  deliver(webhooksAt(server.url, name), payload, { 'x-webhook-secret': hookOf(name) });

function neighbours(start: () => ReturnType<typeof startNeighbours>): void {
  test('have separate journals, reverts and hourly write limits', async () => {
    const { server } = await start();
    const { north, south } = await callers(server);
    const written = await write(north, 'opp-1');
    expect(written).toMatchObject({ outcome: 'written' });
    expect((await north.ask('cpq_list_changes')).records).toHaveLength(1);
    expect((await south.ask('cpq_list_changes')).records).toEqual([]);
    const revert = await south.ask('cpq_revert_change', { change_id: written.change_id });
    expect(revert.isError).toBe(true);
    // North has used the one write of this hour.
    expect((await write(north, 'opp-2')).text).toContain('limit of 1 writes an hour');
    expect(await write(south, 'opp-3')).toMatchObject({ outcome: 'written' });
  });

  test('keep their data when their key is renewed, and give none to another entry with the old key', async () => {
    const { server, described } = await start();
    const before = await callers(server);
    expect(await write(before.north, 'opp-1')).toMatchObject({ outcome: 'written' });
    expect((await deliverTo(server, 'north', event('renewed'))).status).toBe(200);
    const { north, south } = described;
    await server.describeAs({ north: { ...north, apiKey: newKey }, south });
    const after = await callers(server);
    expect((await after.north.ask('cpq_list_changes')).records).toHaveLength(1);
    expect((await after.north.ask('cpq_list_events')).text).toContain('Company renewed');
    expect((await after.south.ask('cpq_list_changes')).records).toEqual([]);
    // North's old key now belongs to another entry, which must not see north's data.
    await server.describeAs({
      north: { ...north, apiKey: newKey },
      south: { ...south, apiKey: keyOf('north') },
    });
    const taken = await callers(server);
    expect((await taken.south.ask('cpq_list_changes')).records).toEqual([]);
    expect((await taken.south.ask('cpq_list_events')).text).not.toContain('Company renewed');
  });

  test('have separate webhook events, and an address for them each, which the server prints', async () => {
    const { server } = await start();
    const [, printed = ''] = /Webhooks: (\S+\s+\S+)/.exec(server.running.output.stdout) ?? [];
    const urls = ['north', 'south'].map((name) => webhooksAt(server.url, name));
    expect(printed.split(/\s+/)).toEqual(urls);
    const { north, south } = await callers(server);
    expect((await deliverTo(server, 'north', event('first'))).body).toEqual({ status: 'kept' });
    expect((await north.ask('cpq_list_events')).text).toContain('Company first');
    expect((await south.ask('cpq_list_events')).text).not.toContain('Company first');
    // The same event is new to the other tenant, which has its own webhook.
    expect((await deliverTo(server, 'south', event('first'))).body).toEqual({ status: 'kept' });
    expect((await deliverTo(server, 'south', event('first'))).body).toEqual({ status: 'known' });
    expect((await south.ask('cpq_list_events')).text).toContain('Company first');
  });
}

describe('two tenants at one address, with state in files', () => {
  neighbours(() => startNeighbours());
});

describeWith('redis', 'two tenants at one address, with state in Redis', () => {
  neighbours(async () => {
    const redis = await startRedis();
    return startNeighbours({ CPQ_REDIS_URL: redis.url.href });
  });
});

const addressHash = (url: string): string =>
  createHash('sha256').update(new URL(url).href).digest('hex').slice(0, 16);

describe('names of stored data', () => {
  test('a single tenant is named by its address, also as `default` in a tenants file', async () => {
    const upstream = closing(await startUpstream({ keys: new Set([keyOf('only'), newKey]) }));
    const folder = newFolder();
    const only = await open({
      at: upstream,
      key: keyOf('only'),
      grants: writing,
      toolsets: 'routes,briefs,changes',
      folder,
      env: { CPQ_CONSENT: 'token' },
    });
    await only.call('cpq_brief_pipeline');
    const args = { external_id: 'opp-1', name: 'Named' };
    const { data } = await only.call('cpq_upsert_opportunity', args);
    await only.call('cpq_upsert_opportunity', { ...args, confirm: data.confirm });
    await only.close();
    const hash = addressHash(upstream.url);
    expect((await readdir(folder)).sort()).toEqual([`changes-${hash}.jsonl`, `history-${hash}`]);
    const state = { CPQ_STATE_DIR: folder };
    const entry = { baseUrl: upstream.url, apiKey: newKey, grants: writing.split(',') };
    const described = { default: entry, other: entry };
    const server = await startMany(described, ['default', 'other'], state, writing);
    const changes = async (name: string) => {
      const caller = closing(await callerAt(server, server.as(name)));
      return (await caller.ask('cpq_list_changes')).records;
    };
    expect(await changes('default')).toMatchObject([{ opportunity: 'Named' }]);
    expect(await changes('other')).toEqual([]);
  });

  test('callers with their own keys have separate journals', async () => {
    const keys = [keyOf('mine'), keyOf('yours')];
    const upstream = closing(await startUpstream({ keys: new Set(keys) }));
    const server = await startKeyed(upstream.url, {
      CPQ_GRANTS: writing,
      CPQ_CONSENT: 'token',
      CPQ_TOOLSETS: 'routes,changes',
    });
    const [mine, yours] = await Promise.all(
      keys.map(async (key) => closing(await callerAt(server, { 'api-key': key }))),
    );
    if (!mine || !yours) return expect.unreachable();
    const written = await write(mine, 'opp-1');
    expect(written).toMatchObject({ outcome: 'written' });
    expect((await mine.ask('cpq_list_changes')).records).toHaveLength(1);
    expect((await yours.ask('cpq_list_changes')).records).toEqual([]);
  });
});
