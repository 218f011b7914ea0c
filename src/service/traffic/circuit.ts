import { ApiError, type ErrorFacts } from '../errors.ts';

export interface CircuitSettings {
  /** Consecutive failures that open the circuit. */
  failures: number;
  firstCooldownMs: number;
  maxCooldownMs: number;
}

const defaults: CircuitSettings = { failures: 5, firstCooldownMs: 10_000, maxCooldownMs: 60_000 };

/**
 * Circuit breaker: during an outage, requests fail at once instead of timing out. It opens after several
 * consecutive failures. After a cooldown one probe request is sent: if it succeeds, the circuit closes; if it
 * fails, the cooldown doubles. Requests sent before the circuit opened can close it but not extend the cooldown.
 */
export class Circuit {
  readonly #settings: CircuitSettings;
  #failures = 0;
  #cooldownMs: number;
  #openUntil = 0;
  #probing = false;

  constructor(settings: Partial<CircuitSettings> = {}) {
    this.#settings = { ...defaults, ...settings };
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
