import type { Page, PageMemory } from '../api/page.ts';
import { haveCompleteReferences } from '../briefs/references.ts';
import { runSteps } from '../briefs/steps.ts';
import type { ApiRecord, RecordOf, Resource } from '../records/records.ts';
import type { CachedCollection, CollectionCache } from './cache.ts';
import { hasItems } from './reading/quote-items.ts';

/** Larger bodies are not kept. */
const maxBody = 256 * 1024;
const maxPages = 20;
/** Bytes of the body, and of its records in memory, for each byte of the body. */
const bytesPerByte = 3;

interface KeptPage extends CachedCollection {
  body: Buffer;
  page: Page<ApiRecord>;
}

/**
 * The latest pages of a tenant. They count against the limit of the cache. Pages whose records are completed after they
 * were read are not kept: what is added to a record may change without it.
 */
export class RecentPages implements PageMemory {
  readonly #cache: CollectionCache;
  /** The latest last. */
  readonly #paths = new Set<string>();

  constructor(cache: CollectionCache) {
    this.#cache = cache;
  }

  get<R extends Resource>(_resource: R, path: string, body: Buffer): Page<RecordOf[R]> | undefined {
    const kept = this.#cache.get(this, path) as KeptPage | undefined;
    return kept?.body.equals(body) ? (kept.page as Page<RecordOf[R]>) : undefined;
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
  (resource !== 'quote' || records.some(hasItems)) &&
  runSteps(haveCompleteReferences(resource, records));
