import type { Call } from '../api/call.ts';
import type { ApiClient } from '../api/client.ts';
import { ApiError, isApiError } from '../api/errors.ts';
import type { RecordOf, Resource } from '../api/records.ts';
import { routes } from '../api/routes.ts';
import type { Trace } from '../api/trace.ts';
import type { CollectionCache, Held } from './cache.ts';
import type { ToolCall } from './call.ts';
import type { Coverage } from './reading/coverage.ts';
import type { Progress } from './reading/pass.ts';
import { type Reading, walk } from './reading/walk.ts';
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

export const usualFreshness: Freshness = { freshMs: 5 * 60_000, staleMs: 30 * 60_000 };
/** What was cut short is worth another try sooner. */
const incompleteFreshMs = 30_000;
/** Leaves a call of 45 seconds the time to answer with what there is. */
const longestWalkMs = 40_000;
/** A call that has less time leaves itself so much of it, or a fifth. */
const answerMs = 2_000;

interface Walk {
  startedAt: number;
  /** When it must end with what it has, in milliseconds since the epoch. */
  deadline: number;
  reading: Promise<Held>;
  waiting: Set<ToolCall | typeof background>;
  stop: AbortController;
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
  readonly #running = new Set<Walk>();
  /** When reading anew is worth another try. */
  readonly #notBefore = new Map<Resource, number>();
  readonly #stopOffering: (() => void) | undefined;

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
    this.#stopOffering = client.observer?.offers({ collectionsHeld: () => this.#ages() });
  }

  /**
   * The whole collection, from memory where that is fresh enough, or where nothing better can be had now.
   * @throws ApiError when nothing could be read; `timed-out` when this call's own time is over; the
   *   signal's reason when it was cancelled
   */
  async read<R extends Resource>(resource: R, call: ToolCall): Promise<Collection<RecordOf[R]>> {
    return (await this.#read(resource, call)) as Collection<RecordOf[R]>;
  }

  async #read(resource: Resource, call: ToolCall): Promise<Held> {
    const held = this.#cache.get(this, resource);
    if (!held) return this.#wait(resource, call);
    if (this.#isFresh(held)) return held;
    const usable = this.#isUsable(held);
    if (usable && Date.now() < (this.#notBefore.get(resource) ?? 0)) return held;
    if (usable && held.coverage.complete) {
      this.#readAnew(resource, held);
      return held;
    }
    return this.#wait(resource, call).catch((error: unknown) => {
      if (!usable || !isApiError(error) || !error.retryable) throw error;
      this.#wasInVain(resource);
      return held;
    });
  }

  /** In the background; what cannot be read any more is not held on to, so that the next call tells why. */
  #readAnew(resource: Resource, held: Held): void {
    this.#join(resource, background).reading.catch((error: unknown) => {
      this.#wasInVain(resource);
      const lasting = isApiError(error) && !error.retryable;
      if (lasting && this.#cache.get(this, resource) === held) this.#cache.delete(this, resource);
    });
  }

  #wasInVain(resource: Resource): void {
    this.#notBefore.set(resource, Date.now() + incompleteFreshMs);
  }

  #isFresh({ coverage, asOf }: Held): boolean {
    const freshMs = coverage.complete ? this.#freshness.freshMs : incompleteFreshMs;
    return Date.now() - asOf.getTime() < freshMs;
  }

  #isUsable({ asOf }: Held): boolean {
    return Date.now() - asOf.getTime() < this.#freshness.staleMs;
  }

  /** Something in it changed: the next call reads it anew. */
  drop(resource: Resource): void {
    this.#cache.delete(this, resource);
    const running = this.#walks.get(resource);
    if (!running) return;
    running.outdated = true;
    this.#walks.delete(resource);
  }

  /** Nobody knows what changed. */
  dropAll(): void {
    for (const resource of this.#walks.keys()) this.drop(resource);
    this.#cache.deleteAll(this);
  }

  held<R extends Resource>(resource: R): readonly RecordOf[R][] | undefined {
    return this.#cache.get(this, resource)?.records as readonly RecordOf[R][] | undefined;
  }

  /** Stops every reading under way and lets go of what is held. */
  close(): void {
    this.#stopOffering?.();
    for (const running of this.#running) running.stop.abort(new Error('closed'));
    this.#walks.clear();
    this.#cache.deleteAll(this);
  }

  *#ages(): Iterable<readonly [string, number]> {
    for (const resource of Object.keys(routes) as Resource[]) {
      const asOf = this.#cache.asOf(this, resource);
      if (asOf) yield [resource, asOf.getTime()];
    }
  }

  async #wait(resource: Resource, call: ToolCall): Promise<Held> {
    call.signal.throwIfAborted();
    const running = this.#join(resource, call);
    try {
      return await orEndOf(call, running.reading, this.#client.host);
    } finally {
      running.waiting.delete(call);
      if (running.waiting.size === 0) this.#abandon(resource, running);
    }
  }

  #join(resource: Resource, waiter: ToolCall | typeof background): Walk {
    let running = this.#walks.get(resource);
    if (!running) {
      running = this.#start(resource, waiter === background ? undefined : waiter.trace);
      this.#walks.set(resource, running);
    }
    running.waiting.add(waiter);
    running.deadline = Math.max(running.deadline, deadlineFor(waiter, running));
    return running;
  }

  #abandon(resource: Resource, running: Walk): void {
    running.stop.abort(new Error('nobody waits any more'));
    if (this.#walks.get(resource) === running) this.#walks.delete(resource);
  }

  #start(resource: Resource, trace: Trace | undefined): Walk {
    const stop = new AbortController();
    const running: Walk = {
      startedAt: Date.now(),
      deadline: 0,
      waiting: new Set(),
      stop,
      trace,
      outdated: false,
      reading: Promise.resolve().then(() => this.#walk(resource, running)),
    };
    this.#running.add(running);
    return running;
  }

  async #walk(resource: Resource, running: Walk): Promise<Held> {
    try {
      const read = await this.#obtain(resource, running);
      if (running.outdated) return read;
      const held = this.#cache.get(this, resource);
      if (held && this.#isUsable(held) && isBetter(held, read)) {
        this.#wasInVain(resource);
        return held;
      }
      this.#cache.set(this, resource, read);
      return read;
    } finally {
      this.#running.delete(running);
      if (this.#walks.get(resource) === running) this.#walks.delete(resource);
    }
  }

  /** From those who share it, if there are any; otherwise, or for them, read here. */
  #obtain(resource: Resource, running: Walk): Promise<Held> {
    const read = () => this.#readAll(resource, running);
    if (!this.#shared) return read();
    const { freshMs, staleMs } = this.#freshness;
    const keepMs = { complete: staleMs, incomplete: incompleteFreshMs };
    return this.#shared.obtain(resource, freshMs, keepMs, read, running.stop.signal);
  }

  async #readAll(resource: Resource, running: Walk): Promise<Held> {
    const asOf = new Date();
    const call: Call = {
      signal: running.stop.signal,
      // Later, should somebody join who has more time.
      get deadline() {
        return running.deadline;
      },
      purpose: 'walk',
      trace: running.trace,
    };
    const tell = (progress: Progress) => tellAll(running, resource, progress);
    const reading = walk(this.#client, resource, everything(resource), call);
    return { ...(await follow(reading, tell)), asOf };
  }
}

/** Whether what is held covers more than a reading that was cut short. */
const isBetter = (held: Held, read: Held): boolean =>
  !read.coverage.complete && (held.coverage.complete || held.coverage.read > read.coverage.read);

function deadlineFor(waiter: ToolCall | typeof background, { startedAt }: Walk): number {
  const latest = startedAt + longestWalkMs;
  if (waiter === background) return latest;
  const left = waiter.deadline - Date.now();
  return Math.min(latest, waiter.deadline - Math.min(answerMs, left / 5));
}

/** What the routes leave out unless it is asked for. */
const everything = (resource: Resource) => ({
  ...(resource === 'product' ? { includeBundles: true } : {}),
  ...(resource === 'category_tree' ? { includeEmpty: true } : {}),
});

/** Reads to the end, telling how far it is. */
export async function follow<R>(
  walking: AsyncGenerator<Progress, Reading<R>>,
  tell: (progress: Progress) => void,
): Promise<Reading<R>> {
  for (;;) {
    const step = await walking.next();
    if (step.done) return step.value;
    tell(step.value);
  }
}

function tellAll(running: Walk, resource: Resource, { read, total }: Progress): void {
  for (const waiter of running.waiting) {
    if (waiter !== background) waiter.progress(read, total, resource);
  }
}

/** The shared reading goes on for the others when this call is cancelled or out of time. */
function orEndOf<T>(call: ToolCall, reading: Promise<T>, host: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(call.signal.reason);
    const late = () => reject(new ApiError('timed-out', { host }, 'the call ran out of time'));
    const timer = setTimeout(late, Math.max(0, call.deadline - Date.now()));
    call.signal.addEventListener('abort', stop, { once: true });
    reading.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      call.signal.removeEventListener('abort', stop);
    });
  });
}
