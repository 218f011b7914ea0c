import { ApiError, type ErrorFacts } from './errors.ts';

export interface CircuitSettings {
  /** Failures in a row that open it. */
  failures: number;
  firstCooldownMs: number;
  maxCooldownMs: number;
}

const defaults: CircuitSettings = { failures: 5, firstCooldownMs: 10_000, maxCooldownMs: 60_000 };

/**
 * Tells an outage at once instead of after every time-out in turn. Opens after some failures in a row;
 * after a rest one request is let through, and its success closes the circuit, its failure doubles the
 * rest. What others say that were under way before is heard, but is not the probe's word.
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
   * Whether the request that may pass now is the probe.
   * @throws ApiError (`circuit-open`) while resting, or while the one probe is under way
   */
  check(facts: ErrorFacts): boolean {
    if (this.#openUntil === 0) return false;
    const cooldownRemaining = this.#openUntil - Date.now();
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

  failed(probed: boolean): void {
    this.#failures += 1;
    // Another answer may have closed the circuit before the probe ended.
    const stays = probed && this.#probing;
    if (stays) {
      this.#probing = false;
      this.#cooldownMs = Math.min(this.#settings.maxCooldownMs, this.#cooldownMs * 2);
    }
    const opens = this.#openUntil === 0 && this.#failures >= this.#settings.failures;
    if (opens || stays) this.#openUntil = Date.now() + this.#cooldownMs;
  }

  /** The request ended without saying anything about the service, as when a person cancelled it. */
  noResponse(probed: boolean): void {
    if (probed) this.#probing = false;
  }
}
