import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { HttpError } from '../../src/hosts/access/http-error.ts';
import { type CallerLimits, FairQueue } from '../../src/hosts/fair-queue.ts';
import fc from '../support/fast-check.ts';

const plenty: CallerLimits = {
  callsPerMinute: 1_000,
  concurrentPerCaller: 1_000,
  concurrent: 1_000,
  queuedPerCaller: 1_000,
  waitMs: 10_000,
};
const always = new AbortController().signal;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets pending microtasks run. */
const settled = () => vi.advanceTimersByTimeAsync(0);

/** Asks for admission; the outcome is known after `settled`. */
function asking(turns: FairQueue, caller: string, signal = always) {
  const asked: { leave?: () => void; error?: unknown } = {};
  turns.acquire(caller, signal).then(
    (leave) => {
      asked.leave = leave;
    },
    (error: unknown) => {
      asked.error = error;
    },
  );
  return asked;
}

const refusal = (seconds: number) =>
  expect.objectContaining({ status: 429, headers: { 'retry-after': `${seconds}` } });

describe('one caller', () => {
  test('may make a limited number of calls per minute, and is told when to retry', async () => {
    const turns = new FairQueue({ ...plenty, callsPerMinute: 2 });
    (await turns.acquire('one', always))();
    await vi.advanceTimersByTimeAsync(20_000);
    (await turns.acquire('one', always))();
    await expect(turns.acquire('one', always)).rejects.toEqual(refusal(42));
    (await turns.acquire('another', always))();
    await vi.advanceTimersByTimeAsync(42_000);
    (await turns.acquire('one', always))();
    await expect(turns.acquire('one', always)).rejects.toBeInstanceOf(HttpError);
  });

  test('waits in order of arrival', async () => {
    const turns = new FairQueue({ ...plenty, concurrentPerCaller: 1 });
    const leave = await turns.acquire('one', always);
    const [second, third] = [asking(turns, 'one'), asking(turns, 'one')];
    await settled();
    expect(turns.occupancy).toEqual({ inFlight: 1, queued: 2 });
    leave();
    await settled();
    expect([second.leave, third.leave]).toEqual([expect.any(Function), undefined]);
    second.leave?.();
    await settled();
    expect(turns.occupancy).toEqual({ inFlight: 1, queued: 0 });
    expect(third.leave).toEqual(expect.any(Function));
  });

  test('is refused when too many of its calls wait, or wait too long', async () => {
    const limits = { ...plenty, concurrent: 1, queuedPerCaller: 1, waitMs: 2_500 };
    const turns = new FairQueue(limits);
    await turns.acquire('one', always);
    const waits = asking(turns, 'one');
    await expect(turns.acquire('one', always)).rejects.toEqual(refusal(3));
    await vi.advanceTimersByTimeAsync(2_500);
    expect(waits.error).toEqual(refusal(3));
    expect(turns.occupancy).toEqual({ inFlight: 1, queued: 0 });
  });

  test('that disconnects leaves the queue', async () => {
    const turns = new FairQueue({ ...plenty, concurrent: 1 });
    const leave = await turns.acquire('one', always);
    const gone = new AbortController();
    const waits = asking(turns, 'two', gone.signal);
    gone.abort(new Error('the host went away'));
    await settled();
    expect(waits.error).toEqual(new Error('the host went away'));
    await expect(turns.acquire('two', gone.signal)).rejects.toThrow('the host went away');
    leave();
    await settled();
    expect(turns.occupancy).toEqual({ inFlight: 0, queued: 0 });
  });
});

describe('idle callers', () => {
  test('are forgotten above ten thousand, the longest idle first; busy ones are kept', async () => {
    const limits = { ...plenty, callsPerMinute: 1, concurrentPerCaller: 1, queuedPerCaller: 0 };
    const turns = new FairQueue(limits);
    const call = (caller: number) => turns.acquire(`${caller}`, always);
    const busy = await turns.acquire('busy', always);
    for (let caller = 0; caller < 12_000; caller++) (await call(caller))();
    await expect(call(2_010)).rejects.toMatchObject({ status: 429 });
    await expect(call(1_990)).resolves.toBeTypeOf('function');
    await vi.advanceTimersByTimeAsync(62_000);
    await expect(turns.acquire('busy', always)).rejects.toEqual(refusal(10));
    busy();
    (await turns.acquire('busy', always))();
  });
});

/** One step: an action of a caller on one of its calls. */
const step = fc.record({
  what: fc.constantFrom('enter' as const, 'enter' as const, 'leave' as const, 'go' as const),
  caller: fc.constantFrom('a', 'b', 'c', 'd'),
  which: fc.nat({ max: 20 }),
  ms: fc.constantFrom(0, 0, 0, 5, 400, 30_000),
});
const limits = fc.record({
  callsPerMinute: fc.integer({ min: 1, max: 12 }),
  concurrentPerCaller: fc.integer({ min: 1, max: 3 }),
  concurrent: fc.integer({ min: 1, max: 4 }),
  queuedPerCaller: fc.integer({ min: 0, max: 3 }),
  waitMs: fc.constantFrom(1, 500, 100_000),
});

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface Call {
  caller: string;
  at: number;
  state: 'waiting' | 'running' | 'left' | 'refused' | 'gone';
  leave: () => void;
  go: AbortController;
}

/** The queue under test and every call, as its caller sees it. */
class Played {
  readonly calls: Call[] = [];
  readonly turns: FairQueue;
  readonly #limits: CallerLimits;

  constructor(limits: CallerLimits) {
    this.#limits = limits;
    this.turns = new FairQueue(limits);
  }

  enter(caller: string): void {
    const go = new AbortController();
    const at = performance.now();
    const call: Call = { caller, at, state: 'waiting', leave: () => {}, go };
    this.calls.push(call);
    this.turns.acquire(caller, go.signal).then(
      (leave) => {
        call.leave = leave;
        call.state = 'running';
      },
      (error: unknown) => {
        call.state = error instanceof HttpError ? 'refused' : 'gone';
      },
    );
  }

  play({ what, caller, which }: Step): void {
    const found = this.of(what === 'leave' ? 'running' : 'waiting');
    const call = found[which % found.length];
    if (what === 'enter') this.enter(caller);
    else if (what === 'go') call?.go.abort(new Error('gone'));
    else if (call) leave(call);
  }

  of(state: Call['state'], caller?: string): Call[] {
    return this.calls.filter(
      (call) => call.state === state && (caller === undefined || call.caller === caller),
    );
  }

  check(): void {
    const { concurrent, concurrentPerCaller, queuedPerCaller, callsPerMinute } = this.#limits;
    const [inFlight, queued] = [this.of('running').length, this.of('waiting').length];
    expect(this.turns.occupancy).toEqual({ inFlight, queued });
    expect(inFlight).toBeLessThanOrEqual(concurrent);
    for (const caller of ['a', 'b', 'c', 'd']) {
      const ofCaller = this.of('running', caller).length;
      expect(ofCaller).toBeLessThanOrEqual(concurrentPerCaller);
      const waits = this.of('waiting', caller);
      expect(waits.length).toBeLessThanOrEqual(queuedPerCaller);
      // No call waits that there is room for.
      if (waits[0]) {
        expect(inFlight === concurrent || ofCaller === concurrentPerCaller).toBe(true);
      }
      if (queued > 0) expect(inFlight).toBeGreaterThan(0);
      const taken = this.calls.filter(
        (call) => call.caller === caller && call.state !== 'refused' && call.state !== 'gone',
      );
      for (const { at } of taken) {
        const within = taken.filter((other) => other.at >= at && other.at < at + 60_000);
        expect(within.length).toBeLessThanOrEqual(callsPerMinute);
      }
    }
  }
}

function leave(call: Call): void {
  call.state = 'left';
  call.leave();
}

describe('for any sequence of calls', () => {
  test('no limit is exceeded, no call waits while there is room, and nothing remains', async () => {
    const steps = fc.array(step, { maxLength: 60 });
    const property = fc.asyncProperty(limits, steps, async (of, all) => {
      const played = new Played(of);
      for (const it of all) {
        played.play(it);
        await vi.advanceTimersByTimeAsync(it.ms);
        played.check();
      }
      for (let most = all.length; most >= 0; most--) {
        for (const call of played.of('running')) leave(call);
        await settled();
      }
      expect(played.of('waiting')).toEqual([]);
      expect(played.turns.occupancy).toEqual({ inFlight: 0, queued: 0 });
      played.check();
    });
    await fc.assert(property, { numRuns: 400 });
  });

  test('waiting callers are served before any caller is served twice', async () => {
    const queues = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 30 });
    const property = fc.asyncProperty(queues, async (names) => {
      const rounds = await servedInTurn(names);
      expect(rounds.map(({ served }) => served).toSorted()).toEqual(names.toSorted());
      for (const [at, { served }] of rounds.entries()) {
        const since = rounds.findLastIndex(
          (round, before) => before < at && round.served === served,
        );
        if (since === -1) continue;
        const others = rounds.slice(since + 1, at).map((round) => round.served);
        for (const name of rounds[at]?.waiting ?? []) expect([...others, served]).toContain(name);
      }
    });
    await fc.assert(property, { numRuns: 200 });
  });
});

/** Releases one call at a time while all callers wait. @returns who is served, in order */
async function servedInTurn(names: readonly string[]) {
  const played = new Played({ ...plenty, concurrent: 1 });
  played.enter('first');
  for (const name of names) played.enter(name);
  await settled();
  const rounds: { served: string; waiting: Set<string> }[] = [];
  for (;;) {
    for (const call of played.of('running')) leave(call);
    await settled();
    const [next] = played.of('running');
    if (!next) return rounds;
    const waiting = new Set(played.of('waiting').map(({ caller }) => caller));
    rounds.push({ served: next.caller, waiting });
  }
}
