const minuteMs = 60_000;
const mostSenders = 10_000;

/** Counts wrong credentials by where they come from, in minutes that begin with the first of them. */
export class Failures {
  readonly #perMinute: number;
  /** The one whose minute began last is last. */
  readonly #counted = new Map<string, { count: number; until: number }>();

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** How long this sender has to wait, in seconds; 0 when it need not. */
  waitSeconds(sender: string, now = Date.now()): number {
    const counted = this.#counted.get(sender);
    if (!counted || counted.count < this.#perMinute || counted.until <= now) return 0;
    return (counted.until - now) / 1000;
  }

  count(sender: string, now = Date.now()): void {
    const counted = this.#counted.get(sender);
    if (counted && counted.until > now) {
      counted.count += 1;
      return;
    }
    this.#counted.delete(sender);
    this.#forget(now);
    this.#counted.set(sender, { count: 1, until: now + minuteMs });
  }

  /** Those whose minute is over, who are the first; were they too many for that, the first of all. */
  #forget(now: number): void {
    for (const [sender, { until }] of this.#counted) {
      if (until > now && this.#counted.size < mostSenders) return;
      this.#counted.delete(sender);
    }
  }
}
