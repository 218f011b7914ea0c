import { createServer, type RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openConnections } from '../../src/service/connections/connections.ts';
import { toApiError, wireTo } from '../../src/service/connections/wire.ts';
import { ApiError } from '../../src/service/errors.ts';
import { trafficControl } from '../../src/service/traffic/traffic-control.ts';
import { MemoryRates } from '../../src/state/memory-rates.ts';
import type { Tenant } from '../../src/tenant/tenant.ts';
import { freePort } from '../support/free-port.ts';
import {
  type CallOptions,
  defaultLimits,
  kindOf,
  type OpenTenantOptions,
  openTenant,
  sharedStateOf,
  toolCall,
} from '../support/hardening-tenant.ts';
import { listen } from '../support/local-server.ts';
import { closing } from '../support/shared.ts';
import { serve } from '../support/tenant-server.ts';
import { soon } from '../support/until.ts';
import { type Behaviour, only, type Upstream } from '../support/upstream/behaviour.ts';
import { type FaultName, faultNames, faults } from '../support/upstream/faults.ts';
import { startUpstream } from '../support/upstream/upstream.ts';
import {
  type WriteFaultName,
  writeFaultNames,
  writeFaults,
} from '../support/upstream/write-faults.ts';

/** Which requests are retried, and what ends a request, counted where the requests arrive. */

let upstream: Upstream;
const tenants: Tenant[] = [];

beforeEach(async () => {
  upstream = await startUpstream();
});

afterEach(async () => {
  vi.useRealTimers();
  for (const tenant of tenants.splice(0)) await tenant.close();
  await vi.waitFor(() => expect(upstream.openSockets()).toBe(0), soon);
  await upstream.close();
});

/** Time passes only as `waitFor` and the test advance it, so that no limit is met before its request has arrived. */
const fakeTimers = () => vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });

function tenantOf(options: Partial<OpenTenantOptions> = {}): Tenant {
  const tenant = openTenant({ url: upstream.url, ...options });
  tenants.push(tenant);
  return tenant;
}

const ask = (tenant: Tenant, options: CallOptions = {}) =>
  sharedStateOf(tenant).client.page('company', { size: 5 }, toolCall(options));

const failure = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => 'answered',
    (error: unknown) => error,
  );

const put = (tenant: Tenant, options: CallOptions = {}) =>
  sharedStateOf(tenant).client.upsertOpportunity('opp-1', { name: 'New' }, toolCall(options));

describe('reads', () => {
  const failing = faultNames.filter((name) => faults[name].expect === 'error');
  const lasting = failing.filter((name) => faults[name].transient === false);
  const retryable = failing.filter((name) => faults[name].transient === true);

  test.each(lasting)('%s is not retried', async (name) => {
    upstream.set(faults[name]);
    expect(faults[name].kinds).toContain(kindOf(await failure(ask(tenantOf()))));
    expect(upstream.requests).toHaveLength(1);
  });

  test.each(retryable)('%s is tried three times at most', async (name) => {
    upstream.set(faults[name]);
    expect(faults[name].kinds).toContain(kindOf(await failure(ask(tenantOf()))));
    expect(upstream.requests).toHaveLength(3);
  });

  test('a call does not wait longer than its deadline allows', async () => {
    upstream.set({ status: { code: 429, retryAfter: '60' } });
    const refused = await failure(ask(tenantOf(), { time: 30_000 }));
    expect(refused).toMatchObject({ kind: 'rate-limited', facts: { seconds: 60 } });
    expect(upstream.requests).toHaveLength(1);
  });

  const start = Date.UTC(2026, 0, 1);
  const dated = (ms: number) => new Date(start + ms).toUTCString();

  test.each([
    ['a date by the clock of the service', dated(60_000), 60],
    ['seconds since 1970', String(start / 1000 + 60), 60],
    ['milliseconds since 1970', String(start + 60_000), 60],
    ['a number in a sentence, which is no time', 'in 60', undefined],
    ['a day: it is asked again after a quarter of an hour', '86400', 900],
  ])('Retry-After: %s', async (_, wait, seconds) => {
    const headers = { date: dated(0), 'retry-after': wait };
    const url = await served((_request, response) => response.writeHead(429, headers).end('{}'));
    const refused = await failure(ask(tenantOf({ url }), { time: 30_000 }));
    expect(refused).toMatchObject({ kind: 'rate-limited', facts: { seconds } });
  });

  test('a rate limit without Retry-After is waited for longer than an outage', async () => {
    upstream.set({ status: { code: 429 } });
    // With jitter from 20 s on; after an outage it would be 15 s at most.
    const tenant = tenantOf({ firstRetryDelayMs: 10_000 });
    expect(await failure(ask(tenant, { time: 18_000 }))).toMatchObject({ kind: 'rate-limited' });
    expect(upstream.requests).toHaveLength(1);
  });

  test('Retry-After of an overloaded service is respected', async () => {
    upstream.set({ status: { code: 503, retryAfter: '60' } });
    expect(await failure(ask(tenantOf(), { time: 30_000 }))).toMatchObject({
      kind: 'server-error',
    });
    expect(upstream.requests).toHaveLength(1);
  });

  test('a compression that was not requested is an error', async () => {
    upstream.set({ headers: { 'content-encoding': 'zstd' } });
    expect(await failure(ask(tenantOf()))).toMatchObject({ kind: 'unexpected' });
    expect(upstream.requests).toHaveLength(1);
  });

  test('an empty answer that is said to be compressed is taken by its status', async () => {
    const url = await served((_, response) => {
      response.writeHead(429, { 'content-encoding': 'gzip', 'retry-after': '100' }).end();
    });
    const facts = { status: 429, seconds: 100 };
    expect(await failure(ask(tenantOf({ url })))).toMatchObject({ kind: 'rate-limited', facts });
  });

  test('a truncated compressed answer is requested again', async () => {
    const half = gzipSync('{"results":[],"total":0}').subarray(0, 20);
    let asked = 0;
    const url = await served((_, response) => {
      asked += 1;
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(half);
    });
    expect(await failure(ask(tenantOf({ url })))).toMatchObject({ kind: 'malformed' });
    expect(asked).toBe(3);
  });
});

const served = async (answer: RequestListener): Promise<string> =>
  closing(await listen(answer)).url;

describe('writes', () => {
  test.each(writeFaultNames)('%s is sent once, and its outcome is not guessed', async (name) => {
    const { applied, expect: expected, kinds = [] } = writeFaults[name];
    upstream.set(writeFaults[name]);
    if (kinds.includes('timed out')) fakeTimers();
    const writing = failure(put(tenantOf()));
    if (kinds.includes('timed out')) {
      await vi.waitFor(() => expect(upstream.requests[0]?.applied).toBe(applied), soon);
      await vi.advanceTimersByTimeAsync(defaultLimits.attemptMs);
    }
    const outcome = await writing;
    vi.useRealTimers();
    expect(upstream.requests).toHaveLength(1);
    expect(upstream.requests[0]?.applied).toBe(applied);
    const lies: readonly WriteFaultName[] = ['ok-without-applying', 'other-record-answer'];
    if (expected === 'ok' || lies.includes(name)) expect(outcome).toBe('answered');
    else {
      expect(kinds).toContain(kindOf(outcome));
      // A write whose outcome is unknown must not be reported as "not written".
      expect(outcome).toMatchObject({ outcomeUnknown: expected === 'unknown' });
    }
  });

  test('that were never sent are retried, and arrive once', async () => {
    const port = await freePort();
    const bodies: string[] = [];
    const server = createServer(async (request, response) => {
      bodies.push(Buffer.concat(await request.toArray()).toString());
      response.end('{"id":"x","name":"New"}');
    });
    // No server listens at the first attempt, so the connection is refused before the request is sent.
    const outcomes: string[] = [];
    const onRequest = (outcome: string) => {
      if (outcomes.push(outcome) === 1) server.listen(port, '127.0.0.1');
    };
    const observer = { onRequest, registerGauges: () => () => {} };
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const writing = put(tenantOf({ url: `http://127.0.0.1:${port}`, observer }));
    expect(await writing).toMatchObject({ id: 'x' });
    expect(outcomes).toEqual(['unreachable', 'ok']);
    expect(bodies).toEqual(['{"name":"New"}']);
  });

  test('that cannot be delivered are reported as not written', async () => {
    const port = await freePort();
    const outcome = await failure(put(tenantOf({ url: `http://127.0.0.1:${port}` })));
    expect(outcome).toMatchObject({ kind: 'unreachable', outcomeUnknown: false });
  });

  test('are not sent while the circuit is open, and reported so', async () => {
    const tenant = tenantOf({ circuitFailures: 3 });
    upstream.set({ cut: { at: 'start', how: 'reset' } });
    await failure(ask(tenant));
    upstream.requests.length = 0;
    const outcome = await failure(put(tenant));
    expect(outcome).toMatchObject({ kind: 'circuit-open', outcomeUnknown: false });
    expect(upstream.requests).toEqual([]);
  });

  test('with an oversized answer have an unknown outcome', async () => {
    upstream.set({ hugeMiB: 4 });
    const outcome = await failure(put(tenantOf()));
    expect(outcome).toMatchObject({ kind: 'too-large', outcomeUnknown: true });
    expect(upstream.requests.map(({ applied }) => applied)).toEqual([true]);
  });
});

describe('the circuit breaker', () => {
  const later = (ms: number): void => void vi.setSystemTime(Date.now() + ms);

  /**
   * A tenant whose circuit breaker three failures have opened. From then on the clock moves only when the test sets
   * it.
   */
  async function opened(): Promise<Tenant> {
    vi.useFakeTimers({ toFake: ['Date'] });
    const tenant = tenantOf({ circuitFailures: 3 });
    upstream.set(faults['500']);
    expect(await failure(ask(tenant))).toMatchObject({ kind: 'server-error' });
    expect(upstream.requests).toHaveLength(3);
    return tenant;
  }

  test('reports an outage at once, without a request', async () => {
    const tenant = await opened();
    for (let at = 0; at < 20; at++) {
      const refused = await failure(ask(tenant));
      expect(refused).toMatchObject({ kind: 'circuit-open', facts: { seconds: 10 } });
    }
    later(9_999);
    expect(await failure(ask(tenant))).toMatchObject({
      kind: 'circuit-open',
      facts: { seconds: 1 },
    });
    expect(upstream.requests).toHaveLength(3);
  });

  test('sends requests again after ten seconds', async () => {
    const tenant = await opened();
    upstream.set({ status: undefined });
    later(10_000);
    const many = await Promise.all(Array.from({ length: 8 }, () => failure(ask(tenant))));
    expect(many).toEqual(many.map(() => 'answered'));
  });

  test('stops them again after the first that fails', async () => {
    const tenant = await opened();
    for (const sent of [4, 5, 6]) {
      later(9_999);
      expect(await failure(ask(tenant))).toMatchObject({ kind: 'circuit-open' });
      later(1);
      // It fails, and is not retried.
      expect(await failure(ask(tenant))).toMatchObject({ kind: 'circuit-open' });
      expect(upstream.requests).toHaveLength(sent);
    }
  });

  test('is that of one route where the service answers', async () => {
    const tenant = await opened();
    upstream.set({ status: undefined });
    expect(await failure(ask(tenant))).toMatchObject({ kind: 'circuit-open' });
    const list = sharedStateOf(tenant).client.page('product', { size: 5 }, toolCall());
    expect(await failure(list)).toBe('answered');
    expect(await failure(ask(tenant))).toMatchObject({ kind: 'circuit-open' });
  });

  test.each([
    ['500', 'company', 'server-error'],
    ['500', 'product', 'circuit-open'],
    ['reset', 'company', 'connection-lost'],
    ['reset', 'product', 'connection-lost'],
  ] as const)('counts %s anew or not after an answer of %s: %s', async (fault, route, kind) => {
    const tenant = tenantOf({ circuitFailures: 4 });
    upstream.set(faults[fault]);
    expect(await failure(ask(tenant))).not.toMatchObject({ kind: 'circuit-open' });
    upstream.set({ status: undefined, cut: undefined });
    await sharedStateOf(tenant).client.page(route, { size: 5 }, toolCall());
    upstream.set(faults[fault]);
    expect(await failure(ask(tenant))).toMatchObject({ kind });
  });

  test('is not open for hours after the clock was set back', async () => {
    const tenant = await opened();
    later(-3 * 3_600_000);
    expect(await failure(ask(tenant))).toMatchObject({
      kind: 'circuit-open',
      facts: { seconds: 10 },
    });
    upstream.set({ status: undefined });
    later(10_000);
    expect(await failure(ask(tenant))).toBe('answered');
  });

  test('is not opened by errors other than outages', async () => {
    const tenant = tenantOf({ circuitFailures: 1 });
    const harmless: FaultName[] = [
      'no-permission',
      '404',
      '400-message',
      '429-no-wait',
      'truncated',
    ];
    for (const name of [...harmless, 'html-200', 'other-object', 'huge'] as const) {
      upstream.set({ status: undefined, truncate: undefined, instead: undefined });
      upstream.set(name === 'huge' ? { hugeMiB: 4 } : faults[name]);
      expect(await failure(ask(tenant))).not.toMatchObject({ kind: 'circuit-open' });
    }
    upstream.set({ instead: undefined, hugeMiB: undefined });
    expect(await failure(ask(tenant))).toBe('answered');
  });

  test('is separate for each tenant', async () => {
    await opened();
    upstream.set({ status: undefined });
    expect(await failure(ask(tenantOf({ circuitFailures: 3 })))).toBe('answered');
  });
});

const facts = { host: 'tenant.example', path: '/company' };
const unreachable = new ApiError('unreachable', { ...facts, code: 'ECONNREFUSED' });
const lost = new ApiError('connection-lost', facts);
test.each([
  [[lost, unreachable], 'ECONNREFUSED'],
  [[unreachable, lost], undefined],
])('an open circuit says why nothing was sent where that was so last: %s', async (errors, code) => {
  const options = { rates: new MemoryRates(), budgetName: 'tenant', circuitFailures: 2 };
  const { begin, ended } = trafficControl(options);
  for (const error of errors) {
    const attempt = { request: { facts }, call: toolCall(), response: undefined, error };
    await ended(await begin(facts, toolCall()), attempt);
  }
  const refused = await failure(begin(facts, toolCall()));
  expect(refused).toMatchObject({ kind: 'circuit-open' });
  expect((refused as ApiError<'circuit-open'>).facts.code).toBe(code);
});

const hanging: [string, Behaviour][] = [
  ['that is not answered', faults['never-answers']],
  ['in the middle of the headers', faults['stops-in-headers']],
  ['in the middle of the body', faults['stops-in-body']],
  ['that trickles', faults['endless-body']],
];

describe('a cancelled call', () => {
  test.each(hanging)(
    'a request %s is closed at once when its call is cancelled',
    async (_, behaviour) => {
      upstream.set(behaviour);
      const tenant = tenantOf();
      const stop = new AbortController();
      const asked = failure(ask(tenant, { signal: stop.signal }));
      await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), soon);
      stop.abort(new Error('enough'));
      expect(await asked).toMatchObject({ message: 'enough' });
      await vi.waitFor(() => expect(upstream.requests[0]?.aborted).toBe(true), soon);
      expect(upstream.requests).toHaveLength(1);
    },
  );

  test.each(['cpq_list_companies', 'cpq_list_pricing_books', 'cpq_brief_pipeline'])(
    'the requests of %s are closed when the host cancels it',
    async (name) => {
      upstream.set(faults['never-answers']);
      const client = await serve(tenantOf()).connect({ era: 'legacy' });
      const stop = new AbortController();
      const called = failure(client.callTool({ name, arguments: {} }, { signal: stop.signal }));
      await vi.waitFor(() => expect(upstream.requests.length).toBeGreaterThan(0), soon);
      stop.abort();
      expect(await called).not.toBe('answered');
      await vi.waitFor(
        () => expect(upstream.requests.every(({ aborted }) => aborted)).toBe(true),
        soon,
      );
    },
  );

  test('there is no other attempt after a cancellation', async () => {
    upstream.set(faults['500']);
    const stop = new AbortController();
    const asked = failure(ask(tenantOf({ firstRetryDelayMs: 20_000 }), { signal: stop.signal }));
    await vi.waitFor(() => expect(upstream.requests[0]?.outcome).toBe('answered'), soon);
    stop.abort(new Error('enough'));
    expect(await asked).toMatchObject({ message: 'enough' });
    expect(upstream.requests).toHaveLength(1);
  });

  test('nor is one sent whose tenant is closed while its connection is opened', async () => {
    const connections = openConnections();
    // Of another tenant, which keeps them open.
    await connections.acquire(upstream.url);
    const wire = wireTo(new URL(upstream.url), 'key', connections);
    const asked = failure(
      wire.send({ method: 'GET', path: '/company' }, toolCall(), { host: 'h' }),
    );
    await wire.close();
    expect(await asked).toMatchObject({ kind: 'connection-lost' });
    await connections.release(upstream.url);
    expect(upstream.requests).toEqual([]);
  });

  test('a call that is already cancelled sends nothing', async () => {
    const stop = new AbortController();
    const asked = failure(ask(tenantOf(), { signal: stop.signal }));
    stop.abort(new Error('enough'));
    expect(await asked).toMatchObject({ message: 'enough' });
    expect(upstream.requests).toEqual([]);
  });
});

describe('the deadline of a call', () => {
  test.each(hanging)('a request %s is closed at the deadline', async (_, behaviour) => {
    fakeTimers();
    upstream.set(behaviour);
    const asked = failure(ask(tenantOf(), { time: 15_000 }));
    await vi.waitFor(() => expect(upstream.requests).toHaveLength(1), soon);
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await asked).toMatchObject({ kind: 'timed-out' });
    vi.useRealTimers();
    await vi.waitFor(() => expect(upstream.requests[0]?.aborted).toBe(true), soon);
    expect(upstream.requests).toHaveLength(1);
  });

  test('a walk that meets its deadline returns the records read so far', async () => {
    upstream.set({ maxSize: 10, cut: only({ at: 'start', how: 'hang' }, { after: 3 }) });
    fakeTimers();
    const walked = tenantOf().collection('company', toolCall({ time: 15_000 }));
    const answered = () => upstream.requests.filter(({ outcome }) => outcome === 'answered');
    await vi.waitFor(() => expect(answered()).toHaveLength(3), soon);
    await vi.advanceTimersByTimeAsync(15_000);
    const { records, coverage } = await walked;
    vi.useRealTimers();
    expect(records.length).toBeGreaterThanOrEqual(20);
    expect(coverage).toMatchObject({ complete: false, total: 60, reason: 'time ran out' });
    await vi.waitFor(
      () => expect(upstream.requests.filter(({ outcome }) => outcome === 'open')).toEqual([]),
      soon,
    );
  });

  test('a walk that fails waits for its other requests, and sends no more', async () => {
    upstream.set({
      maxSize: 5,
      status: only({ code: 403, message: 'Not permitted' }, { after: 1, first: 2 }),
      delayHeaders: only(200, { if: ({ n }) => n > 2 }),
    });
    const { coverage } = await tenantOf().collection('company', toolCall());
    expect(coverage).toMatchObject({ complete: false, total: 60 });
    // The first page, and six of the others at once.
    const outcomes = upstream.requests.map(({ outcome }) => outcome);
    expect(outcomes).toEqual(Array(7).fill('answered'));
  });
});

describe('oversized answers', () => {
  test('33 MiB are refused at the default limit', async () => {
    upstream.set({ hugeMiB: 33 });
    const limits = { maxBytes: 32 * 2 ** 20, attemptMs: 100_000 };
    expect(await failure(ask(tenantOf({ limits })))).toMatchObject({ kind: 'too-large' });
    expect(upstream.requests).toHaveLength(1);
  });

  test('a gzip bomb is unpacked only up to the limit', async () => {
    upstream.set(faults['gzip-bomb']);
    const tenant = tenantOf();
    const before = process.memoryUsage.rss();
    expect(await failure(ask(tenant))).toMatchObject({ kind: 'too-large' });
    // The answer would be 1,024 MiB unpacked; the upstream of this process sends some 10 MiB.
    expect(process.memoryUsage.rss() - before).toBeLessThan(300 * 2 ** 20);
  });

  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

  test('a deeply nested record is refused', async () => {
    upstream.set({
      instead: { text: `{"results":[{"id":"a","deep":${nested(50_000)}}],"total":1}` },
    });
    expect(await failure(ask(tenantOf()))).toMatchObject({ kind: 'unexpected' });
  });
});

test('a row that is sent twice is one record, and may be counted twice', async () => {
  const results = [{ id: 'a' }, { id: 'a' }, { id: 'b' }];
  upstream.set({ instead: { text: JSON.stringify({ results, total: 3 }) } });
  const page = await sharedStateOf(tenantOf()).client.page('company', { size: 5 }, toolCall());
  expect(page).toMatchObject({ records: [{ id: 'a' }, { id: 'b' }], countIsLimit: true });
});

describe('one record', () => {
  test.each(['{"id":9223372036854712345}', JSON.stringify('{"id":9223372036854712345}')])(
    'has all digits of its id, encoded once or twice: %s',
    async (text) => {
      upstream.set({ instead: { text } });
      const { client } = sharedStateOf(tenantOf());
      const one = await client.getRecord('company', 'id', '9223372036854712345', toolCall());
      expect(one.id).toBe('9223372036854712345');
    },
  );

  test('of another id is not the record', async () => {
    upstream.set({ instead: { text: '{"id":"b","name":"B"}' } });
    const one = sharedStateOf(tenantOf()).client.getRecord('company', 'id', 'a', toolCall());
    expect(await failure(one)).toMatchObject({ kind: 'not-found' });
  });

  test('that does not exist is not reported as a wrong base URL', async () => {
    const one = sharedStateOf(tenantOf()).client.getRecord('company', 'id', 'none', toolCall());
    expect(kindOf(await failure(one))).toBe('not found');
  });
});

describe('redirects', () => {
  const codes = [301, 302, 303, 307, 308] as const;
  const targets = ['other', 'other port', 'same', 'loop'] as const;
  const all = codes.flatMap((code) => targets.map((to) => [code, to] as const));

  test.each(all)('%i to %s is not followed', async (code, to) => {
    upstream.set({ redirect: { code, to } });
    const tenant = tenantOf();
    expect(await failure(ask(tenant))).toMatchObject({ kind: 'redirect' });
    const outcome = await failure(put(tenant));
    expect(outcome).toMatchObject({ kind: 'redirect', outcomeUnknown: true });
    expect(upstream.requests).toHaveLength(2);
    expect(upstream.elsewhere.requests).toEqual([]);
    expect(upstream.elsewhere.sawKey()).toBe(false);
  });
});

test('a write that is answered with 303 to its path and a slash is not sent again', async () => {
  const tenant = tenantOf();
  await failure(put(tenant));
  const { path } = upstream.requests.pop() ?? expect.unreachable();
  upstream.set({ status: { code: 303 }, headers: { location: `${path}/` } });
  expect(await failure(put(tenant))).toMatchObject({ kind: 'redirect' });
  expect(upstream.requests).toHaveLength(1);
});

test('a key that is refused during a walk is an error, whatever was read before', async () => {
  upstream.set({ maxSize: 10, status: only({ code: 401 }, { path: '/company', after: 2 }) });
  expect(kindOf(await failure(tenantOf().collection('company', toolCall())))).toBe('unauthorised');
});

test('a permission that is revoked during a walk cuts it short', async () => {
  const status = { code: 403, message: 'Not permitted' };
  upstream.set({ maxSize: 10, status: only(status, { path: '/contact', after: 2 }) });
  const { coverage } = await tenantOf().collection('contact', toolCall());
  expect(coverage).toMatchObject({ complete: false, reason: 'the service stopped permitting it' });
  upstream.set({ status });
  const refused = await failure(tenantOf().collection('company', toolCall()));
  expect(refused).toMatchObject({ kind: 'not-permitted' });
});

describe('a network error', () => {
  const errorOf = (code: string, syscall?: string) =>
    toApiError(Object.assign(new Error(code), { code, syscall }), { host: 'tenant.example' });

  test.each(['connect', 'getaddrinfo', undefined])(
    'of opening a connection (%s): never sent',
    (syscall) => expect(errorOf('EHOSTUNREACH', syscall)).toMatchObject({ kind: 'unreachable' }),
  );

  test('of a connection that was not opened in time: never sent, unlike one without an answer', () => {
    expect(errorOf('UND_ERR_CONNECT_TIMEOUT')).toMatchObject({ kind: 'unreachable' });
    expect(errorOf('UND_ERR_HEADERS_TIMEOUT')).toMatchObject({ kind: 'timed-out' });
  });

  test.each(['read', 'write'])('of an open connection (%s): it may have been sent', (syscall) =>
    expect(errorOf('EHOSTUNREACH', syscall)).toMatchObject({ kind: 'connection-lost' }),
  );
});
