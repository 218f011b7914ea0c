const ENTRIES_KEPT = 10_000;

export interface LogEntry {
  /** ISO 8601, UTC. */
  at: string;
  tenant: string;
  method: string;
  /** Path and query as they were asked for. */
  path: string;
  status: number;
}

/** The requests of the API: counted for good, the last ones kept one by one. */
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

  /** How many requests each tenant got, and the last 10,000 of them, oldest first. */
  report(): { counts: Record<string, number>; entries: LogEntry[] } {
    return {
      counts: Object.fromEntries(this.#counts),
      entries: this.#entries.slice(-ENTRIES_KEPT),
    };
  }
}
