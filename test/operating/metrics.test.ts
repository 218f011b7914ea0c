import { EventEmitter } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { addRequestFacts } from '../../src/hosts/observer.ts';
import { delay } from '../../src/state/delay.ts';
import type { Health } from '../../src/state/port.ts';
import { version } from '../../src/version.ts';
import { personAnswers } from '../support/consent.ts';
import { send } from '../support/fast-path-parity.ts';
import { legacy, legacyHeaders } from '../support/fast-path-requests.ts';
import {
  type ObservedOptions,
  type ObservedServer,
  serverGauges,
  startObservedServer,
  valuesOf,
} from '../support/observed.ts';
import { testKey } from '../support/sandbox.ts';
import { serve } from '../support/tenant-server.ts';
import { until } from '../support/until.ts';
import { showsViews } from '../support/view-client.ts';

async function start(options?: ObservedOptions): Promise<ObservedServer> {
  const open = await startObservedServer(options);
  onTestFinished(() => open.close());
  return open;
}

const list = { name: 'cpq_list_opportunities', arguments: { size: 3 } };
const callLabels = (tool: string, outcome: string) =>
  `tenant="acme",tool="${tool}",outcome="${outcome}"`;

describe('calls', () => {
  test('are counted by tool and outcome, on the fast path and by the SDK', async () => {
    const it = await start();
    const startedAt = performance.now();
    await it.plain(list);
    await it.bySdk(list);
    await it.plain({ ...list, arguments: { size: 'many' } });
    await it.bySdk({ ...list, arguments: { unknown: 1 } });
    await it.plain({ name: 'cpq_get_record', arguments: { resource: 'company', id: 'nobody' } });
    await it.bySdk({ name: 'cpq_unknown' });
    it.upstream.set({ status: { code: 503 } });
    await it.plain(list);
    expect(await it.metric('cpq_calls_total')).toEqual({
      [callLabels(list.name, 'ok')]: 2,
      [callLabels(list.name, 'refused')]: 2,
      [callLabels('cpq_get_record', 'refused')]: 1,
      [callLabels('unknown', 'refused')]: 1,
      [callLabels(list.name, 'error')]: 1,
    });
    const counts = await it.metric('cpq_call_seconds_count');
    expect(counts[`tool="${list.name}"`]).toBe(5);
    // One came after the other.
    const maxSeconds = (performance.now() - startedAt) / 1000;
    for (const name of ['cpq_call_seconds_sum', 'cpq_upstream_request_seconds_sum'])
      for (const sum of Object.values(await it.metric(name))) {
        expect(sum).toBeGreaterThan(0);
        expect(sum).toBeLessThan(maxSeconds);
      }
  });

  test.each([
    ['a list', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['a text of a list', `"${'['.repeat(100_000)}${']'.repeat(100_000)}"`],
    ['an object', `${'{"x":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ])('with a deeply nested argument are refused, %s', async (_, deep) => {
    const it = await start();
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"cpq_list_opportunities","arguments":{"fields":${deep}}}}`;
    const reply = await send(it.url, { headers: legacyHeaders, body });
    expect(reply.body).toContain('fields is nested too deeply');
    const labels = callLabels('cpq_list_opportunities', 'refused');
    expect(await it.metric('cpq_calls_total')).toEqual({ [labels]: 1 });
  });

  test('that are cancelled have an outcome of their own, and so have their requests', async () => {
    const it = await start();
    const client = await it.client();
    it.upstream.set({ delayHeaders: 10_000 });
    const gone = new AbortController();
    const called = client.callTool(list, { signal: gone.signal });
    await until(() => it.upstream.requests.length).toBe(1);
    gone.abort();
    await expect(called).rejects.toThrow();
    const labels = callLabels(list.name, 'cancelled');
    await until(() => it.metric('cpq_calls_total')).toEqual({ [labels]: 1 });
    expect(await it.metric('cpq_upstream_requests_total')).toEqual({
      'tenant="acme",outcome="cancelled"': 1,
    });
    await client.close();
  });
});

test.each([
  ['in a form', { person: personAnswers.declines }, ['asked', 'ok']],
  ['in a form, legacy', { person: personAnswers.declines, era: 'legacy' }, ['asked', 'ok']],
  ['in a view', { capabilities: showsViews }, ['asked']],
  ['by a token', {}, ['asked']],
] as const)('a question to a person is counted, %s', async (_, host, outcomes) => {
  const it = await start();
  const client = await serve(it.tenant, it.parts).connect(host);
  const name = 'cpq_upsert_opportunity';
  await client.callTool({ name, arguments: { external_id: 'Q-1', name: 'New', create: true } });
  const expected = outcomes.map((outcome) => [callLabels(name, outcome), 1]);
  expect(await it.metric('cpq_calls_total')).toEqual(Object.fromEntries(expected));
});

describe('requests to the service', () => {
  test.each([
    // The first list also asks whether the total is right.
    ['ok', {}, 2],
    ['rate-limited', { status: { code: 429, retryAfter: '3600' } }, 1],
    ['key-refused', { status: { code: 403 } }, 1],
    // Repeated without the size parameter, which may be the reason.
    ['refused', { status: { code: 400 } }, 2],
    ['server-error', { status: { code: 500 } }, 3],
    ['redirect', { redirect: { code: 302, to: 'other' } }, 1],
    ['web-page', { instead: { text: '<html>' } }, 1],
    ['timed-out', { delayHeaders: 5_000 }, 3],
    ['connection-lost', { cut: { at: 'start', how: 'reset' } }, 3],
  ] as const)(
    'with the outcome %s are counted, each attempt',
    async (outcome, behaviour, times) => {
      const limits = outcome === 'timed-out' ? { limits: { attemptMs: 500 } } : {};
      const it = await start(limits);
      it.upstream.set(behaviour);
      await it.plain(list);
      const labels = `tenant="acme",outcome="${outcome}"`;
      expect(await it.metric('cpq_upstream_requests_total')).toEqual({ [labels]: times });
      const seconds = await it.metric('cpq_upstream_request_seconds_count');
      expect(seconds).toEqual({ 'tenant="acme"': times });
      const ofCall = ['ok', 'refused'].includes(outcome) ? outcome : 'error';
      const calls = { [callLabels(list.name, ofCall)]: 1 };
      expect(await it.metric('cpq_calls_total')).toEqual(calls);
    },
  );

  test('that were never sent are counted', async () => {
    const it = await start({ requestLimit: 4 });
    await it.upstream.close();
    await it.plain(list);
    await it.plain(list);
    expect(await it.metric('cpq_upstream_requests_total')).toEqual({
      'tenant="acme",outcome="unreachable"': 4,
      'tenant="acme",outcome="budget-spent"': 1,
    });
    expect(await it.metric('cpq_budget_left')).toEqual({ 'tenant="acme"': 0 });
  });

  test('that an open circuit breaker stops are counted', async () => {
    const it = await start();
    it.upstream.set({ status: { code: 500 } });
    for (let call = 0; call < 3; call++) await it.plain(list);
    const counted = await it.metric('cpq_upstream_requests_total');
    expect(counted['tenant="acme",outcome="circuit-open"']).toBeGreaterThan(0);
    expect(counted['tenant="acme",outcome="server-error"']).toBe(it.upstream.requests.length);
  });
});

describe('gauges', () => {
  test('have the remaining budget while the tenant is open', async () => {
    const it = await start({ requestLimit: 10 });
    expect(await it.metric('cpq_budget_left')).toEqual({ 'tenant="acme"': 10 });
    await it.plain(list);
    const left = 'tenant="acme"';
    // The first list also asks whether the total is right.
    expect((await it.metric('cpq_budget_left'))[left]).toBe(8);
    await it.tenant.close();
    expect(await it.metric('cpq_budget_left')).toEqual({});
  });

  test('have the age of a cached collection', async () => {
    const it = await start();
    expect(await it.metric('cpq_collection_age_seconds')).toEqual({});
    await it.plain({ name: 'cpq_brief_pipeline' });
    const labels = 'tenant="acme",collection="opportunity"';
    const ages = await it.metric('cpq_collection_age_seconds');
    expect(ages[labels]).toBeGreaterThanOrEqual(0);
    expect(ages[labels]).toBeLessThan(60);
    it.tenant.updates.invalidate('opportunity');
    expect(await it.metric('cpq_collection_age_seconds')).not.toHaveProperty([labels]);
  });

  test('have the smaller budget and the older reading where two report the same tenant', async () => {
    const { watch, metric } = await start();
    const offer = (left: number, asOf: number) =>
      watch.tenant('twice').registerGauges({
        remainingBudget: async () => left,
        cachedCollections: () => [['quote', asOf]],
      });
    const now = Date.now();
    const stops = [offer(7, now - 1_000), offer(3, now - 90_000)];
    const failing = watch.tenant('twice').registerGauges({
      remainingBudget: () => Promise.reject(new Error('away')),
      cachedCollections: () => [],
    });
    expect((await metric('cpq_budget_left'))['tenant="twice"']).toBe(3);
    const age = 'tenant="twice",collection="quote"';
    const seconds = (await metric('cpq_collection_age_seconds'))[age];
    expect(seconds).toBeGreaterThanOrEqual(90);
    expect(seconds).toBeLessThan(9_000);
    for (const stop of [...stops, failing]) stop();
    expect(await metric('cpq_budget_left')).not.toHaveProperty(['tenant="twice"']);
  });

  test('report whether state can be written, and the number of calls', async () => {
    const { watch } = await start();
    const health: Health = { kind: 'redis', ok: true };
    const metric = async (name: string) => {
      const { body } = await watch.render(5, health);
      return valuesOf(body, name);
    };
    const onEnd = watch.tenant('acme').onCall('cpq_find');
    expect(await metric('cpq_state_healthy')).toEqual({ 'kind="redis"': 1 });
    health.ok = false;
    expect(await metric('cpq_state_healthy')).toEqual({ 'kind="redis"': 0 });
    expect(await metric('cpq_calls_in_flight')).toEqual({ '': 1 });
    onEnd('ok');
    expect(await metric('cpq_calls_in_flight')).toEqual({ '': 0 });
    expect(await metric('cpq_calls_queued')).toEqual({ '': 5 });
  });
});

test('webhook deliveries are counted', async () => {
  const { watch, metric } = await start();
  const stored = (...receipts: ('new' | 'known')[]) => {
    const delivery = { receipts, unrecognized: 0, isList: receipts.length > 1 };
    watch.onDelivery({ tenant: 'acme', status: 200, delivery });
  };
  stored('known');
  stored('new');
  stored('known', 'new');
  for (const status of [400, 401, 413, 503]) watch.onDelivery({ tenant: 'acme', status });
  watch.onDelivery({ tenant: undefined, status: 401 });
  expect(await metric('cpq_webhook_deliveries_total')).toEqual({
    'tenant="acme",outcome="new"': 2,
    'tenant="acme",outcome="known"': 1,
    'tenant="acme",outcome="malformed"': 1,
    'tenant="acme",outcome="unauthorized"': 1,
    'tenant="acme",outcome="refused"': 1,
    'tenant="acme",outcome="not_kept"': 1,
    'tenant="unknown",outcome="unauthorized"': 1,
  });
});

test('HTTP requests are counted by status, without labels that a caller chooses', async () => {
  const { watch, metric } = await start();
  for (const [path, status] of [
    ['/mcp', 200],
    ['/mcp', 401],
    ['/mcp', 429],
    ['/webhooks/acme/secret', 200],
    ['/.well-known/oauth-protected-resource/mcp', 200],
    ['/unknown/canary', 404],
    ['/mcp', undefined],
  ] as const) {
    const request = { headers: {}, url: path } as IncomingMessage;
    const response = Object.assign(new EventEmitter(), {
      setHeader() {},
      headersSent: status !== undefined,
      statusCode: status,
    }) as unknown as ServerResponse;
    watch.onHttpRequest(request, response, () => response.emit('close'));
  }
  expect(await metric('cpq_http_requests_total')).toEqual({
    'route="/mcp",status="200"': 1,
    'route="/mcp",status="401"': 1,
    'route="/mcp",status="429"': 1,
    'route="/webhooks",status="200"': 1,
    'route="/.well-known",status="200"': 1,
    'route="other",status="404"': 1,
    'route="/mcp",status="gone"': 1,
  });
});

test('all metrics are in the Prometheus format with the prefix', async () => {
  const { watch } = await start();
  const { contentType, body } = await watch.render(...serverGauges);
  expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
  const names = [...body.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
  expect(names).toEqual(expect.arrayContaining(['cpq_process_cpu_seconds_total']));
  expect(names.filter((name) => !name?.startsWith('cpq_'))).toEqual([]);
  expect(valuesOf(body, 'cpq_build_info')).toEqual({ [`version="${version}"`]: 1 });
});

test('the documentation lists exactly our metrics', async () => {
  const { watch } = await start();
  const { body } = await watch.render(...serverGauges);
  const ours = [...body.matchAll(/^# TYPE (\S+) /gm)]
    .map(([, name = '']) => name)
    .filter((name) => !/^cpq_(?:process|nodejs)_/.test(name));
  const page = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const told = [...page.matchAll(/^\| `(cpq_\w+)` \|/gm)].map(([, name]) => name);
  expect(told.toSorted()).toEqual(ours.toSorted());
});

test('neither metrics nor logs contain text of a caller or a customer', async () => {
  const it = await start({ logLevel: 'info' });
  const lines = linesWritten();
  const canary = 'canary-of-a-caller';
  const [row] = it.upstream.records['/company'];
  if (row) row.name = canary;
  await it.plain({ name: 'cpq_list_companies', arguments: { query: canary } });
  await it.plain({ name: canary, arguments: { [canary]: canary } }, { 'x-request-id': canary });
  await it.bySdk({ name: canary });
  await it.plain({ name: 'cpq_get_record', arguments: { resource: 'company', id: canary } });
  expect(lines().length).toBeGreaterThan(2);
  const { body } = await it.watch.render(...serverGauges);
  expect(body + JSON.stringify(lines())).not.toContain(canary);
  expect(body + JSON.stringify(lines())).not.toContain(testKey);
});

/** The lines written to stderr from now on, parsed. */
function linesWritten(): () => Record<string, unknown>[] {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  return () =>
    write.mock.calls
      .map(([line]) => String(line))
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('a request', () => {
  const calls = (lines: Record<string, unknown>[]) => lines.filter(({ event }) => event === 'call');

  test.each(['', 'two words', 'x'.repeat(65), 'a,b', 'a/b', '%0a', '{"a":1}'])(
    'gets a new id instead of %j',
    async (given) => {
      const it = await start();
      const { headers } = await it.plain(list, { 'x-request-id': given });
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  test('never gets the id of a concurrent request', async () => {
    const it = await start({ logLevel: 'info' });
    const lines = linesWritten();
    it.upstream.set({ delayHeaders: 20 });
    const ids = Array.from({ length: 20 }, (_, at) => `request-${at}`);
    const tools = ['cpq_list_companies', 'cpq_list_contacts', 'cpq_list_products'];
    const toolOf = (id: string) => tools[Number(id.slice(8)) % tools.length] ?? '';
    await Promise.all(ids.map((id) => it.plain({ name: toolOf(id) }, { 'x-request-id': id })));
    const told = calls(lines()).map(({ request: id, tool }) => [id, tool]);
    expect(told.toSorted()).toEqual(ids.map((id) => [id, toolOf(id)]).toSorted());
  });

  test('logs the caller once it is known', async () => {
    const { watch } = await start({ logLevel: 'info' });
    const lines = linesWritten();
    const handled = { headers: {}, url: '/mcp' } as IncomingMessage;
    const answer = { setHeader() {}, once() {} } as unknown as ServerResponse;
    await watch.onHttpRequest(handled, answer, async () => {
      addRequestFacts({ caller: 'sales-desk' });
      await delay(1, new AbortController().signal);
      watch.tenant('acme').onCall('cpq_find')('ok');
    });
    watch.tenant('acme').onCall('cpq_find')('ok');
    const [within, after] = calls(lines());
    expect(within).toMatchObject({ caller: 'sales-desk', tenant: 'acme', tool: 'cpq_find' });
    expect(after).not.toHaveProperty('caller');
    expect(after).not.toHaveProperty('request');
  });

  test('whose sender disconnects is counted as cancelled', async () => {
    const it = await start();
    it.upstream.set({ delayHeaders: 10_000 });
    const { headers, body } = legacy('tools/call', list);
    const sent = request(it.url, { method: 'POST', headers });
    sent.on('error', () => {});
    sent.end(body);
    await until(() => it.upstream.requests.length).toBe(1);
    sent.destroy();
    const gone = { 'route="/mcp",status="gone"': 1 };
    await until(() => it.metric('cpq_http_requests_total')).toEqual(gone);
  });
});
