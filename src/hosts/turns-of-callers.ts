import { Denied, retryAfter } from './access/denied.ts';

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
export class TooManyCalls extends Denied {
  readonly reason: 'rate' | 'queue' | 'waited';
  /** Seconds after which it is worth another try. */
  readonly retryAfter: number;

  constructor(reason: TooManyCalls['reason'], retryMs: number) {
    const seconds = Math.max(1, Math.ceil(retryMs / 1000));
    super(429, `Too many calls: try again in ${seconds} s.`, { headers: retryAfter(seconds) });
    this.reason = reason;
    this.retryAfter = seconds;
  }
}

/** Ends a call; it may be called again, and does nothing then. */
type Leave = () => void;

interface Waiting {
  /** How many calls start together. */
  calls: number;
  admit(leave: Leave): void;
}

/** What is known of one caller. */
class Caller {
  running = 0;
  /** Calls that wait. */
  queued = 0;
  /** The longest waiting first. */
  readonly waiting = new Set<Waiting>();
  /** When each call of the last minute was asked for, by a clock of its own, the oldest first. */
  readonly asked: number[] = [];

  get isIdle(): boolean {
    return this.running === 0 && this.waiting.size === 0;
  }
}

const minuteMs = 60_000;
/** Of callers that do nothing just now; whoever was quiet the longest is forgotten first. */
const mostIdle = 10_000;

/**
 * Gives callers their turns: who waits is admitted in a round, one call of each at a time, so that nobody's
 * many calls stand in front of another's one. Within a caller the first that came is the first.
 */
export class TurnsOfCallers {
  readonly #limits: CallerLimits;
  /** The one that was heard of last is last. */
  readonly #callers = new Map<string, Caller>();
  /** Who waits, and may have another call answered, in the order of the round. */
  readonly #round = new Set<Caller>();
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
  get known(): number {
    return this.#callers.size;
  }

  /**
   * Waits for the caller's turn. A batch of `calls` counts as so many, and starts when there is room for all
   * of them; there must be no more than `maxBatch`.
   * @returns what ends it, which must be called
   * @throws TooManyCalls; the signal's reason when the caller goes away first
   */
  async enter(name: string, signal: AbortSignal, calls = 1): Promise<Leave> {
    signal.throwIfAborted();
    const caller = this.#heard(name);
    this.#count(caller, calls);
    if (this.#mayStart(caller, calls)) return this.#start(caller, calls);
    if (caller.queued + calls > this.#limits.queuedPerCaller) {
      caller.asked.splice(-calls); // They were not even queued.
      throw new TooManyCalls('queue', this.#limits.waitMs);
    }
    return this.#wait(caller, signal, calls);
  }

  #heard(name: string): Caller {
    this.#forget();
    const caller = this.#callers.get(name) ?? new Caller();
    this.#moveBack(name, caller);
    return caller;
  }

  /** A few at a time: each call adds one caller at most. */
  #forget(): void {
    const now = performance.now();
    const oldest = this.#callers.entries();
    for (let looked = 0; looked < 2; looked++) {
      const [name, caller] = oldest.next().value ?? [];
      if (name === undefined || !caller) return;
      const last = caller.asked.at(-1) ?? Number.NEGATIVE_INFINITY;
      const isQuiet = now - last >= minuteMs || this.#callers.size >= mostIdle;
      if (caller.isIdle && isQuiet) this.#callers.delete(name);
      else if (!caller.isIdle) this.#moveBack(name, caller);
    }
  }

  /** Who is busy must not keep others from being forgotten. */
  #moveBack(name: string, caller: Caller): void {
    this.#callers.delete(name);
    this.#callers.set(name, caller);
  }

  /** @throws TooManyCalls over the rate; what is refused is not counted */
  #count(caller: Caller, calls: number): void {
    const { asked } = caller;
    const now = performance.now();
    const recent = asked.findIndex((at) => at > now - minuteMs);
    asked.splice(0, recent === -1 ? asked.length : recent);
    const over = asked.length + calls - this.#limits.callsPerMinute;
    if (over > 0) throw new TooManyCalls('rate', (asked[over - 1] ?? now) + minuteMs - now);
    for (let call = 0; call < calls; call++) asked.push(now);
  }

  /** Nobody is passed by: a batch that waits for room would wait for ever otherwise. */
  #mayStart(caller: Caller, calls: number): boolean {
    const isNext = this.#round.size === 0 && caller.waiting.size === 0;
    return isNext && this.#fitsCaller(caller, calls) && this.#fits(calls);
  }

  #fits(calls: number): boolean {
    return this.#running + calls <= this.#limits.concurrent;
  }

  #fitsCaller({ running }: Caller, calls: number): boolean {
    return running + calls <= this.#limits.concurrentPerCaller;
  }

  #start(caller: Caller, calls: number): Leave {
    this.#running += calls;
    caller.running += calls;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#running -= calls;
      caller.running -= calls;
      this.#goOn(caller);
    };
  }

  /** There may be room now, for this caller or for another. */
  #goOn(caller: Caller): void {
    if (caller.waiting.size > 0) this.#round.add(caller);
    this.#admit();
  }

  #wait(caller: Caller, signal: AbortSignal, calls: number): Promise<Leave> {
    const { waitMs } = this.#limits;
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        calls,
        admit: (leave) => {
          stopWaiting();
          resolve(leave);
        },
      };
      const giveUp = (why: unknown) => {
        stopWaiting();
        reject(why);
        this.#goOn(caller);
      };
      const gone = () => giveUp(signal.reason);
      const late = setTimeout(() => giveUp(new TooManyCalls('waited', waitMs)), waitMs);
      signal.addEventListener('abort', gone, { once: true });
      const stopWaiting = () => {
        clearTimeout(late);
        signal.removeEventListener('abort', gone);
        this.#leaveQueue(caller, waiting);
      };
      this.#joinQueue(caller, waiting);
    });
  }

  #joinQueue(caller: Caller, waiting: Waiting): void {
    const isFirst = caller.waiting.size === 0;
    caller.waiting.add(waiting);
    caller.queued += waiting.calls;
    this.#queued += waiting.calls;
    if (isFirst && this.#fitsCaller(caller, waiting.calls)) this.#round.add(caller);
  }

  #leaveQueue(caller: Caller, waiting: Waiting): void {
    caller.waiting.delete(waiting);
    caller.queued -= waiting.calls;
    this.#queued -= waiting.calls;
    if (caller.waiting.size === 0) this.#round.delete(caller);
  }

  #admit(): void {
    for (const caller of this.#round) {
      const [first] = caller.waiting;
      const fits = first && this.#fitsCaller(caller, first.calls);
      if (fits && !this.#fits(first.calls)) return;
      this.#round.delete(caller);
      if (!fits) continue;
      first.admit(this.#start(caller, first.calls));
      // Behind all others that wait.
      if (caller.waiting.size > 0) this.#round.add(caller);
    }
  }
}
