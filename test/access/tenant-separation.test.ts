import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CollectionCache } from '../../src/reading/cache.ts';
import { localState } from '../../src/state/files/local.ts';
import type { Tenant } from '../../src/tenant/tenant.ts';
import { openTenant } from '../support/hardening-tenant.ts';
import { quickOrAll } from '../support/sampling.ts';
import { newFolder } from '../support/shared.ts';
import { startTaggedService, type TaggedService, taggedCount } from '../support/tagged-service.ts';
import { serve } from '../support/tenant-server.ts';
import { random } from '../support/upstream/random.ts';

/**
 * Four tenants in one process, with two addresses and two keys, that share state and cache and are called at the
 * same time. Every record names its tenant.
 */

const calls = quickOrAll(600, 4_000);
const inFlight = 32;
const chance = random(7);

interface Party {
  /** Part of every id and name of this tenant's records, and of no other's. */
  tag: string;
  tenant: Tenant;
  client: Client;
}

let folder: string;
let homes: TaggedService[];
let parties: Party[];
const errors: unknown[] = [];

const keys = ['one0key0of0isolation', 'another0key0of0isolation'];

const tagOf = (home: string, key: number): string => `${home}${'XY'.charAt(key)}tag`;

/** Answers after some turns of the event loop, or some milliseconds. */
function later(answer: () => void): void {
  if (chance.below(3) === 0) setTimeout(answer, chance.below(6));
  else setImmediate(answer);
}

const startHome = (name: string): Promise<TaggedService> =>
  startTaggedService((key) => tagOf(name, keys.indexOf(key)), later);

beforeAll(async () => {
  folder = newFolder();
  homes = [await startHome('north'), await startHome('south')];
  const shared = { state: localState(join(folder, 'state')), cache: new CollectionCache(1) };
  // Collections expire so soon that first reads, refreshes and cached answers all happen during the test.
  const rest = {
    freshMs: 10,
    requestLimit: 10_000_000,
  };
  parties = [];
  for (const [home, { url }] of homes.entries()) {
    for (const [at, key] of keys.entries()) {
      const tenant = openTenant({ url, key, ...shared, ...rest });
      const log = { failed: (_: string, error: unknown) => errors.push(error) };
      const client = await serve(tenant, { log }).connect({ era: 'legacy' });
      parties.push({ tag: tagOf(['north', 'south'][home] ?? '', at), tenant, client });
    }
  }
});

afterAll(async () => {
  for (const { client, tenant } of parties) {
    await client.close();
    await tenant.close();
  }
  for (const home of homes) await home.close();
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
    arguments: { resource: 'quote', id: `${tag}-quote-${chance.below(taggedCount)}` },
  }),
  (tag) => ({ name: 'cpq_find', arguments: { query: `${tag} company ${chance.below(20)}` } }),
  (tag) => ({
    name: 'cpq_brief_company',
    arguments: { company: `${tag}-company-${chance.below(taggedCount)}` },
  }),
  () => ({ name: 'cpq_brief_pipeline', arguments: {} }),
];

interface Crossings {
  foreign: string[];
  answered: number;
  silent: number;
}

/** One call of a tenant, sometimes cancelled; its answer must not contain another tenant's tag. */
async function callOnce({ tag, client, tenant }: Party, seen: Crossings): Promise<void> {
  const ask = asks[chance.below(asks.length)] as Ask;
  const stop = new AbortController();
  if (chance.below(20) === 0) setTimeout(() => stop.abort(), chance.below(6));
  if (chance.below(50) === 0) tenant.updates.invalidate('company');
  const result = await client.callTool(ask(tag), { signal: stop.signal }).catch(() => undefined);
  if (!result) return;
  const text = JSON.stringify(result);
  seen.answered += 1;
  if (!text.includes(tag)) seen.silent += 1;
  const foreign = parties.filter((party) => party.tag !== tag && text.includes(party.tag));
  seen.foreign.push(...foreign.map((party) => `${tag} was told of ${party.tag}: ${text}`));
}

test('no answer contains data of another tenant, with 32 calls of four tenants in flight', async () => {
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
  // Nearly all calls were answered, each with a tag.
  expect(seen.answered).toBeGreaterThan(calls * 0.9);
  expect(seen.silent).toBe(0);
});
