// A bounded map, and slots to wait for. Imports nothing, so every module may use it.

interface Sized<V> {
  value: V;
  size: number;
}

/** A map of at most a given size, 1 for each entry unless it is told. Drops the least recently used. */
export class BoundedMap<K, V> {
  readonly #max: number;
  readonly #onDropped: (value: V) => void;
  /** The most recently used last. */
  readonly #entries = new Map<K, Sized<V>>();
  #size = 0;

  /** @param onDropped called for every value that is dropped, deleted or replaced */
  constructor(max: number, onDropped: (value: V) => void = () => {}) {
    this.#max = max;
    this.#onDropped = onDropped;
  }

  get size(): number {
    return this.#size;
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** This does not count as a use. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** @returns false if the entry alone is too large; then it is not kept */
  set(key: K, value: V, size = 1): boolean {
    this.delete(key);
    // It would drop all the others and then itself.
    if (size > this.#max) return false;
    this.#entries.set(key, { value, size });
    this.#size += size;
    this.#dropOldest();
    return true;
  }

  resize(key: K, by: number): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    entry.size += by;
    this.#size += by;
    this.#dropOldest();
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#size -= entry.size;
    this.#onDropped(entry.value);
  }

  /** Deletes the entries whose key passes; default: all. */
  clear(passes: (key: K) => boolean = () => true): void {
    for (const key of [...this.#entries.keys()]) if (passes(key)) this.delete(key);
  }

  #dropOldest(): void {
    for (const key of this.#entries.keys()) {
      if (this.#size <= this.#max) return;
      this.delete(key);
    }
  }
}

/** Limits how much is done at once. What waits for a slot gets one in order. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Runs the work as soon as a slot is free. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free -= 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
