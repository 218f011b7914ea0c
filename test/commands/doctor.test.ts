import { chmod, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { checkRoutes, grantsFor } from '../../src/commands/doctor/checks.ts';
import { Prober, probeRoutes } from '../../src/commands/doctor/prober.ts';
import { parseGrants } from '../../src/tenant/grants.ts';
import { type Environment, run, runHere } from '../support/process.ts';
import { addressIn, type KeyName, startSandbox } from '../support/sandbox.ts';
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
const sandbox = shared(() => startSandbox());

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
  const { baseUrl, key: ofTenant } = addressIn(await sandbox(), name);
  return { CPQ_BASE_URL: baseUrl, CPQ_API_KEY: ofTenant, ...env };
};

describe('when nothing is wrong', () => {
  test('reports success as text', async () => {
    const { status, stdout, stderr } = await run(['doctor', '--sandbox']);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^PASS +address +http:\/\/127\.0\.0\.1:\d+\/t\/harborpeak answers$/m);
    expect(stdout).toMatch(/^PASS +\/quote-widget-template +\d+ records/m);
    expect(stdout.match(/^PASS /gm)).toHaveLength(20);
    expect(stdout).toMatch(/\n22 requests were sent; nothing was written\.\n/);
    expect(stdout.endsWith('\nCPQ_GRANTS=read\n')).toBe(true);
  });

  test('reports success as JSON', async () => {
    const { status, stderr, report } = await examine();
    expect([status, stderr, report.ok, report.sandbox]).toEqual([0, '', true, false]);
    expect(report.grants).toBe('read');
    expect(report.checks.map((check) => [check.id, check.status])).toEqual([
      ['settings', 'pass'],
      ['state', 'pass'],
      ['address', 'pass'],
      ['key', 'pass'],
      ['budget', 'skip'],
      ['route:/company', 'pass'],
      ['route:/contact', 'pass'],
      ['route:/opportunity', 'pass'],
      ['route:/product', 'pass'],
      ['route:/quote', 'pass'],
      ['route:/quote-template', 'pass'],
      ['route:/quote-widget-template', 'pass'],
      ['route:/pricing-book', 'pass'],
      ['route:/category', 'pass'],
      ['route:/category/tree', 'pass'],
      ['route:/quote-discount-group', 'pass'],
      ['route:/contract/items', 'pass'],
      // None of these opportunities has a status.
      ['fields:/opportunity', 'warn'],
      ['paging:count', 'pass'],
      ['paging:offset', 'pass'],
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
    const [baseUrl, apiKeyFile, webhookSecretFile] = [
      'https://a.example.com',
      'acme-key',
      'acme-hook',
    ];
    const tenants = { acme: { baseUrl, apiKeyFile, webhookSecretFile } };
    const CPQ_TENANTS_FILE = await write(
      folder,
      'tenants.json',
      JSON.stringify({ tenants }),
      0o644,
    );
    const CPQ_TOKENS_FILE = await write(folder, 'tokens.json', '{"tokens":[]}', 0o602);
    const env = { CPQ_TENANTS_FILE, CPQ_TOKENS_FILE, CPQ_STATE_DIR: folder };
    const { status, stdout } = await runHere(['doctor', '--json'], env);
    expect(status).toBe(1);
    const { checks }: Report = JSON.parse(stdout).tenants.acme;
    const files = checks.filter(({ id }) => id.startsWith('file:'));
    expect(files.map(({ id, status }) => [id, status]).sort()).toEqual([
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
  const of = (name: KeyName) => sandboxWith(name);
  const [all, limited] = [await of('all'), await of('limited')];
  const tenants = {
    acme: { baseUrl: all.CPQ_BASE_URL, apiKey: all.CPQ_API_KEY },
    globex: { baseUrl: limited.CPQ_BASE_URL, apiKey: 'WrongKey0123456789' },
  };
  const path = join(folder, 'tenants.json');
  await writeFile(path, JSON.stringify({ tenants }), { mode: 0o600 });
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
  expect(text.stderr).toMatch(/^cpq-mcp: 1 of \d+ checks failed, of globex$/m);
});

test('a host that cannot be reached is said to be that, and nothing else', async () => {
  const { report, status } = await examineAt({
    ...{ CPQ_BASE_URL: 'http://127.0.0.1:9', CPQ_API_KEY: key },
  });
  const failed = report.checks.filter((check) => check.status === 'fail');
  expect([status, failed.map(({ id }) => id)]).toEqual([1, ['address']]);
  expect(failed[0]?.remedy).toContain('cannot be reached (ECONNREFUSED)');
  expect(report.requests).toBe(1);
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

  test('with an unreachable address is found with one request', async () => {
    const env = { CPQ_BASE_URL: 'http://127.0.0.1:9', CPQ_API_KEY: key };
    const { status, find, report } = await examineAt(env);
    expect([status, report.requests, find('key').status]).toEqual([1, 1, 'skip']);
    expect(find('address')).toMatchObject({
      status: 'fail',
      remedy: expect.stringContaining('ECONNREFUSED'),
    });
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
    await prober.close();
    const statuses = checkRoutes(probes, parseGrants(['read'])).map(({ status }) => status);
    expect(statuses.slice(0, 2)).toEqual(['pass', 'pass']);
    expect(statuses[2]).toBe('fail');
    expect(new Set(statuses.slice(3))).toEqual(new Set(['skip']));
    expect(grantsFor(probes, parseGrants(['read']))).toBe('read');
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
  test('is read from the responses', async () => {
    const { find } = await examine({ rate: { limit: 500, windowMs: 600_000 } });
    expect(find('budget')).toMatchObject({
      status: 'pass',
      detail: '480 of 500 requests remaining in these ten minutes',
    });
  });

  test('that differs from the settings is reported with the setting', async () => {
    const { find, status } = await examine({ rateHeaders: { limit: 1000, remaining: 900 } });
    expect(find('budget')).toMatchObject({ status: 'warn', remedy: 'Set CPQ_RATE_LIMIT=1000' });
    expect(status).toBe(0);
  });

  test('that is nearly used up is a warning', async () => {
    const { find } = await examine({ rateHeaders: { limit: 500, remaining: 12 } });
    expect(find('budget').status).toBe('warn');
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
  const offset = async (behaviour: Behaviour, env: Environment = {}) => {
    const { find, report } = await examine(behaviour, env);
    return { ...find('paging:offset'), requests: report.requests };
  };

  test('that ignores the parameter is reported with the setting to change', async () => {
    expect(await offset({ ignoreFrom: true })).toMatchObject({
      status: 'warn',
      detail: 'from does not count records: only what one page holds can be read',
    });
    const { status, find } = await examine({ ignoreFrom: true, maxSize: 50 });
    expect(find('paging:offset').remedy).toContain('CPQ_PAGE_PARAM');
    expect(status).toBe(0);
  });

  test('works with another parameter name if the setting names it', async () => {
    const behaviour: Behaviour = { offset: { name: 'offset' } };
    expect(await offset(behaviour)).toMatchObject({
      status: 'warn',
      remedy: expect.stringContaining('CPQ_PAGE_PARAM'),
    });
    expect(await offset(behaviour, { CPQ_PAGE_PARAM: 'offset' })).toMatchObject({ status: 'pass' });
    expect(await offset(behaviour, { CPQ_PAGE_PARAM: 'none' })).toMatchObject({
      status: 'warn',
      detail: 'no offset is configured: only what one page holds can be read',
    });
  });

  test('by page numbers is not mistaken for offsets', async () => {
    expect(await offset({ offset: { name: 'from', unit: 'page' } })).toMatchObject({
      status: 'warn',
    });
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
