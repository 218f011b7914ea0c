import type { RateWindow, WindowRule, WindowVerdict } from '../state/port.ts';
import { type Call, pause } from './call.ts';
import { type Facts, RateLimited } from './errors.ts';

export interface BudgetSettings {
  /** Requests that the tenant allows in any `windowSeconds`, all its programs together. */
  requests: number;
  windowSeconds: number;
}

/** The service's own figure, seen on its replies: 500 requests in any ten minutes. */
export const usualBudget: BudgetSettings = { requests: 500, windowSeconds: 600 };

/** A tenth of the budget stays free for single reads while collections are being walked. */
const reserveShare = 0.1;
/** A short wait is better than a refusal; a long one is for the assistant to decide on. */
const longestWaitMs = 5_000;

/** The rate budget of one tenant: a share of something that other programs draw on too. */
export class RateBudget {
  readonly #window: RateWindow;
  readonly #key: string;
  readonly #limit: number;
  readonly #windowMs: number;

  constructor(window: RateWindow, key: string, settings: BudgetSettings) {
    this.#window = window;
    this.#key = key;
    this.#limit = settings.requests;
    this.#windowMs = settings.windowSeconds * 1000;
  }

  /**
   * Takes one request out of the budget, after a short wait if need be.
   * @throws RateLimited when there is none to be had soon
   */
  async take(call: Call, facts: Facts): Promise<void> {
    const rule = this.#rule(call.purpose);
    const giveUpAt = Math.min(call.deadline, Date.now() + longestWaitMs);
    for (;;) {
      const now = Date.now();
      const verdict = await this.#window.take(this.#key, rule, now);
      if (verdict.taken) return;
      if (now + verdict.waitMs > giveUpAt) {
        throw new RateLimited(Math.ceil(verdict.waitMs / 1000), 'budget', facts);
      }
      await pause(verdict.waitMs, call.signal);
    }
  }

  /** Takes the service's own count over ours. */
  async correct(remaining: number): Promise<void> {
    await this.#window.correct(this.#key, this.#rule('interactive'), remaining, Date.now());
  }

  /** The service asked for silence. */
  async block(seconds: number): Promise<void> {
    await this.#window.block(this.#key, Date.now() + seconds * 1000);
  }

  /** What is left, and for how long there is nothing. */
  peek(): Promise<WindowVerdict> {
    return this.#window.peek(this.#key, this.#rule('interactive'), Date.now());
  }

  #rule(purpose: Call['purpose']): WindowRule {
    const reserve = purpose === 'walk' ? Math.floor(this.#limit * reserveShare) : 0;
    return { limit: this.#limit, windowMs: this.#windowMs, reserve };
  }
}
