import type { RateWindow } from '../../state/port.ts';
import type { Call } from '../call.ts';
import type { ApiRequest, Attempt, RequestInterceptor } from '../client.ts';
import type { WireResponse } from '../connections/wire.ts';
import { ApiError, type ErrorFacts, isApiError, isInternalError } from '../errors.ts';
import { header } from '../response.ts';
import { type BudgetSettings, defaultBudget, RateBudget, type RequestNumber } from './budget.ts';
import { type Observer, type RequestOutcome, requestOutcome } from './observer.ts';

export interface TrafficOptions {
  rates: RateWindow;
  /** Identifies the rate budget: clients with the same name share it. */
  budgetName: string;
  budget?: BudgetSettings;
  /** Consecutive failures after which requests are not sent for a while. Default: 5. */
  circuitFailures?: number;
  observer?: Observer | undefined;
  /** Called for every response, with the error of a failed one. `path` is as in `ErrorFacts`. */
  onResponse?: ((path: string, refusal: ApiError | undefined, call: Call) => void) | undefined;
}

/** Counts the requests to one tenant in its rate budget, stops them during an outage, and reports them. */
export class TrafficControl implements RequestInterceptor {
  readonly budget: RateBudget;
  readonly #circuit: Circuit;
  readonly #observer: Observer | undefined;
  readonly #onResponse: TrafficOptions['onResponse'];

  constructor(options: TrafficOptions) {
    const { rates, budgetName, budget = defaultBudget, observer, onResponse } = options;
    this.budget = new RateBudget(rates, budgetName, budget);
    this.#circuit = new Circuit(options.circuitFailures ?? 5);
    this.#observer = observer;
    this.#onResponse = onResponse;
  }

  /** @throws ApiError (`circuit-open`, `budget-spent`) if the request must not be sent now; what the attempt throws */
  async intercept<T>(request: ApiRequest, call: Call, attempt: Attempt<T>): Promise<T> {
    const { facts } = request;
    try {
      this.#circuit.check(facts);
      if (isExpired(call)) throw new ApiError('timed-out', facts, 'the deadline has passed');
      const taken = await this.budget.take(call, facts);
      const value = await this.#send(taken, call, attempt);
      this.#circuit.succeeded();
      this.#onResponse?.(facts.path ?? '', undefined, call);
      return value;
    } catch (error) {
      await this.#recordFailure(error, request, call);
      throw error;
    }
  }

  /** Reports the request, and corrects the budget by the headers of its response. */
  async #send<T>(taken: RequestNumber, { signal }: Call, attempt: Attempt<T>): Promise<T> {
    const startedAt = performance.now();
    let outcome: RequestOutcome = '2xx';
    try {
      const response = await attempt.send();
      const remaining = headerNumber(response, 'x-ratelimit-remaining');
      const limit = headerNumber(response, 'x-ratelimit-limit');
      if (remaining !== undefined) await this.budget.correct(taken, remaining, limit);
      return attempt.parse(response);
    } catch (error) {
      outcome = signal.aborted ? 'cancelled' : requestOutcome(error);
      throw error;
    } finally {
      this.budget.ended(taken);
      this.#observer?.onRequest(outcome, (performance.now() - startedAt) / 1000);
    }
  }

  async #recordFailure(error: unknown, { probesSize }: ApiRequest, call: Call): Promise<void> {
    if (isApiError(error, 'circuit-open', 'budget-spent'))
      this.#observer?.onRequest(requestOutcome(error));
    // Sizes that are tried in turn may be refused with 500.
    if (probesSize && isInternalError(error)) return;
    if (isOutage(error, call)) this.#circuit.failed();
    else if (isApiError(error) && error.facts.status !== undefined) {
      this.#circuit.succeeded();
      this.#onResponse?.(error.facts.path ?? '', error, call);
    }
    if (isApiError(error, 'rate-limited') && error.facts.seconds !== undefined) {
      await this.budget.block(error.facts.seconds);
    }
  }
}

function headerNumber(response: WireResponse, name: string): number | undefined {
  const text = header(response, name)?.trim() ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

const isOutage = (error: unknown, call: Call): boolean =>
  isApiError(error, 'server-error', 'connection-lost', 'unreachable') ||
  (isApiError(error, 'timed-out') && !isExpired(call));

/** After its deadline a call does not show whether the service works. */
const isExpired = (call: Call): boolean => Date.now() >= call.deadline;

const cooldownMs = 10_000;

/**
 * Circuit breaker: after several consecutive failures, requests fail at once for a while instead of timing out. Then they
 * are sent again; the first one that fails stops the others for as long again.
 */
class Circuit {
  readonly #maxFailures: number;
  #failures = 0;
  #openUntil = 0;

  constructor(maxFailures: number) {
    this.#maxFailures = maxFailures;
  }

  /** @throws ApiError (`circuit-open`) */
  check(facts: ErrorFacts): void {
    const now = Date.now();
    // Later only if the clock was set back.
    this.#openUntil = Math.min(this.#openUntil, now + cooldownMs);
    if (this.#openUntil <= now) return;
    const seconds = Math.ceil((this.#openUntil - now) / 1000);
    throw new ApiError('circuit-open', { ...facts, seconds });
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openUntil = 0;
  }

  failed(): void {
    this.#failures += 1;
    if (this.#failures >= this.#maxFailures) this.#openUntil = Date.now() + cooldownMs;
  }
}
