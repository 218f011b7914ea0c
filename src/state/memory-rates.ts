import { countedMs, type RateWindow, type WindowRule, type WindowVerdict } from './port.ts';

interface Window {
  /** Times of our own requests, oldest first. */
  own: number[];
  /** Requests of other programs, as far as the service told, and when it did. */
  others: number;
  othersAt: number;
  blockedUntil: number;
}

/** The rolling windows of one process. */
export class MemoryRates implements RateWindow {
  readonly #windows = new Map<string, Window>();

  async take(key: string, rule: WindowRule, now: number): Promise<WindowVerdict> {
    const verdict = this.judge(key, rule, now);
    if (!verdict.taken) return verdict;
    this.count(key, rule, now);
    return { ...verdict, left: verdict.left - 1 };
  }

  async peek(key: string, rule: WindowRule, now: number): Promise<WindowVerdict> {
    return this.judge(key, rule, now);
  }

  /** Forgets nothing: what is asked about a moment to come must not change what holds now. */
  judge(key: string, rule: WindowRule, now: number): WindowVerdict {
    return judge(inside(this.#of(key), rule, now), rule, now);
  }

  /** Counts a request that was let through elsewhere. */
  count(key: string, rule: WindowRule, now: number): void {
    this.#at(key, rule, now).own.push(now);
  }

  async correct(key: string, rule: WindowRule, remaining: number, now: number): Promise<void> {
    const window = this.#at(key, rule, now);
    window.others = Math.max(0, rule.limit - window.own.length - remaining);
    window.othersAt = now;
  }

  async block(key: string, until: number): Promise<void> {
    const window = this.#windows.get(key);
    if (window) window.blockedUntil = Math.max(window.blockedUntil, until);
  }

  /** With only what counts now. */
  #at(key: string, rule: WindowRule, now: number): Window {
    return Object.assign(this.#of(key), inside(this.#of(key), rule, now));
  }

  #of(key: string): Window {
    const window = this.#windows.get(key) ?? { own: [], others: 0, othersAt: 0, blockedUntil: 0 };
    this.#windows.set(key, window);
    return window;
  }
}

/** What of it counts at this moment. */
function inside(window: Window, rule: WindowRule, now: number): Window {
  const start = now - countedMs(rule);
  const first = window.own.findIndex((time) => time > start);
  const own = first === -1 ? [] : window.own.slice(first);
  return { ...window, own, others: window.othersAt <= start ? 0 : window.others };
}

function judge(window: Window, rule: WindowRule, now: number): WindowVerdict {
  const left = Math.max(0, rule.limit - window.own.length - window.others);
  if (window.blockedUntil > now) return { taken: false, left, waitMs: window.blockedUntil - now };
  if (left > rule.reserve) return { taken: true, left, waitMs: 0 };
  return { taken: false, left, waitMs: untilRoom(window, rule, now) };
}

/** When enough of our own requests, or what others sent, will have left the window. */
function untilRoom(window: Window, rule: WindowRule, now: number): number {
  const needed = window.own.length + window.others - (rule.limit - rule.reserve) + 1;
  const own = window.own[needed - 1];
  const leaves = own ?? (window.others > 0 ? window.othersAt : now);
  return Math.max(1, leaves + countedMs(rule) - now);
}
