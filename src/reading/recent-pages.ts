import { runSteps } from '../figures/steps.ts';
import { haveCompleteReferences } from '../names/references.ts';
import type { Page, PageMemory } from '../service/page.ts';
import type { ApiRecord, Quote, RecordOf, Resource } from '../service/records/records.ts';
import type { CachedCollection, CollectionCache } from './cache.ts';

/** Larger bodies are not kept. */
const maxBody = 128 * 1024;
const maxPages = 10;
/** Bytes of the body, and of its records in memory, for each byte of the body. */
const bytesPerByte = 3;

interface KeptPage extends CachedCollection {
  body: Buffer;
  page: Page<ApiRecord>;
}

/**
 * The latest pages of a tenant. They count against the limit of the cache. Pages whose records are completed later are not
 * kept: the name or the items that are added to a record may change while the page does not.
 */
export class RecentPages implements PageMemory {
  readonly #cache: CollectionCache;
  /** The most recently used last. */
  readonly #paths = new Set<string>();

  constructor(cache: CollectionCache) {
    this.#cache = cache;
  }

  get<R extends Resource>(path: string, body: Buffer): Page<RecordOf[R]> | undefined {
    const kept = this.#cache.get(this, path) as KeptPage | undefined;
    if (!kept?.body.equals(body)) return undefined;
    this.#paths.delete(path);
    this.#paths.add(path);
    return kept.page as Page<RecordOf[R]>;
  }

  set<R extends Resource>(resource: R, path: string, body: Buffer, page: Page<RecordOf[R]>): void {
    this.#delete(path);
    const { records } = page;
    if (body.length > maxBody || !isFinal(resource, records)) return;
    this.#paths.add(path);
    const kept: KeptPage = {
      records,
      coverage: { complete: false, read: records.length, total: page.total ?? records.length },
      asOf: new Date(),
      // A copy, because the body may be a part of a much larger buffer.
      body: Buffer.from(body),
      page,
    };
    this.#cache.set(this, path, kept, body.length * bytesPerByte);
    const [oldest] = this.#paths;
    if (this.#paths.size > maxPages && oldest !== undefined) this.#delete(oldest);
  }

  clear(): void {
    this.#paths.clear();
    this.#cache.deleteAll(this);
  }

  #delete(path: string): void {
    this.#paths.delete(path);
    this.#cache.delete(this, path);
  }
}

/** Whether nothing is added to these records after they were read. */
const isFinal = (resource: Resource, records: readonly ApiRecord[]): boolean =>
  (resource !== 'quote' || records.every(hasReadItems)) &&
  runSteps(haveCompleteReferences(resource, records));

const hasReadItems = ({ items = [], unreadable }: Quote): boolean =>
  items.length > 0 && unreadable?.items === undefined;
