import { shiftWhile } from '../containers.ts';
import { HttpError, retryAfterHeader } from './access/http-error.ts';

/** Limits of calls in this process. */
export interface CallerLimits {
  /** Calls per caller in any minute, waiting calls included. */
  callsPerMinute: number;
  /** Concurrent calls per caller. */
  concurrentPerCaller: number;
  /** Concurrent calls of all callers together. */
  concurrent: number;
  /** Waiting calls per caller. */
  queuedPerCaller: number;
  /** Maximum waiting time. */
  waitMs: number;
}

/** The call was not started; it may be sent again. */
export class TooManyCalls extends HttpError {
  readonly reason: 'rate' | 'queue' | 'waited';
  /** Seconds until a retry may succeed. */
  readonly retryAfter: number;

  constructor(reason: TooManyCalls['reason'], retryMs: number) {
    const seconds = Math.max(1, Math.ceil(retryMs / 1000));
    super(429, `Too many calls: try again in ${seconds} s.`, {
      headers: retryAfterHeader(seconds),
    });
    this.reason = reason;
    this.retryAfter = seconds;
  }
}

/** Releases a call; further calls of it have no effect. */
type Release = () => void;

interface Waiter {
  /** Calls in the batch; they start together. */
  calls: number;
  start(release: Release): void;
}

class Caller {
  running = 0;
  queued = 0;
  /** In order of arrival. */
  readonly queue = new Set<Waiter>();
  /** Monotonic times of the calls of the last minute, oldest first. */
  readonly callTimes: number[] = [];

  get isIdle(): boolean {
    return this.running === 0 && this.queue.size === 0;
  }
}

const minuteMs = 60_000;
/** Maximum number of remembered callers; the longest idle is removed first. */
const maxIdleCallers = 10_000;

/**
 * Serves waiting calls round-robin by caller, so that many calls of one caller do not delay the others. Calls
 * of the same caller are served in order of arrival.
 */
export class FairQueue {
  readonly #limits: CallerLimits;
  /** In order of last activity. */
  readonly #callers = new Map<string, Caller>();
  /** Callers with waiting calls and free capacity, in round-robin order. */
  readonly #ready = new Set<Caller>();
  #running = 0;
  #queued = 0;

  constructor(limits: CallerLimits) {
    this.#limits = limits;
  }

  get occupancy(): { inFlight: number; queued: number } {
    return { inFlight: this.#running, queued: this.#queued };
  }

  /** Maximum size of a batch: a larger one could never start. */
  get maxBatch(): number {
    const { callsPerMinute, concurrentPerCaller, concurrent } = this.#limits;
    return Math.min(callsPerMinute, concurrentPerCaller, concurrent);
  }

  /**
   * Waits until the caller may start. A batch of `calls` (at most `maxBatch`) starts when there is capacity
   * for all of them.
   * @returns the function that releases the capacity; it must be called
   * @throws TooManyCalls; the signal's reason when the caller disconnects first
   */
  async acquire(name: string, signal: AbortSignal, calls = 1): Promise<Release> {
    signal.throwIfAborted();
    const caller = this.#touch(name);
    this.#countCall(caller, calls);
    if (this.#mayStart(caller, calls)) return this.#start(caller, calls);
    if (caller.queued + calls > this.#limits.queuedPerCaller) {
      caller.callTimes.splice(-calls); // Refused calls do not count against the rate.
      throw new TooManyCalls('queue', this.#limits.waitMs);
    }
    return this.#waitInQueue(caller, signal, calls);
  }

  #touch(name: string): Caller {
    this.#evictIdle();
    const caller = this.#callers.get(name) ?? new Caller();
    this.#moveToEnd(name, caller);
    return caller;
  }

  /** Removes idle callers, at most two, because each call adds at most one. */
  #evictIdle(): void {
    if (this.#callers.size < maxIdleCallers) return;
    const oldest = this.#callers.entries();
    for (let checked = 0; checked < 2; checked++) {
      const [name, caller] = oldest.next().value ?? [];
      if (name === undefined || !caller) return;
      if (caller.isIdle) this.#callers.delete(name);
      else this.#moveToEnd(name, caller);
    }
  }

  /** Moves busy callers to the end, so that the idle ones after them are found. */
  #moveToEnd(name: string, caller: Caller): void {
    this.#callers.delete(name);
    this.#callers.set(name, caller);
  }

  /** @throws TooManyCalls over the rate; refused calls are not counted */
  #countCall(caller: Caller, calls: number): void {
    const { callTimes } = caller;
    const now = performance.now();
    shiftWhile(callTimes, (at) => at <= now - minuteMs);
    const over = callTimes.length + calls - this.#limits.callsPerMinute;
    if (over > 0) throw new TooManyCalls('rate', (callTimes[over - 1] ?? now) + minuteMs - now);
    for (let call = 0; call < calls; call++) callTimes.push(now);
  }

  /** A batch that waits for capacity blocks the callers after it; otherwise it could wait forever. */
  #mayStart(caller: Caller, calls: number): boolean {
    const isNext = this.#ready.size === 0 && caller.queue.size === 0;
    return isNext && this.#fitsCaller(caller, calls) && this.#fits(calls);
  }

  #fits(calls: number): boolean {
    return this.#running + calls <= this.#limits.concurrent;
  }

  #fitsCaller({ running }: Caller, calls: number): boolean {
    return running + calls <= this.#limits.concurrentPerCaller;
  }

  #start(caller: Caller, calls: number): Release {
    this.#running += calls;
    caller.running += calls;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#running -= calls;
      caller.running -= calls;
      this.#admitWaiting(caller);
    };
  }

  /** Admits waiting calls after capacity was released. */
  #admitWaiting(caller: Caller): void {
    if (caller.queue.size > 0) this.#ready.add(caller);
    this.#startNext();
  }

  #waitInQueue(caller: Caller, signal: AbortSignal, calls: number): Promise<Release> {
    const { waitMs } = this.#limits;
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        calls,
        start: (release) => {
          stopWaiting();
          resolve(release);
        },
      };
      const fail = (reason: unknown) => {
        stopWaiting();
        reject(reason);
        this.#admitWaiting(caller);
      };
      const onAbort = () => fail(signal.reason);
      const timer = setTimeout(() => fail(new TooManyCalls('waited', waitMs)), waitMs);
      signal.addEventListener('abort', onAbort, { once: true });
      const stopWaiting = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.#dequeue(caller, waiter);
      };
      this.#enqueue(caller, waiter);
    });
  }

  #enqueue(caller: Caller, waiter: Waiter): void {
    const isFirst = caller.queue.size === 0;
    caller.queue.add(waiter);
    caller.queued += waiter.calls;
    this.#queued += waiter.calls;
    if (isFirst && this.#fitsCaller(caller, waiter.calls)) this.#ready.add(caller);
  }

  #dequeue(caller: Caller, waiter: Waiter): void {
    caller.queue.delete(waiter);
    caller.queued -= waiter.calls;
    this.#queued -= waiter.calls;
    if (caller.queue.size === 0) this.#ready.delete(caller);
  }

  #startNext(): void {
    for (const caller of this.#ready) {
      const [first] = caller.queue;
      const fits = first && this.#fitsCaller(caller, first.calls);
      if (fits && !this.#fits(first.calls)) return;
      this.#ready.delete(caller);
      if (!fits) continue;
      first.start(this.#start(caller, first.calls));
      // To the end of the round.
      if (caller.queue.size > 0) this.#ready.add(caller);
    }
  }
}
