import { type Call, type CallContext, readingDeadline, type Trace } from '../service/call.ts';
import { ApiError } from '../service/errors.ts';
import type { CachedCollection } from './collection.ts';
import type { Progress } from './walk.ts';

/** Maximum duration of a reading: a call of 45 seconds still has time to return a part. */
const maxWalkMs = 40_000;

/** A reading that several calls wait for. It stops when none of them waits any longer. */
export class SharedWalk {
  readonly name: string;
  /** The collection changed during the walk: the result is returned to the waiters but not cached. */
  outdated = false;
  readonly call: Call;
  readonly reading: Promise<CachedCollection>;
  readonly #controller = new AbortController();
  /** `undefined` stands for the background. */
  readonly #waiters = new Set<CallContext | undefined>();
  readonly #latest = Date.now() + maxWalkMs;
  /** When it must end with what it has read, in milliseconds since the epoch. */
  #deadline = 0;

  /** @param trace of the first waiter */
  constructor(
    name: string,
    trace: Trace | undefined,
    read: (walk: SharedWalk) => Promise<CachedCollection>,
  ) {
    this.name = name;
    const deadline = () => this.#deadline;
    this.call = {
      signal: this.#controller.signal,
      // A waiter with a later deadline extends it.
      get deadline() {
        return deadline();
      },
      purpose: 'walk',
      trace,
    };
    this.reading = Promise.resolve().then(() => read(this));
  }

  /** Whether further calls may wait for it. */
  get isCurrent(): boolean {
    return !this.outdated && !this.#controller.signal.aborted;
  }

  join(waiter: CallContext | undefined): void {
    this.#waiters.add(waiter);
    const wanted = waiter ? readingDeadline(waiter) : this.#latest;
    this.#deadline = Math.max(this.#deadline, Math.min(this.#latest, wanted));
  }

  /**
   * The result, for a call that has joined.
   * @throws ApiError (`timed-out`) when the call expires; the signal's reason when it is cancelled
   */
  async waitFor(call: CallContext, host: string): Promise<CachedCollection> {
    try {
      return await untilCallEnds(call, this.reading, host);
    } finally {
      this.#waiters.delete(call);
      if (this.#waiters.size === 0) this.stop('no call waits for the walk');
    }
  }

  report({ read, total }: Progress, what: string): void {
    for (const waiter of this.#waiters) waiter?.progress(read, total, what);
  }

  stop(reason: string): void {
    this.#controller.abort(new Error(reason));
  }
}

/** Waits until the call is cancelled or expires; the reading continues for other waiters. */
function untilCallEnds<T>(call: CallContext, reading: Promise<T>, host: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = () => reject(call.signal.reason);
    const expire = () => reject(new ApiError('timed-out', { host }, 'the call ran out of time'));
    const timer = setTimeout(expire, Math.max(0, call.deadline - Date.now()));
    call.signal.addEventListener('abort', cancel, { once: true });
    reading.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      call.signal.removeEventListener('abort', cancel);
    });
  });
}
