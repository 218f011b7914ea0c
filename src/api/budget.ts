import { delay } from '../state/delay.ts';
import type { RateWindow, WindowRule, WindowVerdict } from '../state/port.ts';
import type { Call } from './call.ts';
import { ApiError, type ErrorFacts } from './errors.ts';

export interface BudgetSettings {
  /** Requests that the tenant allows in any `windowSeconds`, all its programs together. */
  requests: number;
  windowSeconds: number;
}

/** The service's own figure, seen on its replies: 500 requests in any ten minutes. */
export const defaultBudget: BudgetSettings = { requests: 500, windowSeconds: 600 };

/** A tenth of the budget stays free for single reads while collections are being walked. */
const reserveShare = 0.1;
/** A short wait is better than a refusal; a long one is for the assistant to decide on. */
const maxWaitMs = { interactive: 5_000, walk: 15_000 };

/** The number of a request that was taken out of the budget. */
export type Taken = number;

/** The rate budget of one tenant: a share of something that other programs draw on too. */
export class RateBudget {
  readonly #window: RateWindow;
  readonly #key: string;
  readonly #limit: number;
  readonly #windowMs: number;
  #lastTaken: Taken = 0;
  #lastReportAt: Taken = 0;
  readonly #inFlight = new Set<Taken>();

  constructor(window: RateWindow, key: string, settings: BudgetSettings) {
    this.#window = window;
    this.#key = key;
    this.#limit = settings.requests;
    this.#windowMs = settings.windowSeconds * 1000;
  }

  /**
   * Takes one request out of the budget, after a short wait if need be. It is under way until `ended`.
   * @throws ApiError (`budget-spent`) when there is none to be had soon; the signal's reason when cancelled
   */
  async take(call: Call, facts: ErrorFacts): Promise<Taken> {
    const rule = this.#rule(call.purpose);
    const giveUpAt = Math.min(call.deadline, Date.now() + maxWaitMs[call.purpose]);
    for (;;) {
      call.signal.throwIfAborted(); // What will not be sent must not be counted.
      const now = Date.now();
      const { taken, waitMs } = await this.#window.take(this.#key, rule, now);
      if (taken) return this.#started();
      if (now + waitMs > giveUpAt) {
        // The moment by which a request counts for longer than the window is waited for here.
        const seconds = Math.ceil(Math.min(waitMs, this.#windowMs) / 1000);
        throw new ApiError('budget-spent', { ...facts, seconds });
      }
      await delay(waitMs, call.signal);
    }
  }

  ended(taken: Taken): void {
    this.#inFlight.delete(taken);
  }

  /**
   * Takes the service's own count over ours. What is still under way may not have been counted yet, so
   * that it is left out of what is left; and an answer that was overtaken knows less than the later one.
   */
  async correct(taken: Taken, remaining: number): Promise<void> {
    if (taken < this.#lastReportAt) return;
    this.#lastReportAt = taken;
    const otherRequests = this.#inFlight.size - (this.#inFlight.has(taken) ? 1 : 0);
    const remainingMs = Math.max(0, remaining - otherRequests);
    await this.#window.correct(this.#key, this.#rule('interactive'), remainingMs, Date.now());
  }

  /** The service asked for silence; not for longer than it remembers what was sent. */
  async block(seconds: number): Promise<void> {
    const ms = Math.min(seconds * 1000, this.#windowMs);
    await this.#window.block(this.#key, Date.now() + ms);
  }

  /** What is left, and for how long there is nothing. */
  peek(): Promise<WindowVerdict> {
    return this.#window.peek(this.#key, this.#rule('interactive'), Date.now());
  }

  #started(): Taken {
    this.#lastTaken += 1;
    this.#inFlight.add(this.#lastTaken);
    return this.#lastTaken;
  }

  #rule(purpose: Call['purpose']): WindowRule {
    const reserve = purpose === 'walk' ? Math.floor(this.#limit * reserveShare) : 0;
    return { limit: this.#limit, windowMs: this.#windowMs, reserve };
  }
}
