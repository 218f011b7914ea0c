import { BoundedMap } from '../containers.ts';
import type { RateDecision, RateWindow, WindowRule } from './port.ts';

interface Window {
  /** Times of our own requests, oldest first. */
  own: number[];
  /** Requests of other programs by the service's last report, and the time of that report. */
  others: number;
  othersAt: number;
  blockedUntil: number;
}

/** How long a request counts: slightly longer than the window, because the service counts it when it arrives. */
export const countedMs = ({ windowMs }: WindowRule): number =>
  windowMs + Math.min(2_000, windowMs / 50);

/** Windows are remembered for as many keys; that of the longest idle key is dropped first. */
const maxKeys = 10_000;

export class MemoryRates implements RateWindow {
  readonly #windows = new BoundedMap<string, Window>(maxKeys);

  async take(key: string, rule: WindowRule, now: number): Promise<RateDecision> {
    const decision = this.evaluate(key, rule, now);
    if (!decision.taken) return decision;
    this.count(key, rule, now);
    return { ...decision, remaining: decision.remaining - 1 };
  }

  async peek(key: string, rule: WindowRule, now: number): Promise<RateDecision> {
    return this.evaluate(key, rule, now);
  }

  evaluate(key: string, rule: WindowRule, now: number): RateDecision {
    return decide(this.#current(key, rule, now), rule, now);
  }

  /** Counts a request that was allowed elsewhere. */
  count(key: string, rule: WindowRule, now: number): void {
    const window = this.#current(key, rule, now);
    window.own.push(now);
    this.#windows.set(key, window);
  }

  async correct(key: string, rule: WindowRule, remaining: number, now: number): Promise<void> {
    const window = this.#current(key, rule, now);
    window.others = Math.max(0, rule.limit - window.own.length - remaining);
    window.othersAt = now;
    this.#windows.set(key, window);
  }

  async block(key: string, until: number): Promise<void> {
    const window = this.#windows.get(key) ?? emptyWindow();
    window.blockedUntil = Math.max(window.blockedUntil, until);
    this.#windows.set(key, window);
  }

  /** The window without what no longer counts. */
  #current(key: string, rule: WindowRule, now: number): Window {
    const window = this.#windows.get(key) ?? emptyWindow();
    if (Math.max(window.own.at(-1) ?? 0, window.othersAt) > now) moveFromFuture(window, rule, now);
    const start = now - countedMs(rule);
    if (Number(window.own[0]) <= start) window.own = window.own.filter((time) => time > start);
    if (window.othersAt <= start) window.others = 0;
    return window;
  }
}

const emptyWindow = (): Window => ({ own: [], others: 0, othersAt: 0, blockedUntil: 0 });

function decide(window: Window, rule: WindowRule, now: number): RateDecision {
  const { own, others, othersAt, blockedUntil } = window;
  const { limit, reserve } = rule;
  const remaining = Math.max(0, limit - own.length - others);
  if (blockedUntil > now) return { taken: false, remaining, waitMs: blockedUntil - now };
  if (remaining > reserve) return { taken: true, remaining, waitMs: 0 };
  const needed = own.length + others - (limit - reserve);
  const freedAt = own[needed] ?? (others > 0 ? othersAt : now);
  return { taken: false, remaining, waitMs: Math.max(1, freedAt + countedMs(rule) - now) };
}

/** If the clock was set back, what lies in its future is taken to be of now: it would count for as long again. */
function moveFromFuture(window: Window, rule: WindowRule, now: number): void {
  window.own = window.own.map((time) => Math.min(time, now));
  window.othersAt = Math.min(window.othersAt, now);
  window.blockedUntil = Math.min(window.blockedUntil, now + countedMs(rule));
}
