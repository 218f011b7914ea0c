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
  circuit?: Partial<CircuitSettings>;
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
    const { rates, budgetName, budget = defaultBudget, circuit, observer, onResponse } = options;
    this.budget = new RateBudget(rates, budgetName, budget);
    this.#circuit = new Circuit(circuit);
    this.#observer = observer;
    this.#onResponse = onResponse;
  }

  /** @throws ApiError (`circuit-open`, `budget-spent`) if the request must not be sent now; what the attempt throws */
  async intercept<T>(request: ApiRequest, call: Call, attempt: Attempt<T>): Promise<T> {
    const { facts } = request;
    let isProbe = false;
    try {
      isProbe = this.#circuit.check(facts);
      if (isExpired(call)) throw new ApiError('timed-out', facts, 'the deadline has passed');
      const taken = await this.budget.take(call, facts);
      return await this.#observed(call, async () => {
        const value = attempt.parse(await this.#counted(taken, attempt.send));
        this.#circuit.succeeded();
        this.#onResponse?.(facts.path ?? '', undefined, call);
        return value;
      });
    } catch (error) {
      await this.#recordFailure(error, request, call, isProbe);
      throw error;
    }
  }

  async #observed<T>({ signal }: Call, send: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    let outcome: RequestOutcome = '2xx';
    try {
      return await send();
    } catch (error) {
      outcome = signal.aborted ? 'cancelled' : requestOutcome(error);
      throw error;
    } finally {
      this.#observer?.onRequest(outcome, (performance.now() - startedAt) / 1000);
    }
  }

  /** Corrects the budget by the response's headers. */
  async #counted(taken: RequestNumber, send: () => Promise<WireResponse>): Promise<WireResponse> {
    try {
      const response = await send();
      const remaining = headerNumber(response, 'x-ratelimit-remaining');
      const limit = headerNumber(response, 'x-ratelimit-limit');
      if (remaining !== undefined) await this.budget.correct(taken, remaining, limit);
      return response;
    } finally {
      this.budget.ended(taken);
    }
  }

  async #recordFailure(
    error: unknown,
    { probesSize = false }: ApiRequest,
    call: Call,
    isProbe: boolean,
  ): Promise<void> {
    if (isApiError(error, 'circuit-open', 'budget-spent'))
      this.#observer?.onRequest(requestOutcome(error));
    const isRefusedSize = probesSize && isInternalError(error);
    if (isOutage(error, call) && !isRefusedSize) this.#circuit.failed(isProbe);
    else if (isApiError(error) && error.facts.status !== undefined && !isRefusedSize) {
      this.#circuit.succeeded();
      this.#onResponse?.(error.facts.path ?? '', error, call);
    } else this.#circuit.noResponse(isProbe);
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

interface CircuitSettings {
  /** Consecutive failures that open the circuit. */
  failures: number;
  firstCooldownMs: number;
  maxCooldownMs: number;
}

const defaultCircuit: CircuitSettings = {
  failures: 5,
  firstCooldownMs: 10_000,
  maxCooldownMs: 60_000,
};

/**
 * Circuit breaker: during an outage, requests fail at once instead of timing out. It opens after several
 * consecutive failures. After a cooldown one probe request is sent: if it succeeds, the circuit closes; if it
 * fails, the cooldown doubles. Requests sent before the circuit opened can close it but not extend the cooldown.
 */
class Circuit {
  readonly #settings: CircuitSettings;
  #failures = 0;
  #cooldownMs: number;
  #openUntil = 0;
  #probing = false;

  constructor(settings: Partial<CircuitSettings> = {}) {
    this.#settings = { ...defaultCircuit, ...settings };
    this.#cooldownMs = this.#settings.firstCooldownMs;
  }

  /**
   * @returns true if this request is the probe
   * @throws ApiError (`circuit-open`) during the cooldown and while the probe is in flight
   */
  check(facts: ErrorFacts): boolean {
    if (this.#openUntil === 0) return false;
    const now = Date.now();
    // Later only if the clock was set back.
    this.#openUntil = Math.min(this.#openUntil, now + this.#cooldownMs);
    const cooldownRemaining = this.#openUntil - now;
    if (cooldownRemaining > 0 || this.#probing) {
      const seconds = Math.max(1, Math.ceil(cooldownRemaining / 1000));
      throw new ApiError('circuit-open', { ...facts, seconds });
    }
    this.#probing = true;
    return true;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#cooldownMs = this.#settings.firstCooldownMs;
    this.#openUntil = 0;
    this.#probing = false;
  }

  failed(wasProbe: boolean): void {
    this.#failures += 1;
    // Another response may have closed the circuit before the probe ended.
    const staysOpen = wasProbe && this.#probing;
    if (staysOpen) {
      this.#probing = false;
      this.#cooldownMs = Math.min(this.#settings.maxCooldownMs, this.#cooldownMs * 2);
    }
    const opens = this.#openUntil === 0 && this.#failures >= this.#settings.failures;
    if (opens || staysOpen) this.#openUntil = Date.now() + this.#cooldownMs;
  }

  /** The request ended without showing whether the service works, for example because it was cancelled. */
  noResponse(wasProbe: boolean): void {
    if (wasProbe) this.#probing = false;
  }
}
