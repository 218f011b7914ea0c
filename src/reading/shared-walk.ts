import { type Call, type CallContext, readingDeadline, type WalkCost } from '../service/call.ts';
import { ApiError } from '../service/errors.ts';
import { delay } from '../state/delay.ts';
import type { CachedCollection } from './cache.ts';
import { maxParallel } from './read-pages.ts';
import type { Progress } from './walk.ts';

/** Maximum duration of a reading: a call of 45 seconds still has time to return a part. */
const maxWalkMs = 40_000;
/** A walk of more requests than this share of the tenant's budget says so when it begins. */
const costlyShare = 1 / 4;
/** A walk of more pages than this is slowed down while the budget is low, to this share of its time. */
const maxPagesAtOnce = 10;
const slowShare = 1 / 3;

/** A reading that several calls wait for. It stops when none of them waits any longer. */
export class SharedWalk implements Call {
  readonly name: string;
  /** The collection changed during the walk: the result is returned to the waiters but not cached. */
  outdated = false;
  /** A part of the collection is of no use, as there is an earlier reading of the whole. */
  needsAll = false;
  readonly purpose = 'walk';
  /** When it must end with what it has read. A waiter with a later deadline extends it. */
  deadline = 0;
  readonly reading: Promise<CachedCollection>;
  readonly #controller = new AbortController();
  readonly signal = this.#controller.signal;
  readonly #waiters = new Set<CallContext>();
  readonly #startedAt = Date.now();
  readonly #latest = this.#startedAt + maxWalkMs;
  #read = 0;
  #pagesRead = 0;
  #pages: number | undefined;

  constructor(name: string, read: (walk: SharedWalk) => Promise<CachedCollection>) {
    this.name = name;
    this.reading = Promise.resolve().then(() => read(this));
  }

  /** Whether further calls may wait for it. */
  get isCurrent(): boolean {
    return !this.outdated && !this.signal.aborted;
  }

  join(waiter: CallContext): void {
    this.#waiters.add(waiter);
    const wanted = Math.min(this.#latest, readingDeadline(waiter));
    this.deadline = Math.max(this.deadline, wanted);
  }

  /**
   * The result, for a call that has joined; the reading continues for other waiters.
   * @throws ApiError (`timed-out`) when the call expires; the signal's reason when it is cancelled
   */
  async waitFor(call: CallContext, host: string): Promise<CachedCollection> {
    const answered = new AbortController();
    const ended = AbortSignal.any([call.signal, answered.signal]);
    const expiry = delay(Math.max(0, call.deadline - Date.now()), ended).then(() => {
      throw new ApiError('timed-out', { host }, 'the call ran out of time');
    });
    try {
      return await Promise.race([this.reading, expiry]);
    } finally {
      answered.abort();
      this.#waiters.delete(call);
      if (this.#waiters.size === 0) this.stop('no call waits for the walk');
    }
  }

  /**
   * Called after every page.
   * @param limit requests that the tenant allows in ten minutes
   */
  report({ read, total }: Progress, what: string, limit: number): void {
    // Another pass begins anew.
    this.#pagesRead = read < this.#read ? 1 : this.#pagesRead + 1;
    this.#read = read;
    this.#pages =
      total === undefined || read === 0
        ? undefined
        : this.#pagesRead + Math.ceil((Math.max(0, total - read) * this.#pagesRead) / read);
    const pages = this.#pages ?? 0;
    const isCostly = this.#pagesRead === 1 && pages > limit * costlyShare;
    const costs = isCostly ? ` (${pages} of the tenant's ${limit} requests in ten minutes)` : '';
    const place = pages > 1 ? `page ${this.#pagesRead} of ${pages}` : '';
    for (const waiter of this.#waiters) waiter.progress(read, total, what, place + costs);
  }

  get cost(): WalkCost | undefined {
    const pages = this.#pages;
    if (pages === undefined) return undefined;
    const left = Math.max(0, pages - this.#pagesRead);
    const endsAt = this.#startedAt + (this.deadline - this.#startedAt) * slowShare;
    const isSlowed = pages > maxPagesAtOnce && left > 0;
    const pauseMs = isSlowed ? Math.max(0, ((endsAt - Date.now()) * maxParallel) / left) : 0;
    return { pages, left, pauseMs, needsAll: this.needsAll };
  }

  stop(reason: string): void {
    this.#controller.abort(new Error(reason));
  }
}
