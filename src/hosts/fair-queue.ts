import { MemoryRates } from '../state/memory-rates.ts';
import { HttpError } from './access/http-error.ts';

export interface CallerLimits {
  /** Calls per caller in any minute, waiting calls included. */
  callsPerMinute: number;
  concurrentPerCaller: number;
  /** Concurrent calls of all callers together. */
  concurrent: number;
  queuedPerCaller: number;
  waitMs: number;
}

/** The call was not started; it may be sent again. */
function tooManyCalls(retryMs: number): HttpError {
  const seconds = Math.max(1, Math.ceil(retryMs / 1000));
  return new HttpError(429, `Too many calls: try again in ${seconds} s.`, { retryAfter: seconds });
}

interface Caller {
  running: number;
  /** Starts the waiting calls, in order of arrival. */
  waiting: Set<() => void>;
}

/** Round-robin by caller; calls of the same caller are served in order of arrival. */
export class FairQueue {
  readonly #limits: CallerLimits;
  /** The caller that was served longest ago first. */
  readonly #callers = new Map<string, Caller>();
  readonly #rates = new MemoryRates();
  #running = 0;

  constructor(limits: CallerLimits) {
    this.#limits = limits;
  }

  get occupancy(): { inFlight: number; queued: number } {
    let queued = 0;
    for (const { waiting } of this.#callers.values()) queued += waiting.size;
    return { inFlight: this.#running, queued };
  }

  /** @returns the function that releases the capacity, to be called once. @throws HttpError (429); the signal's reason */
  async acquire(name: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const caller = this.#callers.get(name) ?? { running: 0, waiting: new Set() };
    const isFull = caller.waiting.size >= this.#limits.queuedPerCaller;
    this.count(name, isFull && !this.#hasCapacity(caller));
    this.#callers.set(name, caller);
    const started = this.#waitForStart(caller, signal);
    this.#startWaiting();
    await started.finally(() => this.#forgetIdle(name, caller));
    return () => {
      this.#running -= 1;
      caller.running -= 1;
      this.#forgetIdle(name, caller);
      this.#startWaiting();
    };
  }

  /** Counts a message, unless it cannot wait in its caller's queue. @throws HttpError (429) */
  count(name: string, isQueueFull = false): void {
    const { callsPerMinute: limit, waitMs } = this.#limits;
    const rule = { limit, windowMs: 60_000, reserve: 0 };
    const now = performance.now();
    const rate = this.#rates.evaluate(name, rule, now);
    if (!rate.taken || isQueueFull) throw tooManyCalls(rate.taken ? waitMs : rate.waitMs);
    this.#rates.count(name, rule, now);
  }

  #hasCapacity({ running }: Caller): boolean {
    const { concurrent, concurrentPerCaller } = this.#limits;
    return this.#running < concurrent && running < concurrentPerCaller;
  }

  #forgetIdle(name: string, { running, waiting }: Caller): void {
    if (running === 0 && waiting.size === 0) this.#callers.delete(name);
  }

  #startWaiting(): void {
    for (const [name, caller] of this.#callers) {
      const [start] = caller.waiting;
      if (!start || !this.#hasCapacity(caller)) continue;
      start();
      this.#running += 1;
      caller.running += 1;
      // It is visited again, after all others.
      this.#callers.delete(name);
      this.#callers.set(name, caller);
    }
  }

  #waitForStart({ waiting }: Caller, signal: AbortSignal): Promise<void> {
    const { waitMs } = this.#limits;
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        waiting.delete(start);
        settle();
      };
      const start = () => end(resolve);
      const onAbort = () => end(() => reject(signal.reason));
      const timer = setTimeout(() => end(() => reject(tooManyCalls(waitMs))), waitMs);
      signal.addEventListener('abort', onAbort, { once: true });
      waiting.add(start);
    });
  }
}
