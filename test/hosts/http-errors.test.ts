import { once } from 'node:events';
import { Agent, get, request } from 'node:http';
import { expect, test } from 'vitest';
import type { Gate, Session } from '../../src/hosts/access/gate.ts';
import { FairQueue } from '../../src/hosts/fair-queue.ts';
import { passAnswer, serveHttp } from '../../src/hosts/http.ts';
import { type Health, StateUnavailable } from '../../src/state/port.ts';
import { httpOptions } from '../support/http-options.ts';
import { closing, shared } from '../support/shared.ts';
import { hold, until } from '../support/until.ts';

const fail = (): never => {
  throw new Error('a defect');
};

const gate: Gate = { admit: async () => fail() };

const server = shared(async () => {
  const errors: string[] = [];
  const options = httpOptions({
    onError: (error) => errors.push(error.message),
    health: fail,
    webhooks: (path) => path === '/webhooks' && fail(),
  });
  const { url, close } = await serveHttp(gate, options);
  return closing({ url, close, errors });
});

test.each(['/readyz', '/webhooks', '/mcp'])(
  'a defect in what answers %s is a 500, is logged, and does not end the process',
  async (path) => {
    const { url, errors } = await server();
    errors.length = 0;
    const response = await fetch(new URL(path, url), { method: 'POST', body: '{}' });
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ error: 'Internal error' });
    expect(errors).toEqual(['a defect']);
    expect((await fetch(new URL('/healthz', url))).status).toBe(200);
  },
);

test('/readyz says since when what cannot be stored, and that a process is stopping', async () => {
  let health: Health | Promise<Health> = { kind: 'redis', ok: true };
  let asked = 0;
  const options = httpOptions({
    health: async () => {
      asked += 1;
      return health;
    },
  });
  const { url, close } = await serveHttp(gate, options);
  const readyz = async () => {
    const response = await fetch(new URL('/readyz', url));
    return [response.status, await response.json()];
  };
  const degraded = (reason: string) => [
    200,
    { status: 'degraded', reasons: [`the ${reason}: writes and webhooks are refused`] },
  ];
  expect(await readyz()).toEqual([200, { status: 'ready' }]);
  const since = '2026-11-20T12:00:00.000Z';
  health = { kind: 'redis', ok: false, fault: 'unreachable', since };
  expect(await readyz()).toEqual(degraded(`redis state cannot be reached since ${since}`));
  health = { kind: 'local', ok: false, fault: 'unwritable' };
  expect(await readyz()).toEqual(degraded('local state cannot be written'));
  const { held, release } = hold<Health>();
  health = held;
  const last = readyz();
  await until(() => asked).toBe(4);
  const closed = close();
  release({ kind: 'local', ok: true });
  expect(await last).toEqual([503, { status: 'not ready', reasons: ['the server is stopping'] }]);
  await closed;
});

test('a proxy can reuse an idle connection of a process that is stopping, once', async () => {
  const { url, close } = await serveHttp(gate, httpOptions());
  const agent = new Agent({ keepAlive: true });
  const ask = async () => {
    const [response] = await once(get(new URL('/healthz', url), { agent }), 'response');
    response.resume();
    await once(response, 'end');
    const { connection, 'keep-alive': kept } = response.headers;
    return [response.statusCode, connection, kept];
  };
  // Longer than the minute of nginx.
  expect(await ask()).toEqual([200, 'keep-alive', 'timeout=75']);
  const closed = close();
  expect(await ask()).toEqual([200, 'close', undefined]);
  await closed;
  await expect(ask()).rejects.toThrow('ECONNREFUSED');
});

test('a caller that leaves just when it gets its turn gives it back', async () => {
  const endpoint = {} as Session['endpoint'];
  let waiting = false;
  let released = false;
  const queue = new FairQueue({
    ...{ callsPerMinute: 10, concurrent: 1, concurrentPerCaller: 1 },
    ...{ queuedPerCaller: 1, waitMs: 60_000 },
  });
  queue.acquire = async (_caller, signal) => {
    waiting = true;
    await once(signal, 'abort');
    return () => {
      released = true;
    };
  };
  const admitting: Gate = { admit: async () => ({ endpoint, caller: 'a' }) };
  const { url } = closing(await serveHttp(admitting, httpOptions({ queue })));
  const leaving = new AbortController();
  const call = fetch(url, { method: 'POST', body: '{}', signal: leaving.signal });
  await until(() => waiting).toBe(true);
  leaving.abort();
  await expect(call).rejects.toThrow('aborted');
  await until(() => released).toBe(true);
});

test('only so many long messages of one caller are read at once', async () => {
  const endpoint = {} as Session['endpoint'];
  const admitting: Gate = {
    admit: async ({ headers }) => ({ endpoint, caller: String(headers.authorization) }),
  };
  const { url } = closing(await serveHttp(admitting, httpOptions()));
  const begun = Array.from({ length: 16 }, () => {
    const headers = { authorization: 'a', 'content-length': 40_000 };
    const sending = request(url, { method: 'POST', headers }).on('error', () => {});
    sending.write('[');
    return sending;
  });
  const send = async (authorization: string, body: string) => {
    const response = await fetch(url, { method: 'POST', headers: { authorization }, body });
    return [response.status, response.headers.get('retry-after')];
  };
  const long = `[${' '.repeat(40_000)}]`;
  // 400 as soon as it is read: messages are not sent in lists.
  await until(() => send('a', long)).toEqual([429, '1']);
  expect(await send('a', '[]')).toEqual([400, null]);
  expect(await send('b', long)).toEqual([400, null]);
  for (const sending of begun) sending.destroy();
  await until(() => send('a', long)).toEqual([400, null]);
});

test('the answer of a person that cannot be passed on is not accepted', async () => {
  const publish = async () => {
    throw new StateUnavailable('Redis cannot be reached');
  };
  const tenant = { updates: { publish }, grants: new Set(['opportunity:write']) };
  const passing = passAnswer(tenant as never, { to: 'q', result: {} }, undefined);
  await expect(passing).rejects.toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
});
