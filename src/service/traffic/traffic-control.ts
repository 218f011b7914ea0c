import type { RateWindow } from '../../state/port.ts';
import type { Call } from '../call.ts';
import type { ApiRequest, SentRequest, Traffic } from '../client.ts';
import type { WireResponse } from '../connections/wire.ts';
import { ApiError, type ErrorFacts, isApiError, isInternalError } from '../errors.ts';
import { header } from '../response.ts';
import { type BudgetSettings, defaultBudget, RateBudget } from './budget.ts';
import { type Observer, type RequestOutcome, requestOutcome } from './observer.ts';

interface ResponseListener {
  /** Called for every response, with the error of a failed one. `path` is as in `ErrorFacts`. */
  onResponse(path: string, refusal: ApiError | undefined, call: Call): void;
}

export interface TrafficOptions {
  rates: RateWindow;
  /** Identifies the rate budget: clients with the same name share it. */
  budgetName: string;
  budget?: BudgetSettings;
  /** Consecutive failures after which requests are not sent for a while. Default: 5. */
  circuitFailures?: number;
  observer?: Observer | undefined;
  listener?: ResponseListener | undefined;
}

const cooldownMs = 10_000;

/**
 * Counts the requests to one tenant in its rate budget, reports them, and stops them during an outage: after several
 * consecutive failures, requests fail at once for a while instead of timing out. Then they are sent again; the first one
 * that fails stops the others for as long again.
 */
export class TrafficControl implements Traffic {
  readonly budget: RateBudget;
  readonly #maxFailures: number;
  readonly #observer: Observer | undefined;
  readonly #listener: ResponseListener | undefined;
  #failures = 0;
  /** Until when no requests are sent, in milliseconds since the epoch. */
  #openUntil = 0;

  constructor(options: TrafficOptions) {
    const { rates, budgetName, budget = defaultBudget, observer, listener } = options;
    this.budget = new RateBudget(rates, budgetName, budget);
    this.#maxFailures = options.circuitFailures ?? 5;
    this.#observer = observer;
    this.#listener = listener;
  }

  /** @throws ApiError (`circuit-open`, `budget-spent`); the signal's reason when cancelled */
  async begin(facts: ErrorFacts, call: Call): Promise<SentRequest> {
    try {
      if (this.#openUntil > 0) this.#requireClosedCircuit(facts);
      if (Date.now() >= call.deadline)
        throw new ApiError('timed-out', facts, 'the deadline has passed');
      const number = await this.budget.take(call, facts);
      return { number, startedAt: performance.now() };
    } catch (error) {
      if (isApiError(error, 'circuit-open', 'budget-spent'))
        this.#observer?.onRequest(requestOutcome(error));
      throw error;
    }
  }

  /** Corrects the budget by the headers of the response. */
  async received({ number }: SentRequest, response: WireResponse): Promise<void> {
    const remaining = toNumber(header(response, 'x-ratelimit-remaining'));
    if (remaining === undefined) return;
    const limit = toNumber(header(response, 'x-ratelimit-limit'));
    await this.budget.correct(number, remaining, limit);
  }

  succeeded(sent: SentRequest, { path = '' }: ErrorFacts, call: Call): void {
    this.#end(sent, '2xx');
    this.#failures = 0;
    this.#openUntil = 0;
    this.#listener?.onResponse(path, undefined, call);
  }

  async failed(
    sent: SentRequest,
    error: unknown,
    { probesSize }: ApiRequest,
    call: Call,
  ): Promise<void> {
    this.#end(sent, call.signal.aborted ? 'cancelled' : requestOutcome(error));
    // Sizes that are tried in turn may be refused with 500.
    if (probesSize && isInternalError(error)) return;
    if (isOutage(error, call)) {
      this.#failures += 1;
      if (this.#failures >= this.#maxFailures) this.#openUntil = Date.now() + cooldownMs;
    } else if (isApiError(error) && error.facts.status !== undefined) {
      this.#failures = 0;
      this.#openUntil = 0;
      this.#listener?.onResponse(error.facts.path ?? '', error, call);
    }
    if (isApiError(error, 'rate-limited') && error.facts.seconds !== undefined)
      await this.budget.block(error.facts.seconds);
  }

  #end({ number, startedAt }: SentRequest, outcome: RequestOutcome): void {
    this.budget.ended(number);
    this.#observer?.onRequest(outcome, (performance.now() - startedAt) / 1000);
  }

  /** @throws ApiError (`circuit-open`) */
  #requireClosedCircuit(facts: ErrorFacts): void {
    const now = Date.now();
    // Later only if the clock was set back.
    this.#openUntil = Math.min(this.#openUntil, now + cooldownMs);
    if (this.#openUntil <= now) return;
    const seconds = Math.ceil((this.#openUntil - now) / 1000);
    throw new ApiError('circuit-open', { ...facts, seconds });
  }
}

const toNumber = (text = ''): number | undefined =>
  /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : undefined;

const isOutage = (error: unknown, call: Call): boolean =>
  isApiError(error, 'server-error', 'connection-lost', 'unreachable') ||
  // After its deadline a call does not show whether the service works.
  (isApiError(error, 'timed-out') && Date.now() < call.deadline);
