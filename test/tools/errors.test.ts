import { describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { type OpenOptions, openTenant, serve } from '../support/hardening-tenant.ts';
import {
  answerOf,
  anyHost,
  callsBy,
  everyHostHere,
  everything,
  type Row,
} from '../support/hosts.ts';
import { inProcess } from '../support/in-process.ts';
import { sample } from '../support/sampling.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { closing, shared } from '../support/shared.ts';
import type { Behaviour, Upstream } from '../support/upstream/behaviour.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

const wrongKey = 'canary0WrongKey0canary0WrongKey0canary00';
const sandbox = shared(() => startSandbox({ scale: 0.1 }));
const upstream = shared(async () => closing(await startUpstream({ counts: { '/company': 30 } })));

async function upstreamWith(behaviour: Behaviour): Promise<Upstream> {
  const service = await upstream();
  service.reset();
  service.set(behaviour);
  return service;
}

/** A server in this process, of the service at this address. */
async function serverOf(url: string, options: Partial<OpenOptions> = {}) {
  const tenant = closing(openTenant({ url, key: wrongKey, ...options }));
  const { client } = closing(await serve(tenant, () => {}));
  return callsBy(async (name, args = {}) =>
    answerOf(await client.callTool({ name, arguments: args as Row })),
  );
}

const overService = async (behaviour: Behaviour) => serverOf((await upstreamWith(behaviour)).url);

const hostOf = (url: string): string => new URL(url).host;

/** Expects a sentence for a person, without key, stack, body or internals. */
function expectWorded(words: string): void {
  expect(words).not.toContain(wrongKey);
  expect(words).not.toMatch(/\n|<[a-z]|\bat .*\.js|\bError:|undefined|\{"/);
  expect(words).toMatch(/^[A-Za-z0-9].{40,500}\.$/s);
}

for (const host of sample(everyHostHere, 4)) {
  test(`a wrong key, ${host.name}: is named by its setting, without its value`, async () => {
    const { baseUrl } = addressIn(await sandbox());
    const { refused, output, close } = await host.start({ baseUrl, key: wrongKey });
    const words = await refused('cpq_list_companies');
    expect(words).toContain(`The key was not accepted by ${hostOf(baseUrl)}; keys belong to one`);
    expect(words).toContain('Settings → Integrations → API Key');
    expectWorded(words);
    await close();
    expect(output.everything).not.toContain(wrongKey);
  });
}

describe('the service refuses a request', () => {
  test('with the key of another tenant', async () => {
    const [{ baseUrl }, other] = (await sandbox()).tenants;
    const key = other?.keys.all ?? '';
    const { refused } = await inProcess.start({ baseUrl, key });
    const words = await refused('cpq_list_quotes');
    expect(words).toContain('keys belong to one tenant');
    expect(words).not.toContain(key);
    expectWorded(words);
  });

  test('with status 401', async () => {
    const { refused } = await overService({ status: { code: 401 } });
    const words = await refused('cpq_list_companies');
    expect(words).toContain('The key was not accepted');
    expectWorded(words);
  });

  test('for a collection that the key may not read, and allows the others', async () => {
    const { call, refused } = await inProcess.start(addressIn(await sandbox(), 'limited'));
    const words = await refused('cpq_list_quotes');
    expect(words).toMatch(/does not let this key read \/quote\. It says: ".*quote:read"/);
    expect(words).toContain('An administrator can allow it');
    expectWorded(words);
    expect((await call('cpq_list_companies', { size: 1 })).records).toHaveLength(1);
  });

  test('with any key where the tenant has no public API', async () => {
    const { settings } = await sandbox();
    settings.publicApi = false;
    onTestFinished(() => {
      settings.publicApi = true;
    });
    const { refused } = await inProcess.start(addressIn(await sandbox()));
    const words = await refused('cpq_list_companies');
    expect(words).toContain('It says: "Public API is not enabled"');
    expectWorded(words);
  });

  test('with an argument, and its message is passed on', async () => {
    const message = ['filters must be key:value', 'sort is not known'];
    const { refused } = await overService({ status: { code: 400, message } });
    const words = await refused('cpq_list_companies', { query: 'refused' });
    expect(words).toContain('"filters must be key:value; sort is not known"');
    expect(words).toContain('asking the same again will not help');
    expectWorded(words);
  });

  test('with a message that contains the key, which is removed', async () => {
    const message = `API key ${wrongKey} may not read companies`;
    const { url: baseUrl } = await upstreamWith({ status: { code: 403, message } });
    const { refused, output } = await anyHost.start({ baseUrl, key: wrongKey });
    const words = await refused('cpq_list_companies');
    expect(words).toContain('"API key [key] may not read companies"');
    expectWorded(words);
    expect(output.everything).not.toContain(wrongKey);
  });
});

describe('too many requests', () => {
  test('are reported with the seconds to wait', async () => {
    const { refused } = await overService({ status: { code: 429, retryAfter: '300' } });
    const words = await refused('cpq_list_companies');
    expect(words).toMatch(/accepts no more requests for now\. Ask again in 300 seconds/);
    expectWorded(words);
    expect(await refused('cpq_list_companies')).toMatch(/Ask again in (29\d|300) seconds/);
    expect((await upstream()).requests).toHaveLength(1);
  });

  test('of all programs together are limited before they are sent', async () => {
    // One more than calls: the first also asks whether the total is right.
    const { baseUrl, key } = addressIn(await sandbox());
    const { call, refused } = await serverOf(baseUrl, { key, requestLimit: 4 });
    for (let at = 0; at < 3; at++) await call('cpq_list_companies', { size: 1 });
    const words = await refused('cpq_list_companies', { size: 1 });
    expect(words).toMatch(/request budget, which all its programs share, is used up/);
    expect(words).toMatch(/Ask again in (59\d|600) seconds/);
    expectWorded(words);
  });

  test('are reported as the service counts them, including other programs', async () => {
    const own = await startSandbox({
      scale: 0.1,
      rateLimit: { requests: 3, windowSeconds: 600 },
    });
    const { call, refused } = await inProcess.start(addressIn(own));
    await call('cpq_list_companies', { size: 1 });
    await call('cpq_list_companies', { size: 1 });
    expect(await refused('cpq_list_companies', { size: 1 })).toMatch(/in (59\d|600) seconds/);
  });

  test('are waited for if the wait is short', async () => {
    const service = await upstream();
    const { call } = await overService({});
    service.set({ status: { code: 429, retryAfter: '1' } });
    const answer = call('cpq_list_companies', { size: 2 });
    await expect.poll(() => service.requests.length).toBeGreaterThan(0);
    service.set({ status: undefined });
    expect((await answer).records).toHaveLength(2);
  });
});

describe('a wrong base URL', () => {
  test('of the web interface is reported', async () => {
    const { url } = await sandbox();
    const { refused } = await serverOf(`${url}/app`);
    const words = await refused('cpq_list_companies');
    expect(words).toContain(`${hostOf(url)} answered with a web page: this looks like the web`);
    expect(words).toContain('CPQ_BASE_URL must be');
    expectWorded(words);
  });

  test('of no tenant is reported', async () => {
    const { url } = await sandbox();
    const { refused } = await serverOf(`${url}/t/nobody`);
    const words = await refused('cpq_list_companies');
    expect(words).toContain('has no route /company: CPQ_BASE_URL is probably not');
    expectWorded(words);
  });

  test('where nobody listens is reported', async () => {
    const port = await freePort();
    const { refused } = await serverOf(`http://127.0.0.1:${port}`);
    const words = await refused('cpq_list_companies');
    expect(words).toContain(`127.0.0.1:${port} cannot be reached (ECONNREFUSED)`);
    expect(words).toMatch(/Check the address in CPQ_BASE_URL, the network, a proxy/);
    expectWorded(words);
    for (let call = 0; call < 5; call++) await refused('cpq_list_companies');
    const stopped = await refused('cpq_list_companies');
    expect(stopped).toMatch(/cannot be reached \(ECONNREFUSED\), so requests such as this one/);
  });

  test('with an invalid host name is reported', async () => {
    const { refused } = await serverOf('http://nobody.invalid');
    const words = await refused('cpq_list_companies');
    expect(words).toMatch(/nobody\.invalid cannot be reached \((ENOTFOUND|EAI_AGAIN)\)/);
    expectWorded(words);
  });

  test('that redirects is not followed, and the key is not sent', async () => {
    for (const to of ['other', 'other port', 'same', 'loop'] as const) {
      const { refused } = await overService({ redirect: { code: 307, to } });
      const words = await refused('cpq_list_companies');
      expect(words).toContain('answered with a redirect, which is not followed');
      expectWorded(words);
      expect((await upstream()).elsewhere.requests).toEqual([]);
    }
  });
});

describe('a service that fails', () => {
  test('with repeated status 500 is reported without its body', async () => {
    const { refused } = await overService({ status: { code: 500 } });
    const words = await refused('cpq_list_companies');
    expect(words).toMatch(/answered with status 500, also after trying again\. It may be down/);
    expectWorded(words);
    expect((await upstream()).requests).toHaveLength(3);
  });

  test('by closing the connection is reported', async () => {
    const { refused } = await overService({ cut: { at: 'body', how: 'reset' } });
    const words = await refused('cpq_list_companies');
    expect(words).toMatch(/closed the connection, also after trying again/);
    expectWorded(words);
  });

  test('with an unknown envelope is an error, not an empty list', async () => {
    const { refused } = await overService({ instead: { text: '{"stuff":[],"count":0}' } });
    const words = await refused('cpq_list_companies');
    expect(words).toMatch(/cannot be read: an unknown envelope. This is not an empty result/);
    expectWorded(words);
  });

  test('with truncated JSON is reported', async () => {
    const { refused } = await overService({ truncate: 0.5 });
    expectWorded(await refused('cpq_list_companies'));
  });

  test('does not stop the server', async () => {
    const { call, refused } = await overService({ status: { code: 503, html: true } });
    expectWorded(await refused('cpq_list_companies'));
    (await upstream()).set({ status: undefined });
    expect((await call('cpq_list_companies', { size: 4 })).records).toHaveLength(4);
  });
});

describe('a tool without its grants', () => {
  test('cannot be called', async () => {
    const server = await inProcess.start(addressIn(await sandbox()), { grants: 'company:read' });
    await expect(server.ask('cpq_list_quotes')).rejects.toThrow(/Unknown tool/);
  });

  test('with grants that the key lacks is refused by the service', async () => {
    const server = await inProcess.start(addressIn(await sandbox(), 'limited'), everything);
    expect(await server.refused('cpq_list_products')).toContain('does not let this key');
  });
});
