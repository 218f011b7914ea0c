const ENTRIES_KEPT = 10_000;

export interface LogEntry {
  /** ISO 8601, UTC. */
  at: string;
  tenant: string;
  method: string;
  /** Path and query as requested. */
  path: string;
  status: number;
}

/** The log of API requests: a count of all, and the last ones in detail. */
export class RequestLog {
  readonly #counts = new Map<string, number>();
  #entries: LogEntry[] = [];

  add(entry: Omit<LogEntry, 'at'>): void {
    this.#counts.set(entry.tenant, (this.#counts.get(entry.tenant) ?? 0) + 1);
    this.#entries.push({ at: new Date().toISOString(), ...entry });
    if (this.#entries.length >= 2 * ENTRIES_KEPT) {
      this.#entries = this.#entries.slice(-ENTRIES_KEPT);
    }
  }

  /** The number of requests per tenant, and the last 10,000, oldest first. */
  report(): { counts: Record<string, number>; entries: LogEntry[] } {
    return {
      counts: Object.fromEntries(this.#counts),
      entries: this.#entries.slice(-ENTRIES_KEPT),
    };
  }
}
