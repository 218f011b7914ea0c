import { describe, expect, test } from 'vitest';
import {
  bearer,
  callToolRequest,
  fileIn,
  newToken,
  type Reply,
  send,
  startKeyed,
  startTeam,
} from '../support/access.ts';
import { closing, newFolder, shared } from '../support/shared.ts';
import { startUpstream } from '../support/upstream/upstream.ts';
import { webhookSecret } from '../support/webhooks.ts';

const goodKeys = Array.from({ length: 12 }, (_, at) => `good-key-0123456789-${at}`);

async function startService(more: Record<string, string> = {}) {
  const upstream = closing(await startUpstream({ keys: new Set(goodKeys) }));
  const team = await startKeyed(upstream.url, more);
  const show = (key: string, from: string): Promise<Reply> =>
    send(team, { headers: { 'api-key': key, 'x-forwarded-for': from } });
  return { upstream, team, show };
}

type Show = (key: string, from: string) => Promise<Reply>;

/** Sends this number of wrong keys from one address at the same time. */
const guess = (show: Show, from: string, count: number): Promise<Reply[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => show(`wrong-${from}-${at}`, from)));

describe('guessed keys of the service', () => {
  test('from a few addresses do not block a correct key', async () => {
    const { upstream, show } = await startService();
    const senders = ['203.0.113.1', '203.0.113.2', '203.0.113.3'];
    const replies = await Promise.all(senders.map((from) => guess(show, from, 25)));
    expect(new Set(replies.flat().map(({ status }) => status))).toEqual(new Set([401, 429]));
    expect(upstream.requests).toHaveLength(30);
    // Nor are many correct keys of one address taken for guesses.
    const correct = await Promise.all(goodKeys.map((key) => show(key, '203.0.113.9')));
    expect(correct.map(({ status }) => status)).toEqual(goodKeys.map(() => 200));
  });

  test('from many addresses use up the checks, and the refusal says so, but not the tenant’s budget', async () => {
    const { upstream, team, show } = await startService({ CPQ_RATE_LIMIT: '40' });
    expect((await show('good-key-0123456789-0', '203.0.113.200')).status).toBe(200);
    upstream.requests.length = 0;
    const senders = Array.from({ length: 60 }, (_, at) => `203.0.113.${at}`);
    await Promise.all(senders.map((from) => guess(show, from, 1)));
    expect(upstream.requests.length).toBeLessThanOrEqual(60);
    const late = await show('good-key-0123456789-1', '203.0.113.201');
    expect(late.status).toBe(429);
    expect(late.text).toContain('Too many unknown keys');
    expect(late.text).not.toContain('does not answer');
    expect(Number(late.headers['retry-after'])).toBeGreaterThan(300);
    expect((await show('good-key-0123456789-0', '203.0.113.200')).status).toBe(200);
    const headers = { 'api-key': 'good-key-0123456789-0' };
    for (let at = 0; at < 20; at++) {
      const body = callToolRequest('cpq_list_companies', { size: 1 });
      const { status, text } = await send(team, { headers, body });
      expect([status, text]).toEqual([200, expect.not.stringContaining('"isError":true')]);
    }
  });

  test('leave half of the checks to addresses without a wrong key', async () => {
    const { upstream, show } = await startService();
    const senders = Array.from({ length: 8 }, (_, at) => `203.0.113.${at}`);
    await Promise.all(senders.map((from) => guess(show, from, 10)));
    expect(upstream.requests.length).toBeLessThanOrEqual(30 + senders.length);
    const fresh = await Promise.all(
      goodKeys.map((key, at) => show(key, `198.51.100.${at}`).then(({ status }) => status)),
    );
    expect(new Set(fresh)).toEqual(new Set([200]));
  });

  test('are not reported when the service’s rate limit is reached', async () => {
    const { upstream, show } = await startService();
    upstream.set({ status: { code: 429, retryAfter: '77' } });
    const reply = await show('good-key-0123456789-0', '203.0.113.7');
    expect(reply.status).toBe(503);
    expect(reply.text).toContain('takes no more requests');
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(60);
  });
});

const metricsToken = 'canary0metrics0token0000';

/** A server of two tenants, with access tokens, webhooks and metrics. */
const server = shared(async () => {
  const one = (at: number) => ({ baseUrl: `http://127.0.0.1:${at}`, apiKey: 'any-key-at-all' });
  const tenants = { acme: { ...one(1), webhookSecret }, globex: { ...one(2), webhookSecret } };
  const CPQ_TENANTS_FILE = await fileIn(newFolder(), 'tenants.json', { tenants });
  const env = { CPQ_STATE_DIR: newFolder(), CPQ_TENANTS_FILE };
  const token = await newToken(['anna', '--tenant', 'acme'], env);
  const rest = { CPQ_AUTH: 'token', CPQ_METRICS_TOKEN: metricsToken };
  const secrets = [webhookSecret, metricsToken, token];
  const team = await startTeam({ ...env, ...rest, CPQ_TRUSTED_PROXIES: '127.0.0.1' }, secrets);
  return { ...team, token };
});

const event = { event: 'quote.ordered', data: { id: 'q1' } };

/** Sends a webhook of this tenant. */
const hook = (tenant: string) => async (secret: string, from: string) =>
  send(await server(), {
    path: `/webhooks/${tenant}`,
    headers: { 'x-webhook-secret': secret, 'x-forwarded-for': from },
    body: event,
  });

/** Sends what is guessed; what a wrong one is answered with; and the right one. */
const guessed = {
  'an access token': {
    show: async (token: string, from: string) =>
      send(await server(), { headers: { ...bearer(token), 'x-forwarded-for': from } }),
    wrong: 401,
    right: async () => (await server()).token,
  },
  'credentials of another kind': {
    show: async (credential: string, from: string) => {
      const scheme = credential === (await server()).token ? 'Bearer' : 'Basic';
      const headers = { authorization: `${scheme} ${credential}`, 'x-forwarded-for': from };
      return send(await server(), { headers });
    },
    wrong: 401,
    right: async () => (await server()).token,
  },
  'the secret of webhooks': { show: hook('acme'), wrong: 401, right: async () => webhookSecret },
  'the metrics token': {
    show: async (token: string, from: string) =>
      send(await server(), {
        method: 'GET',
        path: '/metrics',
        headers: { ...bearer(token), 'x-forwarded-for': from },
      }),
    wrong: 404,
    right: async () => metricsToken,
  },
};

describe.each(Object.entries(guessed))('guesses of %s', (what, { show, wrong, right }) => {
  test('are refused after thirty in a minute, and so is the right one, but not of others', async () => {
    // Of its own, because guesses of an address are counted together.
    const last = Object.keys(guessed).indexOf(what);
    const [guesser, other] = [`203.0.113.${last}`, `198.51.100.${last}`];
    for (let at = 0; at < 30; at++)
      expect((await show(`cpq_${'0'.repeat(12)}_wrong-${at}`, guesser)).status).toBe(wrong);
    expect((await show('wrong', guesser)).status).toBe(429);
    // Another answer would confirm a guess.
    const late = await show(await right(), guesser);
    expect(late.status).toBe(429);
    const seconds = Number(late.headers['retry-after']);
    // A window lasts a fiftieth longer than its limit says (`memory-rates.ts`).
    expect(0 < seconds && seconds <= 62).toBe(true);
    expect((await show(await right(), other)).status).toBe(200);
  });
});

describe('guessed secrets of webhooks', () => {
  test('do not block another tenant’s webhooks', async () => {
    for (let at = 0; at < 31; at++) await hook('acme')(`wrong-${at}`, '203.0.113.11');
    expect((await hook('globex')(webhookSecret, '203.0.113.11')).status).toBe(200);
  });

  test('do not reveal which tenants exist', async () => {
    const statusesOf = async (tenant: string, from: string) => {
      const statuses: number[] = [];
      for (let at = 0; at < 32; at++)
        statuses.push((await hook(tenant)(`wrong-${at}`, from)).status);
      return statuses;
    };
    const [unknown, known] = ['203.0.113.21', '203.0.113.22'];
    expect(await statusesOf('initech', unknown)).toEqual(await statusesOf('acme', known));
    // Guesses of all names are counted together, too.
    expect(await statusesOf('globex', known)).toEqual(await statusesOf('umbrella', unknown));
  });
});

test('requests for metrics without a token are no guesses', async () => {
  const ask = { method: 'GET', path: '/metrics' };
  for (let at = 0; at < 40; at++) expect((await send(await server(), ask)).status).toBe(404);
});
