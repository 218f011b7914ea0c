import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Collection } from '../../src/reading/coverage.ts';
import type { Tenant } from '../../src/tenant/tenant.ts';
import {
  collections,
  defaultLimits,
  kindOf,
  nameOf,
  openTenant,
  toolCall,
  wordsOf,
} from '../support/hardening-tenant.ts';
import type { Row } from '../support/hosts.ts';
import { expectNoLeaks, leftOverResources } from '../support/leaks.ts';
import { quickOrAll, sample } from '../support/sampling.ts';
import { testKey } from '../support/sandbox.ts';
import { serve } from '../support/tenant-server.ts';
import { soon } from '../support/until.ts';
import { type Behaviour, limit, type Upstream } from '../support/upstream/behaviour.ts';
import { type FaultName, faultNames, faults, type Preset } from '../support/upstream/faults.ts';
import { searchRoutes, visible } from '../support/upstream/paging.ts';
import { type ResourcePath, resourcePaths } from '../support/upstream/records.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

/**
 * Every list route with every fault, twice: reading the whole collection, and by its list tool. The quick suite
 * tries an eighth of the routes with each fault.
 */

/** One upstream for each route, so that routes are tested concurrently. */
const upstreams = new Map<ResourcePath, { upstream: Upstream; records: readonly Row[] }>();

let before: string[];

beforeAll(async () => {
  before = leftOverResources();
  for (const [seed, path] of resourcePaths.entries()) {
    const upstream = await startUpstream({ counts: { [path]: 59 }, seed });
    upstreams.set(path, { upstream, records: [...upstream.records[path]] });
  }
});

afterAll(async () => {
  for (const { upstream } of upstreams.values()) await upstream.close();
});

/** Bodies near the size limit of the tests: one is larger and one is smaller. */
const smaller: Partial<Record<FaultName, Behaviour>> = {
  huge: { ...faults.huge, hugeMiB: 4 },
  'huge-in-chunks': { ...faults['huge-in-chunks'], hugeMiB: 4 },
};
const behaviourOf = (name: FaultName): Behaviour => smaller[name] ?? faults[name];

/** They change the first record of each page; a record without an id then looks like another one. */
const marking: readonly FaultName[] = ['large', 'invalid-utf8'];

const behaviourAt = (path: ResourcePath, name: FaultName): Behaviour =>
  path === '/contract/items' && marking.includes(name)
    ? { ...behaviourOf(name), everything: true }
    : behaviourOf(name);

/**
 * Generous limits where the fault is slow or large, because the machine may be busy; short ones where an answer
 * never ends.
 */
const limitsFor = ({ expect: expected, kinds = [] }: Preset) => ({
  ...defaultLimits,
  attemptMs: expected === 'error' && kinds.includes('timed out') ? 150 : 10_000,
});

/** A route's upstream with that behaviour and its first records. */
function upstreamFor(path: ResourcePath, behaviour: Behaviour): Upstream {
  const it = upstreams.get(path);
  if (!it) throw new Error(`no upstream for ${path}`);
  it.upstream.records[path].splice(0, Number.POSITIVE_INFINITY, ...it.records);
  it.upstream.reset();
  it.upstream.set(behaviour);
  return it.upstream;
}

/** Runs `work` with a tenant of its own, and expects that no socket and no request is left afterwards. */
async function against<T>(
  upstream: Upstream,
  preset: Preset,
  work: (tenant: Tenant) => Promise<T>,
): Promise<T> {
  const tenant = openTenant({ url: upstream.url, limits: limitsFor(preset) });
  try {
    const result = await work(tenant);
    // Requests that were cancelled are cancelled on the socket too.
    await vi.waitFor(() => expect(unanswered(upstream)).toEqual([]), soon);
    return result;
  } finally {
    await tenant.close();
    await vi.waitFor(() => expect(upstream.openSockets()).toBe(0), soon);
    expect(upstream.elsewhere.requests).toEqual([]);
  }
}

const unanswered = ({ requests }: Upstream) =>
  requests.filter(({ outcome }) => outcome === 'open').map(({ path, query }) => `${path}?${query}`);

/** The names of the records that could be read from the first request to the last. */
function stayed(path: ResourcePath, upstream: Upstream, preset: Preset): string[] {
  const now = new Set(upstream.records[path].map(nameOf));
  const before = upstreams.get(path)?.records ?? [];
  return visible(before, preset)
    .map(nameOf)
    .filter((name) => now.has(name));
}

type Outcome =
  | {
      read: string[];
      complete: boolean;
      reported: number;
      total: number;
      reason?: string | undefined;
    }
  | { failed: unknown };

async function readAll(tenant: Tenant, path: ResourcePath): Promise<Outcome> {
  try {
    const { resource } = collections[path];
    const { records, coverage }: Collection<Row> = await tenant.collection(resource, toolCall());
    const { complete, read, total, reason } = coverage;
    return { read: records.map(nameOf), complete, reported: read, total, reason };
  } catch (error) {
    return { failed: error };
  }
}

function expectReading(outcome: Outcome, wanted: readonly string[], upstream: Upstream): void {
  if ('failed' in outcome) throw outcome.failed;
  const { read, complete, reported, total, reason } = outcome;
  expect(new Set(read).size).toBe(read.length);
  expect(reported).toBe(read.length);
  if (complete) {
    expect(read.toSorted()).toEqual(expect.arrayContaining(wanted.toSorted()));
    expect(total).toBe(read.length);
    return;
  }
  expect(reason).toMatch(/^[a-z].{10,200}$/);
  expect(total).toBeGreaterThanOrEqual(read.length);
  expect(upstream.requests.length).toBeGreaterThan(0);
}

function expectFailure(outcome: Outcome, preset: Preset, upstream: Upstream): void {
  if (!('failed' in outcome)) throw new Error(`read ${outcome.read.length} of ${outcome.total}`);
  const kind = kindOf(outcome.failed);
  expect(preset.kinds).toContain(kind);
  const attempts = preset.transient === false ? 1 : 3;
  // A 500 may also be about the size: larger ones are tried once each.
  const larger = kind === 'unavailable' ? 2 : 0;
  expect(upstream.requests.length).toBeLessThanOrEqual(attempts * sizesTried(kind) + larger);
}

/** A refused page may only be too large: the client tries 100, 50 and 25 records, and no size at all. */
const sizesTried = (kind: ReturnType<typeof kindOf>): number => (kind === 'rejected' ? 4 : 1);

function expectRight(outcome: Outcome, path: ResourcePath, preset: Preset, upstream: Upstream) {
  const { expect: expected } = preset;
  const failed = 'failed' in outcome;
  if (expected === 'error' || (expected === 'ok-or-error' && failed)) {
    return expectFailure(outcome, preset, upstream);
  }
  expectReading(outcome, stayed(path, upstream, preset), upstream);
  if (expected !== 'ok-or-incomplete') expect(outcome).toMatchObject({ complete: true });
}

/** At most three attempts for each page and pass, and at most three passes. */
function expectFewAttempts({ requests }: Upstream): void {
  const failed = requests.filter(({ status, outcome }) => status !== 200 || outcome !== 'answered');
  const urls = failed.map(({ path, query }) => `${path}?${query}`);
  for (const url of urls) expect(urls.filter((other) => other === url).length).toBeLessThan(4);
}

interface Listed {
  text: string;
  isError: boolean;
  data: {
    records?: Row[];
    page?: { shown: number; total: number; next?: number };
    coverage?: { complete: boolean; read: number; total: number; reason?: string };
  };
}

async function list(tenant: Tenant, path: ResourcePath, errors: unknown[]): Promise<Listed> {
  const log = { failed: (_: string, error: unknown) => errors.push(error) };
  const client = await serve(tenant, { log }).connect({ era: 'legacy' });
  const result = await client.callTool({ name: collections[path].tool, arguments: {} });
  await client.close();
  const content = result.content as { text: string }[];
  const data = (result.structuredContent ?? {}) as Listed['data'];
  const text = content.map((part) => part.text).join('\n');
  return { text, isError: result.isError === true, data };
}

function expectListed(listed: Listed, path: ResourcePath, preset: Preset): void {
  const { text, isError, data } = listed;
  expect(text).not.toContain(testKey);
  expect(JSON.stringify(data)).not.toContain(testKey);
  if (isError) {
    const kindsInText = (preset.kinds ?? []).filter((kind) => wordsOf[kind].test(text));
    expect(kindsInText, text).not.toEqual([]);
    expect(text).not.toMatch(/<[a-z!]|\bat .*\.ts|undefined|\{"|Internal server error/);
    return;
  }
  expect(preset.expect).not.toBe('error');
  const { records = [], coverage } = data;
  const before = (upstreams.get(path)?.records ?? []).map(nameOf);
  expect(records.length, text).toBeGreaterThan(0);
  expect(coverage?.reason === undefined).toBe(coverage?.complete);
  if (path === '/category/tree') return;
  const shown = records.map(nameOf);
  expect(new Set(shown).size).toBe(shown.length);
  if (coverage?.complete) expect(coverage.total).toBeGreaterThanOrEqual(before.length * 0.6);
  if (preset.expect !== 'ok') return;
  expect(before).toEqual(expect.arrayContaining(shown));
  // Without a count, the total is at least the number of records shown.
  if (coverage?.reason !== 'not counted') expect(data.page?.total).toBe(before.length);
}

/** A list tool may fail only where reading the whole collection may. */
function mayFail({ expect: expected }: Preset): boolean {
  return expected === 'error' || expected === 'ok-or-error';
}

async function tryRoute(path: ResourcePath, name: FaultName): Promise<void> {
  const preset = faults[name];
  const reading = upstreamFor(path, behaviourAt(path, name));
  await against(reading, preset, async (tenant) => {
    expectRight(await readAll(tenant, path), path, preset, reading);
    expectFewAttempts(reading);
  });
  const listing = upstreamFor(path, behaviourAt(path, name));
  await against(listing, preset, async (tenant) => {
    const errors: unknown[] = [];
    const listed = await list(tenant, path, errors);
    if (!mayFail(preset)) expect(listed.text).not.toMatch(/^Something went wrong/);
    expectListed(listed, path, preset);
    expect(errors).toEqual([]);
    // Where pages do not fit together, a page is taken from the whole collection of 59 records, which may be read in
    // pages of any size. Others may take two requests for the page and its total, and three for companies.
    const maxRequests = mayFail(preset) ? 5 : 60;
    if (searchRoutes.has(path)) expect(listing.requests.length).toBeLessThanOrEqual(maxRequests);
  });
}

/** Each of these makes a call wait for seconds. */
const waiting: readonly FaultName[] = ['503-one-second', '429-date', '429-one-second'];
const tried = quickOrAll(
  faultNames.filter((name) => !waiting.includes(name)),
  faultNames,
);

/** Runs `work` for the routes, and reports every route that fails. */
async function onRoutes(
  name: FaultName,
  work: (path: ResourcePath) => Promise<void>,
): Promise<void> {
  const paths = sample(resourcePaths, 8, faultNames.indexOf(name));
  const results = await Promise.allSettled(paths.map(work));
  const wrong = results.flatMap((result, at) =>
    result.status === 'rejected' ? [`${paths[at]}: ${result.reason}`] : [],
  );
  expect(wrong).toEqual([]);
}

describe('every list route under', () => {
  test.each(tried)('%s', (name) => onRoutes(name, (path) => tryRoute(path, name)));
});

const retryable = tried.filter((name) => faults[name].transient === true);

describe('every list route is read whole when the third attempt succeeds:', () => {
  test.each(retryable)('%s', (name) =>
    onRoutes(name, async (path) => {
      const upstream = upstreamFor(path, limit(behaviourOf(name), { first: 2 }));
      await against(upstream, faults[name], async (tenant) => {
        const outcome = await readAll(tenant, path);
        expectReading(outcome, stayed(path, upstream, { expect: 'ok' }), upstream);
        expect(outcome).toMatchObject({ complete: true });
        const sizes = upstream.requests.map(({ query }) => query.get('size'));
        // After a 500 smaller sizes show whether the service fails because of the size.
        const expected = name === '500' ? ['100', '50', '25', '100'] : ['100', '100', '100'];
        expect(sizes.slice(0, expected.length)).toEqual(expected);
      });
    }),
  );
});

test('no sockets or timers are left open', async () => {
  await expectNoLeaks(before);
});
