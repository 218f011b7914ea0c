import { HttpError, retryAfterHeader } from './access/http-error.ts';

/** How much callers may ask of this process. */
export interface CallerLimits {
  /** Calls that one caller may ask for in any minute, those that wait among them. */
  callsPerMinute: number;
  /** Calls of one caller that are answered at once. */
  concurrentPerCaller: number;
  /** Calls of all callers together that are answered at once. */
  concurrent: number;
  /** Calls of one caller that may wait for their turn. */
  queuedPerCaller: number;
  /** How long one may wait. */
  waitMs: number;
}

/** Nothing was done; the same call may come again. */
export class TooManyCalls extends HttpError {
  readonly reason: 'rate' | 'queue' | 'waited';
  /** Seconds after which it is worth another try. */
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

/** Ends a call; it may be called again, and does nothing then. */
type Release = () => void;

interface Waiter {
  /** How many calls start together. */
  calls: number;
  start(release: Release): void;
}

/** What is known of one caller. */
class Caller {
  running = 0;
  /** Calls that wait. */
  queued = 0;
  /** The longest waiting first. */
  readonly queue = new Set<Waiter>();
  /** When each call of the last minute was asked for, by a clock of its own, the oldest first. */
  readonly callTimes: number[] = [];

  get isIdle(): boolean {
    return this.running === 0 && this.queue.size === 0;
  }
}

const minuteMs = 60_000;
/** Of callers that do nothing just now; whoever was quiet the longest is forgotten first. */
const maxIdleCallers = 10_000;

/**
 * Gives callers their turns: who waits is admitted in a round, one call of each at a time, so that nobody's
 * many calls stand in front of another's one. Within a caller the first that came is the first.
 */
export class FairQueue {
  readonly #limits: CallerLimits;
  /** The one that was heard of last is last. */
  readonly #callers = new Map<string, Caller>();
  /** Who waits, and may have another call answered, in the order of the round. */
  readonly #ready = new Set<Caller>();
  #running = 0;
  #queued = 0;

  constructor(limits: CallerLimits) {
    this.#limits = limits;
  }

  get occupancy(): { inFlight: number; queued: number } {
    return { inFlight: this.#running, queued: this.#queued };
  }

  /** How many calls one request may hold: more could never start together. */
  get maxBatch(): number {
    const { callsPerMinute, concurrentPerCaller, concurrent } = this.#limits;
    return Math.min(callsPerMinute, concurrentPerCaller, concurrent);
  }

  /** How many callers are remembered. */
  get callerCount(): number {
    return this.#callers.size;
  }

  /**
   * Waits for the caller's turn. A batch of `calls` counts as so many, and starts when there is room for all
   * of them; there must be no more than `maxBatch`.
   * @returns what ends it, which must be called
   * @throws TooManyCalls; the signal's reason when the caller goes away first
   */
  async acquire(name: string, signal: AbortSignal, calls = 1): Promise<Release> {
    signal.throwIfAborted();
    const caller = this.#touch(name);
    this.#countCall(caller, calls);
    if (this.#mayStart(caller, calls)) return this.#start(caller, calls);
    if (caller.queued + calls > this.#limits.queuedPerCaller) {
      caller.callTimes.splice(-calls); // They were not even queued.
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

  /** A few at a time: each call adds one caller at most. */
  #evictIdle(): void {
    const now = performance.now();
    const oldest = this.#callers.entries();
    for (let checked = 0; checked < 2; checked++) {
      const [name, caller] = oldest.next().value ?? [];
      if (name === undefined || !caller) return;
      const last = caller.callTimes.at(-1) ?? Number.NEGATIVE_INFINITY;
      const isQuiet = now - last >= minuteMs || this.#callers.size >= maxIdleCallers;
      if (caller.isIdle && isQuiet) this.#callers.delete(name);
      else if (!caller.isIdle) this.#moveToEnd(name, caller);
    }
  }

  /** Who is busy must not keep others from being forgotten. */
  #moveToEnd(name: string, caller: Caller): void {
    this.#callers.delete(name);
    this.#callers.set(name, caller);
  }

  /** @throws TooManyCalls over the rate; what is refused is not counted */
  #countCall(caller: Caller, calls: number): void {
    const { callTimes } = caller;
    const now = performance.now();
    const recent = callTimes.findIndex((at) => at > now - minuteMs);
    callTimes.splice(0, recent === -1 ? callTimes.length : recent);
    const over = callTimes.length + calls - this.#limits.callsPerMinute;
    if (over > 0) throw new TooManyCalls('rate', (callTimes[over - 1] ?? now) + minuteMs - now);
    for (let call = 0; call < calls; call++) callTimes.push(now);
  }

  /** Nobody is passed by: a batch that waits for room would wait for ever otherwise. */
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
      this.#goOn(caller);
    };
  }

  /** There may be room now, for this caller or for another. */
  #goOn(caller: Caller): void {
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
        this.#goOn(caller);
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
      // Behind all others that wait.
      if (caller.queue.size > 0) this.#ready.add(caller);
    }
  }
}
