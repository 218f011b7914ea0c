export interface RateLimit {
  requests: number;
  windowSeconds: number;
}

/** A rolling window of request times for each tenant. A refused request is not counted. */
export class RollingWindow {
  readonly #times = new Map<string, number[]>();

  /** Counts one request of the tenant at `now` (milliseconds), if the window has room. `reset`: whole seconds until more has. */
  take(tenant: string, { requests, windowSeconds }: RateLimit, now: number) {
    const since = now - windowSeconds * 1000;
    const times = (this.#times.get(tenant) ?? []).filter((time) => time > since);
    this.#times.set(tenant, times);
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
}
