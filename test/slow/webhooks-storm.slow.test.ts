import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Answer, httpHosts } from '../support/hosts.ts';
import { describeWith } from '../support/needs.ts';
import { startRedis } from '../support/redis.ts';
import { type Caller, callerOf, type Replica, startReplicas } from '../support/replicas.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { closing, newFolder } from '../support/shared.ts';
import { webhookSecret, webhooksAt } from '../support/webhooks.ts';

const events = 4_000;
const inFlight = 64;
const start = Date.UTC(2026, 0, 1);
/** Each time is that of two events, whose order is then that of arrival. */
const timeOf = (number: number): number => start + Math.floor(number / 2) * 1_000;

interface Delivery {
  number: number;
  body: string;
}

interface Storm {
  /** Number of deliveries of each event that were answered as kept. */
  kept: number[];
  known: number[];
  /** Milliseconds of each delivery until it was answered with 200. */
  latencies: number[];
  /** Deliveries that were repeated because they were not answered with 200. */
  again: { unanswered: number; refused: number };
}

/** Every event at least once, a third of them repeatedly, in random order. */
function deliveries(): Delivery[] {
  const numbers = Array.from({ length: events }, (_, number) => number);
  const all = [
    ...numbers,
    ...numbers.filter((number) => number % 3 === 0),
    ...numbers.slice(0, 500),
  ];
  return shuffled(all).map((number) => ({ number, body: JSON.stringify(payloadOf(number)) }));
}

const payloadOf = (number: number) => ({
  event: number % 2 ? 'opportunity.updated' : 'quote.updated',
  occurredAt: new Date(timeOf(number)).toISOString(),
  ...(number % 5 ? {} : { eventId: `e${number}` }),
  data: { id: `r${number % 700}`, name: `Record ${number}`, text: 'x'.repeat(number % 3_000) },
});

/** The same order for each run. */
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

/**
 * Sends as the service does: deliveries not answered with 200 are repeated, to any replica. Calls `answered` after
 * each delivery with the number of answers.
 */
async function storm(
  urls: readonly string[],
  answered: (count: number) => void = () => {},
): Promise<Storm> {
  const agent = closing(new ClosingAgent({ keepAlive: true, maxSockets: inFlight }));
  const none = () => Array<number>(events).fill(0);
  const result: Storm = {
    kept: none(),
    known: none(),
    latencies: [],
    again: { unanswered: 0, refused: 0 },
  };
  const left = deliveries();
  let turn = 0;
  const work = async () => {
    for (let one = left.pop(); one; one = left.pop()) {
      const before = performance.now();
      const next = () => urls[turn++ % urls.length] ?? '';
      const { status } = await untilAnswered(agent, next, one.body, result.again);
      result.latencies.push(performance.now() - before);
      const count = result[status];
      count[one.number] = (count[one.number] ?? 0) + 1;
      answered(result.latencies.length);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  return result;
}

async function untilAnswered(
  agent: Agent,
  next: () => string,
  body: string,
  again: Storm['again'],
): Promise<{ status: 'kept' | 'known' }> {
  for (;;) {
    const answer = await post(agent, next(), body).catch((error: NodeJS.ErrnoException) => {
      // The replica is down, or the connection ended before the answer.
      if (error.code !== 'ECONNRESET' && error.code !== 'ECONNREFUSED') throw error;
      return undefined;
    });
    if (answer?.code === 200) return JSON.parse(answer.text);
    if (answer) expect(answer.code).toBe(503);
    again[answer ? 'refused' : 'unanswered'] += 1;
    await pause(20);
  }
}

class ClosingAgent extends Agent {
  async close(): Promise<void> {
    this.destroy();
  }
}

function post(agent: Agent, url: string, body: string): Promise<{ code: number; text: string }> {
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
      response.once('end', () => resolve({ code: response.statusCode ?? 0, text }));
      response.once('error', reject);
    })
      .once('error', reject)
      .end(body);
  });
}

async function everyEvent({ call }: Pick<Caller, 'call'>): Promise<Answer['records']> {
  const all: Answer['records'] = [];
  for (;;) {
    const { records, page } = await call('cpq_list_events', { size: 100, from: all.length });
    all.push(...records);
    if (page.next === undefined) return all;
  }
}

function report(name: string, { latencies, again }: Storm, seconds: number): void {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)]?.toFixed(1);
  process.stderr.write(
    `${name}: ${sorted.length} deliveries in ${seconds.toFixed(1)} s, ${Math.round(sorted.length / seconds)} a second, median ${at(0.5)} ms, 99 % ${at(0.99)} ms; sent again: ${again.unanswered} unanswered, ${again.refused} refused\n`,
  );
}

async function weather(
  name: string,
  urls: readonly string[],
  listing: Pick<Caller, 'call'>,
  answered?: (count: number) => void,
): Promise<Storm> {
  const began = performance.now();
  const result = await storm(urls, answered);
  report(name, result, (performance.now() - began) / 1_000);
  const { kept, known, again } = result;
  const without = kept.filter((count) => count === 0);
  // No event was kept twice: a repeated delivery of a kept event is not new.
  expect(kept.filter((count) => count > 1)).toEqual([]);
  expect(known.filter((count, at) => count === 0 && kept[at] === 0)).toEqual([]);
  // Every event was reported as kept, except where the answer was lost.
  expect(without.length).toBeLessThanOrEqual(again.unanswered + again.refused);
  const all = await everyEvent(listing);
  expect(all).toHaveLength(events);
  const times = all.map(({ at }) => Date.parse(String(at)));
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  expect(new Set(times).size).toBe(events / 2);
  return result;
}

const env = { CPQ_WEBHOOK_SECRET: webhookSecret };

describe('4,000 events, duplicated and out of order, are stored once each', () => {
  test('by one process', async () => {
    const folder = newFolder();
    const [host] = httpHosts;
    if (!host) throw new Error('no host');
    const address = addressIn(await startSandbox({ scale: 0.1 }));
    const server = await host.start(address, { env: { ...env, CPQ_STATE_DIR: folder } });
    const { again } = await weather(
      'one process',
      [webhooksAt(server.url ?? '', 'default')],
      server,
    );
    expect(again.unanswered).toBe(0);
  });
});

describeWith('redis', 'the same events, stored once each', () => {
  test('by two replicas on one Redis that are killed and started again, one after the other', async () => {
    const redis = await startRedis();
    const address = addressIn(await startSandbox({ scale: 0.1 }));
    const replicas = await startReplicas(2, address, { redis: redis.url, env });
    const urls = replicas.map(({ url }) => webhooksAt(url, 'default'));
    const [one, other] = replicas as [Replica, Replica];
    // Killed while deliveries to them are under way.
    const turns = new Map([
      [1_000, () => one.kill()],
      [2_000, () => one.start()],
      [3_000, () => other.kill()],
      [4_000, () => other.start()],
    ]);
    let turning = Promise.resolve();
    const { again } = await weather('killed', urls, await callerOf(replicas), (count) => {
      turning = turning.then(turns.get(count));
    });
    await turning;
    expect(again.unanswered).toBeGreaterThan(0);
  });
});
