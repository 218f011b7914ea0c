import type { Call } from '../api/call.ts';
import type { ApiClient } from '../api/client.ts';
import { ApiError, isApiError } from '../api/errors.ts';
import type { RecordOf, Resource } from '../api/records.ts';
import { routes } from '../api/routes.ts';
import type { Trace } from '../api/trace.ts';
import type { CachedCollection, CollectionCache } from './cache.ts';
import type { ToolCall } from './call.ts';
import type { Coverage } from './reading/coverage.ts';
import type { Progress } from './reading/pass.ts';
import { type Reading, readCollection } from './reading/walk.ts';
import type { SharedReadings } from './shared-readings.ts';

/** A whole collection, as it was at `asOf`. */
export interface Collection<R> {
  records: readonly R[];
  coverage: Coverage;
  asOf: Date;
}

export interface Freshness {
  /** Answered from as it is. */
  freshMs: number;
  /** Beyond that answered from, its age told, while it is read anew. */
  staleMs: number;
}

export const defaultFreshness: Freshness = { freshMs: 5 * 60_000, staleMs: 30 * 60_000 };
/** What was cut short is worth another try sooner. */
const incompleteFreshMs = 30_000;
/** Leaves a call of 45 seconds the time to answer with what there is. */
const maxWalkMs = 40_000;
/** A call that has less time leaves itself so much of it, or a fifth. */
const answerReserveMs = 2_000;

interface Walk {
  startedAt: number;
  /** When it must end with what it has, in milliseconds since the epoch. */
  deadline: number;
  reading: Promise<CachedCollection>;
  waiters: Set<ToolCall | typeof background>;
  controller: AbortController;
  /** Of the first who waited for it. */
  trace: Trace | undefined;
  /** Set when the collection changed under the walk: its result is for those who wait, not to keep. */
  outdated: boolean;
}

const background = Symbol('background');

/** The collections of one tenant: each read once however many calls wait for it, and held for a while. */
export class Collections {
  readonly #client: ApiClient;
  readonly #cache: CollectionCache;
  readonly #freshness: Freshness;
  readonly #shared: SharedReadings | undefined;
  readonly #walks = new Map<Resource, Walk>();
  /** Those that are outdated too. */
  readonly #runningWalks = new Set<Walk>();
  /** When reading anew is worth another try. */
  readonly #retryAt = new Map<Resource, number>();
  readonly #unregisterGauges: (() => void) | undefined;

  constructor(
    client: ApiClient,
    cache: CollectionCache,
    freshness: Freshness,
    shared?: SharedReadings,
  ) {
    this.#client = client;
    this.#cache = cache;
    this.#freshness = freshness;
    this.#shared = shared;
    this.#unregisterGauges = client.observer?.registerGauges({
      cachedCollections: () => this.#cacheTimes(),
    });
  }

  /**
   * The whole collection, from memory where that is fresh enough, or where nothing better can be had now.
   * @throws ApiError when nothing could be read; `timed-out` when this call's own time is over; the
   *   signal's reason when it was cancelled
   */
  async read<R extends Resource>(resource: R, call: ToolCall): Promise<Collection<RecordOf[R]>> {
    return (await this.#read(resource, call)) as Collection<RecordOf[R]>;
  }

  async #read(resource: Resource, call: ToolCall): Promise<CachedCollection> {
    const cached = this.#cache.get(this, resource);
    if (!cached) return this.#waitFor(resource, call);
    if (this.#isFresh(cached)) return cached;
    const usable = this.#isUsable(cached);
    if (usable && Date.now() < (this.#retryAt.get(resource) ?? 0)) return cached;
    if (usable && cached.coverage.complete) {
      this.#refresh(resource, cached);
      return cached;
    }
    return this.#waitFor(resource, call).catch((error: unknown) => {
      if (!usable || !isApiError(error) || !error.retryable) throw error;
      this.#postponeRetry(resource);
      return cached;
    });
  }

  /** In the background; what cannot be read any more is not held on to, so that the next call tells why. */
  #refresh(resource: Resource, cached: CachedCollection): void {
    this.#joinWalk(resource, background).reading.catch((error: unknown) => {
      this.#postponeRetry(resource);
      const permanent = isApiError(error) && !error.retryable;
      if (permanent && this.#cache.get(this, resource) === cached)
        this.#cache.delete(this, resource);
    });
  }

  #postponeRetry(resource: Resource): void {
    this.#retryAt.set(resource, Date.now() + incompleteFreshMs);
  }

  #isFresh({ coverage, asOf }: CachedCollection): boolean {
    const freshMs = coverage.complete ? this.#freshness.freshMs : incompleteFreshMs;
    return Date.now() - asOf.getTime() < freshMs;
  }

  #isUsable({ asOf }: CachedCollection): boolean {
    return Date.now() - asOf.getTime() < this.#freshness.staleMs;
  }

  /** Something in it changed: the next call reads it anew. */
  invalidate(resource: Resource): void {
    this.#cache.delete(this, resource);
    const running = this.#walks.get(resource);
    if (!running) return;
    running.outdated = true;
    this.#walks.delete(resource);
  }

  /** Nobody knows what changed. */
  invalidateAll(): void {
    for (const resource of this.#walks.keys()) this.invalidate(resource);
    this.#cache.deleteAll(this);
  }

  cached<R extends Resource>(resource: R): readonly RecordOf[R][] | undefined {
    return this.#cache.get(this, resource)?.records as readonly RecordOf[R][] | undefined;
  }

  /** Stops every reading under way and lets go of what is held. */
  close(): void {
    this.#unregisterGauges?.();
    for (const running of this.#runningWalks) running.controller.abort(new Error('closed'));
    this.#walks.clear();
    this.#cache.deleteAll(this);
  }

  *#cacheTimes(): Iterable<readonly [string, number]> {
    for (const resource of Object.keys(routes) as Resource[]) {
      const asOf = this.#cache.asOf(this, resource);
      if (asOf) yield [resource, asOf.getTime()];
    }
  }

  async #waitFor(resource: Resource, call: ToolCall): Promise<CachedCollection> {
    call.signal.throwIfAborted();
    const running = this.#joinWalk(resource, call);
    try {
      return await untilCallEnds(call, running.reading, this.#client.host);
    } finally {
      running.waiters.delete(call);
      if (running.waiters.size === 0) this.#stopWalk(resource, running);
    }
  }

  #joinWalk(resource: Resource, waiter: ToolCall | typeof background): Walk {
    let running = this.#walks.get(resource);
    if (!running) {
      running = this.#startWalk(resource, waiter === background ? undefined : waiter.trace);
      this.#walks.set(resource, running);
    }
    running.waiters.add(waiter);
    running.deadline = Math.max(running.deadline, deadlineFor(waiter, running));
    return running;
  }

  #stopWalk(resource: Resource, running: Walk): void {
    running.controller.abort(new Error('nobody waits any more'));
    if (this.#walks.get(resource) === running) this.#walks.delete(resource);
  }

  #startWalk(resource: Resource, trace: Trace | undefined): Walk {
    const cancel = new AbortController();
    const running: Walk = {
      startedAt: Date.now(),
      deadline: 0,
      waiters: new Set(),
      controller: cancel,
      trace,
      outdated: false,
      reading: Promise.resolve().then(() => this.#walk(resource, running)),
    };
    this.#runningWalks.add(running);
    return running;
  }

  async #walk(resource: Resource, running: Walk): Promise<CachedCollection> {
    try {
      const read = await this.#load(resource, running);
      if (running.outdated) return read;
      const cached = this.#cache.get(this, resource);
      if (cached && this.#isUsable(cached) && coversMore(cached, read)) {
        this.#postponeRetry(resource);
        return cached;
      }
      this.#cache.set(this, resource, read);
      return read;
    } finally {
      this.#runningWalks.delete(running);
      if (this.#walks.get(resource) === running) this.#walks.delete(resource);
    }
  }

  /** From those who share it, if there are any; otherwise, or for them, read here. */
  #load(resource: Resource, running: Walk): Promise<CachedCollection> {
    const read = () => this.#readAll(resource, running);
    if (!this.#shared) return read();
    const { freshMs, staleMs } = this.#freshness;
    const keepMs = { complete: staleMs, incomplete: incompleteFreshMs };
    return this.#shared.getOrLoad(resource, freshMs, keepMs, read, running.controller.signal);
  }

  async #readAll(resource: Resource, running: Walk): Promise<CachedCollection> {
    const asOf = new Date();
    const call: Call = {
      signal: running.controller.signal,
      // Later, should somebody join who has more time.
      get deadline() {
        return running.deadline;
      },
      purpose: 'walk',
      trace: running.trace,
    };
    const tell = (progress: Progress) => reportProgress(running, resource, progress);
    const reading = readCollection(this.#client, resource, fullQuery(resource), call);
    return { ...(await readToEnd(reading, tell)), asOf };
  }
}

/** Whether what is held covers more than a reading that was cut short. */
const coversMore = (cached: CachedCollection, read: CachedCollection): boolean =>
  !read.coverage.complete &&
  (cached.coverage.complete || cached.coverage.read > read.coverage.read);

function deadlineFor(waiter: ToolCall | typeof background, { startedAt }: Walk): number {
  const latest = startedAt + maxWalkMs;
  if (waiter === background) return latest;
  const remainingMs = waiter.deadline - Date.now();
  return Math.min(latest, waiter.deadline - Math.min(answerReserveMs, remainingMs / 5));
}

/** What the routes leave out unless it is asked for. */
const fullQuery = (resource: Resource) => ({
  ...(resource === 'product' ? { includeBundles: true } : {}),
  ...(resource === 'category_tree' ? { includeEmpty: true } : {}),
});

/** Reads to the end, telling how far it is. */
export async function readToEnd<R>(
  walking: AsyncGenerator<Progress, Reading<R>>,
  tell: (progress: Progress) => void,
): Promise<Reading<R>> {
  for (;;) {
    const step = await walking.next();
    if (step.done) return step.value;
    tell(step.value);
  }
}

function reportProgress(running: Walk, resource: Resource, { read, total }: Progress): void {
  for (const waiter of running.waiters) {
    if (waiter !== background) waiter.progress(read, total, resource);
  }
}

/** The shared reading goes on for the others when this call is cancelled or out of time. */
function untilCallEnds<T>(call: ToolCall, reading: Promise<T>, host: string): Promise<T> {
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
