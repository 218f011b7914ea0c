import type { CallContext } from '../service/call.ts';
import { type ApiError, isApiError } from '../service/errors.ts';
import type { RecordOf, Resource } from '../service/records/records.ts';
import { resources, routes, type Search } from '../service/routes.ts';
import { forEachInSlices } from '../slices.ts';
import {
  type CollectionKey,
  type EarlierReading,
  keptMs,
  type SharedCollections,
  type SharedReading,
} from '../state/port.ts';
import { canonicalJson } from '../values.ts';
import {
  ageOf,
  type CachedCollection,
  type CachePart,
  type CollectionCache,
  estimateBytes,
} from './cache.ts';
import { type Collection, stopReason } from './coverage.ts';
import { freezeRecord } from './pass.ts';
import { markUnknownItems, type ServicePages } from './service-pages.ts';
import { SharedWalk } from './shared-walk.ts';
import { canUpdate, isRecent } from './update.ts';
import { type Progress, type Reading, readCollection } from './walk.ts';

/** Up to this age a collection is returned from the cache; for so long after it too, where reading it again fails. */
const defaultFreshMs = 5 * 60_000;
const usableMs = 30 * 60_000;
/** A collection that cannot be sorted has to be read whole again, and changes seldom: it is fresh for so many times longer. */
const unsortedFactor = 12;
/** The pages of a search come from one reading for this time; after it the search is read again. */
const searchFreshMs = 60_000;
/** An incomplete collection is read again sooner. */
const incompleteFreshMs = 30_000;

/** The copies of one tenant's collections for several processes. */
type SharedBetween = Omit<CollectionKey, 'collection'> & { collections: SharedCollections };

interface CollectionSources {
  host: string;
  pages: ServicePages;
  cache: CollectionCache;
  /** Default: five minutes. */
  freshMs: number | undefined;
  /** Absent if the state is not shared. */
  shared: SharedBetween | undefined;
  /** Requests that the tenant allows in ten minutes. */
  budgetLimit: () => number;
  /** Called when a collection alone is larger than the cache, until it fits again. */
  onTooLarge?: ((resource: Resource, bytes: number) => void) | undefined;
}

/** A whole collection, or everything that a search finds. */
interface Wanted {
  /** Of a whole collection its resource; of a search it has a space. */
  name: string;
  resource: Resource;
  search: Search | undefined;
  freshMs: number;
}

/** The collections of one tenant: read once for all calls that wait for the same one, and cached. */
export class Collections {
  readonly #sources: CollectionSources;
  readonly #cache: CachePart;
  /** The collections that alone are larger than the cache. */
  readonly #tooLarge = new Set<Resource>();
  readonly #walks = new Set<SharedWalk>();
  /** The last failed or incomplete attempts to read what an earlier reading can be used of. */
  readonly #failed = new Map<string, Date>();

  constructor(sources: CollectionSources) {
    this.#sources = sources;
    this.#cache = sources.cache.part();
  }

  /**
   * A whole collection, or everything that a search finds; from the cache if it is fresh, or if it is usable and reading
   * it again fails.
   * @throws ApiError when nothing could be read, `timed-out` after the call's deadline; the signal's reason when
   *   cancelled
   */
  async read<R extends Resource>(
    resource: R,
    call: CallContext,
    search?: Search,
  ): Promise<Collection<RecordOf[R]>> {
    const wanted: Wanted = search
      ? { name: `${resource} ${canonicalJson(search)}`, resource, search, freshMs: searchFreshMs }
      : { name: resource, resource, search, freshMs: freshMsOf(resource, this.#sources) };
    return (await this.#read(wanted, call)) as CachedCollection & Collection<RecordOf[R]>;
  }

  async #read(wanted: Wanted, call: CallContext): Promise<CachedCollection> {
    const { name } = wanted;
    const cached = this.#cache.get(name);
    if (cached && isFresh(cached, wanted)) return cached;
    const failedAt = this.#failed.get(name);
    const isFailing = failedAt !== undefined && ageOf(failedAt) < incompleteFreshMs;
    const isKept = cached && (isUsable(cached, wanted) || (isFailing && canReplace(cached)));
    const usable = isKept ? cached : undefined;
    if (usable && isFailing) return usable;
    call.signal.throwIfAborted();
    return this.#join(wanted, call)
      .waitFor(call, this.#sources.host)
      .catch((error: unknown) => {
        if (!usable || !isApiError(error) || !error.retryable) throw error;
        this.#failed.set(name, new Date());
        return usable;
      });
  }

  #join(wanted: Wanted, waiter: CallContext): SharedWalk {
    let walk = [...this.#walks].find(({ name, isCurrent }) => name === wanted.name && isCurrent);
    if (!walk) {
      walk = new SharedWalk(wanted.name, (own) => this.#run(wanted, own));
      this.#walks.add(walk);
    }
    walk.join(waiter);
    return walk;
  }

  async #run(wanted: Wanted, walk: SharedWalk): Promise<CachedCollection> {
    try {
      const read = await this.#load(wanted, walk);
      const cached = this.#cache.peek(wanted.name);
      if (walk.outdated) return read;
      if (cached && isUsable(cached, wanted) && coversMore(cached, read)) {
        this.#failed.set(wanted.name, new Date());
        return cached;
      }
      this.#keep(wanted, read);
      return read;
    } finally {
      this.#walks.delete(walk);
    }
  }

  #keep({ name, resource }: Wanted, read: CachedCollection): void {
    const bytes = estimateBytes(read.records);
    const isKept = this.#cache.set(name, read, bytes);
    if (!isKept && !this.#tooLarge.has(resource)) this.#sources.onTooLarge?.(resource, bytes);
    if (isKept) this.#tooLarge.delete(resource);
    else this.#tooLarge.add(resource);
  }

  /**
   * Gets the copy that is shared between processes, or reads here. Where the budget does not suffice for a whole reading,
   * an earlier one is returned with the reason.
   */
  async #load(wanted: Wanted, walk: SharedWalk): Promise<CachedCollection> {
    const { shared } = this.#sources;
    if (wanted.search) return readAll(this.#sources, wanted, walk, undefined);
    const own = this.#cache.peek(wanted.name);
    let earlier: CachedCollection | undefined;
    const read = async (kept: CachedCollection | undefined) => {
      earlier = later(own, kept);
      walk.needsAll = earlier !== undefined && canReplace(earlier);
      const { stoppedBy, ...collection } = await readAll(this.#sources, wanted, walk, earlier);
      if (walk.needsAll && isShortage(stoppedBy)) throw stoppedBy;
      return collection;
    };
    const reading = shared ? readShared(shared, wanted, read, walk.signal) : read(undefined);
    return reading.catch((error: unknown) => {
      if (!earlier || !walk.needsAll || !isShortage(error)) throw error;
      this.#failed.set(wanted.name, new Date());
      return { ...earlier, coverage: { ...earlier.coverage, reason: stopReason(error) } };
    });
  }

  /**
   * The collection changed: the next call brings it up to date or reads it again, and every search. Without a resource
   * everything is forgotten.
   */
  invalidate(resource?: Resource): void {
    const isMeant = (name: string) =>
      resource === undefined || name === resource || name.includes(' ');
    const outdated = resource && this.#cache.peek(resource);
    if (outdated) outdated.isOutdated = true;
    this.#cache.clear((name) => isMeant(name) && !(outdated && name === resource));
    for (const walk of this.#walks) walk.outdated ||= isMeant(walk.name);
  }

  /** Whether a whole collection can be returned without a request, or with the few that bring it up to date. */
  async isHeld(resource: Resource): Promise<boolean> {
    const { pages, shared } = this.#sources;
    const cached = this.#cache.peek(resource);
    const freshMs = freshMsOf(resource, this.#sources);
    if (cached && isFresh(cached, { freshMs })) return true;
    // It would have to be parsed for every question.
    if (this.#tooLarge.has(resource)) return false;
    const isCurrent = canUpdate(resource, pages);
    if (isCurrent && cached?.basis && isRecent(cached.basis)) return true;
    if (!shared) return false;
    const { collections, ...owner } = shared;
    const ageMs = await collections.ageOf({ ...owner, collection: resource });
    return ageMs !== undefined && (isCurrent || ageMs < freshMs);
  }

  cached<R extends Resource>(resource: R): readonly RecordOf[R][] | undefined {
    const cached = this.#cache.get(resource);
    return cached?.isOutdated ? undefined : (cached?.records as readonly RecordOf[R][] | undefined);
  }

  close(): void {
    this.invalidate();
    for (const walk of this.#walks) walk.stop('closed');
  }

  /** The cached collections and when they were read, in milliseconds since the epoch. */
  *cacheTimes(isMeant = (_: CachedCollection) => true): Iterable<readonly [Resource, number]> {
    for (const resource of resources) {
      const cached = this.#cache.peek(resource);
      if (cached && !cached.isOutdated && isMeant(cached)) yield [resource, cached.asOf.getTime()];
    }
  }

  /** Those that can be returned even if they cannot be read again. */
  usableTimes(): Iterable<readonly [Resource, number]> {
    return this.cacheTimes(canReplace);
  }
}

/** What cannot be sorted cannot be brought up to date. */
function freshMsOf(
  resource: Resource,
  { freshMs = defaultFreshMs }: Pick<CollectionSources, 'freshMs'>,
): number {
  return routes[resource].parameters.includes('sort') ? freshMs : freshMs * unsortedFactor;
}

type Age = Pick<Wanted, 'freshMs'>;

const isFresh = ({ coverage, asOf, isOutdated }: CachedCollection, { freshMs }: Age) =>
  !isOutdated && ageOf(asOf) < (coverage.complete ? freshMs : incompleteFreshMs);

const isUsable = ({ asOf, isOutdated }: CachedCollection, { freshMs }: Age): boolean =>
  !isOutdated && ageOf(asOf) < freshMs + usableMs;

/** Whether it may be returned where the requests that remain do not suffice to read it again. */
const canReplace = ({ coverage, asOf, isOutdated }: CachedCollection): boolean =>
  coverage.complete && !isOutdated && ageOf(asOf) < keptMs;

/** Whether the requests, or the time, did not suffice. */
const isShortage = (error: unknown): error is ApiError =>
  isApiError(error, 'budget-spent', 'rate-limited', 'timed-out');

/** True if the cached collection covers more than an incomplete reading. */
const coversMore = (cached: CachedCollection, read: CachedCollection): boolean =>
  !read.coverage.complete &&
  (cached.coverage.complete || cached.coverage.read > read.coverage.read);

/** Parameters without which the routes that have them leave records out. */
const fullQuery: Search = { includeBundles: true, includeEmpty: true };

/** Of two readings the one that lacks fewer changes. */
function later(
  own: CachedCollection | undefined,
  kept: CachedCollection | undefined,
): CachedCollection | undefined {
  if (!own || !kept) return own ?? kept;
  const time = ({ basis, asOf }: CachedCollection) => basis?.changesFrom ?? asOf.getTime();
  return time(own) < time(kept) ? kept : own;
}

/**
 * The copy that is shared between processes if it is fresh; otherwise what `read` returns, which is then shared.
 * @throws the error of `read`; the signal's reason
 */
async function readShared(
  { collections, ...owner }: SharedBetween,
  { resource, freshMs }: Wanted,
  read: (kept: CachedCollection | undefined) => Promise<CachedCollection>,
  signal: AbortSignal,
): Promise<CachedCollection> {
  let local: CachedCollection | undefined;
  const readHere = async (kept: EarlierReading | undefined) => {
    local = await read(kept && { ...(await fromShared(kept)), isOutdated: kept.isOutdated });
    const { asOf, isOutdated, ...value } = local;
    return {
      value,
      ageMs: Math.max(0, Date.now() - asOf.getTime()),
      keepMs: keepMs(local, freshMs),
    };
  };
  const key = { ...owner, collection: resource };
  const reading = await collections.getOrLoad(key, freshMs, readHere, signal);
  // Read in this process: the objects can be used as they are.
  return local ?? fromShared(reading);
}

/** As long as it can be returned or brought up to date. */
function keepMs({ coverage, basis }: CachedCollection, freshMs: number): number {
  if (!coverage.complete) return incompleteFreshMs;
  return Math.max(freshMs, keptMs - (basis ? Date.now() - basis.wholeAt : 0));
}

async function fromShared({ value, ageMs }: SharedReading): Promise<CachedCollection> {
  const shared = value as Omit<CachedCollection, 'asOf'>;
  await forEachInSlices(shared.records, (record) => freezeRecord(record));
  return { ...shared, asOf: new Date(Date.now() - ageMs) };
}

async function readAll(
  { pages, budgetLimit }: CollectionSources,
  { resource, search }: Wanted,
  walk: SharedWalk,
  earlier: CachedCollection | undefined,
): Promise<CachedCollection & Pick<Reading<unknown>, 'stoppedBy'>> {
  const asOf = new Date();
  const query = search ?? fullQuery;
  const report = (progress: Progress) => walk.report(progress, resource, budgetLimit());
  const read = await readCollection({ pages, resource, query, call: walk, report }, earlier);
  const records =
    read.records === earlier?.records
      ? earlier.records
      : markUnknownItems(resource, read.records, pages);
  return { ...read, records, asOf };
}
