import { describe, expect, test } from 'vitest';
import { fileIn, send, startTeam } from '../support/access.ts';
import { type Environment, runHere } from '../support/process.ts';
import { newFolder } from '../support/shared.ts';

const secret = 'key-that-must-not-be-shown-0123456789';
const tenant = { CPQ_BASE_URL: 'https://one.example.com', CPQ_API_KEY: secret };
const issuer = { CPQ_AUTH: 'oauth', CPQ_OAUTH_ISSUER: 'https://login.example.com' };
const publicUrl = 'https://mcp.example.com/mcp';

/** Starts the server with settings that it must refuse. @returns the error message */
async function refused(env: Environment, ...argv: string[]): Promise<string> {
  const { status, stdout, stderr } = await runHere(['http', '--port', '0', ...argv], env);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).not.toContain(secret);
  expect(stderr).not.toMatch(/\n\s+at /);
  return stderr;
}

describe('a server that others can reach', () => {
  test.each([
    ['--public-url', 'https://mcp.example.com/mcp'],
    ['--trusted-proxies', '127.0.0.1'],
    ['--allowed-hosts', 'localhost,mcp.example.com'],
  ])('does not start without authentication behind a proxy, as %s implies', async (...words) => {
    expect(await refused(tenant, ...words)).toContain('CPQ_AUTH');
  });

  test.each(['0.0.0.0', '::', '192.0.2.7', '127.0.0.1.example.com', 'example.com', '127.1'])(
    'does not start without authentication on %s',
    async (host) => {
      const message = await refused(tenant, '--host', host);
      expect(message).toContain(host);
      expect(message).toMatch(
        /reached from other machines, so callers must authenticate.*CPQ_AUTH/,
      );
      expect(message).toContain('127.0.0.1');
    },
  );

  test('is addressed by the names in its settings, and by no others', async () => {
    const names = { CPQ_ALLOWED_HOSTS: 'a.example.com,fd00::7', CPQ_PUBLIC_URL: publicUrl };
    const state = { CPQ_AUTH: 'token', CPQ_STATE_DIR: newFolder() };
    const team = await startTeam({ ...tenant, ...state, ...names });
    const statusFor = async (headers: Record<string, string>) =>
      (await send(team, { headers })).status;
    for (const [status, hosts] of [
      [401, ['a.example.com', 'A.example.com:8443', '[fd00::7]', 'mcp.example.com', 'localhost']],
      [403, ['b.example.com', 'login.mcp.example.com', 'one.example.com', 'fd00::7']],
    ] as const)
      for (const host of hosts)
        expect([
          host,
          await statusFor({ host }),
          await statusFor({ host: 'localhost', origin: `https://${host}` }),
        ]).toEqual([host, status, status]);
  });

  test.each<[name: string, words: string]>([
    ['none', 'oauth'],
    ['token,nobody', 'must be one of'],
    ...['', ' ', ','].map((empty) => [empty, 'CPQ_AUTH'] as [string, string]),
  ])('does not start with the auth strategy %j', async (CPQ_AUTH, words) => {
    expect(await refused({ ...tenant, CPQ_AUTH }, '--host', '0.0.0.0')).toContain(words);
  });
});

describe('a missing or invalid setting of authentication', () => {
  const oauth = { ...issuer, CPQ_PUBLIC_URL: publicUrl };
  const withPassword = `https://me:${secret}@login.example.com`;
  const token = { CPQ_AUTH: 'token' };
  const hosts = 'CPQ_ALLOWED_HOSTS: must be host names';
  test.each<[what: string, Environment, words: string]>([
    ['oauth, no issuer', { ...oauth, CPQ_OAUTH_ISSUER: undefined }, 'CPQ_OAUTH_ISSUER'],
    ['oauth, no public URL', issuer, 'CPQ_PUBLIC_URL'],
    ['an issuer without TLS', { ...oauth, CPQ_OAUTH_ISSUER: 'http://login.example.com' }, 'https'],
    ['a password', { ...oauth, CPQ_OAUTH_ISSUER: withPassword }, 'CPQ_OAUTH_ISSUER'],
    ['key, no addresses', { CPQ_AUTH: 'key' }, 'CPQ_KEY_BASE_URLS'],
    ['no address', { CPQ_AUTH: 'key', CPQ_KEY_BASE_URLS: '*' }, 'is not a web address'],
    ['no network', { ...token, CPQ_TRUSTED_PROXIES: '10.0.0.0/33' }, 'CPQ_TRUSTED_PROXIES'],
    ['everybody', { ...token, CPQ_TRUSTED_PROXIES: '0.0.0.0/0' }, 'could then claim any address'],
    ['a proxy by name', { ...token, CPQ_TRUSTED_PROXIES: 'a.example.com' }, 'CPQ_TRUSTED_PROXIES'],
    ['a host with a scheme', { ...token, CPQ_ALLOWED_HOSTS: 'https://a.example.com' }, hosts],
    ['a host with a wildcard', { ...token, CPQ_ALLOWED_HOSTS: '*.example.com' }, hosts],
    ['a host with a port', { ...token, CPQ_ALLOWED_HOSTS: '::1,a.example.com:443' }, hosts],
  ])('is refused: %s', async (_, env, words) => {
    expect(await refused({ ...tenant, ...env })).toContain(words);
  });
});

test('settings without effect are warned of, and each method of authentication is shown', async () => {
  const { CPQ_OAUTH_ISSUER } = issuer;
  const more = { CPQ_OAUTH_ISSUER, CPQ_PUBLIC_URL: 'https://mcp.example.com/' };
  const keys = { CPQ_AUTH: 'token,key', CPQ_KEY_BASE_URLS: 'https://*.example.com' };
  const state = { CPQ_STATE_DIR: newFolder(), CPQ_WEBHOOK_SECRET: secret };
  const { stderr, running } = await startTeam({ ...tenant, ...keys, ...state, ...more });
  expect(stderr()).toContain('CPQ_OAUTH_ISSUER has no effect: CPQ_AUTH does not name oauth');
  expect(stderr()).toContain('CPQ_PUBLIC_URL does not end in /mcp');
  expect(stderr()).not.toContain('CPQ_KEY_BASE_URLS');
  expect(running.output.stdout).toContain('Webhooks: https://mcp.example.com/webhooks/default\n');
  for (const method of ['token', 'key'])
    expect(running.output.stdout).toContain(`--http https://mcp.example.com/ --auth ${method}\n`);
});

test('settings that a tenants file or another method replaces are warned of', async () => {
  const one = { baseUrl: tenant.CPQ_BASE_URL, apiKey: secret };
  const CPQ_TENANTS_FILE = await fileIn(newFolder(), 'tenants.json', { tenants: { one } });
  const unused = { CPQ_WEBHOOK_SECRET: secret, CPQ_KEY_BASE_URLS: 'https://*.example.com' };
  const state = { CPQ_AUTH: 'token', CPQ_STATE_DIR: newFolder() };
  const { stderr } = await startTeam({ CPQ_TENANTS_FILE, ...unused, ...state });
  for (const name of Object.keys(unused)) expect(stderr()).toContain(`${name} has no effect: `);
});

describe('a malformed file', () => {
  test.each([
    ['tokens', { ...tenant, CPQ_AUTH: 'token' }, 'CPQ_TOKENS_FILE', 'not a token file'],
    ['tenants', { CPQ_AUTH: 'token' }, 'CPQ_TENANTS_FILE', 'must be JSON such as'],
    ['tenants', {}, 'CPQ_TENANTS_FILE', 'CPQ_AUTH'],
  ])('of %s, with %j', async (name, env, setting, words) => {
    const path = await fileIn(newFolder(), `${name}.json`, `{"${name}": [${secret}`);
    const message = await refused({ ...env, [setting]: path });
    expect(message).toContain(path);
    expect(message).toContain(words);
  });

  test('that is missing is reported', async () => {
    const path = `${newFolder()}/none.json`;
    expect(await refused({ CPQ_AUTH: 'token', CPQ_TENANTS_FILE: path })).toContain('ENOENT');
  });
});
