import type { ServerResponse } from 'node:http';
import { exportSPKI, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { oauthStrategy } from '../../src/hosts/access/oauth.ts';
import type { ServedTenant } from '../../src/hosts/access/tenant-registry.ts';
import {
  bearer,
  callerAt,
  callToolRequest,
  fileIn,
  newFolder,
  type Reply,
  send,
  startTeam,
  type Team,
} from '../support/access.ts';
import {
  json,
  newKey,
  type Provider,
  startProvider,
  type TokenRequest,
} from '../support/identity-provider.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { shared } from '../support/shared.ts';

const sandbox = shared(() => startSandbox({ scale: 0.1 }));
const audience = 'https://mcp.example.com/mcp';
const metadataUrl = 'https://mcp.example.com/.well-known/oauth-protected-resource/mcp';

interface Guarded extends Team {
  provider: Provider;
  /** One request with a token that says this. */
  showing(said?: TokenRequest, body?: unknown): Promise<Reply>;
  /** One request with this for a token. */
  shown(token: string, body?: unknown): Promise<Reply>;
}

async function startGuarded(
  provider: Provider,
  more: Record<string, string> = {},
): Promise<Guarded> {
  const { baseUrl, key } = addressIn(await sandbox(), 'all');
  const where = { CPQ_BASE_URL: baseUrl, CPQ_API_KEY: key, CPQ_STATE_DIR: newFolder() };
  const team = await startTeam({
    ...('CPQ_TENANTS_FILE' in more ? { CPQ_STATE_DIR: newFolder() } : where),
    CPQ_AUTH: 'oauth',
    CPQ_OAUTH_ISSUER: provider.issuer,
    CPQ_PUBLIC_URL: audience,
    CPQ_GRANTS: 'read,opportunity:write',
    // All come from one address here; what is too many is shown elsewhere.
    CPQ_TRUSTED_PROXIES: '127.0.0.1',
    ...more,
  });
  let senders = 0;
  const shown = (token: string, body?: unknown) => {
    team.running.output.guard(token);
    const headers = { ...bearer(token), 'x-forwarded-for': `203.0.113.${senders++ % 250}` };
    return send(team, { headers, ...(body === undefined ? {} : { body }) });
  };
  const showing = async (said?: TokenRequest, body?: unknown) =>
    shown(await provider.token(audience, said), body);
  return { ...team, provider, showing, shown };
}

const rsa = shared(async () => startGuarded(await startProvider('RS256')));
const now = () => Math.floor(Date.now() / 1000);

const namesIn = ({ body }: Reply): string[] =>
  (body.result as { tools: { name: string }[] }).tools.map(({ name }) => name);

function refused(reply: Reply): void {
  expect(reply.status).toBe(401);
  expect(reply.headers['www-authenticate']).toContain('error="invalid_token"');
  expect(reply.headers['www-authenticate']).toContain(`resource_metadata="${metadataUrl}"`);
  expect(reply.text).not.toContain('inputSchema');
}

describe('a token of the provider', () => {
  const many = shared(async () => {
    const provider = await startProvider('RS256');
    const algorithms = ['PS384', 'ES256', 'ES512', 'EdDSA'];
    provider.keys.push(...(await Promise.all(algorithms.map((alg) => newKey(alg, alg)))));
    return startGuarded(provider);
  });

  test.each(['RS256', 'PS384', 'ES256', 'ES512', 'EdDSA'])('signed by %s', async (alg) => {
    const { provider, showing } = await many();
    const key = provider.keys.find((one) => one.alg === alg);
    if (!key) throw new Error('no key');
    expect(namesIn(await showing({ key }))).toContain('cpq_list_companies');
    refused(await showing({ key: await newKey(alg, key.kid) }));
  });

  test('that does not say by which key it was signed may be signed by any', async () => {
    const { provider, showing } = await many();
    const second = await newKey('ES256', 'second of its kind');
    const header = { kid: undefined };
    const first = provider.keys.find(({ alg }) => alg === 'ES256');
    provider.keys.push(second);
    const team = await startGuarded(provider);
    for (const key of [first, second]) {
      expect((await team.showing({ header, ...(key && { key }) })).status).toBe(200);
    }
    refused(await team.showing({ header, key: await newKey('ES256', 'third') }));
    refused(await team.showing({ header, key: second, claims: { exp: now() - 600 } }));
    refused(await team.showing({ header, key: second, claims: { aud: 'https://x.example' } }));
    await team.running.stop();
    expect((await showing()).status).toBe(200);
  });

  test.each(['modern', 'legacy'] as const)('lets a client in, %s', async (era) => {
    const { provider, ...team } = await rsa();
    const caller = await callerAt(team, bearer(await provider.token(audience)), { era });
    expect((await caller.ask('cpq_list_companies', { size: 2 })).records).toHaveLength(2);
    await caller.close();
  });

  const good: Record<string, TokenRequest> = {
    'whose audience is one of several': { claims: { aud: ['https://other.example', audience] } },
    'whose scopes are a list': { claims: { scope: undefined, scp: ['read'] } },
    'whose scopes are a list by the other name': { claims: { scope: ['profile', 'read'] } },
    'with scopes of others': { claims: { scope: 'openid  profile read admin' } },
    'that has just expired, by a clock that is behind': { claims: { exp: now() - 2 } },
    'that is about to be good': { claims: { nbf: now() + 5 } },
    'without a type': { header: { typ: undefined } },
  };
  test.each(Object.entries(good))('%s is taken', async (_, said) => {
    const { showing } = await rsa();
    expect((await showing(said)).status).toBe(200);
  });

  const bad: Record<string, TokenRequest> = {
    'that has expired': { claims: { exp: now() - 120 } },
    'that never expires': { claims: { exp: undefined } },
    'whose end is a text': { claims: { exp: '9999999999' } },
    'that is not good yet': { claims: { nbf: now() + 300 } },
    'of another issuer': { claims: { iss: 'https://login.example.com' } },
    'of an issuer with a slash more': { claims: { iss: 'http://127.0.0.1/' } },
    'without an issuer': { claims: { iss: undefined } },
    'for somebody else': { claims: { aud: 'https://other.example.com/mcp' } },
    'for the host alone': { claims: { aud: 'https://mcp.example.com' } },
    'for a longer address': { claims: { aud: `${audience}/` } },
    'for nobody': { claims: { aud: undefined } },
    'for an empty list': { claims: { aud: [] } },
    'that names nobody': { claims: { sub: undefined } },
    'that names nobody, in so many words': { claims: { sub: '' } },
    'that names a number': { claims: { sub: 7 } },
    'that is bound to a key': { claims: { cnf: { jkt: 'a'.repeat(43) } } },
    'with a key that is not known': { header: { kid: 'other' } },
    'of an algorithm that its key is not for': { header: { kid: 'other', alg: 'RS256' } },
  };
  test.each(Object.entries(bad))('%s is refused', async (_, said) => {
    const { showing } = await rsa();
    refused(await showing(said));
  });

  test('that nobody signed is refused', async () => {
    const { provider, shown } = await rsa();
    const claims = { scope: 'read', sub: 'anna' };
    const unsigned = new UnsecuredJWT(claims)
      .setIssuer(provider.issuer)
      .setAudience(audience)
      .setExpirationTime('5m')
      .encode();
    refused(await shown(unsigned));
    const whole = await provider.token(audience);
    const [head = '', body = '', signature = ''] = whole.split('.');
    for (const alg of ['none', 'None', 'NONE', '']) {
      const header = Buffer.from(JSON.stringify({ alg, kid: 'first' })).toString('base64url');
      refused(await shown(`${header}.${body}.`));
      refused(await shown(`${header}.${body}.${signature}`));
    }
    refused(await shown(`${head}.${body}.`));
    refused(await shown(`${head}.${body}.${'A'.repeat(signature.length)}`));
  });

  test('signed with the public key for a secret is refused', async () => {
    const { provider, shown } = await rsa();
    const [key] = provider.keys;
    if (!key) throw new Error('no key');
    const secrets = [await exportSPKI(key.publicKey), JSON.stringify(key.jwk), String(key.jwk.n)];
    for (const secret of secrets) {
      for (const alg of ['HS256', 'HS512']) {
        const forged = new SignJWT({ scope: 'read', sub: 'anna' })
          .setProtectedHeader({ alg, kid: key.kid })
          .setIssuer(provider.issuer)
          .setAudience(audience)
          .setExpirationTime('5m');
        refused(await shown(await forged.sign(Buffer.from(secret))));
      }
    }
  });

  test('that brings its own key is refused', async () => {
    const { provider, showing } = await rsa();
    const key = await newKey('RS256', 'first');
    const elsewhere = `${provider.issuer}/elsewhere/keys`;
    for (const header of [
      { jwk: key.jwk },
      { jku: elsewhere },
      { x5u: elsewhere },
      { jku: elsewhere, kid: 'other' },
    ]) {
      refused(await showing({ key, header }));
    }
    expect(provider.asked).not.toContain('/elsewhere/keys');
  });

  test('that was changed in any letter is refused', async () => {
    const { provider, shown } = await rsa();
    const [head = '', body = '', signature = ''] = (await provider.token(audience)).split('.');
    const richer = JSON.parse(Buffer.from(body, 'base64url').toString());
    richer.scope = 'read opportunity:write';
    const said = Buffer.from(JSON.stringify(richer)).toString('base64url');
    refused(await shown(`${head}.${said}.${signature}`));
    refused(await shown(`${head}.${body}.${signature}.${signature}`));
    refused(await shown(`${head}..${body}.${signature}.`));
    refused(await shown(body));
    refused(await shown('a.b.c'));
  });
});

describe('its scopes', () => {
  test('are grants, and no more than those of the operator', async () => {
    const { showing } = await rsa();
    const names = namesIn(await showing({ claims: { scope: 'company:read' } }));
    expect(names).toContain('cpq_list_companies');
    expect(names).not.toContain('cpq_list_quotes');
    expect(names).not.toContain('cpq_upsert_opportunity');
    const writing = namesIn(await showing({ claims: { scope: 'read opportunity:write' } }));
    expect(writing).toContain('cpq_upsert_opportunity');
  });

  test.each(['', 'openid profile', 'READ', 'reads', 'read,opportunity:write', '*', 'constructor'])(
    'where none is known, are asked for: %j',
    async (scope) => {
      const { showing } = await rsa();
      const { status, headers } = await showing({ claims: { scope } });
      expect(status).toBe(403);
      const challenge = String(headers['www-authenticate']);
      expect(challenge).toContain('error="insufficient_scope"');
      expect(challenge).toContain('scope="read"');
      expect(challenge).toContain(`resource_metadata="${metadataUrl}"`);
    },
  );

  test('that a tool needs are asked for when it is called', async () => {
    const { showing } = await rsa();
    const said = { claims: { scope: 'company:read' } };
    const quotes = await showing(said, callToolRequest('cpq_list_quotes'));
    expect(quotes.status).toBe(403);
    expect(quotes.headers['www-authenticate']).toContain('scope="quote:read"');
    const writing = await showing(
      said,
      callToolRequest('cpq_upsert_opportunity', { external_id: 'a' }),
    );
    expect(writing.status).toBe(403);
    expect(writing.headers['www-authenticate']).toContain('scope="opportunity:write"');
    expect((await showing(said, callToolRequest('cpq_list_companies'))).status).toBe(200);
    const nothing = await showing(said, callToolRequest('cpq_no_such_tool'));
    expect(nothing.status).not.toBe(403);
  });

  test('may stand behind a prefix, without which they count for nothing', async () => {
    const { showing, ...team } = await startGuarded(await startProvider('ES256'), {
      CPQ_OAUTH_SCOPE_PREFIX: 'https://cpq.example.com/',
    });
    const scope = 'https://cpq.example.com/company:read';
    expect(namesIn(await showing({ claims: { scope } }))).toContain('cpq_list_companies');
    const { status, headers } = await showing({ claims: { scope: 'read company:read' } });
    expect(status).toBe(403);
    expect(headers['www-authenticate']).toContain('scope="https://cpq.example.com/read"');
    await team.running.stop();
  });

  test('that the operator does not give are not asked for', async () => {
    const { showing, ...team } = await startGuarded(await startProvider('ES256'), {
      CPQ_GRANTS: 'company:read',
    });
    const said = { claims: { scope: 'company:read' } };
    expect((await showing(said, callToolRequest('cpq_list_quotes'))).status).toBe(200);
    const names = namesIn(await showing({ claims: { scope: 'read opportunity:write' } }));
    expect(names).not.toContain('cpq_upsert_opportunity');
    expect(names).not.toContain('cpq_list_quotes');
    await team.running.stop();
  });
});

describe('what anybody may read', () => {
  test.each(['', '/mcp'])('is where the provider is: %j', async (path) => {
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

  test('is named to whoever shows nothing', async () => {
    const { status, headers } = await send(await rsa());
    expect(status).toBe(401);
    const challenge = String(headers['www-authenticate']);
    expect(challenge).toContain(`resource_metadata="${metadataUrl}"`);
    expect(challenge).toContain('scope="read"');
    expect(challenge).not.toContain('error=');
  });
});

describe('the tenant', () => {
  const both = shared(async () => {
    const { tenants } = await sandbox();
    const [one, two] = tenants.map(({ baseUrl, keys }) => ({ baseUrl, apiKey: keys.read }));
    const described = { tenants: { one, two } };
    const CPQ_TENANTS_FILE = await fileIn(newFolder(), 'tenants.json', described);
    return startGuarded(await startProvider('ES256'), { CPQ_TENANTS_FILE });
  });
  const companies = callToolRequest('cpq_list_companies', { size: 3 });

  test('is the one of the claim', async () => {
    const { showing } = await both();
    const [one, two] = await Promise.all(
      ['one', 'two'].map(async (tenant) => (await showing({ claims: { tenant } }, companies)).text),
    );
    expect(one).toContain('records');
    expect(two).toContain('records');
    expect(one).not.toBe(two);
  });

  const nobodys = [undefined, 'three', '', '__proto__', 'one two', ['one'], 1, null, { one: 1 }];
  test.each(nobodys.map((tenant) => ({ tenant })))(
    'is nobody’s where the claim is $tenant',
    async ({ tenant }) => {
      const { showing } = await both();
      const { status, text, headers } = await showing({ claims: { tenant } }, companies);
      expect(status).toBe(403);
      expect(text).toContain('tenant');
      expect(text).not.toMatch(/"(one|two)"/);
      expect(headers['www-authenticate']).toBeUndefined();
    },
  );

  test('is the only one without a claim, and not with one of another', async () => {
    const { showing } = await rsa();
    expect((await showing()).status).toBe(200);
    for (const tenant of ['other', ['other'], 7, null]) {
      expect((await showing({ claims: { tenant } })).status).toBe(403);
    }
  });

  test('is in the claim that the operator names, for whom the operator says', async () => {
    const { showing, ...team } = await startGuarded(await startProvider('ES256'), {
      CPQ_OAUTH_TENANT_CLAIM: 'org',
      CPQ_OAUTH_AUDIENCE: 'api://cpq',
    });
    const aud = 'api://cpq';
    expect((await showing({ claims: { aud, org: 'default', tenant: 'other' } })).status).toBe(200);
    expect((await showing({ claims: { aud, org: 'other' } })).status).toBe(403);
    refused(await showing({ claims: { org: 'default' } }));
    await team.running.stop();
  });
});

function endless(response: ServerResponse): true {
  response.writeHead(200, { 'content-type': 'application/json' });
  const more = () => {
    while (response.write(' '.repeat(65_536)) && !response.destroyed);
  };
  response.on('drain', more);
  more();
  return true;
}

/** Nothing is said of the token, and nobody is let in. */
function away(reply: Reply): void {
  expect(reply.status).toBe(503);
  expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
  expect(reply.text).not.toContain('inputSchema');
}

describe('while the provider', () => {
  const wrong: Record<string, Provider['instead']> = {
    'is down': (_, response) => {
      response.socket?.destroy();
      return true;
    },
    'has a failure': (_, response) => {
      response.writeHead(500).end('{}');
      return true;
    },
    'says nothing that can be read': (_, response) => {
      response.writeHead(200).end('<html>');
      return true;
    },
    'leads elsewhere': (path, response) => {
      if (path.startsWith('/elsewhere')) return false;
      response.writeHead(302, { location: `/elsewhere${path}` }).end();
      return true;
    },
    'calls itself otherwise': (path, response) => {
      if (!path.includes('well-known')) return false;
      json(response, { issuer: 'https://login.example.com', jwks_uri: 'https://example.com' });
      return true;
    },
    'names keys over a wire that others write to': (path, response) => {
      const [, port] = /:(\d+)/.exec(String(response.req.headers.host)) ?? [];
      if (!path.includes('well-known')) return false;
      json(response, { issuer: `http://127.0.0.1:${port}`, jwks_uri: 'http://192.0.2.1/keys' });
      return true;
    },
    'says nothing': (path, response) => {
      if (!path.includes('well-known')) return false;
      json(response, null);
      return true;
    },
    'has metadata without end': (path, response) => {
      if (!path.includes('well-known')) return false;
      return endless(response);
    },
    'has keys that are none': (path, response) => {
      if (!path.endsWith('keys')) return false;
      json(response, { keys: 'none' });
      return true;
    },
    'has a set of keys without end': (path, response) => {
      if (!path.endsWith('keys')) return false;
      return endless(response);
    },
  };

  const unlucky = shared(async () => startGuarded(await startProvider('ES256')));

  test.each(Object.entries(wrong))('%s, nobody is let in, and nobody told off', async (_, how) => {
    const { provider, showing, stderr } = await unlucky();
    provider.instead = how;
    away(await showing());
    away(await showing({ claims: { exp: now() - 600 } }));
    expect(stderr()).toContain('identity provider unavailable');
  });

  test('is back, everybody is let in', async () => {
    const { provider, showing } = await unlucky();
    provider.instead = undefined;
    expect((await showing()).status).toBe(200);
    refused(await showing({ claims: { exp: now() - 600 } }));
  });

  test('takes its time, the others are served', async () => {
    const { provider, showing, ...team } = await startGuarded(await startProvider('ES256'));
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    provider.instead = (path, response) => {
      if (!path.endsWith('keys')) return false;
      void held.then(() => json(response, { keys: provider.keys.map(({ jwk }) => jwk) }));
      return true;
    };
    const waiting = Promise.all([showing(), showing(), showing()]);
    await expect.poll(() => provider.asked).toContain('/keys');
    expect((await send(team, { method: 'GET', path: '/healthz' })).status).toBe(200);
    expect((await send(team)).status).toBe(401);
    release();
    expect((await waiting).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(provider.asked.filter((path) => path === '/keys')).toHaveLength(1);
    await team.running.stop();
  });

  test('never answers, callers are not kept waiting for it', { timeout: 20_000 }, async () => {
    const { provider, showing, ...team } = await startGuarded(await startProvider('ES256'));
    provider.instead = (path) => path.endsWith('keys');
    away(await showing());
    await team.running.stop();
  });

  test('describes itself below its path, or in the other place', async () => {
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
      const { showing, ...team } = await startGuarded(provider);
      expect((await showing()).status).toBe(200);
      await team.running.stop();
    }
  });

  test('has its keys where the operator says', async () => {
    const provider = await startProvider('ES256');
    const { showing } = await startGuarded(provider, {
      CPQ_OAUTH_JWKS_URL: `${provider.issuer}/keys`,
    });
    expect((await showing()).status).toBe(200);
    expect(provider.asked).toEqual(['/keys']);
  });
});

describe('keys that the provider changes', () => {
  const keysAsked = ({ asked }: Provider) => asked.filter((path) => path === '/keys').length;

  test('are good at once, with and without a name, and the old ones are not', async () => {
    const { provider, showing } = await startGuarded(await startProvider('ES256'));
    expect((await showing()).status).toBe(200);
    const [old] = provider.keys;
    provider.keys = [await newKey('ES256', 'second')];
    expect((await showing()).status).toBe(200);
    expect(keysAsked(provider)).toBe(2);
    if (old) refused(await showing({ key: old }));
    provider.keys = [await newKey('ES256', 'third')];
    expect((await showing({ header: { kid: undefined } })).status).toBe(200);
  });

  test('are asked for once, however many tokens of an unknown key come', async () => {
    const { provider, showing } = await startGuarded(await startProvider('ES256'));
    expect((await showing()).status).toBe(200);
    const strange = { header: { kid: 'nobody knows it' } };
    for (const reply of await Promise.all(Array.from({ length: 20 }, () => showing(strange)))) {
      refused(reply);
    }
    expect(keysAsked(provider)).toBe(2);
  });

  test('cannot be read: that is no guess of whoever shows a token of a new one', async () => {
    const { provider, ...team } = await startGuarded(await startProvider('ES256'));
    const show = async () => send(team, { headers: bearer(await provider.token(audience)) });
    expect((await show()).status).toBe(200);
    provider.keys = [await newKey('ES256', 'second')];
    provider.instead = (path, response) => {
      if (path.endsWith('keys')) response.writeHead(500).end();
      return path.endsWith('keys');
    };
    // All of one address, and more than it may guess in a minute.
    for (const reply of await Promise.all(Array.from({ length: 40 }, show))) away(reply);
    provider.instead = undefined;
    expect((await show()).status).toBe(200);
  });

  test('tell callers apart, whatever their names are', async () => {
    const provider = await startProvider('ES256');
    const way = oauthStrategy({
      issuer: provider.issuer,
      resource: new URL(audience),
      tenantClaim: 'tenant',
      scopePrefix: '',
      grants: () => [],
      tenants: { find: () => ({ name: 'default' }) as ServedTenant },
      onError: () => {},
    });
    const named = async (claims: Record<string, unknown>) => {
      const headers = bearer(await provider.token(audience, { claims }));
      return (
        (await way.authenticate({ headers, headersDistinct: {} } as never, '203.0.113.1'))
          ?.caller ?? ''
      );
    };
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
});
