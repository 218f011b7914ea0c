import { chmod, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { checkRoutes, grantsFor } from '../../src/commands/doctor/checks.ts';
import { Prober, probeRoutes } from '../../src/commands/doctor/prober.ts';
import { ApiError } from '../../src/service/errors.ts';
import { parseGrants } from '../../src/tenant/grants.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { type Environment, runHere } from '../support/process.ts';
import type { KeyName } from '../support/sandbox.ts';
import { closing, newFolder, shared } from '../support/shared.ts';
import { type Behaviour, only } from '../support/upstream/behaviour.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

interface Check {
  id: string;
  title: string;
  status: 'pass' | 'warn' | 'fail' | 'skip';
  detail: string;
  remedy?: string;
}

interface Report {
  ok: boolean;
  address: string;
  sandbox: boolean;
  checks: Check[];
  requests: number;
  grants?: string;
}

const key = 'SecretKeyThatNobodyMaySee0123456789';
const upstream = shared(async () =>
  closing(await startUpstream({ counts: { '/contact': 600, '/company': 120 } })),
);
const { address } = embeddedTenant();

beforeEach(async () => (await upstream()).reset());

/** Runs `doctor --json` against the upstream. @returns the report */
async function examine(behaviour: Behaviour = {}, env: Environment = {}) {
  const service = await upstream();
  service.set({ keys: new Set([key]), ...behaviour });
  return examineAt({ CPQ_BASE_URL: service.url, CPQ_API_KEY: key, ...env });
}

async function examineAt(env: Environment) {
  const { status, stdout, stderr } = await runHere(['doctor', '--json'], env);
  const report: Report = JSON.parse(stdout);
  const find = (id: string): Check => {
    const check = report.checks.find((one) => one.id === id);
    if (!check) throw new Error(`no check ${id} in ${stdout}`);
    return check;
  };
  return { status, stderr, report, find };
}

const sandboxWith = async (name: KeyName, env: Environment = {}) => {
  const { baseUrl, key: ofTenant } = await address(name);
  return { CPQ_BASE_URL: baseUrl, CPQ_API_KEY: ofTenant, ...env };
};

describe('when nothing is wrong', () => {
  test('reports success as JSON', async () => {
    const { status, stderr, report } = await examine();
    expect([status, stderr, report.ok, report.sandbox]).toEqual([0, '', true, false]);
    expect(report.grants).toBe('read');
    expect(report.checks).toHaveLength(20);
    const others = report.checks.filter(({ status: of }) => of !== 'pass');
    // None of these opportunities has a status.
    expect(others.map(({ id, status: of }) => [id, of])).toEqual([
      ['budget', 'skip'],
      ['fields:/opportunity', 'warn'],
    ]);
  });

  test('sends as many requests as announced, and only reads', async () => {
    const { report } = await examine({}, { CPQ_GRANTS: 'read,opportunity:write' });
    const { requests } = await upstream();
    expect(requests).toHaveLength(report.requests);
    expect(report.requests).toBe(20);
    expect(new Set(requests.map((request) => request.method))).toEqual(new Set(['GET']));
    expect(report.grants).toBe('read,opportunity:write');
  });

  test('does not change the state folder', async () => {
    const folder = newFolder();
    const missing = join(folder, 'a', 'b');
    const { find } = await examine({}, { CPQ_STATE_DIR: missing });
    expect(find('state')).toMatchObject({ status: 'pass', detail: `${missing} is writable` });
    expect(await readdir(folder)).toEqual([]);
    await examine({}, { CPQ_STATE_DIR: folder });
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('files with secrets', () => {
  const write = async (folder: string, name: string, content: string, mode: number) => {
    const path = join(folder, name);
    await writeFile(path, content);
    await chmod(path, mode);
    return path;
  };
  /** A folder that every user can enter. */
  const open = async () => {
    const folder = newFolder();
    await chmod(folder, 0o755);
    return folder;
  };
  const inFile = async (mode: number) => {
    const path = await write(await open(), 'key', key, mode);
    const { find } = await examine({}, { CPQ_API_KEY: undefined, CPQ_API_KEY_FILE: path });
    return { path, ...find('file:apiKeyFile') };
  };

  test.each([
    [0o600, 'pass'],
    [0o640, 'pass'],
    [0o644, 'warn'],
    [0o660, 'warn'],
    [0o646, 'fail'],
  ])('with mode %o are reported as %s', async (mode, status) => {
    const { path, remedy, ...found } = await inFile(mode);
    expect(found).toMatchObject({ status, title: 'apiKey file' });
    expect(found.detail).toContain(path);
    expect(remedy).toBe(status === 'pass' ? undefined : `chmod 600 ${path}`);
  });

  test('include the tenants file and the token file', async () => {
    const folder = await open();
    await write(folder, 'acme-key', key, 0o604);
    await write(folder, 'acme-hook', 'a-webhook-secret-0123456789', 0o600);
    const files = { apiKeyFile: 'acme-key', webhookSecretFile: 'acme-hook' };
    const tenants = { acme: { baseUrl: 'https://a.example.com', ...files } };
    const described = JSON.stringify({ tenants });
    const CPQ_TENANTS_FILE = await write(folder, 'tenants.json', described, 0o644);
    const CPQ_TOKENS_FILE = await write(folder, 'tokens.json', '{"tokens":[]}', 0o602);
    const env = { CPQ_TENANTS_FILE, CPQ_TOKENS_FILE, CPQ_STATE_DIR: folder };
    const { status, stdout } = await runHere(['doctor', '--json'], env);
    expect(status).toBe(1);
    const { checks }: Report = JSON.parse(stdout).tenants.acme;
    const found = checks.filter(({ id }) => id.startsWith('file:'));
    expect(found.map(({ id, status }) => [id, status]).sort()).toEqual([
      ['file:apiKeyFile', 'warn'],
      ['file:tenantsFile', 'warn'],
      ['file:tokensFile', 'fail'],
      ['file:webhookSecretFile', 'pass'],
    ]);
  });

  test('are reported for an unreadable tenants file, without its content', async () => {
    const path = await write(await open(), 'tenants.json', `{"tenants": {"a": "${key}"`, 0o600);
    const { find } = await examine({}, { CPQ_TENANTS_FILE: path });
    expect(find('settings')).toMatchObject({ status: 'fail' });
    expect(find('settings').detail).not.toContain(key);
  });
});

test('every tenant of a tenants file is checked, with its own key', async () => {
  const folder = newFolder();
  const [all, limited] = [await sandboxWith('all'), await sandboxWith('limited')];
  const tenants = {
    acme: { baseUrl: all.CPQ_BASE_URL, apiKey: all.CPQ_API_KEY },
    globex: { baseUrl: limited.CPQ_BASE_URL, apiKey: 'WrongKey0123456789' },
  };
  const path = join(folder, 'tenants.json');
  // With the byte order mark of editors of Windows.
  await writeFile(path, `\uFEFF${JSON.stringify({ tenants })}`, { mode: 0o600 });
  const env = { CPQ_TENANTS_FILE: path, CPQ_STATE_DIR: folder };
  const { status, stdout } = await runHere(['doctor', '--json'], env);
  const { ok, tenants: found } = JSON.parse(stdout);
  const statusOf = (name: string, id: string) =>
    found[name].checks.find((check: Check) => check.id === id).status;
  expect([status, ok, found.acme.ok, found.globex.ok]).toEqual([1, false, true, false]);
  expect([statusOf('acme', 'key'), statusOf('globex', 'key')]).toEqual(['pass', 'fail']);
  const remedies = (name: string) =>
    found[name].checks.flatMap(({ remedy }: Check) => remedy ?? []);
  expect(remedies('globex').join()).toContain('Check that baseUrl and the key');
  const text = await runHere(['doctor'], env);
  expect(text.stdout).toMatch(/^Tenant acme: cpq-mcp .+^Tenant globex: /ms);
  // As in the file: the variable would grant them to all tenants.
  expect(text.stdout).toContain('Grants for this key:\ngrants=read\n');
  expect(text.stderr).toMatch(/^cpq-mcp: 1 of \d+ checks failed, of globex$/m);
});

describe('the permissions of the key', () => {
  test('lead to the grants that make the next run succeed', async () => {
    const first = await examineAt(await sandboxWith('limited'));
    expect([first.status, first.report.ok]).toEqual([1, false]);
    expect(first.stderr).toContain('9 of 20 checks failed');
    expect(first.find('route:/quote')).toMatchObject({
      status: 'fail',
      detail: 'this key is not permitted to read it',
    });
    expect(first.report.grants).toBe('company:read,contact:read,opportunity:read');
    const second = await examineAt(
      await sandboxWith('limited', { CPQ_GRANTS: first.report.grants }),
    );
    expect([second.status, second.stderr, second.report.ok]).toEqual([0, '', true]);
    expect(second.find('route:/quote').status).toBe('skip');
  });

  test('distinguish a missing route from a forbidden one', async () => {
    const { find, report } = await examine({
      status: only({ code: 404 }, { path: '/contract/items' }),
    });
    expect(find('route:/contract/items').detail).toBe('this tenant has no such route');
    expect(report.grants).not.toContain('contract_item');
    expect(report.grants).toContain('discount_group:read');
  });

  test('are all tried where the first two are forbidden', async () => {
    const { find, report } = await examine({
      status: only(
        { code: 403, message: 'No permission' },
        { if: ({ path }) => /\/(?:company|contact)$/.test(path) },
      ),
    });
    const statuses = ['contact', 'product'].map((route) => find(`route:/${route}`).status);
    expect(statuses).toEqual(['fail', 'pass']);
    expect(report.grants).toContain('product:read');
  });

  test('keep the grant of a route that fails temporarily', async () => {
    const { status, find, report } = await examine({
      status: only({ code: 500 }, { path: '/quote' }),
    });
    expect([status, find('route:/quote').status]).toEqual([1, 'fail']);
    expect(find('route:/quote').remedy).toContain('answered with status 500');
    expect(report.grants).toBe('read');
  });
});

describe('a problem', () => {
  test('with the key is found with two requests', async () => {
    const { status, find, report } = await examine({}, { CPQ_API_KEY: `${key}x` });
    expect([status, report.requests, report.grants]).toEqual([1, 2, undefined]);
    expect([find('address').status, find('key').status]).toEqual(['pass', 'fail']);
    expect(find('key').detail).toBe('not accepted (status 403)');
    expect(find('route:/quote')).toMatchObject({ status: 'skip', detail: 'not tried' });
  });

  test('with an unreachable address is found with one request, and nothing else', async () => {
    const env = { CPQ_BASE_URL: 'http://127.0.0.1:9', CPQ_API_KEY: key };
    const { status, find, report } = await examineAt(env);
    expect([status, report.requests, find('key').status]).toEqual([1, 1, 'skip']);
    const failed = report.checks.filter((check) => check.status === 'fail');
    expect(failed.map(({ id }) => id)).toEqual(['address']);
    expect(failed[0]?.remedy).toContain('cannot be reached (ECONNREFUSED)');
  });

  test.each<[string, Behaviour, string]>([
    ['the web interface', { instead: { text: '<html>', type: 'text/html' } }, 'web interface'],
    ['another service', { status: { code: 404 } }, 'has no route /company'],
    ['a redirect', { redirect: { code: 302, to: 'other' } }, 'redirect, which is not followed'],
    ['a service that is down', { status: { code: 503 } }, 'answered with status 503'],
  ])('with the address is found: %s', async (_, behaviour, said) => {
    const { status, find, report } = await examine(behaviour);
    expect([status, find('address').status]).toEqual([1, 'fail']);
    expect(find('address').remedy).toContain(said);
    expect(report.requests).toBeLessThan(3);
    expect((await upstream()).elsewhere.requests).toEqual([]);
  });

  test('with the settings leads to exit status 2, also with JSON output', async () => {
    const people = await runHere(['doctor'], { CPQ_API_KEY: key });
    expect([people.status, people.stdout]).toEqual([2, '']);
    expect(people.stderr).toContain('CPQ_BASE_URL');
    const env = { CPQ_API_KEY: key, CPQ_BASE_URL: 'http://127.0.0.1:9', CPQ_GRANTS: 'all' };
    const programs = await runHere(['doctor', '--json'], env);
    expect(programs.status).toBe(2);
    expect(JSON.parse(programs.stdout)).toMatchObject({
      ok: false,
      checks: [{ id: 'settings', status: 'fail', detail: expect.stringContaining('CPQ_GRANTS') }],
    });
  });

  test.each([
    [{ CPQ_AUTH: 'token,oauth' }, 'CPQ_AUTH=oauth needs CPQ_OAUTH_ISSUER'],
    [{ CPQ_AUTH: 'key' }, 'CPQ_AUTH=key needs CPQ_KEY_BASE_URLS'],
    [{ CPQ_AUTH: 'token', CPQ_TRUSTED_PROXIES: 'proxy' }, 'CPQ_TRUSTED_PROXIES: "proxy" is'],
  ])('with settings that http refuses is found: %j', async (env, said) => {
    const { status, find } = await examine({}, env);
    expect([status, find('settings').detail]).toEqual([2, expect.stringContaining(said)]);
  });

  test('with the state folder matters where something is written', async () => {
    const folder = newFolder();
    await writeFile(join(folder, 'file'), '');
    const env = { CPQ_STATE_DIR: join(folder, 'file') };
    const reading = await examine({}, env);
    expect([reading.status, reading.find('state').status]).toEqual([0, 'warn']);
    const writing = await examine({}, { ...env, CPQ_GRANTS: 'read,opportunity:write' });
    expect([writing.status, writing.find('state').status]).toEqual([1, 'fail']);
    expect(writing.find('state').detail).toContain('is not a folder');
    if (process.platform !== 'linux') return;
    // No folder can be made there, whatever its permissions say.
    const { find } = await examine({}, { CPQ_STATE_DIR: '/proc/nope/x' });
    expect(find('state')).toMatchObject({ status: 'warn', detail: '/proc/nope/x: ENOENT' });
  });

  test('with tools is found: grants that no toolset uses', async () => {
    const { find } = await examine({}, { CPQ_TOOLSETS: 'changes', CPQ_GRANTS: 'quote:read' });
    expect(find('settings')).toMatchObject({
      status: 'fail',
      detail: '0 tools; granted: quote:read',
    });
  });
});

describe('a service that answers only some routes', () => {
  test('leads to a partial report at the time limit', async () => {
    const service = await upstream();
    service.set({ keys: new Set([key]), delayHeaders: only(600_000, { after: 2 }) });
    const target = { baseUrl: new URL(service.url), key, pageParam: 'from' };
    const prober = new Prober(target, 3_000);
    const probes = await probeRoutes(prober);
    await prober.client.close();
    const statuses = checkRoutes(probes, parseGrants(['read'])).map(({ status }) => status);
    expect(statuses.slice(0, 2)).toEqual(['pass', 'pass']);
    expect(statuses[2]).toBe('fail');
    expect(new Set(statuses.slice(3))).toEqual(new Set(['skip']));
    expect(grantsFor(probes, parseGrants(['read']))).toBe('read');
    // Who may not read opportunities cannot write them.
    const error = new ApiError('not-permitted', { host: 'a' });
    const barred = new Map(probes).set('opportunity', { records: [], error });
    const advised = grantsFor(barred, parseGrants(['read', 'opportunity:write']));
    expect(advised).not.toContain('opportunity');
  });
});

test('a line of the file of fields that no record has is a warning', async () => {
  const file = join(newFolder(), 'fields.txt');
  await writeFile(file, 'company.name = name\nopportunity.source = origin\n');
  const { report } = await examine({}, { CPQ_FIELDS_FILE: file });
  const found = report.checks.filter(({ id }) => id === 'fields:file');
  expect(found).toMatchObject([
    { status: 'warn', detail: 'no record read here has opportunity.source = origin' },
  ]);
});

describe('the rate limit', () => {
  test.each<[what: string, Behaviour, expected: Partial<Check>]>([
    [
      'is read from the responses',
      { rate: { limit: 500, windowMs: 600_000 } },
      { status: 'pass', detail: '480 of 500 requests remaining in these ten minutes' },
    ],
    [
      'that differs from the settings is reported with the setting',
      { rateHeaders: { limit: 1000, remaining: 900 } },
      { status: 'warn', remedy: 'Set CPQ_RATE_LIMIT=1000' },
    ],
    [
      'that is nearly used up is a warning',
      { rateHeaders: { limit: 500, remaining: 12 } },
      { status: 'warn', remedy: expect.stringContaining('ask again in ten minutes') },
    ],
    [
      'has a reserve of the smaller one of both',
      { rateHeaders: { limit: 1000, remaining: 60 } },
      { status: 'warn', remedy: 'Set CPQ_RATE_LIMIT=1000' },
    ],
  ])('%s', async (_, behaviour, expected) => {
    const { status, find } = await examine(behaviour);
    expect([status, find('budget')]).toEqual([0, expect.objectContaining(expected)]);
  });

  test('that is used up ends the checks', async () => {
    const { status, find, report } = await examine({
      status: only({ code: 429, retryAfter: '77' }, { after: 1 }),
    });
    expect([status, find('budget')]).toEqual([
      1,
      expect.objectContaining({ status: 'fail', detail: 'exhausted for 77 s' }),
    ]);
    expect(report.requests).toBe(2);
    expect(find('route:/product').status).toBe('skip');
  });
});

describe('paging', () => {
  const byOffset: Behaviour = { offset: { name: 'offset' } };
  const onePage = 'only what one page holds can be read';
  const remedy = expect.stringContaining('CPQ_PAGE_PARAM');
  test.each<[what: string, Behaviour, Environment, expected: Partial<Check>]>([
    [
      'that ignores the parameter is reported with the setting to change',
      { ignoreFrom: true },
      {},
      { status: 'warn', detail: `from does not count records: ${onePage}`, remedy },
    ],
    ['also on small pages', { ignoreFrom: true, maxSize: 50 }, {}, { status: 'warn', remedy }],
    ['by another parameter is reported', byOffset, {}, { status: 'warn', remedy }],
    ['works if the setting names it', byOffset, { CPQ_PAGE_PARAM: 'offset' }, { status: 'pass' }],
    [
      'by no parameter is reported',
      byOffset,
      { CPQ_PAGE_PARAM: 'none' },
      { status: 'warn', detail: `no offset is configured: ${onePage}` },
    ],
    [
      'by page numbers is not mistaken for offsets',
      { offset: { counts: 'pages' } },
      {},
      { status: 'warn' },
    ],
  ])('%s', async (_, behaviour, env, expected) => {
    const { status, find } = await examine(behaviour, env);
    expect([status, find('paging:offset')]).toEqual([0, expect.objectContaining(expected)]);
  });

  test('a count that one list lacks is not sent', async () => {
    const { find } = await examine({ total: only('absent', { path: '/company' }) });
    expect(find('paging:count')).toMatchObject({
      status: 'warn',
      detail: 'not sent, or of a page only: all pages are read to the end',
    });
  });

  test('of a service that sends everything at once leaves requests for every check', async () => {
    const { status, find, report } = await examine({ everything: true });
    expect([status, find('paging:count').status]).toEqual([0, 'pass']);
    expect(report.checks.filter(({ detail }) => detail === 'not tried')).toEqual([]);
    expect(report.requests).toBeLessThan(40);
  });

  test('cannot be determined with very few records', async () => {
    const service = await upstream();
    const kept = { ...service.records };
    for (const path of Object.keys(kept) as (keyof typeof kept)[]) {
      service.records[path] = kept[path].slice(0, 1);
    }
    const { find } = await examine();
    Object.assign(service.records, kept);
    expect(find('paging:offset')).toMatchObject({ status: 'skip' });
  });
});
