import { expect, test } from 'vitest';
import type { Answer } from '../support/hosts.ts';
import { describeWith } from '../support/needs.ts';
import { type Redis, startRedis } from '../support/redis.ts';
import {
  type Caller,
  callerOf,
  type Replica,
  replicasSay,
  startReplicas,
} from '../support/replicas.ts';
import { closing } from '../support/shared.ts';
import { until } from '../support/until.ts';
import type { Behaviour, Upstream } from '../support/upstream/behaviour.ts';
import { type Start, startUpstream } from '../support/upstream/upstream.ts';
import { deliver, webhookSecret, webhooksAt } from '../support/webhooks.ts';

/** Replicas that share one rate budget, counted where the service receives the requests. */

const limit = 60;
const windowMs = 600_000;

interface Scene {
  upstream: Upstream;
  redis: Redis;
  replicas: Replica[];
}

async function scene(
  count: number,
  behaviour: Behaviour & Start,
  env: Record<string, string>,
): Promise<Scene> {
  const upstream = closing(await startUpstream(behaviour));
  const redis = await startRedis();
  const address = { baseUrl: upstream.url, key: 'replicas0key0replicas0key' };
  return {
    upstream,
    redis,
    replicas: await startReplicas(count, address, { redis: redis.url, env }),
  };
}

/** The most requests that arrived in any window. */
function maxInWindow({ requests }: Upstream): number {
  const times = requests.map(({ at }) => at).sort((a, b) => a - b);
  const within = (start: number) => times.filter((at) => at >= start && at < start + windowMs);
  return Math.max(0, ...times.map((start) => within(start).length));
}

const outOfBudget = /request budget.* is used up/;

/** Sends one call after the other until the budget is used up. */
async function untilRefused(caller: Caller): Promise<Answer> {
  for (let from = 0; ; from++) {
    const answer = await caller.ask('cpq_list_companies', { size: 1, from: from % 50 });
    if (answer.isError) return answer;
  }
}

const tight = { CPQ_RATE_LIMIT: String(limit) };
const counting = { rate: { limit, windowMs, enforce: false } };

describeWith('redis', 'replicas share one budget', () => {
  for (const isTold of ['told', 'not told'] as const) {
    test(`four replicas, ${isTold} by the service what is left, one of them killed`, async () => {
      const rateHeaders = isTold === 'told' ? {} : { rateHeaders: 'absent' as const };
      const { upstream, replicas } = await scene(4, { ...counting, ...rateHeaders }, tight);
      const [first] = replicas as [Replica];
      const callers = await Promise.all(
        Array.from({ length: 24 }, (_, at) => callerOf(replicas, at)),
      );
      const asking = callers.map(untilRefused);
      await until(() => upstream.requests.length).toBeGreaterThan(limit / 3);
      await first.kill();
      await first.start();
      for (const { text } of await Promise.all(asking)) expect(text).toMatch(outOfBudget);
      // The restarted replica knows only what Redis has counted.
      for (const replica of replicas) await untilRefused(await callerOf([replica]));
      expect(upstream.budget.violations).toBe(0);
      expect(maxInWindow(upstream)).toBeLessThanOrEqual(limit);
      // Permits that the killed replica had taken and not used are lost.
      expect(upstream.requests.length).toBeGreaterThan(limit / 2);
    });
  }

  test('two replicas have a quarter each while Redis is unavailable, and what the service counts when it returns', async () => {
    const { upstream, redis, replicas } = await scene(2, counting, tight);
    const callers = await Promise.all(replicas.map((replica) => callerOf([replica])));
    for (const caller of callers) await caller.call('cpq_list_companies', { size: 1 });
    await redis.kill();
    await replicasSay(replicas, 'degraded');
    for (const caller of callers) {
      const before = upstream.requests.length;
      await untilRefused(caller);
      expect(upstream.requests.length - before).toBeGreaterThan(limit / 4 - 5);
      expect(upstream.requests.length - before).toBeLessThanOrEqual(limit / 4);
    }
    // Redis restarts empty.
    await redis.start({ empty: true });
    await replicasSay(replicas, 'ready');
    for (const caller of callers) await untilRefused(caller);
    // Each may send one request until it is told.
    expect(maxInWindow(upstream)).toBeLessThanOrEqual(limit + replicas.length);
  });
});

/** How often each page of a collection was requested. */
function pagesOf({ requests }: Upstream, path: string): Map<string, number> {
  const pages = new Map<string, number>();
  for (const { route, query } of requests) {
    if (route !== path) continue;
    const page = query.toString();
    pages.set(page, (pages.get(page) ?? 0) + 1);
  }
  return pages;
}

const timesRead = (pages: Map<string, number>): number[] => [...new Set(pages.values())];

describeWith('redis', 'replicas read a collection once', () => {
  test('for concurrent requests, and again after a change', async () => {
    const counts = { '/opportunity': 1_000, '/company': 300 };
    const env = { CPQ_RATE_LIMIT: '1000000', CPQ_WEBHOOK_SECRET: webhookSecret };
    const { upstream, replicas } = await scene(4, { counts, delayHeaders: 40 }, env);
    const callers = await Promise.all(
      Array.from({ length: 32 }, (_, at) => callerOf(replicas, at)),
    );
    const askAll = () => Promise.all(callers.map((it) => it.call('cpq_brief_pipeline')));

    for (const { coverage } of await askAll()) {
      expect(coverage).toMatchObject({ complete: true, read: 1_300 });
    }
    const first = pagesOf(upstream, '/opportunity');
    expect(first.size).toBeGreaterThanOrEqual(10);
    expect(timesRead(first)).toEqual([1]);
    expect(timesRead(pagesOf(upstream, '/company'))).toEqual([1]);

    const [{ url }] = replicas as [Replica];
    const event = { event: 'opportunity.updated', eventId: 'e1', data: { id: 'x' } };
    expect((await deliver(webhooksAt(url, 'default'), event)).status).toBe(200);
    // Replicas learn of changes with a short delay, and answer from the older reading until then.
    const changesNow = async () => {
      await askAll();
      return [...pagesOf(upstream, '/opportunity').keys()].filter((page) => page.includes('sort='));
    };
    await until(async () => (await changesNow()).length).toBeGreaterThan(0);
    // One replica brings it up to date: what changed, and once more to see that the order turns round.
    expect((await changesNow()).length).toBeLessThanOrEqual(2);
    expect(timesRead(pagesOf(upstream, '/opportunity'))).toEqual([1]);
    expect(timesRead(pagesOf(upstream, '/company'))).toEqual([1]);
  });
});
