import type { Call, Trace } from '../service/call.ts';
import { ApiError, isApiError } from '../service/errors.ts';
import type { RecordOf, Resource } from '../service/records/records.ts';
import { resources } from '../service/routes.ts';
import { readingDeadline, type ToolCall } from '../tenant/call.ts';
import type { CachedCollection, CollectionCache } from './cache.ts';
import type { Collection } from './collection.ts';
import type { Progress } from './pass.ts';
import type { QuoteItems } from './quote-items.ts';
import type { ServicePages } from './service-pages.ts';
import type { SharedReadings } from './shared-readings.ts';
import { type Reading, readCollection } from './walk.ts';

export interface Freshness {
  /** Up to this age a collection is returned from the cache. */
  freshMs: number;
  /** Up to this age it is returned too, while it is read again in the background. */
  staleMs: number;
}

export const defaultFreshness: Freshness = { freshMs: 5 * 60_000, staleMs: 30 * 60_000 };
/** An incomplete collection is read again sooner. */
const incompleteFreshMs = 30_000;
/** Maximum duration of a reading: a call of 45 seconds still has time to return a part. */
const maxWalkMs = 40_000;

interface CollectionSources {
  host: string;
  pages: ServicePages;
  items: QuoteItems;
  cache: CollectionCache;
  freshness: Freshness;
  /** Absent if the state is not shared. */
  shared: SharedReadings | undefined;
}

interface Walk {
  startedAt: number;
  /** When it must end with what it has read, in milliseconds since the epoch. */
  deadline: number;
  reading: Promise<CachedCollection>;
  waiters: Set<ToolCall | typeof background>;
  controller: AbortController;
  /** Trace context of the first waiter. */
  trace: Trace | undefined;
  /** True if the collection changed during the walk: the result is returned to the waiters but not cached. */
  outdated: boolean;
}

const background = Symbol('background');

/** The collections of one tenant: read once for all calls that wait for the same one, and cached. */
export class Collections {
  readonly #sources: CollectionSources;
  readonly #cache: CollectionCache;
  readonly #freshness: Freshness;
  readonly #walks = new Map<Resource, Walk>();
  /** All running walks, including outdated ones. */
  readonly #runningWalks = new Set<Walk>();
  /** Time of the next attempt to read a collection, after a failed or incomplete one. */
  readonly #retryAt = new Map<Resource, number>();

  constructor(sources: CollectionSources) {
    this.#sources = sources;
    this.#cache = sources.cache;
    this.#freshness = sources.freshness;
  }

  /**
   * The whole collection, from the cache if it is fresh, or if it is usable and reading it again fails.
   * @throws ApiError when nothing could be read, `timed-out` after the call's deadline; the signal's reason when
   *   cancelled
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

  /** Reads in the background. After a permanent error the entry is removed, so that the next call reports the error. */
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

  /** The collection changed: the next call reads it again. */
  invalidate(resource: Resource): void {
    this.#cache.delete(this, resource);
    const walk = this.#walks.get(resource);
    if (!walk) return;
    walk.outdated = true;
    this.#walks.delete(resource);
  }

  /** Any collection may have changed. */
  invalidateAll(): void {
    for (const resource of this.#walks.keys()) this.invalidate(resource);
    this.#cache.deleteAll(this);
  }

  cached<R extends Resource>(resource: R): readonly RecordOf[R][] | undefined {
    return this.#cache.get(this, resource)?.records as readonly RecordOf[R][] | undefined;
  }

  /** Stops all walks and clears the cache. */
  close(): void {
    for (const walk of this.#runningWalks) walk.controller.abort(new Error('closed'));
    this.#walks.clear();
    this.#cache.deleteAll(this);
  }

  /** The cached collections and when they were read, in milliseconds since the epoch. */
  *cacheTimes(): Iterable<readonly [string, number]> {
    for (const resource of resources) {
      const asOf = this.#cache.asOf(this, resource);
      if (asOf) yield [resource, asOf.getTime()];
    }
  }

  async #waitFor(resource: Resource, call: ToolCall): Promise<CachedCollection> {
    call.signal.throwIfAborted();
    const walk = this.#joinWalk(resource, call);
    try {
      return await untilCallEnds(call, walk.reading, this.#sources.host);
    } finally {
      walk.waiters.delete(call);
      if (walk.waiters.size === 0) this.#stopWalk(resource, walk);
    }
  }

  #joinWalk(resource: Resource, waiter: ToolCall | typeof background): Walk {
    let walk = this.#walks.get(resource);
    if (!walk) {
      walk = this.#startWalk(resource, waiter === background ? undefined : waiter.trace);
      this.#walks.set(resource, walk);
    }
    walk.waiters.add(waiter);
    walk.deadline = Math.max(walk.deadline, deadlineFor(waiter, walk));
    return walk;
  }

  #stopWalk(resource: Resource, walk: Walk): void {
    walk.controller.abort(new Error('no call waits for the walk'));
    if (this.#walks.get(resource) === walk) this.#walks.delete(resource);
  }

  #startWalk(resource: Resource, trace: Trace | undefined): Walk {
    const walk: Walk = {
      startedAt: Date.now(),
      deadline: 0,
      waiters: new Set(),
      controller: new AbortController(),
      trace,
      outdated: false,
      reading: Promise.resolve().then(() => this.#run(resource, walk)),
    };
    this.#runningWalks.add(walk);
    return walk;
  }

  async #run(resource: Resource, walk: Walk): Promise<CachedCollection> {
    try {
      const read = await this.#load(resource, walk);
      if (walk.outdated) return read;
      const cached = this.#cache.get(this, resource);
      if (cached && this.#isUsable(cached) && coversMore(cached, read)) {
        this.#postponeRetry(resource);
        return cached;
      }
      this.#cache.set(this, resource, read);
      return read;
    } finally {
      this.#runningWalks.delete(walk);
      if (this.#walks.get(resource) === walk) this.#walks.delete(resource);
    }
  }

  /** Gets the copy that is shared between processes, or reads the collection here. */
  #load(resource: Resource, walk: Walk): Promise<CachedCollection> {
    const read = () => this.#readAll(resource, walk);
    const { shared } = this.#sources;
    if (!shared) return read();
    const { freshMs, staleMs } = this.#freshness;
    const keepMs = { complete: staleMs, incomplete: incompleteFreshMs };
    return shared.getOrLoad(resource, freshMs, keepMs, read, walk.controller.signal);
  }

  async #readAll(resource: Resource, walk: Walk): Promise<CachedCollection> {
    const asOf = new Date();
    const call: Call = {
      signal: walk.controller.signal,
      // A waiter with a later deadline extends it.
      get deadline() {
        return walk.deadline;
      },
      purpose: 'walk',
      trace: walk.trace,
    };
    const report = (progress: Progress) => reportProgress(walk, resource, progress);
    const reading = readCollection(this.#sources.pages, resource, fullQuery(resource), call);
    const read = await readToEnd(reading, report);
    const records = await this.#sources.items.marked(resource, read.records, call);
    return { ...read, records, asOf };
  }
}

/** True if the cached collection covers more than an incomplete reading. */
const coversMore = (cached: CachedCollection, read: CachedCollection): boolean =>
  !read.coverage.complete &&
  (cached.coverage.complete || cached.coverage.read > read.coverage.read);

function deadlineFor(waiter: ToolCall | typeof background, { startedAt }: Walk): number {
  const latest = startedAt + maxWalkMs;
  if (waiter === background) return latest;
  return Math.min(latest, readingDeadline(waiter));
}

/** Parameters without which the routes leave records out. */
const fullQuery = (resource: Resource) => ({
  ...(resource === 'product' ? { includeBundles: true } : {}),
  ...(resource === 'category_tree' ? { includeEmpty: true } : {}),
});

export async function readToEnd<R>(
  walking: AsyncGenerator<Progress, Reading<R>>,
  report: (progress: Progress) => void,
): Promise<Reading<R>> {
  for (;;) {
    const step = await walking.next();
    if (step.done) return step.value;
    report(step.value);
  }
}

function reportProgress(walk: Walk, resource: Resource, { read, total }: Progress): void {
  for (const waiter of walk.waiters) {
    if (waiter !== background) waiter.progress(read, total, resource);
  }
}

/** Waits until the call is cancelled or expires; the reading continues for other waiters. */
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
