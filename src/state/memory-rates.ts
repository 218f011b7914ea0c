import { countedMs, type RateDecision, type RateWindow, type WindowRule } from './port.ts';

interface Window {
  /** Times of our own requests, oldest first. */
  own: number[];
  /** Requests of other programs by the service's last report, and the time of that report. */
  others: number;
  othersAt: number;
  blockedUntil: number;
  /** From then on nothing in it counts. */
  emptyAt: number;
}

const emptyWindow = (): Window => ({
  own: [],
  others: 0,
  othersAt: 0,
  blockedUntil: 0,
  emptyAt: 0,
});

/** The rolling windows of one process. */
export class MemoryRates implements RateWindow {
  readonly #windows = new Map<string, Window>();

  async take(key: string, rule: WindowRule, now: number): Promise<RateDecision> {
    const decision = this.evaluate(key, rule, now);
    if (!decision.taken) return decision;
    this.count(key, rule, now);
    return { ...decision, remaining: decision.remaining - 1 };
  }

  async peek(key: string, rule: WindowRule, now: number): Promise<RateDecision> {
    return this.evaluate(key, rule, now);
  }

  /** Counts nothing, so that it can be called for a future time. */
  evaluate(key: string, rule: WindowRule, now: number): RateDecision {
    const window = this.#windows.get(key) ?? emptyWindow();
    moveFromFuture(window, rule, now);
    return evaluate(window, countInWindow(window, rule, now), rule, now);
  }

  /** Counts a request that was allowed elsewhere. */
  count(key: string, rule: WindowRule, now: number): void {
    this.#pruned(key, rule, now).own.push(now);
  }

  async correct(key: string, rule: WindowRule, remaining: number, now: number): Promise<void> {
    const window = this.#pruned(key, rule, now);
    window.others = Math.max(0, rule.limit - window.own.length - remaining);
    window.othersAt = now;
  }

  async block(key: string, until: number): Promise<void> {
    const window = this.#windows.get(key) ?? this.#create(key, Date.now());
    window.blockedUntil = Math.max(window.blockedUntil, until);
    window.emptyAt = Math.max(window.emptyAt, until);
  }

  /** The window without requests that no longer count. */
  #pruned(key: string, rule: WindowRule, now: number): Window {
    const window = this.#windows.get(key) ?? this.#create(key, now);
    const { expired, others } = countInWindow(window, rule, now);
    if (expired > 0) window.own.splice(0, expired);
    window.others = others;
    window.emptyAt = Math.max(window.emptyAt, now + countedMs(rule));
    return window;
  }

  /** Adds a window, and deletes those that are empty. */
  #create(key: string, now: number): Window {
    for (const [name, { emptyAt }] of this.#windows) if (emptyAt < now) this.#windows.delete(name);
    const window = emptyWindow();
    this.#windows.set(key, window);
    return window;
  }
}

/** If the clock was set back, what lies in its future is taken to be of now: it would count for as long again. */
function moveFromFuture(window: Window, rule: WindowRule, now: number): void {
  if (Math.max(window.own.at(-1) ?? 0, window.othersAt) <= now) return;
  window.own = window.own.map((time) => Math.min(time, now));
  window.othersAt = Math.min(window.othersAt, now);
  window.blockedUntil = Math.min(window.blockedUntil, now + countedMs(rule));
}

/** The requests of a window that count at a given time. */
interface WindowCount {
  /** Number of our own requests, oldest first, that no longer count. */
  expired: number;
  others: number;
}

function countInWindow(
  { own, others, othersAt }: Window,
  rule: WindowRule,
  now: number,
): WindowCount {
  const start = now - countedMs(rule);
  const first = own.findIndex((time) => time > start);
  return { expired: first === -1 ? own.length : first, others: othersAt <= start ? 0 : others };
}

function evaluate(
  window: Window,
  counted: WindowCount,
  rule: WindowRule,
  now: number,
): RateDecision {
  const sent = window.own.length - counted.expired + counted.others;
  const remaining = Math.max(0, rule.limit - sent);
  if (window.blockedUntil > now)
    return { taken: false, remaining, waitMs: window.blockedUntil - now };
  if (remaining > rule.reserve) return { taken: true, remaining, waitMs: 0 };
  return { taken: false, remaining, waitMs: msUntilFree(window, counted, rule, now) };
}

/** Milliseconds until enough requests have left the window. */
function msUntilFree(
  { own, othersAt }: Window,
  { expired, others }: WindowCount,
  rule: WindowRule,
  now: number,
): number {
  const needed = own.length - expired + others - (rule.limit - rule.reserve) + 1;
  const freedAt = own[expired + needed - 1] ?? (others > 0 ? othersAt : now);
  return Math.max(1, freedAt + countedMs(rule) - now);
}
