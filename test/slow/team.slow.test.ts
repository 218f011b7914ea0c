import { writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { createToken, updateTokens } from '../../src/hosts/access/access-tokens.ts';
import { describeWith } from '../support/needs.ts';
import { startNginx } from '../support/nginx.ts';
import { type Running, start } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { closing, newFolder } from '../support/shared.ts';
import { startTaggedService, type TaggedService, taggedCount } from '../support/tagged-service.ts';
import { random } from '../support/upstream/random.ts';

/**
 * A team's server in operation: four processes behind a load balancer, one Redis, eight tenants with eight callers
 * each.
 */

const tenantNames = Array.from({ length: 8 }, (_, at) => `tenant${at}`);
const callersOfEach = 8;
const calls = 20_000;
const budget = 500;
const chance = random(11);

interface Caller {
  tag: string;
  token: string;
}

interface Team {
  url: string;
  services: ReadonlyMap<string, TaggedService>;
  callers: readonly Caller[];
  replicas: readonly Running[];
}

const tagOf = (name: string): string => `${name}tag`;

async function startTeam(count: number): Promise<Team> {
  const folder = newFolder();
  const redis = await startRedis();
  const services = new Map<string, TaggedService>();
  for (const name of tenantNames) {
    const service = closing(await startTaggedService(() => tagOf(name)));
    services.set(name, service);
  }
  const tenants = Object.fromEntries(
    [...services].map(([name, { url }]) => [name, { baseUrl: url, apiKey: `key0of0${name}` }]),
  );
  await writeFile(join(folder, 'tenants.json'), JSON.stringify({ tenants }));
  const callers = await makeCallers(join(folder, 'tokens.json'));
  const env = {
    CPQ_AUTH: 'token',
    CPQ_TENANTS_FILE: join(folder, 'tenants.json'),
    CPQ_TOKENS_FILE: join(folder, 'tokens.json'),
    CPQ_REDIS_URL: redis.url.href,
    CPQ_CALLS_PER_MINUTE: '1000000',
    CPQ_RATE_LIMIT: String(budget),
  };
  const replicas = await Promise.all(
    Array.from({ length: count }, () => start(['http', '--port', '0'], env)),
  );
  const urls = await Promise.all(
    replicas.map(async (replica) => (await replica.says(/http:\/\/[^\s"']+\/mcp\b/))[0]),
  );
  return { url: await startNginx(urls), services, callers, replicas };
}

async function makeCallers(path: string): Promise<Caller[]> {
  const made = tenantNames.flatMap((tenant) =>
    Array.from({ length: callersOfEach }, (_, at) => ({
      tag: tagOf(tenant),
      ...createToken({ name: `${tenant}-${at}`, tenant, grants: ['read'], days: 1 }),
    })),
  );
  await updateTokens(path, () => made.map(({ stored: kept }) => kept));
  return made;
}

type Ask = (tag: string) => { name: string; arguments: Record<string, unknown> };

/** Calls that are answered from cached collections, and some that are sent to the service. */
const fromMemory: readonly Ask[] = [
  () => ({ name: 'cpq_list_pricing_books', arguments: { size: 5 } }),
  () => ({ name: 'cpq_get_category_tree', arguments: {} }),
  () => ({ name: 'cpq_brief_pipeline', arguments: {} }),
  (tag) => ({ name: 'cpq_find', arguments: { query: `${tag} company ${chance.below(20)}` } }),
  (tag) => ({
    name: 'cpq_brief_company',
    arguments: { company: `${tag}-company-${chance.below(taggedCount)}` },
  }),
];
const anew: Ask = (tag) => ({
  name: 'cpq_get_record',
  arguments: { resource: 'quote', id: `${tag}-quote-${chance.below(taggedCount)}` },
});

const agent = new Agent({ keepAlive: true, maxSockets: 128 });
let nextId = 1;

interface Reply {
  status: number;
  body: string;
}

function ask(url: string, token: string, call: ReturnType<Ask>): Promise<Reply> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: nextId++, method: 'tools/call', params: call });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${token}`,
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.once('error', reject);
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString() }),
      );
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

interface Seen {
  crossings: string[];
  answered: number;
  /** Answers without any tenant's tag. */
  silent: number;
  refused: Map<string, number>;
}

function note(seen: Seen, tag: string, { status, body }: Reply): void {
  const tags = new Set(body.match(/tenant\dtag/g) ?? []);
  const foreign = [...tags].filter((one) => one !== tag);
  if (foreign.length > 0) seen.crossings.push(`${tag} was told of ${foreign}: ${body}`);
  if (status === 200 && !body.includes('"isError":true')) {
    seen.answered += 1;
    if (tags.size === 0) seen.silent += 1;
  } else {
    const what = `${status} ${body.slice(0, 160)}`;
    seen.refused.set(what, (seen.refused.get(what) ?? 0) + 1);
  }
}

async function callAll({ url, callers }: Team, count: number): Promise<Seen> {
  const seen: Seen = { crossings: [], answered: 0, silent: 0, refused: new Map() };
  let left = count;
  const work = async ({ tag, token }: Caller) => {
    while (left > 0) {
      left -= 1;
      const how = chance.below(200) === 0 ? anew : fromMemory[chance.below(fromMemory.length)];
      note(seen, tag, await ask(url, token, (how as Ask)(tag)));
    }
  };
  await Promise.all(callers.map(work));
  return seen;
}

describeWith('redis', 'a team’s server', () => {
  describeWith('nginx', 'of four processes behind a balancer', () => {
    let team: Team;
    let seen: Seen;

    beforeAll(async () => {
      team = await startTeam(4);
      seen = await callAll(team, calls);
    }, 280_000);

    test('nobody sees data of another tenant', () => {
      expect(seen.crossings).toEqual([]);
      expect(Object.fromEntries(seen.refused)).toEqual({});
      expect(seen.answered).toBe(calls);
      expect(seen.silent).toBe(0);
    });

    test('the rate budget of the service is not exceeded', () => {
      // The test took less than one window.
      for (const [name, { arrived }] of team.services) {
        expect([name, arrived.length <= budget]).toEqual([name, true]);
      }
    });

    test('a collection is read once for all of them', () => {
      for (const { arrived } of team.services.values()) {
        for (const path of ['/pricing-book', '/category/tree', '/opportunity', '/company']) {
          const begun = arrived.filter((one) => one.path === path && one.from === 0);
          const continued = arrived.filter((one) => one.path === path && one.from > 0);
          // Before it is read each process may ask how large it is.
          expect([path, begun.length <= 1 + team.replicas.length]).toEqual([path, true]);
          expect(continued).toHaveLength(new Set(continued.map(({ from }) => from)).size);
        }
      }
    });
  });
});
