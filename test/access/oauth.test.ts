import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ServedTenant } from '../../src/hosts/access/gate.ts';
import { oauthStrategy } from '../../src/hosts/access/oauth.ts';
import {
  bearer,
  callToolRequest,
  fileIn,
  type Reply,
  send,
  startTeam,
  type Team,
} from '../support/access.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import {
  json,
  newKey,
  type Provider,
  startProvider,
  type TokenRequest,
} from '../support/identity-provider.ts';
import { newFolder, shared } from '../support/shared.ts';
import { hold, polling } from '../support/until.ts';

const { sandbox, address } = embeddedTenant({ scale: 0.1 });
const audience = 'https://mcp.example.com/mcp';
const metadataUrl = 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp';

interface OAuthTeam extends Team {
  provider: Provider;
  /** One request with a token of these claims and header fields. */
  sendWith(request?: TokenRequest, body?: unknown): Promise<Reply>;
}

async function startOAuthTeam(
  provider: Provider,
  more: Record<string, string> = {},
): Promise<OAuthTeam> {
  const { baseUrl, key } = await address('all');
  const where = { CPQ_BASE_URL: baseUrl, CPQ_API_KEY: key, CPQ_STATE_DIR: newFolder() };
  const team = await startTeam({
    ...('CPQ_TENANTS_FILE' in more ? { CPQ_STATE_DIR: newFolder() } : where),
    CPQ_AUTH: 'oauth',
    CPQ_OAUTH_ISSUER: provider.issuer,
    CPQ_PUBLIC_URL: audience,
    CPQ_GRANTS: 'read,opportunity:write',
    // Each request comes from another address, because wrong tokens are rate-limited by address.
    CPQ_TRUSTED_PROXIES: '127.0.0.1',
    ...more,
  });
  let senders = 0;
  const sendWith = async (request?: TokenRequest, body?: unknown) => {
    const token = await provider.token(audience, request);
    team.running.output.guard(token);
    const headers = { ...bearer(token), 'x-forwarded-for': `203.0.113.${senders++ % 250}` };
    return send(team, { headers, ...(body === undefined ? {} : { body }) });
  };
  return { ...team, provider, sendWith };
}

const rsa = shared(async () => startOAuthTeam(await startProvider('RS256')));
const now = () => Math.floor(Date.now() / 1000);

const namesIn = ({ body }: Reply): string[] =>
  (body.result as { tools: { name: string }[] }).tools.map(({ name }) => name);

function expectUnauthorized(reply: Reply): void {
  expect(reply.status).toBe(401);
  expect(reply.headers['www-authenticate']).toContain('error="invalid_token"');
  expect(reply.headers['www-authenticate']).toContain(`resource_metadata="${metadataUrl}"`);
  expect(reply.text).not.toContain('inputSchema');
}

const severalKeys = shared(async () => {
  const provider = await startProvider('RS256');
  const algorithms = ['PS384', 'ES256', 'ES512', 'EdDSA'];
  provider.keys.push(...(await Promise.all(algorithms.map((alg) => newKey(alg, alg)))));
  return startOAuthTeam(provider);
});

describe('a token of the provider', () => {
  test.each(['RS256', 'PS384', 'ES256', 'ES512', 'EdDSA'])('signed by %s', async (alg) => {
    const { provider, sendWith } = await severalKeys();
    const key = provider.keys.find((one) => one.alg === alg);
    if (!key) throw new Error('no key');
    expect(namesIn(await sendWith({ key }))).toContain('cpq_list_companies');
    expectUnauthorized(await sendWith({ key: await newKey(alg, key.kid) }));
  });

  // Made when they are shown: some are valid for seconds.
  const good: Record<string, () => TokenRequest> = {
    'whose audience is one of several': () => ({
      claims: { aud: ['https://other.example', audience] },
    }),
    'whose scopes are a list': () => ({ claims: { scope: undefined, scp: ['read'] } }),
    'whose scopes are a list in `scope`': () => ({ claims: { scope: ['profile', 'read'] } }),
    'with scopes for other services too': () => ({
      claims: { scope: 'openid  profile read admin' },
    }),
    'that expired within the clock tolerance': () => ({ claims: { exp: now() - 2 } }),
    'that becomes valid within the clock tolerance': () => ({ claims: { nbf: now() + 5 } }),
    'without a type': () => ({ header: { typ: undefined } }),
  };
  test.each(Object.entries(good))('%s is accepted', async (_, request) => {
    const { sendWith } = await rsa();
    expect((await sendWith(request())).status).toBe(200);
  });

  /** `credentials.txt` has those that are expired, not valid yet, forged, or of another issuer, audience or key. */
  const bad: Record<string, TokenRequest> = {
    'without an expiry time': { claims: { exp: undefined } },
    'whose expiry time is a string': { claims: { exp: '9999999999' } },
    'of an issuer with an additional slash': { claims: { iss: 'http://127.0.0.1/' } },
    'without an issuer': { claims: { iss: undefined } },
    'for the host without the path': { claims: { aud: 'https://mcp.example.com' } },
    'for the address with an additional slash': { claims: { aud: `${audience}/` } },
    'without an audience': { claims: { aud: undefined } },
    'with an empty list of audiences': { claims: { aud: [] } },
    'without a subject': { claims: { sub: undefined } },
    'with an empty subject': { claims: { sub: '' } },
    'whose subject is a number': { claims: { sub: 7 } },
    'of another type': { header: { typ: 'logout+jwt' } },
    'that is bound to a proof-of-possession key': { claims: { cnf: { jkt: 'a'.repeat(43) } } },
    'with an unknown key id': { header: { kid: 'other' } },
    'of another algorithm, with an unknown key id': { header: { kid: 'other', alg: 'RS256' } },
  };
  // Concurrent, because tokens with an unknown key id wait until the keys are read again.
  test.concurrent.each(Object.entries(bad))('%s is refused', async (_, request) => {
    const { sendWith } = await rsa();
    expectUnauthorized(await sendWith(request));
  });
});

describe('scopes of a token', () => {
  test('grant access, limited to the grants of the operator', async () => {
    const { sendWith } = await rsa();
    const names = namesIn(await sendWith({ claims: { scope: 'company:read' } }));
    expect(names).toContain('cpq_list_companies');
    expect(names).not.toContain('cpq_list_quotes');
    expect(names).not.toContain('cpq_upsert_opportunity');
    const writing = namesIn(await sendWith({ claims: { scope: 'read opportunity:write' } }));
    expect(writing).toContain('cpq_upsert_opportunity');
  });

  test.each(['', 'openid profile', 'READ', 'reads', 'read,opportunity:write', '*', 'constructor'])(
    'without a known one lead to 403 and a challenge: %j',
    async (scope) => {
      const { sendWith } = await rsa();
      const { status, headers } = await sendWith({ claims: { scope } });
      // The whole challenge is in credentials.txt.
      const challenge = expect.stringContaining('error="insufficient_scope", scope="read"');
      expect([status, headers['www-authenticate']]).toEqual([403, challenge]);
    },
  );
});

describe('the protected-resource metadata', () => {
  test.each(['', '/mcp'])('names the provider, without authentication: %j', async (path) => {
    const { provider, ...team } = await rsa();
    const where = `/.well-known/oauth-protected-resource${path}`;
    const { status, body } = await send(team, { method: 'GET', path: where });
    expect(status).toBe(200);
    expect(body).toEqual({
      resource: audience,
      authorization_servers: [provider.issuer],
      scopes_supported: ['read', 'opportunity:write'],
      bearer_methods_supported: ['header'],
      resource_name: 'Quotes and pipeline',
    });
  });
});

describe('the tenant of a token', () => {
  const both = shared(async () => {
    const { tenants } = await sandbox();
    const [one, two] = tenants.map(({ baseUrl, keys }) => ({ baseUrl, apiKey: keys.read }));
    const described = { tenants: { one, two } };
    const CPQ_TENANTS_FILE = await fileIn(newFolder(), 'tenants.json', described);
    return startOAuthTeam(await startProvider('ES256'), { CPQ_TENANTS_FILE });
  });
  const companies = callToolRequest('cpq_list_companies', { size: 3 });

  test('is taken from its claim', async () => {
    const { sendWith } = await both();
    const textFor = async (tenant: string) =>
      (await sendWith({ claims: { tenant } }, companies)).text;
    const [one, two] = [await textFor('one'), await textFor('two')];
    expect(one).toContain('records');
    expect(two).toContain('records');
    expect(one).not.toBe(two);
  });

  const unknownTenants = [
    ...[undefined, 'three', '', '__proto__', 'one two'],
    ...[['one'], 1, null, { one: 1 }],
  ];
  test.each(unknownTenants.map((tenant) => ({ tenant })))(
    'is refused where the claim is $tenant',
    async ({ tenant }) => {
      const { sendWith } = await both();
      const { status, text, headers } = await sendWith({ claims: { tenant } }, companies);
      expect(status).toBe(403);
      expect(text).toContain('tenant');
      expect(text).not.toMatch(/"(one|two)"/);
      expect(headers['www-authenticate']).toBeUndefined();
    },
  );

  test('is ignored where there is only one tenant', async () => {
    const { sendWith } = await rsa();
    for (const tenant of [undefined, 'other', ['other'], 7, null]) {
      expect((await sendWith({ claims: { tenant } })).status).toBe(200);
    }
  });
});

test('the settings of the operator: prefix of scopes, claim of the tenant, audience and grants', async () => {
  const { sendWith, ...team } = await startOAuthTeam(await startProvider('ES256'), {
    CPQ_OAUTH_SCOPE_PREFIX: 'https://cpq.example.com/',
    CPQ_OAUTH_TENANT_CLAIM: 'org',
    CPQ_OAUTH_AUDIENCE: 'api://cpq',
    CPQ_GRANTS: 'company:read',
  });
  const path = '/.well-known/oauth-protected-resource';
  const { body } = await send(team, { method: 'GET', path });
  expect(body.scopes_supported).toEqual(['https://cpq.example.com/read']);
  const scope = ['read', 'opportunity:write']
    .map((it) => `https://cpq.example.com/${it}`)
    .join(' ');
  const good = { aud: 'api://cpq', org: 'default', scope };
  const names = namesIn(await sendWith({ claims: { ...good, tenant: 'other' } }));
  expect(names).toContain('cpq_list_companies');
  for (const name of ['cpq_list_quotes', 'cpq_upsert_opportunity'])
    expect(names).not.toContain(name);
  const unscoped = await sendWith({ claims: { ...good, scope: 'read company:read' } });
  expect(unscoped.status).toBe(403);
  expect(unscoped.headers['www-authenticate']).toContain('scope="https://cpq.example.com/read"');
  const refusals = [
    ['other', 'The tenant of this access token is not served here.'],
    [undefined, 'does not say which tenant it is for (claim \\"org\\")'],
  ] as const;
  for (const [org, words] of refusals) {
    const { status, text } = await sendWith({ claims: { ...good, org } });
    expect([status, text]).toEqual([403, expect.stringContaining(words)]);
  }
  expectUnauthorized(await sendWith({ claims: { org: 'default', scope } }));
  await team.running.stop();
});

/** Answers requests for paths with this part instead of the provider. */
const answering =
  (part: string, answer: (response: ServerResponse) => void): Provider['instead'] =>
  (path, response) => {
    if (!path.includes(part)) return false;
    answer(response);
    return true;
  };

/** The token is neither accepted nor called invalid. */
function expectUnavailable(reply: Reply): void {
  expect(reply.status).toBe(503);
  expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
  expect(reply.text).not.toContain('inputSchema');
}

describe('while the identity provider', () => {
  const wrong: Record<string, Provider['instead']> = {
    'is down': answering('', (response) => response.socket?.destroy()),
    'answers with 500': answering('', (response) => response.writeHead(500).end('{}')),
    'answers with a web page': answering('', (response) => response.end('<html>')),
    redirects: (path, response) => {
      if (path.startsWith('/elsewhere')) return false;
      response.writeHead(302, { location: `/elsewhere${path}` }).end();
      return true;
    },
    'names another issuer': answering('well-known', (response) =>
      json(response, { issuer: 'https://login.example.com', jwks_uri: 'https://example.com' }),
    ),
    'publishes its keys without TLS': answering('well-known', (response) => {
      const issuer = `http://${response.req.headers.host}`;
      json(response, { issuer, jwks_uri: 'http://192.0.2.1/keys' });
    }),
    'has empty metadata': answering('well-known', (response) => json(response, null)),
    'has a malformed key set': answering('/keys', (response) => json(response, { keys: 'none' })),
  };

  const failing = shared(async () => startOAuthTeam(await startProvider('ES256')));

  test.each(Object.entries(wrong))('%s, every token gets 503 instead of 401', async (_, how) => {
    const { provider, sendWith, stderr } = await failing();
    provider.instead = how;
    expectUnavailable(await sendWith());
    expectUnavailable(await sendWith({ claims: { exp: now() - 600 } }));
    expect(stderr()).toContain('identity provider unavailable');
  });

  test('names another issuer, the log has both', async () => {
    const { provider, sendWith, stderr } = await failing();
    provider.instead = wrong['names another issuer'];
    await sendWith();
    expect(stderr()).toContain(
      `of the issuer https://login.example.com, the setting says ${provider.issuer}`,
    );
  });

  test('is back, valid tokens are accepted again', async () => {
    const { provider, sendWith } = await failing();
    provider.instead = undefined;
    expect((await sendWith()).status).toBe(200);
    expectUnauthorized(await sendWith({ claims: { exp: now() - 600 } }));
  });
});

/** Asks the strategy itself. @returns the caller, or the error */
function asking(provider: Provider) {
  const strategy = oauthStrategy({
    issuer: provider.issuer,
    resource: new URL(audience),
    scopePrefix: '',
    grants: () => [],
    tenants: { find: () => ({ name: 'default' }) as ServedTenant },
    onError: () => {},
  });
  return async (request?: TokenRequest): Promise<{ caller?: string; status?: number }> => {
    const headers = bearer(await provider.token(audience, request));
    const asked = strategy.authenticate({ headers, headersDistinct: {} } as never, '203.0.113.1');
    return asked.then(
      (principal) => principal ?? {},
      (error) => error,
    );
  };
}

const accepted = { caller: expect.stringContaining('anna') };
const refused = { status: 401 };

/** Concurrent, because each test waits for a timeout or for the minimum interval between two reads of the keys. */
describe.concurrent('an identity provider', () => {
  test('that is slow to answer delays no other request', async ({ expect }) => {
    const { provider, sendWith, ...team } = await startOAuthTeam(await startProvider('ES256'));
    const { held, release } = hold();
    provider.instead = answering('/keys', (response) => {
      void held.then(() => json(response, { keys: provider.keys.map(({ jwk }) => jwk) }));
    });
    const waiting = Promise.all([sendWith(), sendWith(), sendWith()]);
    await expect.poll(() => provider.asked, polling).toContain('/keys');
    expect((await send(team, { method: 'GET', path: '/healthz' })).status).toBe(200);
    expect((await send(team)).status).toBe(401);
    release();
    expect((await waiting).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(provider.asked.filter((path) => path === '/keys')).toHaveLength(1);
    await team.running.stop();
  });

  test('that never answers leads to 503', async ({ expect }) => {
    const provider = await startProvider('ES256');
    provider.instead = answering('/keys', () => {});
    expect(await asking(provider)()).toMatchObject({ status: 503 });
  });

  test('may have its metadata at either well-known address', async ({ expect }) => {
    const provider = await startProvider('ES256', '/realms/sales');
    const places = [
      '/.well-known/oauth-authorization-server/realms/sales',
      '/realms/sales/.well-known/openid-configuration',
    ];
    for (const place of places) {
      provider.instead = (path, response) => {
        if (!path.includes('well-known') || path === place) return false;
        response.writeHead(404).end();
        return true;
      };
      expect(await asking(provider)()).toMatchObject(accepted);
    }
  });
});

/** The keys are read again after this time at the earliest. */
const cooldownMs = 3_100;

describe.concurrent('keys of the identity provider', () => {
  const keyRequests = ({ asked }: Provider) => asked.filter((path) => path === '/keys').length;

  test('are accepted seconds after they are published, and refused when they no longer are', async ({
    expect,
  }) => {
    const provider = await startProvider('ES256');
    const ask = asking(provider);
    const [old] = provider.keys;
    if (!old) throw new Error('no key');
    expect(await ask({ key: old })).toMatchObject(accepted);
    provider.keys = [await newKey('ES256', 'second')];
    await pause(cooldownMs);
    expect(await ask()).toMatchObject(accepted);
    expect(await ask({ key: old })).toMatchObject(refused);
    expect(keyRequests(provider)).toBe(2);
  });

  test('must be named by tokens where there are several', async ({ expect }) => {
    const provider = await startProvider('ES256');
    const ask = asking(provider);
    const header = { kid: undefined };
    expect(await ask({ header })).toMatchObject(accepted);
    provider.keys.push(await newKey('ES256', 'second'));
    await pause(cooldownMs);
    expect(await ask({ header: { kid: 'other' } })).toMatchObject(refused);
    const message = expect.stringContaining('does not name its key');
    expect(await ask({ header })).toMatchObject({ ...refused, message });
  });

  test('are read again once for many tokens with an unknown key id', async ({ expect }) => {
    const provider = await startProvider('ES256');
    const ask = asking(provider);
    expect(await ask()).toMatchObject(accepted);
    await pause(cooldownMs);
    const strange = { header: { kid: 'nobody knows it' } };
    for (const answer of await Promise.all(Array.from({ length: 20 }, () => ask(strange))))
      expect(answer).toMatchObject(refused);
    expect(keyRequests(provider)).toBe(2);
  });

  test('that are known stay in use while they cannot be read again', async ({ expect }) => {
    const provider = await startProvider('ES256');
    const ask = asking(provider);
    expect(await ask()).toMatchObject(accepted);
    provider.instead = answering('/keys', (response) => response.writeHead(500).end());
    await pause(cooldownMs);
    const strange = { header: { kid: 'nobody knows it' } };
    for (let at = 0; at < 3; at += 1) expect(await ask(strange)).toMatchObject({ status: 503 });
    // Nobody can have the metadata read for each token: once at first, and once since.
    const { length } = provider.asked.filter((path) => path.includes('well-known/oauth'));
    expect(length).toBeLessThanOrEqual(2);
    expect(await ask()).toMatchObject(accepted);
  });

  test('are found where they have moved to', async ({ expect }) => {
    const provider = await startProvider('ES256');
    const ask = asking(provider);
    expect(await ask()).toMatchObject(accepted);
    provider.keys = [await newKey('ES256', 'second')];
    const { issuer } = provider;
    provider.instead = (path, response) => {
      if (path === '/keys') response.writeHead(404).end();
      else if (path.includes('well-known'))
        json(response, { issuer, jwks_uri: `${issuer}/new/keys` });
      else return false;
      return true;
    };
    await pause(cooldownMs);
    for (const answer of await Promise.all([ask(), ask()])) expect(answer).toMatchObject(accepted);
  });

  test('that cannot be read do not count as wrong tokens of a sender', async () => {
    const { provider, ...team } = await startOAuthTeam(await startProvider('ES256'));
    const show = async () => send(team, { headers: bearer(await provider.token(audience)) });
    expect((await show()).status).toBe(200);
    provider.keys = [await newKey('ES256', 'second')];
    await pause(cooldownMs);
    provider.instead = answering('/keys', (response) => response.writeHead(500).end());
    // More than one address may send in a minute.
    for (const reply of await Promise.all(Array.from({ length: 40 }, show)))
      expectUnavailable(reply);
    provider.instead = undefined;
    expect((await show()).status).toBe(200);
  });
});

test('tokens of the provider that are not valid any more, yet or here are no guesses', async () => {
  const { provider, ...team } = await rsa();
  const show = async (claims: Record<string, unknown>) =>
    send(team, { headers: bearer(await provider.token(audience, { claims })) });
  for (let at = 0; at < 12; at++) {
    expect((await show({ exp: now() - 600 })).text).toContain('has expired');
    expect((await show({ nbf: now() + 600 })).text).toContain('not valid yet');
    expect((await show({ aud: 'https://other.example' })).text).toContain('not for this server');
  }
  expect((await show({})).status).toBe(200);
});

test('caller names are short, printable, and differ for each subject and client', async () => {
  const ask = asking(await startProvider('ES256'));
  const named = async (claims: Record<string, unknown>) => (await ask({ claims })).caller ?? '';
  const long = 'x'.repeat(300);
  const names = await Promise.all([
    named({ sub: 'anna' }),
    named({ sub: 'anna desk' }),
    named({ sub: 'anna', client_id: 'desk' }),
    named({ sub: 'anna%20desk' }),
    named({ sub: `${long}1` }),
    named({ sub: `${long}2` }),
    named({ sub: 'an\u202ena' }),
    named({ sub: 'an\nna' }),
    named({ sub: 'ännå' }),
  ]);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^oauth:[\x20-\x7e…]{1,170}$/);
});
