import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { apiKeyStrategy, type RetirableTenant } from '../../src/hosts/access/api-key.ts';
import { isPrivate, lookupPublicOnly } from '../../src/hosts/access/networks.ts';
import { MemoryRates } from '../../src/state/memory-rates.ts';
import type { RateWindow } from '../../src/state/port.ts';
import { catalog } from '../../tools/catalog.ts';
import {
  callerAt,
  callToolRequest,
  type Headers,
  newToken,
  type Reply,
  send,
  startKeyed,
} from '../support/access.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { everything } from '../support/hosts.ts';
import { json } from '../support/identity-provider.ts';
import { listen } from '../support/local-server.ts';
import { sampleFor, serviceRecords } from '../support/samples.ts';
import { closing, newFolder, shared } from '../support/shared.ts';
import { hold, until } from '../support/until.ts';
import { firstOf, only, type UpstreamRequest } from '../support/upstream/behaviour.ts';
import { startUpstream } from '../support/upstream/upstream.ts';
import { deliver, webhookSecret, webhooksAt } from '../support/webhooks.ts';

const { address } = embeddedTenant({ scale: 0.1 });
const upstreamWith = async (keys: readonly string[]) =>
  closing(await startUpstream({ keys: new Set(keys) }));

const keyed = (key: string, more: Headers = {}): Headers => ({ 'api-key': key, ...more });

/** Admits no request to the service: a call that is answered with 429 was about to be sent. */
const nothingLeft: RateWindow = Object.assign(new MemoryRates(), {
  take: async () => ({ taken: false, left: 0, waitMs: 600_000 }),
});
const plenty: RateWindow = Object.assign(new MemoryRates(), {
  take: async () => ({ taken: true, left: 1_000, waitMs: 0 }),
});

interface Asked {
  allowed: readonly string[];
  allowPrivate?: boolean;
}

/** The status of the answer to a request that names this address. */
async function statusFor(address: string, { allowed, allowPrivate = true }: Asked) {
  const open = () => expect.unreachable('nothing is opened');
  const strategy = apiKeyStrategy({ baseUrls: allowed, allowPrivate, rates: nothingLeft, open });
  const headers = keyed('k'.repeat(40), { 'cpq-base-url': address });
  return strategy.authenticate({ headers } as never, '203.0.113.1').then(
    () => 200,
    (error: { status?: number }) => error.status ?? error,
  );
}

const allowed = [
  'https://good.example.com',
  'https://*.cpq.example.com',
  'http://service.example.com:8080/base',
];

describe('the address of the service', () => {
  test.each([
    ...['https://good.example.com', 'https://good.example.com/', ' https://good.example.com '],
    ...['https://good.example.com/public-api', 'https://good.example.com/public-api/'],
    ...['HTTPS://GOOD.EXAMPLE.COM', 'https://good.example.com:443', 'https://good%2Eexample.com'],
    'https://good.example.com?a=b#c',
    ...['https://a.cpq.example.com', 'https://A-1.cpq.example.com', 'https://a%2ecpq.example.com'],
    'http://service.example.com:8080/base/',
    'http://service.example.com:8080/x/../base',
  ])('is accepted: %s', async (address) => {
    expect(await statusFor(address, { allowed })).toBe(429);
  });

  test.each([
    // Another host that has the name of an allowed one.
    ...['https://good.example.com.evil.com', 'https://evil.com/good.example.com'],
    ...['https://evil.com?https://good.example.com', 'https://evil.com#https://good.example.com'],
    ...['https://evil.com\\.good.example.com', 'https://good.example.com@evil.com'],
    ...['https://good.example.com:pass@evil.com', 'https://evilgood.example.com'],
    ...['https://good-example.com', 'https://goodxexample.com', 'https://good.example.com.'],
    ...['https://xn--good.example.com', 'https://gооd.example.com'],
    // An allowed host with a user, another port, scheme or path.
    ...['https://me@good.example.com', 'https://me:pass@good.example.com'],
    ...['https://good.example.com:8443', 'https://good.example.com:80', 'http://good.example.com'],
    ...['ftp://good.example.com', '//good.example.com', 'good.example.com', 'file:///etc/passwd'],
    ...['https://good.example.com/other', 'https://good.example.com/%2e%2e/other'],
    'https://good.example.com/public-api/public-api',
    // More or less than the one label that `*` stands for.
    ...['https://cpq.example.com', 'https://.cpq.example.com', 'https://a.b.cpq.example.com'],
    ...['https://a%2Eb.cpq.example.com', 'https://evil.com%2Fa.cpq.example.com'],
    ...['https://evil.com%23.cpq.example.com', 'https://a_b.cpq.example.com'],
    ...['https://*.cpq.example.com', 'https://a.cpq.example.com/base', 'https://a.cpqxexample.com'],
    // Another base path.
    ...['http://service.example.com:8080', 'http://service.example.com:8080/base/more'],
    ...['http://service.example.com:8080/BASE', 'http://service.example.com:8080/base%2f'],
    'http://service.example.com/base',
    // An IP address, and two addresses.
    ...['https://[::1]', 'https://127.0.0.1'],
    'https://good.example.com, https://good.example.com',
    'https://good.example.com\thttps://evil.com',
  ])('is refused: %s', async (address) => {
    expect(await statusFor(address, { allowed })).toBe(403);
  });

  test('must be given where several are allowed', async () => {
    expect(await statusFor('', { allowed })).toBe(403);
    expect(await statusFor('', { allowed: ['https://*.example.com'] })).toBe(403);
    expect(await statusFor('', { allowed: ['https://good.example.com'] })).toBe(429);
  });
});

const inside = [
  ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001'],
  ...['①②⑦.⓪.⓪.①', '127.0.0.1.', '0', '0.0.0.0', '10.1.2.3', '100.64.0.1', '169.254.169.254'],
  ...['172.16.0.1', '172.31.255.255', '192.168.0.1', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
  ...['[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[::127.0.0.1]', '[::ffff:127.0.0.1]'],
  ...['[::ffff:7f00:1]', '[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]', '[64:ff9b::a00:1]'],
  ...['[64:ff9b:1::1]', '[2002:7f00:1::]', '[fd00::1]', '[fe80::1]', '[ff02::1]'],
].map((host) => `http://${host}`);

/** What the callback of a lookup gets. */
const lookedUp = (name: string, all: boolean): Promise<unknown[]> =>
  new Promise((resolve) => {
    lookupPublicOnly(name, { all }, (...answer: unknown[]) => resolve(answer));
  });

describe('a private network', () => {
  test.each(inside)('is refused at %s, even if the address is allowed', async (address) => {
    expect(await statusFor(address, { allowed: [address], allowPrivate: false })).toBe(403);
    expect(await statusFor(address, { allowed: [address], allowPrivate: true })).toBe(429);
  });

  test.each(['http://8.8.8.8', 'http://172.32.0.1', 'http://[2606:4700::1111]'])(
    'does not include %s',
    async (address) => {
      expect(await statusFor(address, { allowed: [address], allowPrivate: false })).toBe(429);
    },
  );

  test('is not recognised by a host name alone', () => {
    for (const name of ['example.com', '', 'localhost', '127.0.0.1.example.com', '1.2.3.4.5']) {
      expect(isPrivate(name)).toBe(false);
    }
    expect(isPrivate('fe80::1%eth0')).toBe(true);
  });

  test.each([true, false])(
    'is refused for a name that resolves to it; all addresses: %s',
    async (all) => {
      const found = await lookedUp('localhost', all);
      expect(found[0]).toMatchObject({ code: 'EPRIVATE' });
      expect(JSON.stringify(found.slice(1))).not.toMatch(/127\.0\.0\.1|::1/);
    },
  );

  test('is none where all addresses are public', async () => {
    // An address needs no name server.
    expect(await lookedUp('93.184.216.34', false)).toEqual([null, '93.184.216.34', 4]);
    const address = '2606:2800:220:1::1';
    expect(await lookedUp(address, true)).toEqual([null, [{ address, family: 6 }]]);
  });

  test('is recognised where one of several addresses of a name is in it', async () => {
    const found = ['93.184.216.34', '10.0.0.1'].map((address) => ({ address, family: 4 }));
    const asked = vi.spyOn(dns, 'lookup');
    asked.mockImplementation(((_name: string, _all: object, done: (...answer: unknown[]) => void) =>
      done(null, found)) as never);
    syncBuiltinESMExports();
    const [error] = await lookedUp('both.example', true);
    asked.mockRestore();
    syncBuiltinESMExports();
    expect(String(error)).toContain('both.example leads to a private network');
  });

  test('is refused by a running server when it connects to such a name', async () => {
    const upstream = await upstreamWith(['good']);
    const address = `http://localhost:${new URL(upstream.url).port}`;
    const team = await startKeyed(address, { CPQ_ALLOW_PRIVATE: '0' });
    const reply = await send(team, { headers: keyed('good') });
    expect(reply.status).toBe(403);
    expect(reply.text).toContain('private network');
    expect(upstream.requests).toEqual([]);
  });
});

describe('a key', () => {
  test('that is wrong gets 401, and is not sent to the service again', async () => {
    const upstream = await upstreamWith(['good-key-0123456789']);
    const team = await startKeyed(upstream.url);
    const wrong = 'wrong-key-0123456789';
    team.running.output.guard(wrong);
    for (let at = 0; at < 5; at++) {
      const reply = await send(team, { headers: keyed(wrong) });
      expect(reply.status).toBe(401);
      expect(reply.headers['www-authenticate']).toBe('ApiKey realm="cpq-mcp"');
    }
    expect(upstream.requests).toHaveLength(1);
    expect((await send(team, { headers: keyed('good-key-0123456789') })).status).toBe(200);
  });

  test('that may not read companies is accepted', async () => {
    const upstream = await upstreamWith(['good']);
    const refused = { code: 403, message: 'Not permitted to read companies' };
    const lacking = only({ code: 404 }, { path: '/opportunity' });
    upstream.set({ status: firstOf(only(refused, { path: '/company' }), lacking) });
    const team = await startKeyed(upstream.url);
    expect((await send(team, { headers: keyed('good') })).status).toBe(200);
  });

  test('that may read nothing is refused, as all are of a tenant without the API', async () => {
    const upstream = await upstreamWith(['good']);
    upstream.set({ status: { code: 403, message: 'Public API is not enabled' } });
    const team = await startKeyed(upstream.url);
    expect((await send(team, { headers: keyed('invented-words') })).status).toBe(401);
  });

  test('that is not accepted yet is taken out of nobody else’s answers', async () => {
    const upstream = await upstreamWith(['good']);
    const { held, release } = hold();
    const isGuess = ({ headers }: UpstreamRequest) => headers['api-key'] === 'opportunities';
    upstream.set({ onRequest: (_n, _up, request) => (isGuess(request) ? held : undefined) });
    const team = await startKeyed(upstream.url);
    await send(team, { headers: keyed('good') });
    const guess = send(team, { headers: keyed('opportunities') });
    await until(() => upstream.requests.some(isGuess)).toBe(true);
    const body = callToolRequest('cpq_list_opportunities', { size: 1 });
    expect((await send(team, { headers: keyed('good'), body })).text).toContain('opportunities');
    release();
    expect((await guess).status).toBe(401);
  });

  test('is sent to no other address, even if the service redirects', async () => {
    const upstream = await upstreamWith(['good']);
    const team = await startKeyed(upstream.url);
    for (const to of ['other', 'other port', 'loop'] as const) {
      upstream.set({ redirect: { code: 307, to } });
      upstream.requests.length = 0;
      const reply = await send(team, { headers: keyed('good') });
      expect(reply.status).toBe(503);
      expect(upstream.requests).not.toEqual([]);
      expect(upstream.elsewhere.requests).toEqual([]);
    }
  });

  test('is not called wrong while the service is unavailable', async () => {
    const upstream = await upstreamWith(['good']);
    upstream.set({ status: { code: 500 } });
    const team = await startKeyed(upstream.url);
    const reply = await send(team, { headers: keyed('good') });
    expect(reply.status).toBe(503);
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    upstream.set({ status: { code: 429, retryAfter: '77' } });
    const limited = await send(team, { headers: keyed('good') });
    expect([limited.status, limited.headers['retry-after']]).toEqual([503, '77']);
    upstream.set({ status: undefined });
    expect((await send(team, { headers: keyed('good') })).status).toBe(200);
  });
});

describe('callers at one address', () => {
  /** Two keys: one may read everything, the other only companies, contacts and opportunities. */
  const both = shared(async () => {
    const { baseUrl } = await address();
    const team = await startKeyed(baseUrl);
    const [read, limited] = await Promise.all(
      (['read', 'limited'] as const).map(async (name) => {
        const { key } = await address(name);
        team.running.output.guard(key);
        return keyed(key);
      }),
    );
    return { team, read: read as Headers, limited: limited as Headers };
  });

  test('never see data that only another caller’s key may read', async () => {
    const { team, read, limited } = await both();
    const at = await address('all');
    const paths = ['/quote', '/product', '/pricing-book', '/quote-template', '/category'];
    const rows = (
      await Promise.all(paths.map((path) => serviceRecords(at, path, '?size=1000')))
    ).flat();
    const ids = rows.map(({ id }) => String(id)).filter((id) => id.length >= 10);
    expect(ids.length).toBeGreaterThan(100);
    const seen = (reply: Reply, given: string) =>
      ids.filter((id) => reply.text.includes(id) && !given.includes(id));
    let seenByReader = 0;
    const tools = catalog.filter(({ needs }) => !needs.includes('opportunity:write'));
    for (const tool of tools) {
      const args = await sampleFor(tool, at);
      const body = callToolRequest(tool.name, args);
      const given = JSON.stringify(args);
      const asks = [read, limited, read, limited].map((headers) => send(team, { headers, body }));
      const found = (await Promise.all(asks)).map((reply) => seen(reply, given));
      const [ofReader = [], ofLimited, ofReaderAgain = [], ofLimitedAgain] = found;
      expect([tool.name, ofLimited, ofLimitedAgain]).toEqual([tool.name, [], []]);
      seenByReader += ofReader.length + ofReaderAgain.length;
    }
    expect(seenByReader).toBeGreaterThan(50);
  });

  test.each([
    {},
    { CPQ_TOOLSETS: everything.toolsets },
    { CPQ_TOOLSETS: 'briefs', CPQ_TOOLS: 'cpq_list_events' },
  ])('are not shown events received for the operator’s key: %j', async (listed) => {
    const { baseUrl, key } = await address('all');
    const env = { CPQ_STATE_DIR: newFolder() };
    const good = await newToken(['good'], env);
    const team = await startKeyed(baseUrl, {
      ...env,
      CPQ_AUTH: 'token,key',
      CPQ_BASE_URL: baseUrl,
      CPQ_API_KEY: key,
      ...listed,
      CPQ_WEBHOOK_SECRET: webhookSecret,
    });
    const payload = { event: 'quote.updated', data: { id: 'QuoteThatNobodyMaySee' } };
    expect((await deliver(webhooksAt(team.url, 'default'), payload)).status).toBe(200);
    const events = callToolRequest('cpq_list_events');
    const operator = { authorization: `Bearer ${good}` };
    expect((await send(team, { headers: operator, body: events })).text).toContain('NobodyMaySee');
    const { limited } = await both();
    const caller = await callerAt(team, limited);
    expect(await caller.names()).not.toContain('cpq_list_events');
    await caller.close();
    expect((await send(team, { headers: limited, body: events })).text).not.toContain('Nobody');
  });
});

describe('the tenant of a key', () => {
  afterEach(() => vi.useRealTimers());

  interface Stub extends RetirableTenant {
    key: string;
  }

  async function startHolding(keys: readonly string[], baseUrls?: readonly string[]) {
    const upstream = await upstreamWith(keys);
    const opened: string[] = [];
    const retired: string[] = [];
    const strategy = apiKeyStrategy({
      baseUrls: baseUrls ?? [upstream.url],
      allowPrivate: true,
      rates: plenty,
      open(_, key): Stub {
        opened.push(key);
        const tenant = { key: { identity: key } } as RetirableTenant['tenant'];
        const served = () => expect.unreachable('nobody is served');
        const retire = () => void retired.push(key);
        return { key, name: 'key', grants: new Set(), tenant, endpointFor: served, retire };
      },
    });
    const show = (key: string, from = '203.0.113.1', more?: Headers) =>
      strategy.authenticate({ headers: keyed(key, more) } as never, from);
    return { upstream, opened, retired, show };
  }

  test('is opened once for concurrent callers', async () => {
    const { upstream, opened, show } = await startHolding(['a']);
    await Promise.all(Array.from({ length: 20 }, () => show('a')));
    expect(opened).toEqual(['a']);
    expect(upstream.requests).toHaveLength(1);
  });

  test('is another one at each address', async () => {
    const { url } = closing(await listen((_, response) => json(response, [])));
    const addresses = [url, `${url}/base`];
    const { opened, show } = await startHolding([], addresses);
    for (const address of addresses) await show('a', undefined, { 'cpq-base-url': address });
    expect(opened).toEqual(['a', 'a']);
  });

  test('is closed after fifteen minutes without a call', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    const { retired, opened, show } = await startHolding(['a', 'b']);
    await show('a');
    await show('b');
    vi.advanceTimersByTime(14 * 60_000);
    await show('a');
    vi.advanceTimersByTime(2 * 60_000);
    expect(retired).toEqual(['b']);
    vi.advanceTimersByTime(15 * 60_000);
    expect(retired).toEqual(['b', 'a']);
    await show('a');
    expect(opened).toEqual(['a', 'b', 'a']);
  });

  test('is closed when too many are open, but not by wrong keys', async () => {
    const good = Array.from({ length: 257 }, (_, at) => `good-${at}`);
    const { retired, show } = await startHolding(good);
    for (const key of good.slice(0, 256)) await show(key);
    const wrong = Array.from({ length: 300 }, (_, at) => show(`wrong-${at}`, `198.51.100.${at}`));
    for (const end of await Promise.allSettled(wrong)) expect(end.status).toBe('rejected');
    expect(retired).toEqual([]);
    await show('good-0');
    await show('good-256');
    expect(retired).toEqual(['good-1']);
  });
});
