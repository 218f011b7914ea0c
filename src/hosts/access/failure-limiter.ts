const maxSenders = 10_000;

/** Counts wrong credentials by sender, in windows that start with a sender's first failure. */
export class FailureLimiter {
  readonly #limit: number;
  readonly #windowMs: number;
  /** In order of the start of their windows. */
  readonly #entries = new Map<string, { count: number; until: number }>();

  /** @param limit failures allowed per sender and window */
  constructor(limit: number, windowMs = 60_000) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /** Seconds that this sender must wait; 0 if none. */
  waitSeconds(sender: string, now = Date.now()): number {
    const entry = this.#entries.get(sender);
    if (!entry || entry.count < this.#limit || entry.until <= now) return 0;
    return (entry.until - now) / 1000;
  }

  /** Whether this sender has no failures. */
  isClean(sender: string, now = Date.now()): boolean {
    const entry = this.#entries.get(sender);
    return !entry || entry.until <= now;
  }

  count(sender: string, now = Date.now()): void {
    const entry = this.#entries.get(sender);
    if (entry && entry.until > now) {
      entry.count += 1;
      return;
    }
    this.#entries.delete(sender);
    this.#evict(now);
    this.#entries.set(sender, { count: 1, until: now + this.#windowMs });
  }

  /** Removes expired windows; if there are still too many, also the oldest. */
  #evict(now: number): void {
    for (const [sender, { until }] of this.#entries) {
      if (until > now && this.#entries.size < maxSenders) return;
      this.#entries.delete(sender);
    }
  }
}
