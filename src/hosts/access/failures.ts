const maxSenders = 10_000;

/** Counts wrong credentials by where they come from, in windows that begin with the first of them. */
export class Failures {
  readonly #most: number;
  readonly #windowMs: number;
  /** The one whose window began last is last. */
  readonly #counted = new Map<string, { count: number; until: number }>();

  /** `most`: how many one sender may show in a window. */
  constructor(most: number, windowMs = 60_000) {
    this.#most = most;
    this.#windowMs = windowMs;
  }

  /** How long this sender has to wait, in seconds; 0 when it need not. */
  waitSeconds(sender: string, now = Date.now()): number {
    const counted = this.#counted.get(sender);
    if (!counted || counted.count < this.#most || counted.until <= now) return 0;
    return (counted.until - now) / 1000;
  }

  /** Whether this sender showed none that was wrong. */
  isClean(sender: string, now = Date.now()): boolean {
    const counted = this.#counted.get(sender);
    return !counted || counted.until <= now;
  }

  count(sender: string, now = Date.now()): void {
    const counted = this.#counted.get(sender);
    if (counted && counted.until > now) {
      counted.count += 1;
      return;
    }
    this.#counted.delete(sender);
    this.#forget(now);
    this.#counted.set(sender, { count: 1, until: now + this.#windowMs });
  }

  /** Those whose window is over, who are the first; were they too many for that, the first of all. */
  #forget(now: number): void {
    for (const [sender, { until }] of this.#counted) {
      if (until > now && this.#counted.size < maxSenders) return;
      this.#counted.delete(sender);
    }
  }
}
