import { MemoryRates } from '../state/memory-rates.ts';
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
function tooManyCalls(retryMs: number): HttpError {
  const seconds = Math.max(1, Math.ceil(retryMs / 1000));
  return new HttpError(429, `Too many calls: try again in ${seconds} s.`, {
    headers: retryAfterHeader(seconds),
  });
}

/** Releases a call; further calls of it have no effect. */
type Release = () => void;

/** A caller with running or waiting calls. */
interface Caller {
  running: number;
  /** Starts the waiting calls, in order of arrival. */
  waiting: Set<() => void>;
}

/**
 * Serves waiting calls round-robin by caller, so that many calls of one caller do not delay the others. Calls
 * of the same caller are served in order of arrival.
 */
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

  /**
   * Waits until the caller may start a call.
   * @returns the function that releases the capacity; it must be called
   * @throws HttpError (429); the signal's reason when the caller disconnects first
   */
  async acquire(name: string, signal: AbortSignal): Promise<Release> {
    signal.throwIfAborted();
    const { callsPerMinute, queuedPerCaller, waitMs } = this.#limits;
    const rule = { limit: callsPerMinute, windowMs: 60_000, reserve: 0 };
    const now = performance.now();
    const rate = this.#rates.evaluate(name, rule, now);
    if (!rate.taken) throw tooManyCalls(rate.waitMs);
    const caller = this.#callers.get(name) ?? { running: 0, waiting: new Set() };
    const mayStart = this.#hasCapacity(caller);
    if (!mayStart && caller.waiting.size >= queuedPerCaller) throw tooManyCalls(waitMs);
    this.#rates.count(name, rule, now);
    this.#callers.set(name, caller);
    if (mayStart) this.#start(name, caller);
    else await this.#waitInQueue(name, caller, signal);
    return this.#releaseOf(name, caller);
  }

  #hasCapacity({ running }: Caller): boolean {
    const { concurrent, concurrentPerCaller } = this.#limits;
    return this.#running < concurrent && running < concurrentPerCaller;
  }

  #start(name: string, caller: Caller): void {
    this.#running += 1;
    caller.running += 1;
    this.#callers.delete(name);
    this.#callers.set(name, caller);
  }

  #releaseOf(name: string, caller: Caller): Release {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#running -= 1;
      caller.running -= 1;
      this.#forgetIdle(name, caller);
      this.#startNext();
    };
  }

  #forgetIdle(name: string, { running, waiting }: Caller): void {
    if (running === 0 && waiting.size === 0) this.#callers.delete(name);
  }

  #startNext(): void {
    for (const [name, caller] of this.#callers) {
      const [start] = caller.waiting;
      if (!start || !this.#hasCapacity(caller)) continue;
      start();
      // It is visited again, after all others.
      this.#start(name, caller);
    }
  }

  #waitInQueue(name: string, caller: Caller, signal: AbortSignal): Promise<void> {
    const { waitMs } = this.#limits;
    return new Promise((resolve, reject) => {
      const stopWaiting = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        caller.waiting.delete(start);
      };
      const start = () => {
        stopWaiting();
        resolve();
      };
      const fail = (reason: unknown) => {
        stopWaiting();
        this.#forgetIdle(name, caller);
        reject(reason);
      };
      const onAbort = () => fail(signal.reason);
      const timer = setTimeout(() => fail(tooManyCalls(waitMs)), waitMs);
      signal.addEventListener('abort', onAbort, { once: true });
      caller.waiting.add(start);
    });
  }
}
