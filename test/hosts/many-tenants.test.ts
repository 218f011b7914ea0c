import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import type { CpqHost, CpqHostOptions, CpqServer, CpqTenantOptions } from '../../src/index.ts';
import type { Person } from '../support/clients.ts';
import { personAnswers } from '../support/consent.ts';
import { callsOf } from '../support/hosts.ts';
import { connectTo, shipped } from '../support/in-process.ts';
import { describeWith } from '../support/needs.ts';
import { startRedis } from '../support/redis.ts';
import { closing, newFolder, shared } from '../support/shared.ts';
import { until } from '../support/until.ts';
import { startUpstream } from '../support/upstream/upstream.ts';
import { webhookSecret } from '../support/webhooks.ts';

const service = shared(async () => closing(await startUpstream({ seed: 1 })));
const stateDir = shared(async () => newFolder());

async function openHost(options: CpqHostOptions = {}): Promise<CpqHost> {
  const { createCpqHost } = await shipped();
  return closing(createCpqHost({ stateDir: await stateDir(), logLevel: 'silent', ...options }));
}

const keyOf = (name: string): string => `many0tenants0key0of0${name}`;

const tenantIn = async (host: CpqHost, name: string, options: CpqTenantOptions = {}) =>
  host.tenant({ name, baseUrl: (await service()).url, apiKey: keyOf(name), ...options });

const callOf = async (client: Client, name: string, args: Record<string, unknown> = {}) =>
  (await callsOf(client).ask(name, args)).text;

describe('the tenants of a host', () => {
  test('share connections, and each sends its own key', async () => {
    const [host, upstream] = [await openHost(), await service()];
    const names = Array.from({ length: 6 }, (_, at) => `shared${at}`);
    upstream.reset();
    const sockets = upstream.openSockets();
    for (const name of names) {
      const client = await connectTo(await tenantIn(host, name));
      expect(await callOf(client, 'cpq_list_companies', { size: 2 })).toContain('2 of');
    }
    const keys = new Set(upstream.requests.map(({ headers }) => headers['api-key']));
    expect(keys).toEqual(new Set(names.map(keyOf)));
    // A second one is opened if a request follows before the first is free again.
    expect(upstream.openSockets() - sockets).toBeLessThanOrEqual(2);
    await host.close();
    await until(() => upstream.openSockets()).toBe(sockets);
  });

  test('close on their own: connections stay open for the others', async () => {
    const host = await openHost();
    const [first, second] = [await tenantIn(host, 'first'), await tenantIn(host, 'second')];
    const clients = [await connectTo(first), await connectTo(second)] as const;
    for (const client of clients) await callOf(client, 'cpq_list_companies', { size: 2 });
    await first.close();
    await expect(callOf(clients[0], 'cpq_list_companies', { size: 2 })).rejects.toThrow();
    expect(await callOf(clients[1], 'cpq_list_companies', { size: 2 })).toContain('2 of');
  });

  test('share one cap of memory', async () => {
    const upstream = closing(await startUpstream({ seed: 2, counts: { '/opportunity': 400 } }));
    const own = { baseUrl: upstream.url, keepCollections: 'off' as const };
    /** Reads opportunities twice for every tenant. @returns the number of requests of the second time */
    const repeatedRequests = async (cacheMegabytes: number, names: readonly string[]) => {
      const host = await openHost({ cacheMegabytes });
      const clients: Client[] = [];
      for (const name of names) clients.push(await connectTo(await tenantIn(host, name, own)));
      for (const client of clients) await callOf(client, 'cpq_brief_pipeline');
      upstream.requests.length = 0;
      for (const client of clients) await callOf(client, 'cpq_brief_pipeline');
      return upstream.requests.filter(({ path }) => path.endsWith('/opportunity')).length;
    };
    const many = ['one', 'two', 'three', 'four', 'five', 'six'];
    expect(await repeatedRequests(2, ['one'])).toBe(0);
    expect(await repeatedRequests(2, many)).toBeGreaterThan(0);
    expect(await repeatedRequests(24, many)).toBe(0);
  });

  test('of one address and different keys cannot have the same name', async () => {
    const [host, { CpqOptionError }] = [await openHost(), await shipped()];
    const { url: baseUrl } = await service();
    const first = await host.tenant({ baseUrl, apiKey: keyOf('a'), name: 'a' });
    const another = host.tenant({ baseUrl, apiKey: keyOf('b'), name: 'a' });
    await expect(another).rejects.toThrow(CpqOptionError);
    await expect(another).rejects.toThrow(/^name: .* is open with another key/);
    const narrow = { apiKey: keyOf('a'), name: 'a', grants: ['company:read'] } as const;
    const second = await host.tenant({ baseUrl, ...narrow });
    await host.tenant({ baseUrl, apiKey: keyOf('b'), name: 'b' });
    await first.close();
    const renewed = { baseUrl, apiKey: keyOf('c'), name: 'a' };
    await expect(host.tenant(renewed)).rejects.toThrow(/is open with another key/);
    await second.close();
    await host.tenant(renewed);
  });

  test('end with the host', async () => {
    const host = await openHost();
    const client = await connectTo(await tenantIn(host, 'ending'));
    const ended = new Promise<void>((resolve) => (client.onclose = resolve));
    await host.close();
    await ended;
    await expect(tenantIn(host, 'late')).rejects.toThrow('the host is closed');
  });

  test.each<[CpqHostOptions, CpqTenantOptions, RegExp]>([
    [{ grants: ['read'] } as never, {}, /^There is no option "grants" here. Known: stateDir/],
    [{ cacheMegabytes: 0 }, {}, /^cacheMegabytes: must be/],
    [{}, { cacheMegabytes: 4 } as never, /^"cacheMegabytes" is an option of the host$/],
    [{}, { name: 'Not a name' }, /^a name may contain/],
    [{}, { name: null } as never, /^a name may contain/],
    [{}, { baseUrl: 'nowhere' }, /^baseUrl: is not a web address/],
  ])('refuse %j and %j', async (hostOptions, tenantOptions, message) => {
    const opening = async () => tenantIn(await openHost(hostOptions), 'refused', tenantOptions);
    await expect(opening()).rejects.toThrow(message);
    await expect(opening()).rejects.toMatchObject({ name: 'CpqOptionError' });
  });
});

test('tenants of one address and no name see nothing of another key, opened before or beside', async () => {
  const upstream = closing(await startUpstream({ seed: 5 }));
  const options = {
    baseUrl: upstream.url,
    grants: ['read', 'opportunity:write'],
    toolsets: ['routes', 'changes', 'events'],
    webhookSecret,
  } as const;
  const host = await openHost();
  const first = await host.tenant({ ...options, apiKey: keyOf('before') });
  const writer = await connectTo(first, { person: personAnswers.accepts });
  const write = { external_id: 'SECRET-1', create: true, name: 'Only for the first' };
  expect(await callOf(writer, 'cpq_upsert_opportunity', write)).toContain('Only for the first');
  const body = JSON.stringify({ event: 'quote.ordered', data: { id: 'q-first' } });
  const headers = { 'x-webhook-secret': webhookSecret };
  const delivery = new Request('https://host.example/hooks', { method: 'POST', body, headers });
  expect((await first.receiveWebhook(delivery)).status).toBe(200);
  const beside = await host.tenant({ ...options, apiKey: keyOf('beside') });
  await first.close();
  const after = await host.tenant({ ...options, apiKey: keyOf('after') });
  const program = await openHost();
  const later = await program.tenant({ ...options, apiKey: keyOf('later') });
  for (const cpq of [beside, after, later]) {
    const client = await connectTo(cpq);
    expect(await callOf(client, 'cpq_list_changes')).not.toContain('Only for the first');
    expect(await callOf(client, 'cpq_list_events')).not.toContain('q-first');
  }
  const again = await connectTo(await program.tenant({ ...options, apiKey: keyOf('before') }));
  expect(await callOf(again, 'cpq_list_changes')).toContain('Only for the first');
  expect(await callOf(again, 'cpq_list_events')).toContain('q-first');
});

describe.each(['legacy', 'modern'] as const)('a host of the %s era', (era) => {
  test('asks its own user before a write', async () => {
    const upstream = closing(await startUpstream({ seed: 3 }));
    const options = { baseUrl: upstream.url, grants: ['read', 'opportunity:write'] } as const;
    const cpq = await tenantIn(await openHost(), 'asked', options);
    const questions: string[] = [];
    let answer = personAnswers.declines as Person;
    const person: Person = (question) => {
      questions.push(question.message);
      return answer(question);
    };
    const client = await connectTo(cpq, { era, person });
    const write = { external_id: 'ASK-1', create: true, name: 'Asked first' };
    expect(await callOf(client, 'cpq_upsert_opportunity', write)).toContain('Nothing was written');
    answer = personAnswers.accepts;
    await callOf(client, 'cpq_upsert_opportunity', write);
    expect(questions).toHaveLength(2);
    expect(questions[0]).toContain('Asked first');
    const puts = upstream.requests.filter(({ method }) => method === 'PUT');
    expect(puts).toHaveLength(1);
  });

  test('is told of progress, and cancels or leaves', async () => {
    const upstream = closing(await startUpstream({ seed: 4, counts: { '/opportunity': 900 } }));
    const slow = await tenantIn(await openHost(), 'slow', { baseUrl: upstream.url });
    const client = await connectTo(slow, { era });
    const brief = { name: 'cpq_brief_pipeline', arguments: {} };
    const reported: number[] = [];
    await client.callTool(brief, { onprogress: ({ progress }) => reported.push(progress) });
    expect(reported.length).toBeGreaterThan(0);
    upstream.set({ onRequest: () => new Promise(() => {}) });
    const stop = new AbortController();
    const find = { name: 'cpq_list_companies', arguments: { size: 2 } };
    for (const end of [() => stop.abort(new Error('enough')), () => client.close()]) {
      upstream.requests.length = 0;
      const call = client.callTool(find, stop.signal.aborted ? {} : { signal: stop.signal });
      call.catch(() => {});
      await until(() => upstream.requests.length).toBeGreaterThan(0);
      await end();
      await expect(call).rejects.toThrow();
      // Sooner than the call would end by itself.
      const areAborted = () => upstream.requests.every(({ aborted }) => aborted);
      await expect.poll(areAborted, { timeout: 40_000 }).toBe(true);
    }
  });
});

describe('webhooks of a host', () => {
  const event = (name: string) => ({
    id: `event-of-${name}`,
    type: 'quote.approved',
    createdAt: '2026-07-01T12:00:00Z',
    data: { id: 'QuoteQuoteQuoteQuote', number: `Q-${name}` },
  });
  const delivery = (path: string, body: string, headers: Record<string, string> = {}) =>
    new Request(`https://host.example/hooks/${path}`, { method: 'POST', body, headers });

  test('are stored for their tenant only', async () => {
    const host = await openHost();
    const secrets = { webhookSecret, toolsets: ['routes', 'events'] } as const;
    const [one, two] = [
      await tenantIn(host, 'hooks-one', secrets),
      await tenantIn(host, 'hooks-two', { ...secrets, webhookSecret: `${webhookSecret}2` }),
    ];
    const body = JSON.stringify(event('one'));
    const byHeader = delivery('one', body, { 'x-webhook-secret': webhookSecret });
    expect((await one.receiveWebhook(byHeader)).status).toBe(200);
    const escaped = `%${webhookSecret.charCodeAt(0).toString(16)}${webhookSecret.slice(1)}`;
    for (const secret of [webhookSecret, escaped]) {
      const byPath = await one.receiveWebhook(delivery(`one/${secret}`, body));
      expect(await byPath.json()).toEqual({ status: 'known' });
    }
    const wrong = delivery('two', body, { 'x-webhook-secret': webhookSecret });
    expect((await two.receiveWebhook(wrong)).status).toBe(401);
    const events = async (cpq: CpqServer) => callOf(await connectTo(cpq), 'cpq_list_events');
    expect(await events(one)).toContain('QuoteQuoteQuoteQuote');
    expect(await events(two)).not.toContain('QuoteQuoteQuoteQuote');
  });

  test('have the secret, are small, and posted', async () => {
    const cpq = await tenantIn(await openHost(), 'signed', { webhookSecret });
    const body = JSON.stringify(event('signed'));
    const signed = { 'x-webhook-secret': webhookSecret };
    const statusOf = async (request: Request) => (await cpq.receiveWebhook(request)).status;
    expect(await statusOf(delivery('x', body, signed))).toBe(200);
    expect(await statusOf(delivery('x', 'x'.repeat(1024 * 1024 + 1), signed))).toBe(413);
    const compressed = { ...signed, 'content-encoding': 'gzip' };
    expect(await statusOf(delivery('x', body, compressed))).toBe(415);
    expect(await statusOf(delivery('x', body))).toBe(401);
    const read = await cpq.receiveWebhook(new Request('https://host.example/hooks/x'));
    expect([read.status, read.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('need a secret', async () => {
    const cpq = await tenantIn(await openHost(), 'no-secret');
    const received = cpq.receiveWebhook(delivery('x', '{}'));
    await expect(received).rejects.toMatchObject({ name: 'CpqOptionError' });
  });
});

describeWith('redis', 'a host with Redis', () => {
  test('has one connection to it, whatever the number of tenants', async () => {
    const redis = await startRedis();
    const host = await openHost({ redisUrl: redis.url });
    for (const name of ['a', 'b', 'c', 'd'])
      await callOf(await connectTo(await tenantIn(host, name)), 'cpq_list_companies', { size: 2 });
    const clients = (await redis.ask('CLIENT', 'LIST')).match(/\bid=/g) ?? [];
    // The second is the test's own.
    expect(clients).toHaveLength(2);
    await host.close();
  });

  test('that refuses the password opens no tenant, and one as soon as it accepts it', async () => {
    const redis = await startRedis('the-password');
    const redisUrl = new URL(redis.url);
    redisUrl.password = 'another';
    const refused = await openHost({ redisUrl });
    await expect(tenantIn(refused, 'a')).rejects.toThrow(/password/);
    await refused.close();

    const host = await openHost({ redisUrl });
    await expect(tenantIn(host, 'a')).rejects.toThrow(/password/);
    await redis.ask('CONFIG', 'SET', 'requirepass', 'another');
    await callOf(await connectTo(await tenantIn(host, 'a')), 'cpq_list_companies', { size: 2 });
    await host.close();
  });
});
