import type { Call, RequestSlot } from '../service/call.ts';
import { isApiError } from '../service/errors.ts';
import type { Page, PageQuery, Search } from '../service/page.ts';
import type { RecordOf, Resource } from '../service/records/records.ts';
import { Slots } from '../slots.ts';
import type { Pass } from './pass.ts';
import type { PlannedPage } from './plan.ts';
import type { RouteProfile } from './profile.ts';
import type { Segment } from './segments.ts';

/** The part of `ServicePages` that reading a collection needs. */
export interface Pages {
  /** Resolves when the stored profile is loaded. Never rejects. */
  ready(): Promise<void>;
  profile(resource: Resource): RouteProfile;
  page<R extends Resource>(resource: R, query: PageQuery, call: Call): Promise<Page<RecordOf[R]>>;
  /** Finds out what the offset means, if that is unknown. @returns whether it differs from what was assumed */
  learnOffset(resource: Resource, search: Search, call: Call): Promise<boolean>;
  /** Records that the offset means what was assumed. */
  confirmOffset(resource: Resource): void;
}

/** New records come last in this order, so they do not move others to the next page. */
const steadyOrder = '+createdAt';

/** The source of the pages of one pass. */
export interface Source<R extends Resource> {
  client: Pages;
  resource: R;
  query: Search;
  call: Call;
  /** Aborts the requests of this pass. */
  signal: AbortSignal;
}

/** Sends the requests of one pass, and adds the responses to it. */
export class PageReader<R extends Resource> {
  readonly #source: Source<R>;
  readonly #pass: Pass<RecordOf[R]>;
  /** Called when a response has arrived, before it is parsed. */
  onArrival: (() => void) | undefined;
  readonly #slots: Slots;
  #query: Search;
  #requests = 0;

  constructor(source: Source<R>, pass: Pass<RecordOf[R]>, maxParallel: number) {
    this.#slots = new Slots(maxParallel);
    const { query } = source;
    this.#source = source;
    this.#pass = pass;
    const isRepeated = !pass.isFirst && pass.profile.sortable;
    this.#query = isRepeated ? { ...query, sort: query.sort ?? steadyOrder } : query;
  }

  /** How many more requests may be in flight. */
  get freeSlots(): number {
    return this.#slots.free;
  }

  get requests(): number {
    return this.#requests;
  }

  async read({ from, size, ifRefused }: PlannedPage): Promise<Segment> {
    this.#requests += 1;
    const isFirst = this.#requests === 1;
    const slot = this.#slots.open();
    const release = () => {
      slot.release();
      this.onArrival?.();
    };
    try {
      await slot.acquire();
      this.#source.signal.throwIfAborted();
      const held = { ...slot, release };
      const page = await (isFirst ? this.#askFirst(from, size, held) : this.#ask(from, size, held));
      return this.#pass.add(from, page);
    } catch (error) {
      if (ifRefused === 'nothing' && isApiError(error, 'refused'))
        return { from, keys: [], fresh: 0 };
      throw error;
    } finally {
      slot.release();
    }
  }

  /** Requests the steady order, if one is wanted; if it is refused, uses the default order from then on. */
  #askFirst(from: number, size: number, slot: RequestSlot): Promise<Page<RecordOf[R]>> {
    const { query } = this.#source;
    return this.#ask(from, size, slot).catch((error: unknown) => {
      if (!isApiError(error, 'refused') || this.#query === query) throw error;
      this.#query = query;
      return this.#ask(from, size, slot);
    });
  }

  #ask(from: number, size: number, slot: RequestSlot): Promise<Page<RecordOf[R]>> {
    const { client, resource, call, signal } = this.#source;
    // Copied for each request: the deadline of a shared call moves.
    return client.page(resource, { ...this.#query, from, size }, { ...call, signal, slot });
  }
}
