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

export interface State {
  rates: RateWindow;
  close(): Promise<void>;
}
