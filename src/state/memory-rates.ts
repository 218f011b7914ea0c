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
    const window = this.#of(key);
    return judge(window, inside(window, rule, now), rule, now);
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
    const window = this.#of(key);
    const { gone, others } = inside(window, rule, now);
    window.own.splice(0, gone);
    window.others = others;
    return window;
  }

  #of(key: string): Window {
    const window = this.#windows.get(key) ?? { own: [], others: 0, othersAt: 0, blockedUntil: 0 };
    this.#windows.set(key, window);
    return window;
  }
}

/** What of a window counts at some moment. */
interface Inside {
  /** How many of the oldest of our own do not any more. */
  gone: number;
  others: number;
}

function inside({ own, others, othersAt }: Window, rule: WindowRule, now: number): Inside {
  const start = now - countedMs(rule);
  const first = own.findIndex((time) => time > start);
  return { gone: first === -1 ? own.length : first, others: othersAt <= start ? 0 : others };
}

function judge(window: Window, counted: Inside, rule: WindowRule, now: number): WindowVerdict {
  const sent = window.own.length - counted.gone + counted.others;
  const left = Math.max(0, rule.limit - sent);
  if (window.blockedUntil > now) return { taken: false, left, waitMs: window.blockedUntil - now };
  if (left > rule.reserve) return { taken: true, left, waitMs: 0 };
  return { taken: false, left, waitMs: untilRoom(window, counted, rule, now) };
}

/** When enough of our own requests, or what others sent, will have left the window. */
function untilRoom(
  { own, othersAt }: Window,
  { gone, others }: Inside,
  rule: WindowRule,
  now: number,
): number {
  const needed = own.length - gone + others - (rule.limit - rule.reserve) + 1;
  const leaves = own[gone + needed - 1] ?? (others > 0 ? othersAt : now);
  return Math.max(1, leaves + countedMs(rule) - now);
}
