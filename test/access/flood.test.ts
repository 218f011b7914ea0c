import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { OpenStreams, TooManyStreams } from '../../src/hosts/streams.ts';
import {
  bearer,
  callToolRequest,
  type Headers,
  newFolder,
  newToken,
  type Reply,
  send,
  startTeam,
  type Team,
} from '../support/access.ts';
import { envelope, message, modernHeaders } from '../support/fast-path-requests.ts';
import { valuesOf } from '../support/observed.ts';
import { closing } from '../support/shared.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

const metricsToken = 'canary0metrics0token0000';

interface Shared {
  team: Team;
  asked(): number;
  anna: Headers;
  ben: Headers;
  metric(name: string): Promise<Record<string, number>>;
}

/** A server of one tenant with two callers. */
async function startShared(more: Record<string, string> = {}): Promise<Shared> {
  const upstream = closing(await startUpstream());
  const env = { CPQ_STATE_DIR: newFolder() };
  const [anna, ben] = [await newToken(['anna'], env), await newToken(['ben'], env)];
  const team = await startTeam(
    {
      ...env,
      CPQ_AUTH: 'token',
      CPQ_BASE_URL: upstream.url,
      CPQ_API_KEY: 'any-key-at-all',
      CPQ_METRICS_TOKEN: metricsToken,
      CPQ_WEBHOOK_SECRET: 'canary0webhook0secret0000',
      ...more,
    },
    [anna, ben, metricsToken],
  );
  const metrics = () =>
    send(team, { method: 'GET', path: '/metrics', headers: bearer(metricsToken) });
  return {
    team,
    asked: () => upstream.requests.length,
    anna: bearer(anna),
    ben: bearer(ben),
    metric: async (name) => valuesOf((await metrics()).text, name),
  };
}

const call = callToolRequest('cpq_list_companies', { size: 1 });
const batchOf = (count: number) => Array.from({ length: count }, (_, id) => ({ ...call, id }));

describe('a batch', () => {
  test('with too many calls is refused as a whole', async () => {
    const { team, anna, asked } = await startShared();
    const reply = await send(team, { headers: anna, body: batchOf(100) });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain('at most 10 messages');
    expect(asked()).toBe(0);
  });

  test('counts each of its calls', async () => {
    const { team, anna, ben, asked } = await startShared({ CPQ_CALLS_PER_MINUTE: '30' });
    const replies: Reply[] = [];
    for (let at = 0; at < 5; at++) {
      replies.push(await send(team, { headers: anna, body: batchOf(10) }));
    }
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
    expect(replies[0]?.text.match(/"result"/g)).toHaveLength(10);
    expect(Number(replies[4]?.headers['retry-after'])).toBeGreaterThan(0);
    expect(asked()).toBeLessThanOrEqual(30);
    expect((await send(team, { headers: ben, body: call })).status).toBe(200);
  });

  test('is counted with and without a content length', async () => {
    const { team, anna, asked } = await startShared();
    const text = JSON.stringify(batchOf(100));
    const head = [
      'POST /mcp HTTP/1.1',
      'host: localhost',
      `authorization: ${anna.authorization}`,
      'content-type: application/json',
      'accept: application/json, text/event-stream',
      'transfer-encoding: chunked',
      'connection: close',
    ];
    const chunk = `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
    const answer = await raw(team, `${head.join('\r\n')}\r\n\r\n${chunk}`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(asked()).toBe(0);
  });

  test('may not exceed the limit of concurrent calls', async () => {
    const { team, anna } = await startShared({ CPQ_CALLS_AT_ONCE: '3' });
    expect((await send(team, { headers: anna, body: batchOf(4) })).text).toContain('at most 3');
    expect((await send(team, { headers: anna, body: batchOf(3) })).status).toBe(200);
  });

  test('does not bypass a missing scope', async () => {
    const { team, anna } = await startShared({ CPQ_GRANTS: 'read,opportunity:write' });
    const write = callToolRequest('cpq_upsert_opportunity', {
      external_id: 'x',
      name: 'x',
      create: true,
    });
    const { text } = await send(team, { headers: anna, body: [call, { ...write, id: 2 }] });
    expect(text).toContain('Unknown tool');
  });
});

async function raw({ url }: Team, bytes: string): Promise<string> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(parts).toString();
}

const listening = {
  notifications: { resourceSubscriptions: ['cpq://company/company-1'] },
  _meta: envelope,
};

/** Opens a stream. @returns the error of a refused one, or a function that closes it */
function listen(
  { url }: Team,
  headers: Headers,
): Promise<{ status: number; close(): void; text: string }> {
  const body = JSON.stringify(message('subscriptions/listen', listening));
  const stop = new AbortController();
  const init = { method: 'POST', body, signal: stop.signal };
  const all = { ...modernHeaders('subscriptions/listen'), ...headers };
  return fetch(url, { ...init, headers: all }).then(async (response) => {
    const refused = response.status !== 200;
    const close = () => stop.abort();
    closing({ close: async () => close() });
    return { status: response.status, close, text: refused ? await response.text() : '' };
  });
}

describe('streams of updates', () => {
  test('are limited per caller', async () => {
    const { team, anna, ben, metric } = await startShared({});
    const opened = await Promise.all(Array.from({ length: 38 }, () => listen(team, anna)));
    const statuses = opened.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([...Array(32).fill(200), ...Array(6).fill(429)]);
    expect(opened.find(({ status }) => status === 429)?.text).toContain('close one first');
    expect((await listen(team, ben)).status).toBe(200);
    expect(await metric('cpq_streams_open')).toEqual({ '': 33 });
    expect(await metric('cpq_streams_refused_total')).toEqual({ 'limit="caller"': 6 });
    expect(team.stderr().match(/streams refused/g)).toHaveLength(1);
    expect(team.stderr()).toContain('"caller":"token:anna"');
    for (const { close } of opened) close();
    await expect.poll(() => metric('cpq_streams_open')).toEqual({ '': 1 });
    expect((await listen(team, anna)).status).toBe(200);
  });

  test('count as a call when opened, and occupy no place in the queue', async () => {
    const { team, anna } = await startShared({ CPQ_CALLS_PER_MINUTE: '4', CPQ_CALLS_AT_ONCE: '1' });
    for (let at = 0; at < 4; at++) expect((await listen(team, anna)).status).toBe(200);
    const fifth = await listen(team, anna);
    expect(fifth.status).toBe(429);
    expect(fifth.text).toContain('Too many calls');
  });

  test('are limited per tenant, also without authentication', () => {
    const refused: unknown[] = [];
    const limits = { perCaller: 2, perTenant: 3 };
    const streams = new OpenStreams({ limits, onRefused: (...why) => refused.push(why) });
    const [acme, globex] = [{}, {}];
    const ends = [1, 2, 3].map(() => streams.acquire(undefined, acme));
    expect(() => streams.acquire('anna', acme)).toThrow(TooManyStreams);
    expect(() => streams.acquire('anna', acme)).toThrow(TooManyStreams);
    streams.acquire('anna', globex);
    expect(streams.open).toBe(4);
    for (const end of ends) end();
    streams.acquire('anna', acme);
    expect(() => streams.acquire('anna', acme)).toThrow(TooManyStreams);
    expect(refused).toEqual([
      ['perTenant', true],
      ['perTenant', false],
      ['perCaller', true],
    ]);
  });
});
