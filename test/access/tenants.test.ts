import { mkdir, writeFile } from 'node:fs/promises';
import type { LookupFunction } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { answerMs } from '../../src/changes/consent.ts';
import type { tenantSettings } from '../../src/commands/options.ts';
import { openCommon, openHandle } from '../../src/commands/tenant-handle.ts';
import { tenantsOf } from '../../src/commands/tenants.ts';
import { readSettings, requireTenant } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import {
  bearer,
  callerAt,
  callToolRequest,
  fileIn,
  newToken,
  type Reply,
  send,
  startTeam,
} from '../support/access.ts';
import { toolCall } from '../support/hardening-tenant.ts';
import type { Row } from '../support/hosts.ts';
import { runHere } from '../support/process.ts';
import { closing, newFolder, shared } from '../support/shared.ts';
import { startTaggedService } from '../support/tagged-service.ts';
import { hookOf, keyOf, type Place, place, startMany } from '../support/tenants.ts';
import { hold, until } from '../support/until.ts';
import { deliver } from '../support/webhooks.ts';

const companies = callToolRequest('cpq_list_companies', { size: 5 });
const idsOf = ({ upstream }: Place): string[] =>
  Object.values(upstream.records)
    .flatMap((rows) => rows.map(({ id }) => String(id ?? '')))
    .filter((id) => id !== '');
const isGood = ({ status, text }: Reply) => status === 200 && !text.includes('"isError":true');

describe('two tenants in one server', () => {
  test('never see each other’s data', async () => {
    /** Every record names the tenant whose key it was read with, at its own address. */
    const described = async (name: string) => {
      const service = closing(
        await startTaggedService((key) => (key === keyOf(name) ? name : 'nobody')),
      );
      return { baseUrl: service.url, apiKey: keyOf(name) };
    };
    const server = await startMany({
      northtag: await described('northtag'),
      southtag: await described('southtag'),
    });
    const asks = [
      () => companies,
      () => callToolRequest('cpq_list_quotes', { size: 5, from: 7 }),
      (own: string) =>
        callToolRequest('cpq_get_record', { resource: 'company', id: `${own}-company-3` }),
      () => callToolRequest('cpq_find', { query: 'company 3' }),
      (own: string) => callToolRequest('cpq_brief_quote', { quote: `${own}-quote-3` }),
      () => callToolRequest('cpq_brief_pipeline'),
    ];
    const call = async (own: string, other: string, at: number) => {
      const body = asks[at % asks.length]?.(own);
      const { status, text } = await send(server, { headers: server.as(own), body });
      expect([status, text]).toEqual([200, expect.stringContaining(own)]);
      expect(text).not.toMatch(new RegExp(`${other}|nobody`));
    };
    // Fewer than the calls that may wait at the same time.
    const calls = Array.from({ length: 48 }, (_, at) => [
      call('northtag', 'southtag', at),
      call('southtag', 'northtag', at),
    ]);
    await Promise.all(calls.flat());
  });

  test('are named, as the caller is, where the log says what is wrong with a request', async () => {
    const one = { baseUrl: 'http://127.0.0.1:9', apiKey: keyOf('one') };
    const server = await startMany({ one, two: { ...one, apiKey: keyOf('two') } });
    const { headers } = await send(server, { headers: server.as('two'), body: { broken: true } });
    const request = headers['x-request-id'];
    const logged = { event: 'protocol', tenant: 'two', caller: 'token:two', request };
    expect(JSON.parse(server.stderr())).toMatchObject(logged);
  });

  test('are selected by the token alone', async () => {
    const [one, two] = await Promise.all([place('one', 1), place('two', 2)]);
    const state = { CPQ_STATE_DIR: newFolder() };
    const nobodys = await newToken(['nobodys'], state);
    const other = await fileIn(newFolder(), 'tenants.json', { tenants: { three: {} } });
    const ofOther = { ...state, CPQ_TENANTS_FILE: other };
    const third = await newToken(['third', '--tenant', 'three'], ofOther);
    const described = { one: one.described, two: two.described };
    const server = await startMany(described, [], state);
    for (const token of [nobodys, third]) {
      for (const headers of [{}, { 'cpq-tenant': 'one', 'x-tenant': 'one' }]) {
        const path = '/mcp?tenant=one';
        const reply = await send(server, { path, headers: { ...bearer(token), ...headers } });
        expect(reply.status).toBe(403);
      }
    }
    expect(one.upstream.requests).toEqual([]);
  });

  test('need a token of their own even if there is only one', async () => {
    const one = await place('one', 1);
    const folder = newFolder();
    const env = {
      CPQ_STATE_DIR: newFolder(),
      CPQ_TENANTS_FILE: await fileIn(folder, 'tenants.json', { tenants: { one: one.described } }),
    };
    await newToken(['anna'], env);
    const { stdout } = await runHere(['token', 'list', '--json'], env);
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'anna', tenant: 'one' }]);
    const { status, stderr } = await runHere(['token', 'add', 'bert', '--tenant', 'two'], env);
    expect(status).toBe(2);
    expect(stderr).toContain('--tenant must be one of one');
  });
});

describe('reloading the tenants file', () => {
  test('adds, changes and removes tenants', async () => {
    const [one, two, other] = await Promise.all([place('one', 1), place('two', 2), place('x', 3)]);
    const metricsToken = 'a-metrics-token-0123456789';
    const env = { CPQ_METRICS_TOKEN: metricsToken };
    const server = await startMany({ one: one.described }, ['one', 'two'], env);
    const metrics = async () =>
      (await send(server, { method: 'GET', path: '/metrics', headers: bearer(metricsToken) })).text;
    const ask = (tenant: string) => send(server, { headers: server.as(tenant), body: companies });
    expect((await ask('two')).status).toBe(403);
    const brief = callToolRequest('cpq_brief_pipeline');
    expect(isGood(await send(server, { headers: server.as('one'), body: brief }))).toBe(true);
    await server.describeAs({ one: one.described, two: two.described });
    expect(isGood(await ask('two'))).toBe(true);
    // What an unchanged tenant has read is kept.
    const walked = one.upstream.requests.length;
    expect(isGood(await send(server, { headers: server.as('one'), body: brief }))).toBe(true);
    expect(one.upstream.requests).toHaveLength(walked);
    await server.describeAs({ one: one.described, two: other.described });
    const changed = await ask('two');
    expect(isGood(changed)).toBe(true);
    expect(idsOf(two).filter((id) => changed.text.includes(id))).toEqual([]);
    expect(idsOf(other).some((id) => changed.text.includes(id))).toBe(true);
    expect(await metrics()).toContain('age_seconds{tenant="one"');
    await server.describeAs({ two: other.described });
    expect((await ask('one')).status).toBe(403);
    expect(await metrics()).not.toContain('age_seconds{tenant="one"');
    expect(one.upstream.requests).toHaveLength(walked);
    expect(server.stderr()).toContain('"opened":["two"],"closed":[]');
    expect(server.stderr()).toContain('"opened":["two"],"closed":["two"]');
    expect(server.stderr()).toContain('"opened":[],"closed":["one"]');
  });

  test('applies a change of any option', async () => {
    const changed: Record<(typeof tenantSettings)[number], unknown> = {
      ...{ baseUrl: 'http://127.0.0.1:7', apiKey: keyOf('two'), webhookSecret: hookOf('two') },
      ...{ apiKeyFile: 'unread', webhookSecretFile: 'unread', fieldsFile: 'fields' },
      ...{ grants: ['quote:read'], toolsets: ['briefs'], tools: ['-cpq_find'], pageParam: 'none' },
      ...{ writeFields: ['name'], allowedStages: ['Won'], writesPerHour: 1, consent: 'ask' },
      ...{ rateLimit: 7, freshSeconds: 1, recordUrl: 'https://app.example.com/{id}' },
    };
    let one: Row = { baseUrl: 'http://127.0.0.1:9', apiKey: keyOf('one') };
    const server = await startMany({ one });
    await fileIn(dirname(server.path), 'fields', 'opportunity.name = title');
    for (const [option, value] of Object.entries(changed)) {
      one = { ...one, [option]: value };
      await server.describeAs({ one });
      const line = server.stderr().trimEnd().split('\n').at(-1);
      expect([option, line]).toEqual([option, expect.stringContaining('"closed":["one"]')]);
    }
  });

  test('lets running calls finish', async () => {
    const [one, two] = await Promise.all([place('one', 1), place('two', 2)]);
    const server = await startMany({ one: one.described, two: two.described });
    const { held, release } = hold();
    for (const { upstream } of [one, two]) upstream.set({ onRequest: () => held });
    const calls = (['one', 'two'] as const).flatMap((tenant) => [
      // Answered with and without the SDK, in both eras.
      send(server, { headers: server.as(tenant), body: companies }),
      ...(['modern', 'legacy'] as const).map(async (era) => {
        const { ask, close } = await callerAt(server, server.as(tenant), { era });
        const answer = await ask('cpq_list_contacts', { size: 2 }, { onprogress: () => {} });
        await close();
        return { status: answer.isError ? 500 : 200, text: answer.text };
      }),
    ]);
    await until(() => [one.upstream.requests.length, two.upstream.requests.length]).toEqual([3, 3]);
    await server.describeAs({ two: { ...two.described, writesPerHour: 3 } });
    release();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect((await send(server, { headers: server.as('one') })).status).toBe(403);
  });
});

/** What a tenant at this address is opened with. */
async function partsFor(CPQ_BASE_URL: string) {
  const place = { CPQ_BASE_URL, CPQ_STATE_DIR: newFolder() };
  const settings = readSettings([], { ...place, CPQ_API_KEY: 'any-key-at-all' });
  const common = await openCommon(settings, createLog('silent'));
  closing(common.state);
  return { settings, common, address: requireTenant(settings) };
}

test('a replaced tenant stays open for calls that wait for a person', async () => {
  const { settings, common, address } = await partsFor('http://127.0.0.1:9');
  const close = vi.fn(async () => {});
  const handle = openHandle('one', settings, { ...address, close }, common);
  vi.useFakeTimers();
  handle.retire();
  await vi.advanceTimersByTimeAsync(answerMs);
  expect(close).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(answerMs);
  vi.useRealTimers();
  await until(() => close.mock.calls.length).toBe(1);
});

test('a tenant of a caller’s key connects by the lookup that checks addresses', async () => {
  const { settings, common, address } = await partsFor('http://localhost:9');
  const isPrivate = Object.assign(new Error('private'), { code: 'EPRIVATE' });
  const lookup: LookupFunction = (_name, _options, done) => done(isPrivate, []);
  const more = { limits: { lookup }, stateByKey: true };
  const { tenant } = closing(openHandle('key', settings, address, common, more));
  const reading = tenant.getRecord('company', 'id', '1', toolCall());
  await expect(reading).rejects.toMatchObject({ facts: { code: 'EPRIVATE' } });
});

describe('reloading a malformed tenants file', () => {
  const secret = 'a-secret-that-was-mistyped-012345';
  test.each([
    ['not JSON', `{"tenants": {"one": {"apiKey": "${secret}"`],
    ['with an invalid key', { one: { baseUrl: 'https://a.example.com', apiKey: `${secret} b` } }],
  ])('changes nothing and logs it where the file is %s', async (_, content) => {
    const { server, one } = await reloaded();
    server.running.output.guard(secret);
    const before = one.upstream.requests.length;
    await server.describeAs(content);
    expect(server.stderr()).toContain('tenants not reloaded: the previous ones stay active');
    const reply = await send(server, { headers: server.as('one'), body: companies });
    expect(isGood(reply)).toBe(true);
    expect(one.upstream.requests.length).toBe(before + 1);
  });
});

test('a changed tenants file is read on the signal only', async () => {
  const { server, one } = await reloaded();
  await writeFile(server.path, 'gone');
  expect(isGood(await send(server, { headers: server.as('one'), body: companies }))).toBe(true);
  await server.describeAs({ one: { ...one.described, rateLimit: 1_000 } });
  expect(isGood(await send(server, { headers: server.as('one'), body: companies }))).toBe(true);
});

/** A server of one tenant, which several tests reload. */
const reloaded = shared(async () => {
  const one = await place('one', 1);
  const server = await startMany({ one: one.described });
  // The first list takes a request more, which shows whether its total is right.
  await send(server, { headers: server.as('one'), body: companies });
  return { server, one };
});

const updated = () => ({ event: 'company.updated', data: { id: 'a', name: `${Math.random()}` } });

test('the key of the only tenant is replaced on the signal, without a tenants file', async () => {
  const only = await place('one', 1);
  const folder = newFolder();
  const keyFile = await fileIn(folder, 'key', 'AKeyThatWasRevoked0123456789');
  const env = { CPQ_BASE_URL: only.upstream.url, CPQ_API_KEY_FILE: keyFile };
  const server = await startTeam({ ...env, CPQ_STATE_DIR: folder });
  const ask = () => send(server, { body: companies });
  expect(isGood(await ask())).toBe(false);
  await writeFile(keyFile, only.key);
  server.running.kill('SIGHUP');
  await until(() => server.stderr()).toContain('"opened":["default"],"closed":["default"]');
  expect(isGood(await ask())).toBe(true);
  await writeFile(keyFile, '');
  server.running.kill('SIGHUP');
  await until(() => server.stderr()).toContain('tenants not reloaded');
  expect(isGood(await ask())).toBe(true);
});

describe('settings of a tenant', () => {
  test('may be read from files next to the tenants file', async () => {
    const one = await place('one', 1);
    const folder = newFolder();
    await mkdir(join(folder, 'keys'));
    await writeFile(join(folder, 'keys', 'one'), `${one.key}\n`);
    const described = { one: { baseUrl: one.upstream.url, apiKeyFile: 'keys/one' } };
    const CPQ_TENANTS_FILE = await fileIn(folder, 'tenants.json', { tenants: described });
    const server = await startMany({}, ['one'], { CPQ_TENANTS_FILE });
    server.running.output.guard(one.key);
    expect(isGood(await send(server, { headers: server.as('one'), body: companies }))).toBe(true);
  });

  const described = { baseUrl: 'https://a.example.com', apiKey: 'key-of-one-0123456789abcdef' };
  const read = async (tenant: Row) => {
    const tenants = { one: { ...described, ...tenant } };
    const path = await fileIn(newFolder(), 'tenants.json', { tenants });
    return tenantsOf(readSettings([], { CPQ_TENANTS_FILE: path })).get('one');
  };

  const mistyped = 'a-value-that-was-mistyped-012345';
  const own = { baseUrl: described.baseUrl, apiKey: mistyped };
  const invalid: [what: string, content: unknown, words: string][] = [
    ['not JSON', `{"tenants": {"a": {"apiKey": "${mistyped}" }`, 'must be JSON such as'],
    ['a list', { tenants: [own] }, 'must be JSON such as'],
    ['without a tenant', { tenants: {} }, 'no tenant'],
    ['of a tenant that is not an object', { tenants: { a: mistyped } }, 'must be an object'],
    ['with an invalid name', { tenants: { '../a': own } }, 'a–z'],
    ['with the name __proto__', `{"tenants": {"__proto__": {"apiKey": "${mistyped}"}}}`, 'a–z'],
    ...[
      ['without anything', {}, 'Missing: baseUrl'],
      ['without a key', { baseUrl: own.baseUrl }, 'Missing: apiKey'],
      ['without an address', { apiKey: mistyped }, 'Missing: baseUrl'],
      ['with an invalid key', { ...own, apiKey: `${mistyped} x` }, 'apiKey'],
      ['with a missing key file', { baseUrl: own.baseUrl, apiKeyFile: 'nowhere' }, 'nowhere'],
      ['with a password', { ...own, baseUrl: `https://me:${mistyped}@a.example.com` }, 'user name'],
      ['with an unknown grant', { ...own, grants: ['everything'] }, 'permissions: read'],
      ['with a short webhook secret', { ...own, webhookSecret: 'short' }, '16 characters'],
      ["with the server's tokens", { ...own, tokensFile: '/x' }, 'There is no option'],
      ['with auth strategies of its own', { ...own, auth: 'key' }, 'There is no option'],
      ['with private networks', { ...own, allowPrivate: '1' }, 'There is no option'],
    ].map(([what, tenant, words]): [string, unknown, string] => [
      String(what),
      { tenants: { a: tenant } },
      String(words),
    ]),
  ];
  // Nothing of the server's own address and key is taken.
  const servers = { CPQ_BASE_URL: own.baseUrl, CPQ_API_KEY: 'key-of-the-server-0123456789' };
  test.each(invalid)('are refused where the file is %s', async (_, content, words) => {
    const path = await fileIn(newFolder(), 'tenants.json', content);
    const reading = async () => tenantsOf(readSettings([], { ...servers, CPQ_TENANTS_FILE: path }));
    await expect(reading).rejects.toThrow(path);
    await expect(reading).rejects.toThrow(words);
    for (const secret of [mistyped, servers.CPQ_API_KEY])
      await expect(reading).rejects.not.toThrow(secret);
  });
  test.each<[name: string, value: unknown]>([
    ...['baseUrl', 'apiKey', 'apiKeyFile', 'pageParam', 'consent', 'webhookSecret'].flatMap(
      (name): [string, unknown][] => [
        [name, [mistyped]],
        [name, { secret: mistyped }],
        [name, 1_234_567_890_123],
        [name, true],
        [name, null],
        [name, ' '],
      ],
    ),
    ['rateLimit', '500'],
    ['rateLimit', [500]],
    ['writesPerHour', null],
    ['grants', []],
    ['grants', ''],
    ['grants', ['read', 1]],
    ['grants', { read: true }],
    ['toolsets', []],
    ['writeFields', ['']],
    ['allowedStages', []],
    ['allowedStages', [1]],
    ['allowedStages', ';'],
    ['allowedStages', ['Won; really']],
  ])('are checked: %s cannot be %j', async (name, value) => {
    const reading = read({ [name]: value });
    await expect(reading).rejects.toThrow(new RegExp(`"one": ${name}(:| must be a)`));
    await expect(reading).rejects.not.toThrow(mistyped);
  });

  test('may be a string instead of a list', async () => {
    expect((await read({ grants: 'company:read' }))?.grants).toEqual(new Set(['company:read']));
    expect((await read({ allowedStages: 'Won; Lost' }))?.allowedStages).toEqual(['Won', 'Lost']);
  });
});

describe('keys, secrets and grants of a tenant', () => {
  test('never contain the server’s webhook secret', async () => {
    const [one, two] = await Promise.all([place('one', 1), place('two', 2)]);
    const servers = 'hook-of-the-server-0123456789';
    const { webhookSecret, ...bare } = two.described;
    const server = await startMany({ one: one.described, two: bare }, [], {
      CPQ_WEBHOOK_SECRET: servers,
    });
    const to = (name: string, secret: unknown) =>
      deliver(`${server.url.replace(/mcp$/, 'webhooks')}/${name}`, updated(), {
        'x-webhook-secret': String(secret),
      });
    expect((await to('one', hookOf('one'))).status).toBe(200);
    for (const [name, secret] of [
      ['one', servers],
      ['two', servers],
      ['two', hookOf('one')],
      ['two', webhookSecret],
      ['two', ''],
      ['default', servers],
    ]) {
      expect((await to(String(name), secret)).status).toBe(401);
    }
  });

  test('include grants of its own', async () => {
    const [one, two] = await Promise.all([place('one', 1), place('two', 2)]);
    const described = {
      one: { ...one.described, grants: ['company:read'] },
      two: { ...two.described, grants: ['read', 'opportunity:write'] },
    };
    const server = await startMany(described);
    const names = async (tenant: string) =>
      closing(await callerAt(server, server.as(tenant))).names();
    expect(await names('one')).not.toContain('cpq_list_quotes');
    expect(await names('two')).toContain('cpq_list_quotes');
    // The token was given for reading.
    expect(await names('two')).not.toContain('cpq_upsert_opportunity');
  });
});
