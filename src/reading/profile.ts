import type { Resource } from '../service/records/records.ts';
import { routes } from '../service/routes.ts';
import type { ProfileStore } from '../state/port.ts';
import { fieldOf, isKeyOf, isObject } from '../values.ts';

/** Records per request of a reading. */
export const pageSize = 100;

/** The properties of one route that reading a collection depends on. */
export interface RouteProfile {
  /** `pages`: a list that may be paged. `one-answer`: one response contains everything, such as a tree. */
  readonly answers: 'pages' | 'one-answer';
  /** What the offset parameter counts; `none` without a usable one. */
  readonly offset: 'records' | 'pages' | 'none';
  /** Whether the route can sort. */
  readonly sortable: boolean;
}

/** @param pageParam the name of the offset parameter in the settings */
export function profileOf(
  resource: Resource,
  { pageParam }: { pageParam: string | undefined },
  offset?: LearntTraits['offset'],
): RouteProfile {
  const { shape, parameters } = routes[resource];
  const counts = offset === 'ignored' ? undefined : (offset?.counts ?? 'records');
  const unit = counts?.startsWith('pages') ? 'pages' : 'records';
  return {
    answers: shape === 'tree' ? 'one-answer' : 'pages',
    offset: pageParam === undefined || counts === undefined ? 'none' : unit,
    sortable: parameters.includes('sort'),
  };
}

/** What an offset parameter does: its name, and what its value counts. */
export interface OffsetMeaning {
  readonly name: string;
  readonly counts: 'records' | 'records from 1' | 'pages' | 'pages from 1';
}

/** Properties of a route learnt from its responses; absent ones are unknown. Times in milliseconds since 1970. */
export interface LearntTraits {
  /** When the first property was learnt. */
  readonly since: number;
  /** The largest size that worked. */
  readonly takenSize: number;
  /** The largest accepted size; `none` if the parameter itself is refused. */
  readonly maxSize?: number | 'none';
  /** When a larger size is tried again. */
  readonly maxSizeUntil?: number;
  /** Rows of the largest page. */
  readonly maxRows: number;
  /** `ignored`: every page is the first one. */
  readonly offset?: OffsetMeaning | 'ignored';
  /** When the meaning of the offset was learnt. */
  readonly offsetAt?: number;
  /** The field with the total, such as `meta.total`; `none` without a total. */
  readonly countedIn?: string;
  /** `page`: the total is the number of rows of the page. */
  readonly counts?: 'all' | 'page';
  /** A total that was checked by requesting the records after it. */
  readonly checkedCount?: number;
  /** A total that is a limit, such as a search engine's 10,000. */
  readonly countLimit?: number;
  /** Why pages are shorter than requested: a smaller page size (`fewer`), or omitted records (`hidden`). */
  readonly shortPages?: 'fewer' | 'hidden';
  /** Whether a filter, a search text or a sort order has an effect, by parameter and fields. */
  readonly honoured: Readonly<Record<string, boolean>>;
  /** Of quotes: whether the rows of a list have their items, or only the record by id. */
  readonly items?: 'in rows' | 'by id';
}

const nothingLearnt = (now: number): LearntTraits => ({
  since: now,
  takenSize: 0,
  maxRows: 0,
  honoured: {},
});

/** Version of the stored form; other versions are ignored. */
const version = 2;
/** Properties are learnt again after this time, in case the service has changed. */
const lifetimeMs = 24 * 60 * 60_000;

/** The learnt properties of a service by route; JSON values only. */
type ServiceTraits = { readonly [R in Resource]?: LearntTraits };

/**
 * The learnt properties of a tenant's service, in memory. Those that differ from the documentation are also stored in
 * the tenant's state, for other processes. An outdated value costs additional requests but no wrong answer.
 */
export class ServiceProfile {
  readonly #store: ProfileStore | undefined;
  readonly #pageParam: string | undefined;
  readonly #routes = new Map<Resource, LearntTraits>();
  #loading: Promise<void> | undefined;
  #saving: Promise<void> = Promise.resolve();
  #stored = '{}';

  constructor(pageParam: string | undefined, store?: ProfileStore) {
    this.#pageParam = pageParam;
    this.#store = store;
  }

  /** Resolves when the stored properties are loaded. Never rejects. */
  ready(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  /** Resolves when everything is stored. Never rejects. */
  saved(): Promise<void> {
    return this.#saving;
  }

  /** Everything learnt so far. */
  get all(): ServiceTraits {
    return Object.fromEntries(this.#routes);
  }

  of(resource: Resource): LearntTraits {
    const now = Date.now();
    const known = this.#routes.get(resource);
    if (known === undefined || now > known.since + lifetimeMs) return nothingLearnt(now);
    if (known.maxSizeUntil === undefined || now < known.maxSizeUntil) return known;
    const { maxSize: _, maxSizeUntil: __, ...rest } = known;
    return rest;
  }

  learn(resource: Resource, change: Partial<LearntTraits>): void {
    const known = this.of(resource);
    if (Object.entries(change).every(([name, value]) => isSame(known, name, value))) return;
    this.#routes.set(resource, { ...known, ...change });
    this.#save();
  }

  async #load(): Promise<void> {
    // If it cannot be loaded, it is learnt again.
    const stored = await this.#store?.load().catch(() => undefined);
    for (const [resource, traits] of this.#read(stored)) this.#routes.set(resource, traits);
    this.#stored = JSON.stringify(this.#deviating());
  }

  *#read(stored: unknown): Iterable<[Resource, LearntTraits]> {
    if (!isObject(stored) || stored.version !== version) return;
    if (stored.pageParam !== this.#pageParam || !isObject(stored.routes)) return;
    for (const [resource, traits] of Object.entries(stored.routes)) {
      if (isKeyOf(routes, resource)) yield [resource, traits as LearntTraits];
    }
  }

  /** The properties that differ from the documentation. */
  #deviating(): ServiceTraits {
    const found = [...this.#routes].filter(([, traits]) => deviates(traits, this.#pageParam));
    return Object.fromEntries(found);
  }

  #save(): void {
    const store = this.#store;
    const own = this.#deviating();
    const text = JSON.stringify(own);
    if (!store || text === this.#stored) return;
    this.#stored = text;
    const save = async () => {
      const others = Object.fromEntries(this.#read(await store.load()));
      const value = { version, pageParam: this.#pageParam, routes: { ...others, ...own } };
      await store.save(value, lifetimeMs);
    };
    // If it cannot be stored, the next process learns it again.
    this.#saving = this.#saving.then(save).catch(() => {});
  }
}

function isSame(known: LearntTraits, name: string, value: unknown): boolean {
  const before = fieldOf(known, name);
  return before === value || JSON.stringify(before) === JSON.stringify(value);
}

const deviates = (
  { maxSize, offset, counts, countLimit, shortPages, honoured, items }: LearntTraits,
  pageParam: string | undefined,
): boolean =>
  maxSize !== undefined ||
  counts === 'page' ||
  countLimit !== undefined ||
  shortPages === 'hidden' ||
  items === 'by id' ||
  Object.values(honoured).includes(false) ||
  offset === 'ignored' ||
  (offset !== undefined && (offset.name !== pageParam || offset.counts !== 'records'));
