import type { RequestSlot } from '../service/call.ts';

/** Limits how many requests are in flight at once. Requests that wait for a slot get one in order. */
export class RequestSlots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  get free(): number {
    return this.#free;
  }

  /** A slot for one request and its retries, not acquired yet. */
  open(): RequestSlot {
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
