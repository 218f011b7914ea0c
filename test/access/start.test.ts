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
      expect(message).toContain('CPQ_AUTH');
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

  test('does not accept an unknown auth strategy', async () => {
    expect(await refused({ ...tenant, CPQ_AUTH: 'none' }, '--host', '0.0.0.0')).toContain('oauth');
    expect(await refused({ ...tenant, CPQ_AUTH: 'token,nobody' })).toContain('must be one of');
  });

  test('does not accept an empty list of auth strategies', async () => {
    for (const CPQ_AUTH of ['', ' ', ',']) {
      expect(await refused({ ...tenant, CPQ_AUTH }, '--host', '0.0.0.0')).toContain('CPQ_AUTH');
    }
  });
});

describe('an auth strategy without its settings', () => {
  const cases: Record<string, [Environment, string]> = {
    'oauth without an issuer': [
      { CPQ_AUTH: 'oauth', CPQ_PUBLIC_URL: publicUrl },
      'CPQ_OAUTH_ISSUER',
    ],
    'oauth without a public URL': [issuer, 'CPQ_PUBLIC_URL'],
    'oauth with an issuer without TLS': [
      { ...issuer, CPQ_PUBLIC_URL: publicUrl, CPQ_OAUTH_ISSUER: 'http://login.example.com' },
      'https',
    ],
    'oauth with a password in the issuer': [
      {
        ...issuer,
        CPQ_PUBLIC_URL: publicUrl,
        CPQ_OAUTH_ISSUER: `https://me:${secret}@login.example.com`,
      },
      'CPQ_OAUTH_ISSUER',
    ],
    'key without allowed addresses': [{ CPQ_AUTH: 'key' }, 'CPQ_KEY_BASE_URLS'],
    'key with an invalid address': [
      { CPQ_AUTH: 'key', CPQ_KEY_BASE_URLS: '*' },
      'CPQ_KEY_BASE_URLS: is not a web address',
    ],
    'a proxy that is not an address': [
      { CPQ_AUTH: 'token', CPQ_TRUSTED_PROXIES: '10.0.0.0/33' },
      'CPQ_TRUSTED_PROXIES',
    ],
    'a proxy that is everybody': [
      { CPQ_AUTH: 'token', CPQ_TRUSTED_PROXIES: '0.0.0.0/0' },
      'could then claim any address',
    ],
    'an allowed host with a scheme': [
      { CPQ_AUTH: 'token', CPQ_ALLOWED_HOSTS: 'https://a.example.com' },
      'CPQ_ALLOWED_HOSTS: must be host names',
    ],
    'an allowed host with a port': [
      { CPQ_AUTH: 'token', CPQ_ALLOWED_HOSTS: '::1,a.example.com:443' },
      'CPQ_ALLOWED_HOSTS: must be host names',
    ],
    'a proxy given by name': [
      { CPQ_AUTH: 'token', CPQ_TRUSTED_PROXIES: 'proxy.example.com' },
      'CPQ_TRUSTED_PROXIES',
    ],
  };

  test.each(Object.entries(cases))('%s', async (_, [env, words]) => {
    expect(await refused({ ...tenant, ...env })).toContain(words);
  });
});

test('settings without effect are warned of, and each method of authentication is shown', async () => {
  const { CPQ_OAUTH_ISSUER } = issuer;
  const more = { CPQ_OAUTH_ISSUER, CPQ_PUBLIC_URL: 'https://mcp.example.com/' };
  const keys = { CPQ_AUTH: 'token,key', CPQ_KEY_BASE_URLS: 'https://*.example.com' };
  const state = { CPQ_STATE_DIR: newFolder() };
  const { stderr, running } = await startTeam({ ...tenant, ...keys, ...state, ...more });
  expect(stderr()).toContain('CPQ_OAUTH_ISSUER has no effect: CPQ_AUTH does not name oauth');
  expect(stderr()).toContain('CPQ_PUBLIC_URL does not end in /mcp');
  expect(stderr()).not.toContain('CPQ_KEY_BASE_URLS');
  for (const method of ['token', 'key'])
    expect(running.output.stdout).toContain(`--http https://mcp.example.com/ --auth ${method}\n`);
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
