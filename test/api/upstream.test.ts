import { once } from 'node:events';
import { type IncomingHttpHeaders, request as open, type RequestOptions } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { soon } from '../support/until.ts';
import {
  type Behaviour,
  firstOf,
  limit,
  only,
  type Upstream,
} from '../support/upstream/behaviour.ts';
import { type FaultName, faultNames, faults } from '../support/upstream/faults.ts';
import { visible } from '../support/upstream/paging.ts';
import { generateRecords, resourcePaths } from '../support/upstream/records.ts';
import { startUpstream } from '../support/upstream/upstream.ts';
import {
  type WriteFaultName,
  writeFaultNames,
  writeFaults,
} from '../support/upstream/write-faults.ts';

let upstream: Upstream;

beforeEach(async () => {
  upstream = await startUpstream({ counts: { '/company': 45 } });
});

afterEach(() => upstream.close());

interface Got {
  status: number;
  headers: IncomingHttpHeaders;
  names: string[];
  chunks: Buffer[];
  body: Buffer;
}

/** One request whose answer is not decoded. Fails as the socket fails. */
async function ask(path: string, options: RequestOptions = {}, body?: string): Promise<Got> {
  const sent = open(`${upstream.url}/public-api${path}`, { agent: false, ...options });
  sent.on('error', () => {});
  sent.end(body);
  const [response] = await once(sent, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const { statusCode: status, headers, rawHeaders: names } = response;
  return { status, headers, names, chunks, body: Buffer.concat(chunks) };
}

const json = async (path: string) => JSON.parse(String((await ask(path)).body));

const failure = async (path: string, options?: RequestOptions): Promise<string> =>
  ask(path, options).then(
    ({ status }) => `answered ${status}`,
    (error) => error.code,
  );

const idsOf = (rows: Array<{ id?: unknown }>) => rows.map(({ id }) => id);

const companies = () => upstream.records['/company'];

const statuses = async (...paths: string[]) => {
  const all: number[] = [];
  for (const path of paths) all.push((await ask(path)).status);
  return all;
};

describe('without a fault', () => {
  test.each(resourcePaths)('%s is served', async (path) => {
    const answer = await json(`${path}?size=100`);
    const rows = Array.isArray(answer) ? answer : answer.results;
    expect(rows).toEqual(upstream.records[path]);
    expect(answer.total ?? rows.length).toBe(rows.length);
  });

  test('pages, searches, filters and sorts', async () => {
    const page = await json('/company?size=10&from=40');
    expect(page).toEqual({ results: companies().slice(40), total: 45 });
    const found = await json('/company?size=50&filters=type:customer|prospect&sort=-updatedAt');
    expect(found.total).toBe(companies().filter(({ type }) => type !== 'manufacturer').length);
    const times = found.results.map(({ updatedAt }: { updatedAt: string }) => updatedAt);
    expect(times).toEqual(times.toSorted().reverse());
    expect((await json('/company?query=COM-17')).total).toBe(1);
    expect(await statuses('/company?size=0', '/company?from=-1')).toEqual([400, 400]);
  });

  test('serves one record, and no other path', async () => {
    const [first] = companies();
    expect(await json(`/company/${first?.id}`)).toEqual(first);
    expect(await json('/company/ext/com-0')).toEqual(first);
    const unknown = ['/company/none', '/companies', '/category/x', '/opportunity/ext/opp-1'];
    expect(await statuses(...unknown)).toEqual([404, 404, 404, 404]);
    const outside = await fetch(`${upstream.url}/login`);
    expect(outside.headers.get('content-type')).toBe('text/html');
  });

  test('records are the same for the same seed, with ids as configured', () => {
    expect(generateRecords('/quote', 5, 7)).toEqual(generateRecords('/quote', 5, 7));
    const ids = resourcePaths.flatMap((path) => idsOf(generateRecords(path, 99, 1, 'all')));
    expect(new Set(ids).size).toBe(12 * 99);
    expect(ids.every((id) => /^[A-Za-z0-9]{20}$/.test(String(id)))).toBe(true);
    expect(idsOf(generateRecords('/quote', 3, 1, 'some'))[1]).toBeUndefined();
    const lines = generateRecords('/contract/items', 99, 1);
    expect(new Set(lines.map((line) => JSON.stringify(line))).size).toBe(99);
  });
});

describe('a setting for some requests', () => {
  const cases: Array<[string, Behaviour, number[]]> = [
    ['first', limit(faults['500'], { first: 2 }), [500, 500, 200, 200]],
    ['after', limit(faults['500'], { after: 2 }), [200, 200, 500, 500]],
    ['every', limit(faults['500'], { every: 2 }), [200, 500, 200, 500]],
    ['another path', limit(faults['500'], { path: '/quote' }), [200, 200, 200, 200]],
    ['another method', limit(faults['500'], { method: 'PUT' }), [200, 200, 200, 200]],
    [
      'predicate',
      { status: only({ code: 404 }, { if: ({ n }) => n === 3 }) },
      [200, 200, 404, 200],
    ],
    [
      'a sequence',
      { status: firstOf(only({ code: 500 }, { first: 1 }), only({ code: 429 }, { first: 2 })) },
      [500, 429, 200, 200],
    ],
    ['both', limit(limit(faults['500'], { every: 2 }), { first: 3 }), [200, 500, 200, 200]],
  ];

  test.each(cases)('%s', async (_, behaviour, expected) => {
    upstream.set(behaviour);
    expect(await statuses('/company', '/company', '/company', '/company')).toEqual(expected);
  });

  test('counts each URL separately', async () => {
    upstream.set(limit(faults['500'], { first: 1, per: 'url' }));
    const pages = ['/company?from=0', '/company?from=9', '/company?from=0', '/company?from=9'];
    expect(await statuses(...pages)).toEqual([500, 500, 200, 200]);
  });

  test('restarts its count when set again, and is removed by a reset', async () => {
    for (const _ of [1, 2]) {
      upstream.set(limit(faults['500'], { first: 1 }));
      expect(await statuses('/company', '/company')).toEqual([500, 200]);
    }
    upstream.set(faults['500']);
    upstream.reset();
    expect(await statuses('/company')).toEqual([200]);
    expect(upstream.requests).toHaveLength(1);
    upstream.requests.length = 0;
    await statuses('/company');
    expect(upstream.requests.map(({ n }) => n)).toEqual([2]);
  });
});

describe('refusals', () => {
  test('keys', async () => {
    upstream.set({ keys: new Set(['right']) });
    const missing = await ask('/company');
    expect(missing.status).toBe(401);
    expect(JSON.parse(String(missing.body))).toMatchObject({ message: 'No API key provided' });
    const wrong = await ask('/company', { headers: { 'api-key': 'wrong' } });
    expect(JSON.parse(String(wrong.body))).toEqual({
      message: 'API key not valid',
      error: 'Forbidden',
      statusCode: 403,
    });
    expect((await ask('/company', { headers: { 'api-key': 'right' } })).status).toBe(200);
  });

  const refused: Array<[FaultName, number, string | undefined]> = [
    ['no-permission', 403, undefined],
    ['400-messages', 400, undefined],
    ['429', 429, undefined],
    ['429-an-hour', 429, '3600'],
    ['429-nonsense', 429, 'soon'],
    ['502-html', 502, undefined],
    ['204', 204, undefined],
  ];

  test.each(refused)('%s', async (name, status, wait) => {
    upstream.set(faults[name]);
    const got = await ask('/company');
    expect([got.status, got.headers['retry-after']]).toEqual([status, wait]);
  });

  test('error bodies, and Retry-After as a date', async () => {
    upstream.set(faults['400-messages']);
    expect((await json('/company')).message).toHaveLength(2);
    upstream.set(faults['503-html']);
    expect(String((await ask('/company')).body)).toContain('<html>');
    upstream.set(faults['429-date-in-an-hour']);
    const wait = Date.parse(String((await ask('/company')).headers['retry-after']));
    expect(wait).toBeGreaterThan(Date.now());
  });

  test('redirects to another host, which records whether the key was sent', async () => {
    upstream.set(faults['307-other-host']);
    const { headers } = await ask('/company?size=5');
    expect(new URL(String(headers.location)).hostname).toBe('localhost');
    await fetch(`${upstream.url}/public-api/company`, { headers: { 'api-key': 'secret' } });
    expect(upstream.elsewhere.requests[0]?.path).toContain('/public-api/company');
    expect(upstream.elsewhere.sawKey()).toBe(true);
  });

  test('redirects to the same host end, unless they loop', async () => {
    upstream.set(faults['301-same-host']);
    const back = await fetch(`${upstream.url}/public-api/company`);
    expect(await back.json()).toHaveProperty('total', 45);
    upstream.set(faults['redirect-loop']);
    await expect(fetch(`${upstream.url}/public-api/company`)).rejects.toThrow();
  });
});

describe('connections', () => {
  const broken: Array<[FaultName, string[]]> = [
    ['reset', ['ECONNRESET']],
    ['reset-in-headers', ['ECONNRESET']],
    ['reset-in-body', ['ECONNRESET']],
    ['close', ['ECONNRESET']],
    ['close-in-headers', ['HPE_INVALID_EOF_STATE', 'ECONNRESET']],
    ['close-in-body', ['ECONNRESET']],
    ['close-in-chunks', ['ECONNRESET']],
  ];

  test.each(broken)('%s', async (name, codes) => {
    upstream.set(faults[name]);
    expect(codes).toContain(await failure('/company'));
    expect(upstream.requests[0]).toMatchObject({ outcome: 'cut', aborted: false });
  });

  test.each<FaultName>([
    'never-answers',
    'stops-in-headers',
    'stops-in-body',
    'endless-headers',
    'endless-body',
  ])('%s until the client leaves', async (name) => {
    upstream.set(faults[name]);
    const leave = new AbortController();
    const failed = failure('/company', { signal: leave.signal });
    await expect.poll(() => upstream.requests.length, soon).toBe(1);
    leave.abort();
    expect(['ABORT_ERR', 'ECONNRESET']).toContain(await failed);
    await expect.poll(() => upstream.requests[0]?.aborted, soon).toBe(true);
    await expect.poll(() => upstream.openSockets(), soon).toBe(0);
  });

  test.each<FaultName>(['delay-headers', 'delay-body', 'slow-headers', 'slow-body'])(
    '%s, and completes',
    async (name) => {
      upstream.set(faults[name]);
      expect((await json('/company')).total).toBe(45);
      await expect.poll(() => upstream.requests[0]?.outcome, soon).toBe('answered');
    },
  );

  test('counts open sockets', async () => {
    upstream.set(faults['never-answers']);
    const leave = new AbortController();
    const both = [1, 2].map(() => failure('/company', { signal: leave.signal }));
    await expect.poll(() => upstream.openSockets(), soon).toBe(2);
    leave.abort();
    expect(await Promise.all(both)).toEqual(['ABORT_ERR', 'ABORT_ERR']);
    await expect.poll(() => upstream.openSockets(), soon).toBe(0);
  });
});

const bodyOf = async (behaviour: Behaviour) => {
  upstream.reset();
  upstream.set(behaviour);
  return (await ask('/company?size=100')).body;
};

describe('bodies', () => {
  const texts: Array<[FaultName, string]> = [
    ['empty-body', ''],
    ['other-object', '{"foo":[]}'],
    ['json-null', 'null'],
    ['json-text', '"text"'],
    ['json-number', '42'],
    ['results-null', '{"results":null,"total":45}'],
  ];

  test.each(texts)('%s', async (name, text) => {
    expect(String(await bodyOf(faults[name]))).toBe(text);
  });

  test('truncated text matches its content length', async () => {
    upstream.set(faults.truncated);
    const { headers, body } = await ask('/company');
    expect(Number(headers['content-length'])).toBe(body.length);
    expect(() => JSON.parse(String(body))).toThrow(SyntaxError);
  });

  test('envelopes', async () => {
    for (const name of ['results', 'data', 'items'] as const) {
      const body = JSON.parse(String(await bodyOf(faults[`envelope-${name}`])));
      expect(body).toEqual({ [name]: companies(), total: 45 });
    }
    expect(JSON.parse(String(await bodyOf(faults['envelope-array'])))).toEqual(companies());
  });

  test('byte order mark, content type, foreign bytes and doubled keys', async () => {
    expect([...(await bodyOf(faults.bom)).subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    upstream.set(faults['wrong-content-type']);
    expect((await ask('/company')).headers['content-type']).toBe('text/plain');
    const invalid = await bodyOf(faults['invalid-utf8']);
    expect(() => new TextDecoder('utf-8', { fatal: true }).decode(invalid)).toThrow(TypeError);
    const doubled = String(await bodyOf(faults['duplicated-keys']));
    expect(doubled).toMatch(/^\{"results":null,"results":\[\{"id":null,"id":"/);
    expect(JSON.parse(doubled).results).toEqual(companies());
  });

  test('chunks that end inside of characters', async () => {
    upstream.set(faults['odd-chunks']);
    const { headers, chunks, body } = await ask('/company?size=100');
    expect(headers['transfer-encoding']).toBe('chunked');
    expect(chunks.some((chunk) => ((chunk[0] ?? 0) & 0xc0) === 0x80)).toBe(true);
    expect(JSON.parse(String(body)).results).toEqual(companies());
  });
});

describe('sizes and encodings', () => {
  const decoders = { gzip: gunzipSync, deflate: inflateSync, br: brotliDecompressSync };

  test('encodings on request, or unasked', async () => {
    for (const name of ['gzip', 'deflate', 'br'] as const) {
      upstream.set(faults[name]);
      expect((await ask('/company')).headers['content-encoding']).toBeUndefined();
      const got = await ask('/company', { headers: { 'accept-encoding': `gzip;q=1, ${name}` } });
      expect(got.headers['content-encoding']).toBe(name);
      expect(JSON.parse(String(decoders[name](got.body))).total).toBe(45);
    }
    expect(JSON.parse(String(gunzipSync(await bodyOf(faults['unasked-gzip'])))).total).toBe(45);
    expect(JSON.parse(String(await bodyOf(faults['false-gzip']))).total).toBe(45);
  });

  test('a small gzip that unpacks to a gibibyte', async () => {
    const bomb = await bodyOf(faults['gzip-bomb']);
    expect(bomb.length).toBeLessThan(2 ** 21);
    expect(bomb.readUInt32LE(bomb.length - 4)).toBe(2 ** 30);
    const zeros = gunzipSync(await bodyOf({ bombMiB: 8 }));
    expect(zeros.equals(Buffer.alloc(8 * 2 ** 20))).toBe(true);
  });

  test('huge and deep', async () => {
    expect((await bodyOf(faults.huge)).length).toBeGreaterThan(40 * 2 ** 20);
    const body = String(await bodyOf({ depth: 1000 }));
    expect(body).toContain(`"note":${'['.repeat(1000)}]`);
    expect(JSON.parse(body).total).toBe(45);
  });
});

describe('pages', () => {
  const page = async (behaviour: Behaviour, query: string) => {
    upstream.reset();
    upstream.set(behaviour);
    const { results, total } = await json(`/company?${query}`);
    return { ids: idsOf(results), total };
  };
  const ids = (from: number, to: number) => idsOf(companies().slice(from, to));

  const cases: Array<[string, Behaviour, string, [number, number]]> = [
    ['clamped size', { maxSize: 10 }, 'size=30&from=5', [5, 15]],
    ['ignored size', { fixedSize: 7 }, 'size=30&from=5', [5, 12]],
    ['ignored from', { ignoreFrom: true }, 'size=5&from=5', [0, 5]],
    ['everything', { everything: true }, 'size=5&from=5', [0, 45]],
    ['renamed offset', { offset: { name: 'skip' } }, 'size=5&from=9&skip=20', [20, 25]],
    ['offset in pages', { offset: { unit: 'page' } }, 'size=5&from=2', [10, 15]],
    ['offset from one', { offset: { base: 1 } }, 'size=5&from=6', [5, 10]],
    ['short read', { shortReads: 'half' }, 'size=10&from=10', [10, 15]],
    ['nothing beyond the end', {}, 'size=10&from=50', [45, 45]],
    ['last page again', { beyondEnd: 'last page' }, 'size=10&from=50', [40, 45]],
  ];

  test.each(cases)('%s', async (_, behaviour, query, [from, to]) => {
    expect(await page(behaviour, query)).toEqual({ ids: ids(from, to), total: 45 });
  });

  test('refused beyond the end', async () => {
    upstream.set(faults['end-refused']);
    expect(await statuses('/company?from=44', '/company?from=45')).toEqual([200, 400]);
  });

  test('hidden records leave holes', async () => {
    for (const counted of [true, false]) {
      const behaviour = { hidden: { oneIn: 4, counted } };
      const seen = idsOf(visible(companies(), behaviour));
      expect(seen.length).toBeLessThan(45);
      const whole = await page(behaviour, 'size=45');
      expect(whole).toEqual({ ids: seen, total: counted ? 45 : seen.length });
      const second = (await page(behaviour, 'size=10&from=10')).ids;
      expect(second).toEqual(ids(10, 20).filter((id) => seen.includes(id)));
    }
  });

  test('random short reads and unstable order', async () => {
    const { length } = (await page({ shortReads: 'random' }, 'size=40')).ids;
    expect(length).toBeLessThan(40);
    const shuffled = (await page({ unstableOrder: true }, 'size=45')).ids;
    expect(shuffled).not.toEqual(ids(0, 45));
    expect(new Set(shuffled)).toEqual(new Set(ids(0, 45)));
    const sort = 'size=45&sort=externalIdentifier';
    const steady = await page({}, sort);
    expect(await page({ unstableOrder: true }, sort)).toEqual(steady);
    expect(await page({ unstableOrder: true, ignoreSort: true }, sort)).not.toEqual(steady);
  });

  test('totals', async () => {
    expect((await page({ total: 'string' }, '')).total).toBe('45');
    expect((await page({ total: 'absent' }, '')).total).toBeUndefined();
    expect((await page({ total: { off: -5 } }, '')).total).toBe(40);
    expect((await page({ total: { is: null } }, '')).total).toBeNull();
    upstream.reset();
    upstream.set({ total: { moves: 3 } });
    const totals = [await json('/company'), await json('/company'), await json('/company')];
    expect(totals.map(({ total }) => total)).toEqual([48, 42, 45]);
  });
});

describe('records that change', () => {
  const moves: Array<[FaultName, number, number]> = [
    ['inserted-at-front', 48, -1],
    ['deleted-at-front', 42, 1],
    ['updated-to-front', 45, -1],
    ['deleted-and-inserted', 45, 1],
  ];

  test.each(moves)('%s', async (name, total, shift) => {
    const before = companies().slice();
    upstream.set(faults[name]);
    const first = await json('/company?size=10');
    const second = await json('/company?size=10&from=10');
    expect(first.results).toEqual(before.slice(0, 10));
    expect(second.results).toEqual(before.slice(10 + shift, 20 + shift));
    for (const _ of [3, 4, 5]) await json('/company');
    expect(companies()).toHaveLength(total);
  });

  test('a hook may delay a request', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    upstream.set({ onRequest: only(() => released, { first: 1 }) });
    const first = json('/company');
    await expect.poll(() => upstream.requests.length, soon).toBe(1);
    await json('/company');
    expect(upstream.requests.map(({ outcome }) => outcome)).toEqual(['open', 'answered']);
    release();
    expect((await first).total).toBe(45);
  });
});

describe('rates', () => {
  const rate = { limit: 2, windowMs: 60_000 };
  const statusAndRemaining = ({ status, headers }: Got) => [
    status,
    headers['x-ratelimit-remaining'],
  ];

  test('a window that rolls, and counts violations', async () => {
    let now = 1_000_000;
    const timed = await startUpstream({ rate, now: () => now });
    const { url } = timed;
    const status = async () => (await fetch(`${url}/public-api/company`)).status;
    expect([await status(), await status(), await status()]).toEqual([200, 200, 429]);
    now += 60_000;
    timed.budget.spend(1);
    expect([await status(), await status()]).toEqual([200, 429]);
    expect(timed.budget.violations).toBe(2);
    await timed.close();
  });

  test('headers are right, wrong or missing', async () => {
    upstream.set({ rate });
    expect(statusAndRemaining(await ask('/company'))).toEqual([200, '1']);
    upstream.set({ rateHeaders: { remaining: 77 } });
    expect(statusAndRemaining(await ask('/company'))).toEqual([200, '77']);
    upstream.set({ rateHeaders: 'absent' });
    const third = await ask('/company');
    expect(statusAndRemaining(third)).toEqual([429, undefined]);
    expect(Number(third.headers['retry-after'])).toBeGreaterThan(50);
    upstream.set({ rate: { ...rate, enforce: false } });
    expect((await ask('/company')).status).toBe(200);
    expect(upstream.budget.violations).toBe(2);
  });

  test('header names in other case', async () => {
    upstream.set({ ...faults['rate-headers-upper-case'] });
    expect((await ask('/company')).names).toContain('X-RATELIMIT-REMAINING');
    upstream.set({ ...faults['rate-headers-title-case'] });
    expect((await ask('/company')).names).toContain('X-Ratelimit-Remaining');
  });
});

describe('writes', () => {
  const headers = { 'content-type': 'application/json' };
  const options = { method: 'PUT', headers };
  const put = (body: unknown, more: RequestOptions = {}) =>
    ask('/opportunity/ext/opp-3', { ...options, ...more }, JSON.stringify(body));
  const third = () =>
    upstream.records['/opportunity'].find((row) => row.externalIdentifier === 'opp-3');

  test('creates, updates and merges', async () => {
    const before = { ...third() };
    await put({ name: 'A', companyId: 'c1', customFields: { a: 1 } });
    const { status } = await put({ name: 'B', customFields: { b: 2 } });
    expect(status).toBe(200);
    expect(third()).toMatchObject({
      name: 'B',
      id: before.id,
      description: before.description,
      company: { id: 'c1' },
      customFields: { a: 1, b: 2 },
    });
    await ask('/opportunity/ext/new%2Fone', options, '{"name":"New"}');
    expect(upstream.records['/opportunity'].at(-1)).toMatchObject({
      externalIdentifier: 'new/one',
    });
    upstream.set({ omitted: 'cleared' });
    await put({ name: 'C' });
    expect(third()?.description).toBeUndefined();
  });

  test('refuses what is unknown', async () => {
    const got = await put({ title: 'A' });
    expect(got.status).toBe(400);
    expect(JSON.parse(String(got.body)).message).toEqual([
      'property title should not exist',
      'name must be a string',
    ]);
  });

  test.each<WriteFaultName>(writeFaultNames)('%s', async (name) => {
    const { applied, expect: expected } = writeFaults[name];
    upstream.set(writeFaults[name]);
    const leave = new AbortController();
    const sent = put({ name: `Named by ${name}` }, { signal: leave.signal }).then(
      (got) => got.status,
      () => 'failed',
    );
    await expect.poll(() => upstream.requests[0]?.applied, soon).toBe(applied);
    if (name.startsWith('hang')) leave.abort();
    const status = await sent;
    expect(third()?.name === `Named by ${name}`).toBe(applied);
    expect(upstream.requests[0]?.applied).toBe(applied);
    if (expected === 'ok') expect(status).toBe(200);
    if (expected === 'error') expect(status).not.toBe(200);
  });
});

const answeredSoon = (name: FaultName): boolean =>
  !faults[name].kinds?.some((kind) => kind === 'timed out' || kind === 'too large');

test.each(faultNames.filter(answeredSoon))('%s can be set for every route', async (name) => {
  upstream.set(faults[name]);
  const routes = resourcePaths.map((path) => fetch(`${upstream.url}/public-api${path}`));
  await Promise.allSettled(routes.map(async (sent) => (await sent).text()));
  const routesSeen = new Set(upstream.requests.map(({ route }) => route));
  expect(routesSeen).toEqual(new Set(resourcePaths));
  await expect
    .poll(() => upstream.requests.every(({ outcome }) => outcome !== 'open'), soon)
    .toBe(true);
});
