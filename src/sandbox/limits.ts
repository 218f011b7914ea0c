export interface RateLimit {
  requests: number;
  windowSeconds: number;
}

/** The remaining budget of a tenant; times in whole seconds. */
export interface Allowance {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Seconds until the oldest counted request leaves the window. */
  reset: number;
}

/** A rolling window of request times for each tenant. A refused request is not counted. */
export class RollingWindow {
  readonly #times = new Map<string, number[]>();

  /** Counts one request of the tenant at `now` (milliseconds), if the window has room for it. */
  take(tenant: string, { requests, windowSeconds }: RateLimit, now: number): Allowance {
    const times = this.#recent(tenant, now - windowSeconds * 1000);
    const allowed = times.length < requests;
    if (allowed) times.push(now);
    const oldest = times[0] ?? now;
    return {
      allowed,
      limit: requests,
      remaining: requests - times.length,
      reset: Math.max(1, Math.ceil((oldest + windowSeconds * 1000 - now) / 1000)),
    };
  }

  clear(): void {
    this.#times.clear();
  }

  #recent(tenant: string, since: number): number[] {
    const times = this.#times.get(tenant) ?? [];
    const kept = times.findIndex((time) => time > since);
    if (kept !== 0) times.splice(0, kept < 0 ? times.length : kept);
    this.#times.set(tenant, times);
    return times;
  }
}
