import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { modernHttp, open } from '../support/hosts.ts';
import { describeWith } from '../support/needs.ts';
import { startRedis } from '../support/redis.ts';
import { type Caller, callerOf, type Replica, startReplicas } from '../support/replicas.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { newFolder } from '../support/shared.ts';
import { deliver, everyEvent, webhookSecret, webhooksAt } from '../support/webhooks.ts';

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
  const none = () => Array<number>(events).fill(0);
  const result: Storm = {
    kept: none(),
    known: none(),
    again: { unanswered: 0, refused: 0 },
  };
  const left = deliveries();
  let turn = 0;
  let count = 0;
  const work = async () => {
    for (let one = left.pop(); one; one = left.pop()) {
      const next = () => urls[turn++ % urls.length] ?? '';
      const numbers = result[await untilAnswered(next, one.body, result.again)];
      numbers[one.number] = (numbers[one.number] ?? 0) + 1;
      answered(++count);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  return result;
}

const brokenCodes = new Set<string | undefined>(['ECONNRESET', 'ECONNREFUSED', 'UND_ERR_SOCKET']);

async function untilAnswered(
  next: () => string,
  body: string,
  again: Storm['again'],
): Promise<'kept' | 'known'> {
  for (;;) {
    const answer = await deliver(next(), body).catch((error: Error) => {
      // The replica is down, or the connection ended before the answer.
      if (!brokenCodes.has((error.cause as NodeJS.ErrnoException | undefined)?.code)) throw error;
      return undefined;
    });
    if (answer?.status === 200) return answer.body.status as 'kept' | 'known';
    if (answer) expect(answer.status).toBe(503);
    again[answer ? 'refused' : 'unanswered'] += 1;
    await pause(20);
  }
}

async function weather(
  urls: readonly string[],
  listing: Pick<Caller, 'call'>,
  answered?: (count: number) => void,
): Promise<Storm> {
  const result = await storm(urls, answered);
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
    const address = addressIn(await startSandbox({ scale: 0.1 }));
    const server = await open({ at: address, on: modernHttp, env, folder });
    const { again } = await weather([webhooksAt(server.url ?? '', 'default')], server);
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
    const { again } = await weather(urls, await callerOf(replicas), (count) => {
      turning = turning.then(turns.get(count));
    });
    await turning;
    expect(again.unanswered).toBeGreaterThan(0);
  });
});
