import { readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import {
  Client,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, inject, test, vi } from 'vitest';
import { resources, routes } from '../../src/service/routes.ts';
import { openTenant } from '../support/hardening-tenant.ts';
import { startServer } from '../support/hosts.ts';
import { expectNoLeaks, leftOverResources, usedHeap } from '../support/leaks.ts';
import { listen } from '../support/local-server.ts';
import { describeWhere } from '../support/needs.ts';
import { closing, shared } from '../support/shared.ts';
import { serve } from '../support/tenant-server.ts';
import { soon } from '../support/until.ts';
import { random } from '../support/upstream/random.ts';
import { generateRecords, type ResourcePath } from '../support/upstream/records.ts';

/** After ten thousand calls a server has no more memory, sockets, files or timers than after the warm-up. */

const mebibyte = 2 ** 20;
const inFlight = 32;
const key = 'soak0key0soak0key0soak0key';
const chance = random(3);

function bodyOf(path: string): string {
  const results = generateRecords(path as ResourcePath, 40, 1, 'all');
  return JSON.stringify(path === '/category/tree' ? results : { results, total: results.length });
}

/** A fast service: its pages are serialized beforehand. One call in fifty fails. */
const service = shared(async () => {
  const bodies = new Map(resources.map((name) => [routes[name].path, bodyOf(routes[name].path)]));
  const sockets = new Set<Socket>();
  let requests = 0;
  const server = await listen(({ url = '', socket }, response) => {
    if (!sockets.has(socket)) socket.once('close', () => sockets.delete(socket));
    sockets.add(socket);
    requests += 1;
    const failing = requests % 50 === 0;
    response.statusCode = failing ? 503 : 200;
    response.setHeader('content-type', 'application/json');
    if (failing) response.setHeader('retry-after', '0');
    const path = new URL(url, 'http://x').pathname.replace('/public-api', '');
    response.end(failing ? '{"message":"busy"}' : (bodies.get(path) ?? '{"id":"a","name":"A"}'));
  });
  return { ...closing(server), sockets };
});

const before = leftOverResources();

const asks: readonly { name: string; arguments: Record<string, unknown> }[] = [
  ...['companies', 'opportunities', 'quotes', 'products', 'contacts'].map((what) => ({
    name: `cpq_list_${what}`,
    arguments: { size: 10 },
  })),
  { name: 'cpq_list_pricing_books', arguments: {} },
  { name: 'cpq_get_category_tree', arguments: {} },
  { name: 'cpq_get_record', arguments: { resource: 'company', id: 'a' } },
  { name: 'cpq_brief_pipeline', arguments: {} },
  { name: 'cpq_find', arguments: { query: 'Acme' } },
  { name: 'cpq_list_companies', arguments: { size: 'many' } },
];

/** Sends this number of calls, 32 at a time; one in two hundred is cancelled. */
async function callAll(client: Client, count: number): Promise<number> {
  let [left, answered] = [count, 0];
  const work = async () => {
    while (left > 0) {
      left -= 1;
      const ask = asks[chance.below(asks.length)] as (typeof asks)[number];
      const stop = new AbortController();
      if (left % 200 === 0) setTimeout(() => stop.abort(), 2);
      const result = await client.callTool(ask, { signal: stop.signal }).catch(() => undefined);
      if (result) answered += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  return answered;
}

interface Footprint {
  /** Resident memory in bytes. */
  memory: number;
  /** Open files, including sockets; known on Linux only. */
  files: number;
}

function footprintOf(pid: number): Footprint {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const [, kibibytes] = /VmRSS:\s+(\d+) kB/.exec(status) ?? [];
  return { memory: Number(kibibytes) * 1024, files: readdirSync(`/proc/${pid}/fd`).length };
}

/** The minimum of several measurements, because idle connections are closed at any time. */
async function settled(pid: number): Promise<Footprint> {
  const seen: Footprint[] = [];
  for (let at = 0; at < 10; at++) {
    seen.push(footprintOf(pid));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const least = (of: (one: Footprint) => number) => Math.min(...seen.map(of));
  return { memory: least(({ memory }) => memory), files: least(({ files }) => files) };
}

const environment = {
  CPQ_RATE_LIMIT: '1000000',
  // A small heap, so that garbage is collected often and a leak shows.
  NODE_OPTIONS: '--max-old-space-size=160',
};

function report(what: string, calls: number, before: Footprint, after: Footprint): void {
  const shown = ({ memory, files }: Footprint) =>
    `${Math.round(memory / mebibyte)} MiB, ${files} files`;
  process.stderr.write(`${what}: ${calls} calls: ${shown(before)} → ${shown(after)}\n`);
}

/** A new client for each thousand calls, so that the clients' memory does not matter. */
async function callInTurns(connect: () => Promise<Client>, calls: number): Promise<number> {
  let answered = 0;
  for (let left = calls; left > 0; left -= 1_000) {
    const client = await connect();
    answered += await callAll(client, Math.min(left, 1_000));
    await client.close();
  }
  return answered;
}

async function soak(
  what: string,
  pid: number,
  calls: number,
  callSome: (count: number) => Promise<number>,
): Promise<void> {
  await callSome(calls * 0.4);
  const before = await settled(pid);
  const answered = await callSome(calls);
  const after = await settled(pid);
  report(what, calls, before, after);
  expect(answered).toBeGreaterThan(calls * 0.98);
  expect(after.memory - before.memory).toBeLessThan(14 * mebibyte);
  // Both sides keep some idle connections, but not one for each call.
  expect(after.files - before.files).toBeLessThan(2 * inFlight);
}

describeWhere(process.platform === 'linux', 'Linux', 'a server in a process of its own', () => {
  test('over HTTP, 12,500 calls', async () => {
    const { url: baseUrl, sockets } = await service();
    const { running, url } = await startServer({ at: { baseUrl, key }, env: environment });
    const connect = async () => {
      const client = new Client({ name: 'soak', version: '1' });
      await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Transport);
      return client;
    };
    await soak('HTTP', running.pid, 12_500, (count) => callInTurns(connect, count));
    await running.stop();
    await vi.waitFor(() => expect(sockets.size).toBe(0), soon);
  }, 900_000);

  test('over stdio, 10,000 calls', async () => {
    const { url: baseUrl, sockets } = await service();
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [inject('bundle'), 'stdio'],
      env: { ...environment, CPQ_BASE_URL: baseUrl, CPQ_API_KEY: key },
      stderr: 'inherit',
    });
    const client = new Client({ name: 'soak', version: '1' });
    await client.connect(transport);
    await soak('stdio', transport.pid ?? 0, 10_000, (count) => callAll(client, count));
    await client.close();
    await vi.waitFor(() => expect(sockets.size).toBe(0), soon);
  }, 900_000);
});

/** `many-tenants.slow.test.ts` has tenants that are opened and closed. */
test('in one process 10,000 calls leak nothing', async () => {
  const { url: baseUrl, sockets } = await service();
  const tenant = openTenant({ url: baseUrl, key, requestLimit: 10_000_000, freshMs: 200 });
  const client = await serve(tenant).connect({ era: 'legacy' });
  await callAll(client, 4_000);
  const warm = await usedHeap();
  await callAll(client, 10_000);
  const grown = (await usedHeap()) - warm;
  process.stderr.write(`in process: 10000 calls: heap ${Math.round(grown / 1024)} KiB more\n`);
  expect(grown).toBeLessThan(4 * mebibyte);
  await client.close();
  await tenant.close();
  await expectNoLeaks(before);
  expect(sockets.size).toBe(0);
}, 600_000);
