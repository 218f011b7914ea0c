import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Sandbox, type SandboxTenant, startSandbox } from '../../src/sandbox/index.ts';
import { RollingWindow } from '../../src/sandbox/limits.ts';
import { ask } from '../support/sandbox-client.ts';

let sandbox: Sandbox;
let tenant: SandboxTenant;
let other: SandboxTenant;

beforeAll(async () => {
  sandbox = await startSandbox({ scale: 0.05, tenants: ['oakline', 'kaiserhof'] });
  [tenant, other] = sandbox.tenants as [SandboxTenant, SandboxTenant];
});
afterAll(() => sandbox.close());

describe('keys', () => {
  test('a request without a key is a 401', async () => {
    const { status, json } = await ask(tenant, 'company', { key: null });
    expect(status).toBe(401);
    expect(json).toMatchObject({ message: 'No API key provided', statusCode: 401 });
  });

  test('a wrong key, or the key of another tenant, is a 403', async () => {
    const body = { message: 'API key not valid', error: 'Forbidden', statusCode: 403 };
    expect((await ask(tenant, 'company', { key: 'nonsense' })).json).toEqual(body);
    const foreign = await ask(tenant, 'company', { key: other.keys.all });
    expect(foreign.status).toBe(403);
    expect(foreign.json).toEqual(body);
  });

  test('keys are opaque, all different, and the same for the same seed', async () => {
    const keys = sandbox.tenants.flatMap(({ keys }) => Object.values(keys));
    expect(new Set(keys).size).toBe(6);
    expect(keys.every((key) => /^[A-Za-z0-9]{40}$/.test(key))).toBe(true);
    const again = await startSandbox({ tenants: ['oakline', 'kaiserhof'] });
    await again.close();
    expect(again.tenants.map(({ keys }) => keys)).toEqual(sandbox.tenants.map(({ keys }) => keys));
  });

  test('the limited key reads companies, contacts and opportunities', async () => {
    const key = tenant.keys.limited;
    for (const path of ['company', 'contact', 'opportunity']) {
      expect((await ask(tenant, path, { key })).status).toBe(200);
    }
    for (const path of ['product', 'quote', 'category/tree', 'contract/items', 'pricing-book']) {
      const { status, json } = await ask(tenant, path, { key });
      expect(status).toBe(403);
      expect(json.message).toContain('permission');
    }
  });

  test('the reading key cannot write', async () => {
    const options = { method: 'PUT', body: { name: 'x' }, key: tenant.keys.read };
    const { status, json } = await ask(tenant, 'opportunity/ext/NEW-1', options);
    expect(status).toBe(403);
    expect(json.message).toContain('opportunity:write');
  });

  test('one tenant never sees the records of the other', async () => {
    const [company] = (await ask(tenant, 'company?size=1')).json.results;
    expect((await ask(other, `company/${company.id}`)).status).toBe(404);
    expect((await ask(other, `company?filters=id:${company.id}`)).json.total).toBe(0);
  });
});

test.each([
  [{ tenants: [] }, 'tenants must'],
  [{ tenants: ['a', 'a'] }, 'tenants must'],
  [{ scale: Number.NaN }, 'scale must'],
  [{ now: new Date('never') }, 'now must'],
])('a sandbox with %j does not start', async (options, message) => {
  await expect(startSandbox(options)).rejects.toThrow(message);
});

describe('unknown paths and bodies', () => {
  test('a plural path, an unknown id and an unknown method are 404', async () => {
    const { status, json } = await ask(tenant, 'companies');
    expect(status).toBe(404);
    expect(json).toEqual({
      message: 'Cannot GET /public-api/companies',
      error: 'Not Found',
      statusCode: 404,
    });
    expect((await ask(tenant, 'company/nobody')).status).toBe(404);
    expect((await ask(tenant, 'company', { method: 'PATCH', body: {} })).status).toBe(404);
    expect((await ask(tenant, 'company/')).status).toBe(404);
    expect((await ask(tenant, 'company/%zz')).status).toBe(400);
  });

  test('other paths return the web interface with status 200', async () => {
    for (const url of [
      sandbox.url,
      `${tenant.baseUrl}/company`,
      `${sandbox.url}/public-api/company`,
    ]) {
      const response = await fetch(url, { headers: { 'api-key': tenant.keys.all } });
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toContain('text/html');
      expect(await response.text()).toContain('<!doctype html>');
    }
  });

  test('a body that is not JSON is a 400, an oversized one a 413', async () => {
    const put = (body: string) => ask(tenant, 'opportunity/ext/NEW-1', { method: 'PUT', body });
    expect(await put('{"name":')).toMatchObject({ status: 400 });
    expect(await put(JSON.stringify({ name: 'x'.repeat(1024 * 1024) }))).toMatchObject({
      status: 413,
    });
  });
});

describe('the rate limit', () => {
  test('is in every reply, and shared by all keys of a tenant', async () => {
    sandbox.limits.clear();
    const one = await ask(tenant, 'company', { key: tenant.keys.read });
    expect(one.headers.get('x-ratelimit-limit')).toBe('500');
    expect(one.headers.get('x-ratelimit-remaining')).toBe('499');
    expect(Number(one.headers.get('x-ratelimit-reset'))).toBeGreaterThan(590);
    const two = await ask(tenant, 'product', { key: tenant.keys.limited });
    expect(two.headers.get('x-ratelimit-remaining')).toBe('498');
    const elsewhere = await ask(other, 'company');
    expect(elsewhere.headers.get('x-ratelimit-remaining')).toBe('499');
  });

  test('rolls: the oldest request is released when it is old enough', async () => {
    sandbox.settings.rateLimit = { requests: 2, windowSeconds: 1 };
    sandbox.limits.clear();
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    await ask(tenant, 'company?size=1');
    await ask(tenant, 'company?size=1');
    const refused = await ask(tenant, 'company?size=1');
    expect(refused.status).toBe(429);
    expect(refused.json).toMatchObject({ statusCode: 429, error: 'Too Many Requests' });
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBe(1);
    expect((await ask(other, 'company?size=1')).status).toBe(200);
    vi.setSystemTime(Date.now() + seconds * 1000);
    expect((await ask(tenant, 'company?size=1')).status).toBe(200);
    sandbox.settings.rateLimit = false;
    const free = await ask(tenant, 'company?size=1');
    expect(free.headers.has('x-ratelimit-remaining')).toBe(false);
  });
});

test('the window rolls instead of being reset at once', () => {
  const window = new RollingWindow();
  const take = (now: number) => window.take('a', { requests: 2, windowSeconds: 1 }, now);
  expect([0, 900].map((now) => take(now).allowed)).toEqual([true, true]);
  expect(take(950)).toMatchObject({ allowed: false, remaining: 0, reset: 1 });
  expect([1001, 1002, 1899, 1901].map((now) => take(now).allowed)).toEqual([
    true,
    false,
    false,
    true,
  ]);
});
