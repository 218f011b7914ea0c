interface Slot {
  /** Resolves when the slot is held. No effect if it is held already. */
  acquire(): Promise<void>;
  /** No effect if the slot is not held. */
  release(): void;
}

/** Limits how much is done at once, such as requests in flight. What waits for a slot gets one in order. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** A slot, not acquired yet. */
  open(): Slot {
    let acquired: Promise<void> | undefined;
    return {
      acquire: () => {
        acquired ??= this.#acquire();
        return acquired;
      },
      release: () => {
        if (acquired !== undefined) this.#release();
        acquired = undefined;
      },
    };
  }

  #acquire(): Promise<void> {
    if (this.#free === 0) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#free -= 1;
    return Promise.resolve();
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
