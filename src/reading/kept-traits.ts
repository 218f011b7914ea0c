import { type CollectionKey, keptMs, type SharedCollections } from '../state/port.ts';
import type { SharedBetween } from './collections.ts';
import type { Learnt, ServicePages } from './service-pages.ts';

/** What is learnt one after the other is stored together. */
const delayMs = 1_000;

/** What is learnt of a service, kept beside its collections for other processes and the next start. */
export class KeptTraits {
  readonly #pages: ServicePages;
  readonly #collections: SharedCollections;
  readonly #key: CollectionKey;
  #loading: Promise<void> | undefined;
  #saving: NodeJS.Timeout | undefined;

  constructor(pages: ServicePages, { collections, ...owner }: SharedBetween) {
    this.#pages = pages;
    this.#collections = collections;
    this.#key = { ...owner, collection: 'service' };
    pages.onLearnt = () => {
      this.#saving ??= setTimeout(() => void this.save(), delayMs).unref();
    };
  }

  /** Once: what others learn later is not needed. */
  load(): Promise<void> {
    this.#loading ??= this.#exchange(keptMs, () => {
      throw new Error('nothing is kept');
    });
    return this.#loading;
  }

  async save(): Promise<void> {
    if (!this.#saving) return;
    clearTimeout(this.#saving);
    this.#saving = undefined;
    await this.#exchange(0, () => this.#pages.learnt);
  }

  /** Gets what is kept, unless it is older, and otherwise stores what `learnt` returns. */
  async #exchange(freshMs: number, learnt: () => Learnt): Promise<void> {
    const merge = async (kept: { value: unknown } | undefined) => {
      this.#pages.add((kept?.value ?? {}) as Learnt);
      return { value: learnt(), ageMs: 0, keepMs: keptMs };
    };
    const { signal } = new AbortController();
    // What cannot be kept is learnt again.
    const kept = await this.#collections
      .getOrLoad(this.#key, freshMs, merge, signal)
      .catch(() => {});
    if (kept) this.#pages.add(kept.value as Learnt);
  }
}
