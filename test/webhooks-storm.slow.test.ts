import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Connection, httpHosts } from './support/hosts.ts';
import { addressIn, startSandbox } from './support/sandbox.ts';
import { closing } from './support/shared.ts';
import { webhookSecret, webhooksAt } from './support/webhooks.ts';

const events = 20_000;
const inFlight = 64;
const start = Date.UTC(2026, 0, 1);
/** Two events share each moment, so that arrival decides between them. */
const timeOf = (number: number): number => start + Math.floor(number / 2) * 1_000;

interface Storm {
  bodies: string[];
  statuses: string[];
  /** Of each delivery, in milliseconds. */
  latencies: number[];
  /** Deliveries whose answer was lost with the connection, and which were sent again. */
  lost: number;
}

/** Everything at least once, a third of it more often, in no order. */
function deliveries(): string[] {
  const numbers = Array.from({ length: events }, (_, number) => number);
  const all = [
    ...numbers,
    ...numbers.filter((number) => number % 3 === 0),
    ...numbers.slice(0, 500),
  ];
  return shuffled(all).map((number) =>
    JSON.stringify({
      event: number % 2 ? 'opportunity.updated' : 'quote.updated',
      occurredAt: new Date(timeOf(number)).toISOString(),
      ...(number % 5 ? {} : { eventId: `e${number}` }),
      data: { id: `r${number % 700}`, name: `Record ${number}`, text: 'x'.repeat(number % 3_000) },
    }),
  );
}

/** The same disorder each time. */
function shuffled<T>(values: T[]): T[] {
  let state = 7;
  const next = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % below;
  };
  for (let at = values.length - 1; at > 0; at--) {
    const other = next(at + 1);
    [values[at], values[other]] = [values[other] as T, values[at] as T];
  }
  return values;
}

async function storm(urls: readonly string[]): Promise<Storm> {
  const agent = closing(new ClosingAgent({ keepAlive: true, maxSockets: inFlight }));
  const bodies = deliveries();
  const result: Storm = { bodies, statuses: [], latencies: [], lost: 0 };
  let at = 0;
  const work = async () => {
    while (at < bodies.length) {
      const body = bodies[at] ?? '';
      const url = urls[at++ % urls.length] ?? '';
      const before = performance.now();
      const answer = await post(agent, url, body).catch((error: NodeJS.ErrnoException) => {
        // An idle connection may end at the moment at which it is used again.
        if (error.code !== 'ECONNRESET') throw error;
        result.lost += 1;
        return post(agent, url, body);
      });
      result.latencies.push(performance.now() - before);
      result.statuses.push(answer);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  return result;
}

class ClosingAgent extends Agent {
  async close(): Promise<void> {
    this.destroy();
  }
}

function post(agent: Agent, url: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      'x-webhook-secret': webhookSecret,
      'content-length': Buffer.byteLength(body),
    };
    request(url, { agent, method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.once('end', () => resolve(`${response.statusCode} ${text}`));
    })
      .once('error', reject)
      .end(body);
  });
}

async function everyEvent({ call }: Connection): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  for (;;) {
    const { records, page } = await call('cpq_list_events', { size: 100, from: all.length });
    all.push(...records);
    if (page.next === undefined) return all;
  }
}

async function weather(servers: readonly Connection[], name: string): Promise<void> {
  const began = performance.now();
  const urls = servers.map(({ url = '' }) => webhooksAt(url, 'default'));
  const { statuses, latencies, lost } = await storm(urls);
  const seconds = (performance.now() - began) / 1_000;
  const at = (share: number) =>
    latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * share)];
  process.stderr.write(
    `${name}: ${statuses.length} deliveries in ${seconds.toFixed(1)} s, ${Math.round(statuses.length / seconds)} a second, median ${at(0.5)?.toFixed(1)} ms, 99 % ${at(0.99)?.toFixed(1)} ms\n`,
  );
  const kept = statuses.filter((status) => status === '200 {"status":"kept"}');
  const known = statuses.filter((status) => status === '200 {"status":"known"}');
  expect(kept.length + known.length).toBe(statuses.length);
  expect(kept.length).toBeLessThanOrEqual(events);
  expect(kept.length + lost).toBeGreaterThanOrEqual(events);

  const last = servers.at(-1);
  if (!last) throw new Error('no server');
  const listing = performance.now();
  const { page } = await last.call('cpq_list_events', { size: 20 });
  process.stderr.write(`${name}: listed in ${(performance.now() - listing).toFixed(0)} ms\n`);
  expect(page.total).toBe(events);
  const all = await everyEvent(last);
  expect(all).toHaveLength(events);
  const times = all.map(({ at }) => Date.parse(String(at)));
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  expect(new Set(times).size).toBe(events / 2);
}

async function serve(env: Record<string, string>): Promise<Connection> {
  const sandbox = await startSandbox({ scale: 0.1 });
  const [host] = httpHosts;
  if (!host) throw new Error('no host');
  return host.start(addressIn(sandbox), { env: { CPQ_WEBHOOK_SECRET: webhookSecret, ...env } });
}

describe('a storm of 20,000 events, with duplicates and in disorder, is kept once each', () => {
  test('by one process', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'cpq-mcp-storm-'));
    closing({ close: () => rm(folder, { recursive: true, force: true }) });
    await weather([await serve({ CPQ_STATE_DIR: folder })], 'one process');
  });
});
