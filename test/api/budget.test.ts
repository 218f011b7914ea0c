import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Call, WalkCost } from '../../src/service/call.ts';
import { rateBudget } from '../../src/service/traffic/traffic-control.ts';
import { countedMs, MemoryRates } from '../../src/state/memory-rates.ts';
import type { RateDecision, State, WindowRule } from '../../src/state/port.ts';
import type { Tenant } from '../../src/tenant/tenant.ts';
import fc from '../support/fast-check.ts';
import {
  collections,
  inMemory,
  openTenant,
  sharedStateOf,
  toolCall,
} from '../support/hardening-tenant.ts';
import { serve } from '../support/tenant-server.ts';
import type { Upstream } from '../support/upstream/behaviour.ts';
import { faults } from '../support/upstream/faults.ts';
import type { ResourcePath } from '../support/upstream/records.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

/**
 * The rate budget that the programs of a tenant share. Clocks stand still unless a test moves them, also that of
 * the service, which refuses requests when its window is full.
 */

const windowSeconds = 600;
const windowMs = windowSeconds * 1000;
const bigger: readonly ResourcePath[] = ['/company', '/contact', '/opportunity'];

let upstream: Upstream;
let state: State;
let tenants: Tenant[];

beforeEach(async () => {
  // No deadline passes on a busy machine; the pauses of a slowed walk are real.
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  state = inMemory();
  tenants = [];
  const counts = Object.fromEntries(bigger.map((path) => [path, 300]));
  upstream = await startUpstream({ counts: { ...counts, '/product': 1 } });
});

afterEach(async () => {
  for (const tenant of tenants) await tenant.close();
  await upstream.close();
  vi.useRealTimers();
});

/** A tenant whose service allows this number of requests. `known`: the limit in the tenant's settings. */
function tenantWith(requests: number, known = requests): Tenant {
  upstream.set({ rate: { limit: requests, windowMs }, maxSize: 10 });
  const tenant = openTenant({ url: upstream.url, requestLimit: known, state });
  tenants.push(tenant);
  return tenant;
}

/** The budget as another program of the same tenant counts it. */
const sharedBudget = () => rateBudget(state.rates, new URL(upstream.url).href, 50);

const later = (ms: number): void => void vi.setSystemTime(Date.now() + ms);

/** A list of one request. */
const one = (tenant: Tenant) =>
  tenant.list('product', { size: 2 }, toolCall()).then(
    () => 'answered' as const,
    (error: unknown) => error,
  );

/** With little time, in which a walk is slowed down when the budget is low. */
const walkOf = (tenant: Tenant, path: ResourcePath) =>
  tenant.collection(collections[path].resource, toolCall({ time: 1_500 }));

describe('the limit that the service reports', () => {
  /** The number of requests that a walk may still send after the service has reported its remaining budget. */
  async function leftToWalks(configured: number, remaining: number, limit?: number) {
    const budget = rateBudget(new MemoryRates(), 'tenant', configured);
    const take = async () => budget.take(callOf('walk'), { host: 'h' });
    const taken = await take();
    await budget.ended(taken, remaining, limit);
    let sent = 0;
    for (;;) {
      const error = await take().catch((it: unknown) => it);
      if (typeof error !== 'number') return { sent, error };
      sent += 1;
    }
  }

  const callOf = (purpose: 'walk') => ({ ...toolCall(), purpose });

  test('if smaller, makes the reserve smaller', async () => {
    expect((await leftToWalks(500, 45, 60)).sent).toBe(39);
    const { sent, error } = await leftToWalks(500, 45, 500);
    expect(sent).toBe(0);
    expect(error).toMatchObject({ kind: 'budget-spent', facts: { reserved: 45 } });
  });

  test('if larger, is used unless the settings name another', async () => {
    expect((await leftToWalks(500, 4_000, 5_000)).sent).toBe(3_950);
    expect((await leftToWalks(400, 4_000, 5_000)).sent).toBe(359);
    expect((await leftToWalks(500, 450, 5_000)).sent).toBe(400);
  });

  test('is that of the latest request, whichever response comes last', async () => {
    const budget = rateBudget(new MemoryRates(), 'tenant', 500);
    const take = () => budget.take(callOf('walk'), { host: 'h' });
    const [first, second] = [await take(), await take()];
    await budget.ended(second, 40);
    await budget.ended(first, 90);
    expect(await budget.peek()).toMatchObject({ remaining: 39 });
  });

  test('if it is less than what remains, or 0, is not believed', async () => {
    expect((await leftToWalks(500, 300, 100)).sent).toBe(250);
    expect((await leftToWalks(500, 300, 0)).sent).toBe(250);
  });
});

describe('when less than a third remains', () => {
  /** A budget of 60 requests of which so many are left. */
  async function budgetWith(remaining: number) {
    const budget = rateBudget(new MemoryRates(), 'tenant', 60);
    const taken = await budget.take(callOf('interactive'), { host: 'h' });
    await budget.ended(taken, remaining, 60);
    return budget;
  }

  const callOf = (purpose: NonNullable<Call['purpose']>, cost?: WalkCost): Call => ({
    ...{ ...toolCall(), purpose },
    cost,
  });

  test('a long walk waits, and single requests go first', async () => {
    const order = async (remaining: number) => {
      const budget = await budgetWith(remaining);
      const done: string[] = [];
      const take = async (call: Call) => {
        await budget.take(call, { host: 'h' });
        done.push(call.purpose ?? '');
      };
      const cost = { pages: 12, left: 10, pauseMs: 150 };
      await Promise.all([take(callOf('walk', cost)), take(callOf('interactive'))]);
      return done;
    };
    expect(await order(19)).toEqual(['interactive', 'walk']);
    expect(await order(40)).toEqual(['walk', 'interactive']);
  });

  test('a walk of which less than half can be read ends after its first page, and says when', async () => {
    const tenant = tenantWith(60);
    upstream.budget.spend(41);
    const { coverage } = await walkOf(tenant, '/company');
    expect(coverage).toMatchObject({ complete: false, read: 10, total: 300 });
    expect(coverage.reason).toMatch(/budget is used up for now; the rest can be read from 20/);
    expect(upstream.requests).toHaveLength(1);
    expect(await one(tenant)).toBe('answered');
    later(windowMs + 60_000);
    expect((await walkOf(tenant, '/company')).coverage.complete).toBe(true);
  });
});

describe('what a person is told', () => {
  test('is what a long reading costs, before it is read', async () => {
    upstream.set({ rate: { limit: 60, windowMs }, maxSize: 10 });
    const tenant = openTenant({ url: upstream.url, requestLimit: 60 });
    tenants.push(tenant);
    const told: unknown[] = [];
    const progress = (...facts: unknown[]) => void told.push(facts);
    await tenant.collection('company', toolCall({ progress }));
    const place = "page 1 of 30 (30 of the tenant's 60 requests in ten minutes)";
    expect(told[0]).toEqual([10, 300, 'company', place]);
    const isLast = expect.stringMatching(/^page (3\d) of \1$/);
    expect(told.at(-1)).toEqual([300, 300, 'company', isLast]);
  });

  test('is when a question can be answered, and which can be answered now', async () => {
    const tenant = tenantWith(60);
    await tenant.collection('company', toolCall());
    upstream.budget.spend(60 - upstream.requests.length - 1);
    const client = await serve(tenant).connect({ era: 'legacy' });
    const text = async (name: string, args = {}) =>
      JSON.stringify((await client.callTool({ name, arguments: args })).content);
    expect(await text('cpq_list_products', { size: 2 })).toContain('product');
    later(2 * 60_000);
    expect(await text('cpq_list_products', { size: 2 })).toMatch(
      /budget.* used up. Ask again in 48\d seconds. Questions about these records can be answered now: company \(2 min old\)\./,
    );
    const narrow = await serve(tenant.withGrants(new Set(['product:read']))).connect({
      era: 'legacy',
    });
    const asked = { name: 'cpq_list_products', arguments: { size: 2 } };
    const { content } = await narrow.callTool(asked);
    expect(JSON.stringify(content)).toMatch(/used up. Ask again in 48\d seconds\."/);
  });

  test('is also where the service accepts no more, and of a resource, what can be answered now', async () => {
    const tenant = tenantWith(60);
    await tenant.collection('company', toolCall());
    upstream.set({ status: { code: 429, retryAfter: '400' } });
    const client = await serve(tenant).connect({ era: 'legacy' });
    const called = await client.callTool({ name: 'cpq_list_products', arguments: { size: 2 } });
    const read = await client.readResource({ uri: 'cpq://product/none' }).catch(String);
    expect(called.content).toMatchObject([{ text: expect.stringContaining('accepts no more') }]);
    for (const answer of [called, read])
      expect(JSON.stringify(answer)).toContain('can be answered now: company (0 min old).');
  });
});

describe('walks and single reads together', () => {
  test('never send more than the window allows', async () => {
    const tenant = tenantWith(60);
    const work = [
      ...bigger.map((path) => walkOf(tenant, path)),
      ...Array.from({ length: 6 }, () => one(tenant)),
    ];
    await Promise.allSettled(work);
    await Promise.all(Array.from({ length: 10 }, () => one(tenant)));
    expect(upstream.budget.violations).toBe(0);
    // A report that arrives while other requests are in flight may count one of them twice until the next report.
    expect(upstream.requests.length).toBeGreaterThan(54);
    expect(upstream.requests.length).toBeLessThanOrEqual(60);
  });

  test('reserve a tenth for single reads, then report when to retry', async () => {
    const tenant = tenantWith(30);
    await Promise.allSettled(bigger.map((path) => walkOf(tenant, path)));
    expect(upstream.requests).toHaveLength(27);
    for (let at = 0; at < 3; at++) expect(await one(tenant)).toBe('answered');
    const refused = await one(tenant);
    expect(refused).toMatchObject({ kind: 'budget-spent', facts: { seconds: windowSeconds } });
    expect(upstream.requests).toHaveLength(30);
    later(windowMs + 60_000);
    expect(await one(tenant)).toBe('answered');
    expect(upstream.budget.violations).toBe(0);
  });

  test('a walk that is cut short returns its records and when to read the rest', async () => {
    const tenant = tenantWith(20);
    const { records, coverage } = await walkOf(tenant, '/company');
    expect(records.length).toBeGreaterThan(100);
    expect(coverage).toMatchObject({ complete: false, read: records.length, total: 300 });
    const then = new Date(Date.now() + windowMs).toISOString().slice(0, 19);
    expect(coverage.reason).toContain(
      `budget is used up for now; the rest can be read from ${then}Z on`,
    );
  });

  test('a walk that cannot begin is an error with the time to retry', async () => {
    const tenant = tenantWith(20);
    await walkOf(tenant, '/company');
    const refused = await walkOf(tenant, '/contact').catch((error: unknown) => error);
    expect(refused).toMatchObject({ kind: 'budget-spent', facts: { seconds: windowSeconds } });
  });

  test('the window rolls: the oldest requests are released first', async () => {
    const tenant = tenantWith(10);
    for (let at = 0; at < 10; at++) {
      expect(await one(tenant)).toBe('answered');
      later(30_000);
    }
    // Half of the window of 600 s has passed since the first request.
    expect(await one(tenant)).toMatchObject({
      facts: { seconds: 300 + countedMs(rule(10)) / 1000 - 600 },
    });
    later(300_000 + countedMs(rule(10)) - windowMs);
    expect(await one(tenant)).toBe('answered');
    expect(await one(tenant)).toMatchObject({ facts: { seconds: 30 } });
    expect(upstream.budget.violations).toBe(0);
  });
});

const rule = (limit: number): WindowRule => ({ limit, windowMs, reserve: 0 });

describe('other programs of the tenant', () => {
  test('that sent requests before are noticed in the first answer', async () => {
    const tenant = tenantWith(60);
    upstream.budget.spend(40);
    await Promise.allSettled([one(tenant), ...bigger.map((path) => walkOf(tenant, path))]);
    await Promise.all(Array.from({ length: 10 }, () => one(tenant)));
    expect(upstream.budget.violations).toBe(0);
    expect(upstream.requests.length).toBeLessThanOrEqual(20);
    // Walks of which less than half can be read now are left for later.
    expect(upstream.requests.length).toBeGreaterThanOrEqual(14);
  });

  test('that send requests meanwhile are noticed in the next answers', async () => {
    const tenant = tenantWith(80);
    upstream.set({ onRequest: (n) => (n === 12 ? upstream.budget.spend(25) : undefined) });
    await Promise.allSettled(bigger.map((path) => walkOf(tenant, path)));
    await Promise.all(Array.from({ length: 20 }, () => one(tenant)));
    expect(upstream.budget.violations).toBe(0);
    expect(upstream.requests.length).toBeLessThanOrEqual(55);
    expect(upstream.requests.length).toBeGreaterThan(45);
  });

  test('are noticed although answers arrive out of order', async () => {
    const tenant = tenantWith(60);
    upstream.budget.spend(20);
    // Every second answer is delayed, so that its count is older than that of the answer before.
    upstream.set({ delayBody: 1, onRequest: (n) => (n % 2 ? later(0) : undefined) });
    await Promise.allSettled(bigger.map((path) => walkOf(tenant, path)));
    await Promise.all(Array.from({ length: 20 }, () => one(tenant)));
    expect(upstream.budget.violations).toBe(0);
  });

  test('a lower limit of the service replaces the configured one', async () => {
    const tenant = tenantWith(15, 500);
    await Promise.allSettled(bigger.map((path) => walkOf(tenant, path)));
    expect(upstream.budget.violations).toBe(0);
  });

  test.each(['', ' ', 'some', '-1', '1e3', '0x0', '0e5', '4.5', 'NaN'])(
    'a count of %j is ignored',
    async (remaining) => {
      const tenant = tenantWith(50);
      upstream.set({ rateHeaders: { remaining } });
      for (let at = 0; at < 4; at++) expect(await one(tenant)).toBe('answered');
      expect(await sharedBudget().peek()).toMatchObject({ remaining: 46 });
    },
  );
});

describe('Retry-After', () => {
  test('applies to all requests until it expires', async () => {
    const tenant = tenantWith(50);
    upstream.set({ status: { code: 429, retryAfter: '300' } });
    expect(await one(tenant)).toMatchObject({ kind: 'rate-limited', facts: { seconds: 300 } });
    upstream.set({ status: undefined });
    for (const path of bigger) {
      await expect(walkOf(tenant, path)).rejects.toMatchObject({
        kind: 'budget-spent',
        facts: { seconds: 300 },
      });
    }
    expect(upstream.requests).toHaveLength(1);
    later(300_001);
    expect(await one(tenant)).toBe('answered');
  });

  test.each(['999999999', '1e300', 'Fri, 01 Jan 2999 00:00:00 GMT'])(
    'of %s is limited to the length of the rate window',
    async (retryAfter) => {
      const tenant = tenantWith(50);
      upstream.set({ status: { code: 429, retryAfter } });
      expect(await one(tenant)).toMatchObject({ kind: 'rate-limited', facts: { seconds: 900 } });
      upstream.set({ status: undefined });
      expect(await one(tenant)).toMatchObject({
        kind: 'budget-spent',
        facts: { seconds: windowSeconds },
      });
      later(windowMs);
      expect(await one(tenant)).toBe('answered');
    },
  );

  test('that is short is waited for, at no other cost', async () => {
    vi.useRealTimers();
    const tenant = tenantWith(50);
    upstream.set(faults['429-one-second']);
    const answer = one(tenant);
    await expect.poll(() => upstream.requests.length, { interval: 5 }).toBe(1);
    upstream.set({ status: undefined });
    expect(await answer).toBe('answered');
    expect(upstream.requests).toHaveLength(2);
  });
});

describe('a clock that is set back three hours', () => {
  const setBack = () => later(-3 * 3_600_000);

  test('leaves no request counted for longer than the window', async () => {
    const tenant = tenantWith(3);
    upstream.set({ rate: undefined });
    for (let at = 0; at < 3; at++) expect(await one(tenant)).toBe('answered');
    setBack();
    expect(await one(tenant)).toMatchObject({ kind: 'budget-spent' });
    later(countedMs({ limit: 3, windowMs, reserve: 0 }));
    expect(await one(tenant)).toBe('answered');
  });

  test('leaves no request of other programs counted for longer than the window', async () => {
    const rates = new MemoryRates();
    const rule = { limit: 3, windowMs, reserve: 0 };
    await rates.correct('tenant', rule, 0, Date.now());
    setBack();
    expect(rates.evaluate('tenant', rule, Date.now()).taken).toBe(false);
    later(countedMs(rule));
    expect(rates.evaluate('tenant', rule, Date.now()).taken).toBe(true);
  });

  test('ends a pause that the service asked for after the window at most', async () => {
    const tenant = tenantWith(50);
    upstream.set({ status: { code: 429, retryAfter: '300' } });
    expect(await one(tenant)).toMatchObject({ kind: 'rate-limited' });
    upstream.set({ status: undefined });
    setBack();
    const blocked = await one(tenant);
    expect(blocked).toMatchObject({ kind: 'budget-spent', facts: { seconds: windowSeconds } });
    later(countedMs({ limit: 3, windowMs, reserve: 0 }));
    expect(await one(tenant)).toBe('answered');
  });
});

describe('requests that were never sent do not count', () => {
  const left = async () => (await sharedBudget().peek()).remaining;

  test('when the call was cancelled or past its deadline', async () => {
    const tenant = tenantWith(50);
    const signal = AbortSignal.abort(new Error('enough'));
    const call = (options: object) => toolCall(options);
    const ask = (options: object) =>
      sharedStateOf(tenant).client.page('company', { size: 1 }, call(options));
    await expect(ask({ signal })).rejects.toThrow('enough');
    await expect(ask({ time: -1 })).rejects.toMatchObject({ kind: 'timed-out' });
    expect(await left()).toBe(50);
    expect(upstream.requests).toEqual([]);
  });

  test('while the circuit is open', async () => {
    const tenant = tenantWith(50);
    upstream.set(faults.reset);
    for (let at = 0; at < 3; at++)
      expect(await one(tenant)).toMatchObject({
        kind: expect.stringMatching(/^(connection-lost|circuit-open)$/),
      });
    const before = await left();
    expect(before).toBe(50 - upstream.requests.length);
    for (let at = 0; at < 5; at++)
      expect(await one(tenant)).toMatchObject({ kind: 'circuit-open' });
    expect(await left()).toBe(before);
  });

  test('when they were cancelled while waiting', async () => {
    vi.useRealTimers();
    const tenant = tenantWith(50);
    await sharedBudget().take(toolCall(), { host: '' });
    await sharedBudget().block(3);
    const stop = new AbortController();
    const waiting = tenant.list('company', { size: 1 }, toolCall({ signal: stop.signal }));
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(await left()).toBe(49);
    expect(upstream.requests).toEqual([]);
  });
});

/** A slow and simple implementation of the window. */
class NaiveWindow {
  #own: number[] = [];
  #others = { count: 0, at: Number.NEGATIVE_INFINITY };
  #blockedUntil = Number.NEGATIVE_INFINITY;

  take(rule: WindowRule, now: number): Pick<RateDecision, 'taken' | 'remaining'> {
    const left = this.#left(rule, now);
    const taken = this.lets(rule, now);
    if (taken) this.#own.push(now);
    return { taken, remaining: taken ? left - 1 : left };
  }

  lets(rule: WindowRule, now: number): boolean {
    return now >= this.#blockedUntil && this.#left(rule, now) > rule.reserve;
  }

  correct(rule: WindowRule, remaining: number, now: number): void {
    const count = Math.max(0, rule.limit - this.#ownAt(rule, now) - remaining);
    this.#others = { count, at: now };
  }

  block(until: number): void {
    this.#blockedUntil = Math.max(this.#blockedUntil, until);
  }

  #left(rule: WindowRule, now: number): number {
    const others = this.#others.at > now - countedMs(rule) ? this.#others.count : 0;
    return Math.max(0, rule.limit - this.#ownAt(rule, now) - others);
  }

  #ownAt = (rule: WindowRule, now: number): number =>
    this.#own.filter((at) => at > now - countedMs(rule)).length;
}

type Step =
  | { what: 'take'; reserve: number; times: number }
  | { what: 'wait'; ms: number }
  | { what: 'correct'; remaining: number }
  | { what: 'block'; ms: number };

const steps = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({
      what: fc.constant('take' as const),
      reserve: fc.constantFrom(0, 2),
      times: fc.integer({ min: 1, max: 6 }),
    }),
    fc.record({ what: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 700 }) }),
    fc.record({
      what: fc.constant('correct' as const),
      remaining: fc.integer({ min: 0, max: 12 }),
    }),
    fc.record({ what: fc.constant('block' as const), ms: fc.integer({ min: 0, max: 900 }) }),
  ),
  { maxLength: 40 },
);

const small = { limit: 8, windowMs: 1_000 };
const ruleOf = (reserve: number): WindowRule => ({ ...small, reserve });

/** Runs the same steps on both windows. */
class Twins {
  readonly #rates = new MemoryRates();
  readonly #naive = new NaiveWindow();
  #now = 1_000_000;

  async play(step: Step): Promise<void> {
    if (step.what === 'wait') this.#now += step.ms;
    if (step.what === 'take') await this.#take(ruleOf(step.reserve), step.times);
    if (step.what === 'correct') {
      await this.#rates.correct('key', ruleOf(0), step.remaining, this.#now);
      this.#naive.correct(ruleOf(0), step.remaining, this.#now);
    }
    if (step.what === 'block') {
      await this.#rates.peek('key', ruleOf(0), this.#now); // It is only ever told after a request.
      await this.#rates.block('key', this.#now + step.ms);
      this.#naive.block(this.#now + step.ms);
    }
  }

  async #take(rule: WindowRule, times: number): Promise<void> {
    for (let at = 0; at < times; at++) {
      const { taken, remaining: left, waitMs } = await this.#rates.take('key', rule, this.#now);
      expect({ taken, remaining: left }).toEqual(this.#naive.take(rule, this.#now));
      if (!taken) await this.#expectRightWait(rule, waitMs);
    }
  }

  /** A caller that has waited as long as it was told is admitted, or told to wait again. */
  async #expectRightWait(rule: WindowRule, waitMs: number): Promise<void> {
    expect(waitMs).toBeGreaterThan(0);
    const soon = this.#now + waitMs;
    if (this.#naive.lets(rule, soon)) return;
    const again = await this.#rates.peek('key', rule, soon);
    expect(again.taken).toBe(false);
    expect(this.#naive.lets(rule, soon + again.waitMs)).toBe(true);
  }
}

test('the rate window decides as a naive implementation does', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const twins = new Twins();
      for (const step of all) await twins.play(step);
    }),
    { numRuns: 1_000 },
  );
});
