/**
 * What must outlive one request, behind one port: in memory for one process, in Redis for many. Every
 * method is asynchronous, because the other side may be a network away.
 */
export interface WindowRule {
  /** Requests allowed in any stretch of `windowMs`. */
  limit: number;
  windowMs: number;
  /** Requests of the limit that this taker must leave to others. */
  reserve: number;
}

export interface WindowVerdict {
  taken: boolean;
  /** Requests left in the window after this, the reserve not deducted. */
  left: number;
  /** Milliseconds until one can be taken; 0 when taken. */
  waitMs: number;
}

/** A rolling window of requests for each key; `now` is in milliseconds since the epoch. */
export interface RateWindow {
  /** Counts one request if the rule leaves room for it. */
  take(key: string, rule: WindowRule, now: number): Promise<WindowVerdict>;
  /** The service says how many are left: what we did not send was sent by other programs. */
  correct(key: string, rule: WindowRule, remaining: number, now: number): Promise<void>;
  /** The service wants no request before `until` (milliseconds since the epoch). */
  block(key: string, until: number): Promise<void>;
  /** What `take` would find, without taking. */
  peek(key: string, rule: WindowRule, now: number): Promise<WindowVerdict>;
}

/** Things that may happen once: a consent that was used cannot be used again. */
export interface OnceSet {
  /** Claims `name` until `expiresAt` (milliseconds since the epoch); false when it was claimed before. */
  claim(name: string, expiresAt: number): Promise<boolean>;
}

/** An append-only record of what was done; an entry is a JSON object. */
export interface Journal {
  /**
   * Returns when the entry is safe.
   * @throws Error when it could not be made safe: what it announces must then not be done
   */
  append(entry: Record<string, unknown>): Promise<void>;
  /** Every entry, oldest first, and how many could not be read. */
  read(): Promise<{ entries: Record<string, unknown>[]; damaged: number }>;
}

export interface State {
  rates: RateWindow;
  once: OnceSet;
  /** What signs tokens: the same for everyone who shares this state. */
  secret(): Promise<Uint8Array>;
  journal(tenant: string): Journal;
  /** One at a time for each name. */
  alone<T>(name: string, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
