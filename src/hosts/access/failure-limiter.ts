const maxSenders = 10_000;

/** Counts wrong credentials by where they come from, in windows that begin with the first of them. */
export class FailureLimiter {
  readonly #limit: number;
  readonly #windowMs: number;
  /** The one whose window began last is last. */
  readonly #entries = new Map<string, { count: number; until: number }>();

  /** `most`: how many one sender may show in a window. */
  constructor(most: number, windowMs = 60_000) {
    this.#limit = most;
    this.#windowMs = windowMs;
  }

  /** How long this sender has to wait, in seconds; 0 when it need not. */
  waitSeconds(sender: string, now = Date.now()): number {
    const entry = this.#entries.get(sender);
    if (!entry || entry.count < this.#limit || entry.until <= now) return 0;
    return (entry.until - now) / 1000;
  }

  /** Whether this sender showed none that was wrong. */
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

  /** Those whose window is over, who are the first; were they too many for that, the first of all. */
  #evict(now: number): void {
    for (const [sender, { until }] of this.#entries) {
      if (until > now && this.#entries.size < maxSenders) return;
      this.#entries.delete(sender);
    }
  }
}
