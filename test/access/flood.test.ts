import { describe, expect, test } from 'vitest';
import { OpenStreams } from '../../src/hosts/streams.ts';
import {
  bearer,
  callToolRequest,
  type Headers,
  newFolder,
  newToken,
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

test('a batch is refused as a whole', async () => {
  const { team, anna, asked } = await startShared();
  const reply = await send(team, { headers: anna, body: [call, { ...call, id: 2 }] });
  expect(reply.status).toBe(400);
  expect(reply.text).toContain('one by one');
  expect(asked()).toBe(0);
});

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
    expect((await metric('cpq_http_requests_total'))['route="/mcp",status="429"']).toBe(6);
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
    const streams = new OpenStreams();
    const [acme, globex] = [{}, {}];
    const ends = Array.from({ length: 1_024 }, () => streams.acquire(undefined, acme));
    expect(() => streams.acquire('anna', acme)).toThrow('This tenant has reached');
    for (let at = 0; at < 32; at++) streams.acquire('anna', globex);
    expect(streams.open).toBe(1_056);
    for (const end of ends) end();
    expect(() => streams.acquire('anna', acme)).toThrow('You have reached');
    streams.acquire('ben', acme);
  });
});
