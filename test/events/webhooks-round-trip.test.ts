import { describe, expect, test } from 'vitest';
import { type Connection, open } from '../support/hosts.ts';
import { describeWith } from '../support/needs.ts';
import { startRedis } from '../support/redis.ts';
import { announce, requestsTo, type Sandbox, startSandbox } from '../support/sandbox.ts';
import { ask } from '../support/sandbox-client.ts';
import { shared } from '../support/shared.ts';
import { until } from '../support/until.ts';
import { deliver, webhookSecret, webhooksAt } from '../support/webhooks.ts';

/** Collections stay fresh for the whole test, unless an event drops them. */
const base = { CPQ_WEBHOOK_SECRET: webhookSecret, CPQ_FRESH_SECONDS: '86400' };

const subscribe = (sandbox: Sandbox, url: string) => {
  const [{ name }] = sandbox.tenants;
  sandbox.webhooks.subscribe({ tenant: name, url, secret: webhookSecret });
};

/** Resolves when all deliveries have been received. */
async function arrived(sandbox: Sandbox): Promise<void> {
  await until(() => sandbox.webhooks.waiting).toBe(0);
}

async function write(sandbox: Sandbox, path: string, body: object) {
  const { status, json, text } = await ask(sandbox.tenants[0], path, { method: 'PUT', body });
  if (status >= 300) throw new Error(text);
  return json;
}

/** An open deal, and a stage that it is not in. */
async function aDeal(sandbox: Sandbox) {
  const { results } = (await ask(sandbox.tenants[0], 'opportunity?size=100')).json;
  const open = results.filter((it: Deal) => !it.closedAt && !it.deletedAt && it.pipelineStage);
  const deal: Deal = open.find((it: Deal) => it.externalIdentifier);
  const other = open.find((it: Deal) => it.pipelineStage.id !== deal.pipelineStage.id);
  return { deal, from: deal.pipelineStage, to: other.pipelineStage };
}

interface Deal {
  id: string;
  name: string;
  externalIdentifier: string;
  closedAt?: string;
  deletedAt?: string;
  pipelineStage: { id: string; name: string };
}

const requestsFor = (sandbox: Sandbox, path: string): number =>
  requestsTo(sandbox).filter((entry) => entry.path.includes(`/public-api/${path}?`)).length;

const dealIn = async ({ call }: Connection, { name }: Deal): Promise<string> =>
  (await call('cpq_find', { query: name })).text;

/** How many open deals a brief counts in a stage. */
const openIn = async ({ call }: Connection, { id }: { id: string }): Promise<number> => {
  const { open } = (await call('cpq_brief_pipeline', { stage: id })).data;
  return (open as { count: number }).count;
};

async function start() {
  const sandbox = await startSandbox({ scale: 0.1 });
  return { sandbox, server: await open({ at: sandbox, env: base }) };
}

describe('a change in the service', () => {
  const opened = shared(start);

  test('appears in the next answer and in the list of events', async () => {
    const { sandbox, server } = await start();
    subscribe(sandbox, webhooksAt(server.url ?? '', 'default'));
    const { deal, from, to } = await aDeal(sandbox);
    expect(await dealIn(server, deal)).toContain(from.name);
    const openBefore = await openIn(server, to);
    expect(await openIn(server, to)).toBe(openBefore);
    const before = requestsFor(sandbox, 'opportunity');

    const path = `opportunity/ext/${deal.externalIdentifier}`;
    await write(sandbox, path, { name: deal.name, pipelineStageId: to.id });
    await arrived(sandbox);
    expect(await dealIn(server, deal)).toContain(to.name);
    expect(await openIn(server, to)).toBe(openBefore + 1);
    expect(requestsFor(sandbox, 'opportunity')).toBeGreaterThan(before);

    const { records, page } = await server.call('cpq_list_events', { subject: 'opportunity' });
    expect(page).toEqual({ shown: 2, from: 0, total: 2 });
    const events = records.map(({ event, id, name }) => ({ event, id, name }));
    expect(events).toContainEqual({ event: 'status_changed', id: deal.id, name: deal.name });
    expect(events).toContainEqual({ event: 'updated', id: deal.id, name: deal.name });
    // The first of the two was compared with the collection that was cached before.
    const changes = records.flatMap((row) => row.changes as string[]);
    expect(changes).toContain(`stage: "${from.name}" → "${to.name}"`);
  });

  test('delivered with others drops each of their cached collections', async () => {
    const { sandbox, server } = await opened();
    const { deal } = await aDeal(sandbox);
    const paths = ['opportunity', 'company', 'contact'] as const;
    const counted = () => paths.map((path) => requestsFor(sandbox, path));
    await dealIn(server, deal);
    const before = counted();
    await deliver(webhooksAt(server.url ?? '', 'default'), [
      { eventId: 'e1', entityType: 'Opportunity', entityId: deal.id, action: 'updated' },
      { eventId: 'e2', entityType: 'Company', entityId: 'c1', action: 'updated' },
    ]);
    await dealIn(server, deal);
    const [deals, companies, contacts] = counted();
    expect(deals).toBeGreaterThan(before[0] ?? 0);
    expect(companies).toBeGreaterThan(before[1] ?? 0);
    expect(contacts).toBe(before[2]);
  });

  test.each([
    ['in a header', { id: 'o1', name: 'Renewal' }, 400],
    ['in a form', 'event=opportunity.updated&id=o1', 400],
    ['of another subject', { event: 'deal.moved', data: { id: 'o1' } }, 200],
    ['among others', [{ event: 'contact.updated' }, { id: 'o1' }], 200],
  ])('that is not understood, %s, drops every cached collection', async (_, payload, status) => {
    const { sandbox, server } = await opened();
    const { deal } = await aDeal(sandbox);
    await dealIn(server, deal);
    const counted = () => ['opportunity', 'company'].map((path) => requestsFor(sandbox, path));
    const [deals = 0, companies = 0] = counted();
    const sent = await deliver(webhooksAt(server.url ?? '', 'default'), payload);
    expect(sent.status).toBe(status);
    await dealIn(server, deal);
    expect(counted()[0]).toBeGreaterThan(deals);
    expect(counted()[1]).toBeGreaterThan(companies);
  });

  test('that leads to an order shows the order, which no route returns', async () => {
    const { sandbox, server } = await start();
    subscribe(sandbox, webhooksAt(server.url ?? '', 'default'));
    const quote = { id: 'q1', number: 'Q-1', title: 'Refresh of the core', status: 'draft' };
    const order = { id: 'o1', quoteId: quote.id, status: 'created' };
    announce(sandbox, 'quote', 'created', quote);
    await arrived(sandbox);
    announce(sandbox, 'quote', 'ordered', { ...quote, status: 'approved' });
    announce(sandbox, 'order', 'created', order);
    await arrived(sandbox);
    const { records } = await server.call('cpq_list_events', { event: 'created' });
    expect(records).toContainEqual(
      expect.objectContaining({
        ...{ subject: 'order', event: 'created', id: order.id },
        order: expect.objectContaining({ quoteId: quote.id, status: 'created' }),
      }),
    );
    const ordered = await server.call('cpq_list_events', { subject: 'quote', event: 'ordered' });
    expect(ordered.records[0]).toMatchObject({ name: `${quote.number} Refresh of the core` });
    expect(ordered.records[0]?.changes).toContain('status: "draft" → "approved"');
  });
});

async function replicas(more: Record<string, string> = {}) {
  const sandbox = await startSandbox({ scale: 0.1 });
  const redis = await startRedis('canary0redis0password');
  const env = { ...base, CPQ_REDIS_URL: redis.url.href, ...more };
  const [one, other] = [
    await open({ at: sandbox, as: 'all', env }),
    await open({ at: sandbox, as: 'all', env }),
  ];
  for (const { output } of [one, other]) output.guard('canary0redis0password');
  return { sandbox, redis, one, other };
}

describeWith('redis', 'two replicas on one Redis', () => {
  const writing = { CPQ_GRANTS: 'read,opportunity:write', CPQ_CONSENT: 'token' };
  const both = shared(() => replicas(writing));

  test('read a collection once between them, and both see a change delivered to one', async () => {
    const { sandbox, one, other } = await both();
    subscribe(sandbox, webhooksAt(one.url ?? '', 'default'));
    const { deal, from, to } = await aDeal(sandbox);
    const seen = requestsFor(sandbox, 'opportunity');
    for (const text of await Promise.all([dealIn(one, deal), dealIn(other, deal)]))
      expect(text).toContain(from.name);
    const once = requestsFor(sandbox, 'opportunity') - seen;
    const path = `opportunity/ext/${deal.externalIdentifier}`;
    await write(sandbox, path, { name: deal.name, pipelineStageId: to.id });
    await arrived(sandbox);
    await until(() => dealIn(other, deal)).toContain(to.name);
    expect(await dealIn(one, deal)).toContain(to.name);
    const { json } = await ask(sandbox.tenants[0], 'opportunity?size=1');
    // One walk in pages of 100; each replica first asks how many there are. After the event one brings it up to date.
    const walk = Math.ceil(json.total / 100);
    expect(once).toBe(2 + walk);
    expect(requestsFor(sandbox, 'opportunity') - seen - 1).toBeLessThanOrEqual(2 + walk + 3);
    const { records } = await other.call('cpq_list_events', { subject: 'opportunity' });
    expect(records).toHaveLength(2);
  });

  test('share one rate budget', async () => {
    const { sandbox, one, other } = await replicas({ CPQ_RATE_LIMIT: '34' });
    const { total } = (await ask(sandbox.tenants[0], 'company?size=1')).json;
    // The first list of each also asks whether the total is right.
    for (const server of [one, other]) await server.call('cpq_list_companies', { size: 5 });
    const before = requestsFor(sandbox, 'company');
    // A total that goes by the page is tested with a request more.
    const sizes = Array.from({ length: 64 }, (_, at) => 1 + at)
      .filter((size) => ![total / 2, total - 1, total].includes(size))
      .slice(0, 60);
    // Each from offset 0: with the first offset a server also tests what the service's offsets mean.
    const calls = sizes.map((size, at) =>
      (at % 2 ? one : other).ask('cpq_list_companies', { size }),
    );
    const refused = (await Promise.all(calls)).filter(({ isError }) => isError);
    expect(requestsFor(sandbox, 'company') - before).toBe(30);
    expect(refused).toHaveLength(30);
    expect(refused[0]?.text).toMatch(/budget.*used up.*Ask again in \d+ seconds/);
  });

  test('accept a consent once, wherever it was given, and both see what was written', async () => {
    const { sandbox, one, other } = await both();
    const { deal } = await aDeal(sandbox);
    const described = async (server: Connection) =>
      (await server.call('cpq_list_changes')).records.length;
    for (const server of [one, other]) expect(await dealIn(server, deal)).toContain(deal.name);
    const change = { opportunity_id: deal.id, name: 'Renamed by one of two' };
    const { data } = await one.ask('cpq_upsert_opportunity', change);
    expect(data.outcome).toBe('not_asked');
    const confirmed = { ...change, confirm: data.confirm };
    const written = await other.call('cpq_upsert_opportunity', confirmed);
    expect(written.data.outcome).toBe('written');
    expect((await one.ask('cpq_upsert_opportunity', confirmed)).data.outcome).not.toBe('written');
    await until(() => dealIn(one, { ...deal, name: change.name })).toContain(change.name);
    expect([await described(one), await described(other)]).toEqual([1, 1]);
  });
});

describeWith('redis', 'replicas that lose Redis', () => {
  test('read without Redis, refuse writes and webhooks, and recover', async () => {
    const { sandbox, redis, one } = await replicas({
      ...{ CPQ_GRANTS: 'read,opportunity:write', CPQ_TOOLSETS: 'routes,briefs,events,changes' },
      CPQ_FRESH_SECONDS: '0',
    });
    await redis.kill();
    const { deal } = await aDeal(sandbox);
    expect(await dealIn(one, deal)).toContain(deal.name);
    const change = { opportunity_id: deal.id, description: 'from here' };
    const refused = await one.refused('cpq_upsert_opportunity', change);
    expect(refused).toMatch(/journal|cannot be written|reach/i);
    const payload = { event: 'quote.ordered', eventId: 'e1', data: { id: 'q1' } };
    const at = webhooksAt(one.url ?? '', 'default');
    expect((await deliver(at, payload)).status).toBe(503);
    expect(await one.refused('cpq_list_events')).toMatch(
      /cannot be reached.*Ask again in a minute/,
    );
    await redis.start();
    await until(async () => (await deliver(at, payload)).status).toBe(200);
    expect((await one.call('cpq_list_events')).records).toHaveLength(1);
    expect(one.output.stderr).toMatch(/shared state lost[\s\S]*shared state back/);
    // The loss is logged once, and not for each delivery.
    expect(one.output.stderr).not.toContain('webhook not stored');
  });
});
