import { ApiError, type Facts } from './errors.ts';

export interface CircuitSettings {
  /** Failures in a row that open it. */
  failures: number;
  firstRestMs: number;
  longestRestMs: number;
}

const usual: CircuitSettings = { failures: 5, firstRestMs: 10_000, longestRestMs: 60_000 };

/**
 * Tells an outage at once instead of after every time-out in turn. Opens after some failures in a row;
 * after a rest one request is let through, and its success closes the circuit, its failure doubles the
 * rest. What others say that were under way before is heard, but is not the probe's word.
 */
export class Circuit {
  readonly #settings: CircuitSettings;
  #failures = 0;
  #restMs: number;
  #openUntil = 0;
  #probing = false;

  constructor(settings: Partial<CircuitSettings> = {}) {
    this.#settings = { ...usual, ...settings };
    this.#restMs = this.#settings.firstRestMs;
  }

  /**
   * Whether the request that may pass now is the probe.
   * @throws ApiError (`circuit-open`) while resting, or while the one probe is under way
   */
  check(facts: Facts): boolean {
    if (this.#openUntil === 0) return false;
    const restLeft = this.#openUntil - Date.now();
    if (restLeft > 0 || this.#probing) {
      const seconds = Math.max(1, Math.ceil(restLeft / 1000));
      throw new ApiError('circuit-open', { ...facts, seconds });
    }
    this.#probing = true;
    return true;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#restMs = this.#settings.firstRestMs;
    this.#openUntil = 0;
    this.#probing = false;
  }

  failed(probed: boolean): void {
    this.#failures += 1;
    // Another answer may have closed the circuit before the probe ended.
    const stays = probed && this.#probing;
    if (stays) {
      this.#probing = false;
      this.#restMs = Math.min(this.#settings.longestRestMs, this.#restMs * 2);
    }
    const opens = this.#openUntil === 0 && this.#failures >= this.#settings.failures;
    if (opens || stays) this.#openUntil = Date.now() + this.#restMs;
  }

  /** The request ended without saying anything about the service, as when a person cancelled it. */
  saidNothing(probed: boolean): void {
    if (probed) this.#probing = false;
  }
}
