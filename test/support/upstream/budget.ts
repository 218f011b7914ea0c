export interface Budget {
  /** Requests that arrived when the window was already full. */
  violations: number;
  /** Counts requests of other programs of the tenant. */
  spend(count: number): void;
}

interface Rate {
  limit: number;
  windowMs: number;
}

export interface RateStatus {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Milliseconds until a full window has room, or the oldest request leaves it. */
  freeInMs: number;
}

/** Counts requests in a rolling window. Refused requests do not count. */
export class RollingBudget implements Budget {
  violations = 0;
  #taken: number[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  spend(count: number): void {
    this.#taken.push(...Array.from({ length: count }, this.#now));
  }

  reset(): void {
    this.violations = 0;
    this.#taken = [];
  }

  admit({ limit, windowMs }: Rate): RateStatus {
    const now = this.#now();
    this.#taken = this.#taken.filter((at) => at > now - windowMs);
    const allowed = this.#taken.length < limit;
    if (allowed) this.#taken.push(now);
    else this.violations += 1;
    const freed = this.#taken[Math.max(0, this.#taken.length - limit)] ?? now;
    const remaining = Math.max(0, limit - this.#taken.length);
    return { allowed, limit, remaining, freeInMs: freed + windowMs - now };
  }
}
