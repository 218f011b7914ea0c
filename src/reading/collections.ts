import { type Call, type CallContext, readingDeadline, type Trace } from '../service/call.ts';
import { ApiError, isApiError } from '../service/errors.ts';
import type { RecordOf, Resource } from '../service/records/records.ts';
import { resources } from '../service/routes.ts';
import { ReadTime } from './age.ts';
import { type CachePart, type CollectionCache, estimateBytes } from './cache.ts';
import type { CachedCollection, Collection } from './collection.ts';
import { type PackedCollection, pack, unpack } from './packed-collection.ts';
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
  /** Called when a collection alone is larger than the cache, until it fits again. */
  onTooLarge?: ((resource: Resource, bytes: number) => void) | undefined;
}

interface Walk {
  startedAt: number;
  /** When it must end with what it has read, in milliseconds since the epoch. */
  deadline: number;
  reading: Promise<CachedCollection>;
  waiters: Set<CallContext | typeof background>;
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
  readonly #cache: CachePart<CachedCollection>;
  /** Collections that are larger than the cache, compressed. */
  readonly #packed: CachePart<PackedCollection>;
  /** Those that are being compressed. */
  readonly #packing = new Map<Resource, CachedCollection>();
  readonly #unpacking = new Map<Resource, Promise<CachedCollection>>();
  /** The sizes of collections that are larger than the cache, in bytes. */
  readonly #tooLarge = new Map<Resource, number>();
  readonly #freshness: Freshness;
  readonly #walks = new Map<Resource, Walk>();
  /** All running walks, including outdated ones. */
  readonly #runningWalks = new Set<Walk>();
  /** The last failed or incomplete attempts to read collections of which an earlier reading can be used. */
  readonly #failed = new Map<Resource, ReadTime>();

  constructor(sources: CollectionSources) {
    this.#sources = sources;
    this.#cache = sources.cache.part();
    this.#packed = sources.cache.part();
    this.#freshness = sources.freshness;
  }

  /**
   * The whole collection, from the cache if it is fresh, or if it is usable and reading it again fails.
   * @throws ApiError when nothing could be read, `timed-out` after the call's deadline; the signal's reason when
   *   cancelled
   */
  async read<R extends Resource>(resource: R, call: CallContext): Promise<Collection<RecordOf[R]>> {
    const read = (await this.#read(resource, call)) as CachedCollection & Collection<RecordOf[R]>;
    // The clock was set back since.
    return read.asOf.getTime() > Date.now() ? { ...read, asOf: read.readAt.date } : read;
  }

  async #read(resource: Resource, call: CallContext): Promise<CachedCollection> {
    const cached = await this.#cached(resource);
    if (!cached) return this.#waitFor(resource, call);
    if (this.#isFresh(cached)) return cached;
    const usable = this.#isUsable(cached);
    if (usable && this.#failedLately(resource)) return cached;
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
      if (permanent && this.#readAt(resource) === cached.readAt) this.#drop(resource);
    });
  }

  #postponeRetry(resource: Resource): void {
    this.#failed.set(resource, new ReadTime());
  }

  #failedLately(resource: Resource): boolean {
    return (this.#failed.get(resource)?.ageMs ?? incompleteFreshMs) < incompleteFreshMs;
  }

  #isFresh({ coverage, readAt }: CachedCollection): boolean {
    const freshMs = coverage.complete ? this.#freshness.freshMs : incompleteFreshMs;
    return readAt.ageMs < freshMs;
  }

  #isUsable({ readAt }: Pick<CachedCollection, 'readAt'>): boolean {
    return readAt.ageMs < this.#freshness.staleMs;
  }

  /** The collection changed: the next call reads it again. */
  invalidate(resource: Resource): void {
    this.#drop(resource);
    const walk = this.#walks.get(resource);
    if (!walk) return;
    walk.outdated = true;
    this.#walks.delete(resource);
  }

  /** Any collection may have changed. */
  invalidateAll(): void {
    for (const resource of resources) this.invalidate(resource);
  }

  cached<R extends Resource>(resource: R): readonly RecordOf[R][] | undefined {
    return this.#cache.get(resource)?.records as readonly RecordOf[R][] | undefined;
  }

  /** Stops all walks and clears the cache. */
  close(): void {
    for (const walk of this.#runningWalks) walk.controller.abort(new Error('closed'));
    this.#walks.clear();
    for (const resource of resources) this.#drop(resource);
  }

  #drop(resource: Resource): void {
    this.#cache.delete(resource);
    this.#packed.delete(resource);
    this.#packing.delete(resource);
    this.#unpacking.delete(resource);
  }

  #readAt(resource: Resource): ReadTime | undefined {
    return (this.#cache.peek(resource) ?? this.#packed.peek(resource))?.readAt;
  }

  /** Also one that is kept compressed; the calls of a moment share what they unpack. */
  async #cached(resource: Resource): Promise<CachedCollection | undefined> {
    const kept = this.#cache.get(resource) ?? this.#packing.get(resource);
    const running = this.#unpacking.get(resource);
    const packed = this.#packed.get(resource);
    if (kept || running || !packed || !this.#isUsable(packed)) return kept ?? running;
    const unpacking = unpack(packed);
    this.#unpacking.set(resource, unpacking);
    try {
      return await unpacking;
    } finally {
      if (this.#unpacking.get(resource) === unpacking) this.#unpacking.delete(resource);
    }
  }

  /** The cached collections and when they were read, in milliseconds since the epoch. */
  *cacheTimes(): Iterable<readonly [string, number]> {
    for (const resource of resources) {
      const readAt = this.#readAt(resource);
      if (readAt) yield [resource, readAt.date.getTime()];
    }
  }

  /** The collections that are larger than the cache, and their sizes in bytes. */
  tooLarge(): Iterable<readonly [string, number]> {
    return this.#tooLarge;
  }

  async #waitFor(resource: Resource, call: CallContext): Promise<CachedCollection> {
    call.signal.throwIfAborted();
    const walk = this.#joinWalk(resource, call);
    try {
      return await untilCallEnds(call, walk.reading, this.#sources.host);
    } finally {
      walk.waiters.delete(call);
      if (walk.waiters.size === 0) this.#stopWalk(resource, walk);
    }
  }

  #joinWalk(resource: Resource, waiter: CallContext | typeof background): Walk {
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
      const cached = read.coverage.complete ? undefined : await this.#cached(resource);
      if (walk.outdated) return read;
      if (cached && this.#isUsable(cached) && coversMore(cached, read)) {
        this.#postponeRetry(resource);
        return cached;
      }
      this.#keep(resource, read);
      return read;
    } finally {
      this.#runningWalks.delete(walk);
      if (this.#walks.get(resource) === walk) this.#walks.delete(resource);
    }
  }

  #keep(resource: Resource, read: CachedCollection): void {
    const { records } = read;
    const bytes = estimateBytes(records);
    this.#drop(resource);
    if (this.#cache.set(resource, read, bytes, records)) {
      this.#tooLarge.delete(resource);
      return;
    }
    if (!this.#tooLarge.has(resource)) this.#sources.onTooLarge?.(resource, bytes);
    this.#tooLarge.set(resource, bytes);
    void this.#keepPacked(resource, read);
  }

  async #keepPacked(resource: Resource, read: CachedCollection): Promise<void> {
    this.#packing.set(resource, read);
    const packed = await pack(read).catch(() => undefined);
    // It was not invalidated meanwhile.
    if (this.#packing.get(resource) !== read) return;
    this.#packing.delete(resource);
    if (packed) this.#packed.set(resource, packed, bytesOf(packed));
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
    const readAt = new ReadTime();
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
    return { ...read, records, asOf, readAt };
  }
}

const bytesOf = ({ parts }: PackedCollection): number =>
  parts.reduce((sum, { length }) => sum + length, 0);

/** True if the cached collection covers more than an incomplete reading. */
const coversMore = (cached: CachedCollection, read: CachedCollection): boolean =>
  !read.coverage.complete &&
  (cached.coverage.complete || cached.coverage.read > read.coverage.read);

function deadlineFor(waiter: CallContext | typeof background, { startedAt }: Walk): number {
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
