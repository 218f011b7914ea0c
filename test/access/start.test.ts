import { describe, expect, test } from 'vitest';
import { fileIn } from '../support/access.ts';
import { type Environment, run } from '../support/process.ts';
import { newFolder } from '../support/shared.ts';

const secret = 'key-that-must-not-be-shown-0123456789';
const tenant = { CPQ_BASE_URL: 'https://one.example.com', CPQ_API_KEY: secret };
const issuer = { CPQ_AUTH: 'oauth', CPQ_OAUTH_ISSUER: 'https://login.example.com' };
const publicUrl = { CPQ_PUBLIC_URL: 'https://mcp.example.com/mcp' };

/** Starts the server with settings that it must refuse. @returns the error message */
async function refused(env: Environment, ...argv: string[]): Promise<string> {
  const { status, stdout, stderr } = await run(['http', '--port', '0', ...argv], env);
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
    'oauth without an issuer': [{ CPQ_AUTH: 'oauth', ...publicUrl }, 'CPQ_OAUTH_ISSUER'],
    'oauth without a public URL': [issuer, 'CPQ_PUBLIC_URL'],
    'oauth with an issuer without TLS': [
      { ...issuer, ...publicUrl, CPQ_OAUTH_ISSUER: 'http://login.example.com' },
      'https',
    ],
    'oauth with a password in the issuer': [
      { ...issuer, ...publicUrl, CPQ_OAUTH_ISSUER: `https://me:${secret}@login.example.com` },
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
    'a proxy given by name': [
      { CPQ_AUTH: 'token', CPQ_TRUSTED_PROXIES: 'proxy.example.com' },
      'CPQ_TRUSTED_PROXIES',
    ],
  };

  test.each(Object.entries(cases))('%s', async (_, [env, words]) => {
    expect(await refused({ ...tenant, ...env })).toContain(words);
  });
});

describe('a malformed token file', () => {
  const row = {
    id: 'a',
    name: 'a',
    hash: 'f'.repeat(64),
    grants: ['read'],
    created: '2026-01-01T00:00:00Z',
    expires: '2030-01-01T00:00:00Z',
  };
  const cases: Record<string, unknown> = {
    'not JSON': `{"tokens": [${secret}`,
    null: null,
    'a list': [],
    'without tokens': { version: 1 },
    'with an invalid token': { tokens: [secret] },
    'with an invalid hash': { tokens: [{ ...row, hash: secret }] },
    'without an expiry': { tokens: [{ ...row, expires: undefined }] },
    'with an invalid expiry': { tokens: [{ ...row, expires: 'never' }] },
    'with an unknown grant': { tokens: [{ ...row, grants: ['everything'] }] },
    'without grants': { tokens: [{ ...row, grants: undefined }] },
  };

  test.each(Object.entries(cases))('%s', async (_, content) => {
    const path = await fileIn(newFolder(), 'tokens.json', content);
    const message = await refused({ ...tenant, CPQ_AUTH: 'token', CPQ_TOKENS_FILE: path });
    expect(message).toContain(path);
    expect(message).toContain('not a token file');
  });
});

describe('a tenants file', () => {
  const good = { baseUrl: 'https://a.example.com', apiKey: secret };

  test('is not served without authentication', async () => {
    const path = await fileIn(newFolder(), 'tenants.json', { tenants: { a: good } });
    expect(await refused({ CPQ_TENANTS_FILE: path })).toContain('CPQ_AUTH');
  });

  const cases: Record<string, [unknown, string]> = {
    'not JSON': [`{"tenants": {"a": {"apiKey": "${secret}" }`, 'must be JSON such as'],
    'a list': [{ tenants: [good] }, 'must be JSON such as'],
    'without a tenant': [{ tenants: {} }, 'no tenant'],
    'a tenant that is not an object': [{ tenants: { a: secret } }, 'must be an object'],
    'without a key': [{ tenants: { a: { baseUrl: good.baseUrl } } }, 'apiKey'],
    'without an address': [{ tenants: { a: { apiKey: secret } } }, 'baseUrl'],
    'with an invalid key': [{ tenants: { a: { ...good, apiKey: `${secret} x` } } }, 'apiKey'],
    'with a key that is a list': [{ tenants: { a: { ...good, apiKey: [secret, 1] } } }, 'apiKey'],
    'with a missing key file': [
      { tenants: { a: { baseUrl: good.baseUrl, apiKeyFile: 'nowhere' } } },
      'nowhere',
    ],
    'with a password in its address': [
      { tenants: { a: { ...good, baseUrl: `https://me:${secret}@a.example.com` } } },
      'user name',
    ],
    'with an invalid name': [{ tenants: { '../a': good } }, 'a–z'],
    'with the name `constructor`': [`{"tenants": {"__proto__": {"apiKey": "${secret}"}}}`, 'a–z'],
    "with a setting that is the server's": [
      { tenants: { a: { ...good, tokensFile: '/etc/passwd' } } },
      'is not a setting of a tenant',
    ],
    'with auth strategies of its own': [
      { tenants: { a: { ...good, auth: 'key' } } },
      'not a setting of a tenant',
    ],
    'with private networks of its own': [
      { tenants: { a: { ...good, allowPrivate: '1' } } },
      'not a setting of a tenant',
    ],
    'with an unknown grant': [
      { tenants: { a: { ...good, grants: ['everything'] } } },
      'Known: read',
    ],
    'with a short webhook secret': [
      { tenants: { a: { ...good, webhookSecret: 'short' } } },
      '16 characters',
    ],
  };

  test.each(Object.entries(cases))('%s', async (_, [content, words]) => {
    const path = await fileIn(newFolder(), 'tenants.json', content);
    const message = await refused({ CPQ_AUTH: 'token', CPQ_TENANTS_FILE: path });
    expect(message).toContain(path);
    expect(message).toContain(words);
  });

  test('that is missing is reported', async () => {
    const path = `${newFolder()}/none.json`;
    expect(await refused({ CPQ_AUTH: 'token', CPQ_TENANTS_FILE: path })).toContain('ENOENT');
  });
});
