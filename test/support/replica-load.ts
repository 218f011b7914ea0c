import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { redisState } from '../../src/state/redis/redis.ts';
import { type Answer, everything, type Row } from './hosts.ts';
import { type Redis, startRedis } from './redis.ts';
import { type Caller, callerOf, type Replica, startReplicas } from './replicas.ts';
import { closing } from './shared.ts';
import { until } from './until.ts';
import type { Upstream } from './upstream/behaviour.ts';
import { startUpstream } from './upstream/upstream.ts';
import { deliver, everyEvent, webhookSecret, webhooksAt } from './webhooks.ts';

export interface Scene {
  upstream: Upstream;
  redis: Redis;
  replicas: Replica[];
}

/** Replicas that receive webhooks, and write with tokens of previews. */
export async function replicasAtWork(count: number): Promise<Scene> {
  const upstream = closing(await startUpstream({ counts: { '/opportunity': 30 } }));
  const redis = await startRedis();
  const address = { baseUrl: upstream.url, key: 'replicas0key0replicas0key' };
  const env = {
    CPQ_WEBHOOK_SECRET: webhookSecret,
    CPQ_WRITES_PER_HOUR: '100000',
    CPQ_CONSENT: 'token',
  };
  const settings = { ...everything, redis: redis.url, env };
  return { upstream, redis, replicas: await startReplicas(count, address, settings) };
}

/** Concurrent calls and webhooks, until stopped. */
export interface Load {
  /** Reading calls that were answered. */
  reads: number;
  /** Names that were written. */
  written: string[];
  /** Error texts of refused writes and of failed reads. */
  refusals: { write: string[]; read: string[] };
  /** Record ids of the events that were answered with 200. */
  events: Set<string>;
  /** Deliveries that were answered with 503. */
  refusedEvents: number;
  /** How often a connection broke off. */
  broken(): number;
  /** Waits for everything under way, then stops. */
  stop(): Promise<void>;
}

export async function loadOn(replicas: readonly Replica[]): Promise<Load> {
  const callers = await Promise.all(Array.from({ length: 7 }, (_, at) => callerOf(replicas, at)));
  const [one, other, third, fourth, ...readers] = callers as [Caller, Caller, Caller, Caller];
  let isOver = false;
  let brokenDeliveries = 0;
  const load: Load = {
    reads: 0,
    written: [],
    refusals: { write: [], read: [] },
    events: new Set(),
    refusedEvents: 0,
    broken: () => brokenDeliveries + callers.reduce((sum, { broken }) => sum + broken, 0),
    async stop() {
      isOver = true;
      await Promise.all(working);
    },
  };

  const read = async (caller: Caller) => {
    for (let turn = 0; !isOver; turn++) {
      const brief = turn % 3 === 0;
      const answer = brief
        ? await caller.ask('cpq_brief_pipeline')
        : await caller.ask('cpq_list_companies', { size: 3 });
      if (answer.isError) load.refusals.read.push(answer.text);
      else load.reads += 1;
    }
  };
  /** Two hosts request the same write at the same time. */
  const write = async (record: string, both: readonly Caller[]) => {
    for (let turn = 0; !isOver; turn++) {
      const args = { external_id: record, name: `${record} named ${turn}` };
      await Promise.all(both.map((caller) => carryOut(caller, args, load.refusals.write)));
      load.written.push(args.name);
    }
  };
  const send = async (sender: number) => {
    for (let turn = 0; !isOver; turn++) {
      const id = `q${sender}-${turn}`;
      await untilKept(replicas, id, (how) => {
        if (how === 'refused') load.refusedEvents += 1;
        else brokenDeliveries += 1;
      });
      load.events.add(id);
    }
  };
  const working = [
    ...readers.map(read),
    write('opp-3', [one, other]),
    write('opp-5', [third, fourth]),
    ...[1, 2, 3].map(send),
  ];
  // Rejects for those that wait for the load to continue.
  for (const it of working) it.catch(() => {});
  return load;
}

/** Requests the write and confirms its preview, until it is written. */
async function carryOut(caller: Caller, args: Row, refusals: string[]): Promise<void> {
  for (;;) {
    const preview = await caller.ask('cpq_upsert_opportunity', args);
    if (isThere(preview)) return;
    const { confirm } = preview.data;
    if (typeof confirm === 'string') {
      const answer = await caller.ask('cpq_upsert_opportunity', { ...args, confirm });
      if (isThere(answer)) return;
      refusals.push(answer.text);
    } else {
      refusals.push(preview.text);
    }
    await pause(50);
  }
}

const isThere = ({ data }: Answer): boolean =>
  data.outcome === 'written' || data.outcome === 'no_change';

/** Repeats deliveries until they are answered with 200, as the service does. */
async function untilKept(
  replicas: readonly Replica[],
  id: string,
  again: (how: 'refused' | 'broken') => void,
): Promise<void> {
  for (let at = 0; ; at++) {
    const { url = '' } = replicas[at % replicas.length] ?? {};
    const payload = { event: 'quote.updated', eventId: id, data: { id } };
    const sent = await deliver(webhooksAt(url, 'default'), payload).catch(() => undefined);
    if (sent?.status === 200) return;
    if (sent && (sent.status !== 503 || !sent.headers.has('retry-after'))) {
      throw new Error(`A delivery was answered with ${sent.status}`);
    }
    again(sent ? 'refused' : 'broken');
    await pause(20);
  }
}

export interface Counts {
  reads: number;
  written: number;
  events: number;
  refusedEvents: number;
  refusedWrites: number;
}

const countsOf = ({ reads, written, events, refusedEvents, refusals }: Load): Counts => ({
  ...{ reads, refusedEvents },
  ...{ written: written.length, events: events.size, refusedWrites: refusals.write.length },
});

/** What hangs: on a busy machine the load takes minutes, also because a write waits for the lock of a killed replica. */
const timeoutMs = 200_000;

/** Waits until the counts have grown by this much. */
export async function untilMore(load: Load, more: Partial<Counts>): Promise<void> {
  const before = countsOf(load);
  for (const [name, count] of Object.entries(more) as [keyof Counts, number][]) {
    await until(() => countsOf(load)[name], timeoutMs).toBeGreaterThanOrEqual(before[name] + count);
  }
}

/** Expects that every event that was answered with 200 is kept, once. */
export async function expectEventsKept({ events }: Load, caller: Caller): Promise<void> {
  const listed: unknown[] = (await everyEvent(caller)).map(({ id }) => id);
  const kept = new Set(listed);
  expect(kept.size).toBe(listed.length);
  expect([...events].filter((id) => !kept.has(id))).toEqual([]);
}

export const namesPut = ({ requests }: Upstream): string[] =>
  requests.filter(({ method }) => method === 'PUT').map(({ body }) => JSON.parse(body).name);

/**
 * Expects that each write was sent once, after its intent was recorded, and that the journal contains no other
 * write. @returns the number of changes with unknown outcome
 */
export async function expectWrittenOnce(
  { written }: Load,
  { upstream, redis }: Scene,
): Promise<number> {
  const put = namesPut(upstream);
  expect(put.toSorted()).toEqual(written.toSorted());
  const journal = await journalIn(redis);
  const announced = journal.filter(({ phase }) => phase === 'sending');
  const done = journal.filter(({ phase }) => phase === 'done');
  const nameOf = new Map(announced.map(({ id, name }) => [id, String(name)]));
  expect(put.filter((name) => ![...nameOf.values()].includes(name))).toEqual([]);
  const confirmed = done.filter(({ outcome }) => outcome === 'written').map(({ id }) => id);
  expect(confirmed.filter((id) => !put.includes(nameOf.get(id) ?? ''))).toEqual([]);
  expect(new Set(done.map(({ id }) => id)).size).toBe(done.length);
  return announced.length - done.length;
}

/** The journal in Redis, read without a replica. */
async function journalIn(redis: Redis): Promise<Row[]> {
  const [, tenant] = /cpq:\{(\w+)\}:journal/.exec(await redis.ask('KEYS', 'cpq:*:journal')) ?? [];
  if (tenant === undefined) return [];
  const state = await redisState({ url: redis.url, report: () => {} });
  const { entries, damaged } = await state.journal(tenant).read();
  await state.close();
  if (damaged > 0) throw new Error(`${damaged} entries of the journal are damaged`);
  return entries;
}
