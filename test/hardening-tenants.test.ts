import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Resource } from '../src/api/records.ts';
import { resources, routes } from '../src/api/routes.ts';
import { localState } from '../src/state/local.ts';
import { CollectionCache } from '../src/tenant/cache.ts';
import type { Tenant } from '../src/tenant/tenant.ts';
import { newFolder, openTenant, removeFolder, type Served, serve } from './hardening-tenant.ts';
import { random } from './support/upstream/random.ts';

/**
 * Four tenants in one process, by two addresses and two keys, which share what can be shared: state, cache,
 * and the moment. Every record says whose it is.
 */

const calls = 10_000;
const inFlight = 32;
const recordCount = 24;
const chance = random(7);

interface Home {
  url: string;
  server: Server;
}

interface Party {
  /** In every id and name of its records, and in those of nobody else. */
  tag: string;
  tenant: Tenant;
  served: Served;
}

let folder: string;
let homes: Home[];
let parties: Party[];
const errors: unknown[] = [];

const keys = ['one0key0of0isolation', 'another0key0of0isolation'];

/** Tells each key's records from each other's, and answers after some turns, or some time. */
async function startHome(name: string): Promise<Home> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://home');
    const tag = tagOf(name, keys.indexOf(String(request.headers['api-key'])));
    const answer = () => response.end(JSON.stringify(answerTo(url, tag)));
    response.setHeader('content-type', 'application/json');
    if (chance.below(3) === 0) setTimeout(answer, chance.below(6));
    else setImmediate(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

const tagOf = (home: string, key: number): string => `${home}${'XY'.charAt(key)}tag`;

function answerTo(url: URL, tag: string): unknown {
  const path = url.pathname.replace('/public-api', '');
  const resource = resources.findLast((name) => path.startsWith(routes[name].path));
  const all = recordsOf(resource ?? 'company', tag);
  const id = path.slice(routes[resource ?? 'company'].path.length + 1);
  if (id !== '' && resource !== 'category_tree') return all.find((record) => record.id === id);
  const [from, size] = ['from', 'size'].map((name) => Number(url.searchParams.get(name) ?? 0));
  const page = all.slice(from, (from ?? 0) + Math.min(size || 20, 10));
  return resource && routes[resource].shape === 'tree' ? all : { results: page, total: all.length };
}

const recordsOf = (resource: Resource, tag: string) =>
  Array.from({ length: recordCount }, (_, at) => ({
    id: `${tag}-${resource}-${at}`,
    name: `${tag} ${resource} ${at}`,
    title: `${tag} ${at}`,
    number: `${tag}-${at}`,
    status: 'sent',
    company: { id: `${tag}-company-${at}`, name: `${tag} company ${at}` },
    onetimeRevenue: at,
    items: [{ name: `${tag} item`, quantity: 1, price: at }],
    createdAt: '2025-01-01T00:00:00.000Z',
  }));

beforeAll(async () => {
  folder = await newFolder();
  homes = [await startHome('north'), await startHome('south')];
  const shared = { state: localState(join(folder, 'state')), cache: new CollectionCache(1) };
  // Held for so short that every kind of reading is under way all the time.
  const rest = {
    freshness: { freshMs: 10, staleMs: 60 },
    budget: { requests: 10_000_000, windowSeconds: 600 },
    limits: { attemptMs: 20_000 },
  };
  parties = [];
  for (const [home, { url }] of homes.entries()) {
    for (const [at, key] of keys.entries()) {
      const tenant = openTenant({ url, key, ...shared, ...rest });
      const served = await serve(tenant, (error) => errors.push(error));
      parties.push({ tag: tagOf(['north', 'south'][home] ?? '', at), tenant, served });
    }
  }
});

afterAll(async () => {
  for (const { served, tenant } of parties) {
    await served.close();
    await tenant.close();
  }
  for (const { server } of homes) {
    server.closeAllConnections();
    server.close();
  }
  await removeFolder(folder);
});

type Ask = (tag: string) => { name: string; arguments: Record<string, unknown> };

const lists = ['companies', 'opportunities', 'quotes', 'products', 'pricing_books', 'categories'];
const asks: Ask[] = [
  ...lists.map(
    (what): Ask =>
      () => ({ name: `cpq_list_${what}`, arguments: { size: 5 } }),
  ),
  () => ({ name: 'cpq_get_category_tree', arguments: {} }),
  (tag) => ({
    name: 'cpq_get_record',
    arguments: { resource: 'quote', id: `${tag}-quote-${chance.below(recordCount)}` },
  }),
  (tag) => ({ name: 'cpq_find', arguments: { text: `${tag} company ${chance.below(20)}` } }),
  (tag) => ({
    name: 'cpq_brief_company',
    arguments: { company: `${tag}-company-${chance.below(recordCount)}` },
  }),
  () => ({ name: 'cpq_brief_pipeline', arguments: {} }),
];

interface Crossings {
  foreign: string[];
  answered: number;
  silent: number;
}

/** One call of a tenant, now and then given up in the middle; what it tells is nobody else's. */
async function callOnce({ tag, served, tenant }: Party, seen: Crossings): Promise<void> {
  const ask = asks[chance.below(asks.length)] as Ask;
  const stop = new AbortController();
  if (chance.below(20) === 0) setTimeout(() => stop.abort(), chance.below(6));
  if (chance.below(50) === 0) tenant.changed('company');
  const result = await served.client
    .callTool(ask(tag), { signal: stop.signal })
    .catch(() => undefined);
  if (!result) return;
  const told = JSON.stringify(result);
  seen.answered += 1;
  if (!told.includes(tag)) seen.silent += 1;
  const foreign = parties.filter((party) => party.tag !== tag && told.includes(party.tag));
  seen.foreign.push(...foreign.map((party) => `${tag} was told of ${party.tag}: ${told}`));
}

test('10,000 calls of four tenants, 32 in flight: nobody sees anything of the others', async () => {
  const seen: Crossings = { foreign: [], answered: 0, silent: 0 };
  let left = calls;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      await callOnce(parties[chance.below(parties.length)] as Party, seen);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  expect(seen.foreign).toEqual([]);
  expect(errors).toEqual([]);
  // Nearly all were answered, with something that tells whose it is.
  expect(seen.answered).toBeGreaterThan(calls * 0.9);
  expect(seen.silent).toBe(0);
}, 120_000);
