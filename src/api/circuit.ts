import { CircuitOpen, type Facts } from './errors.ts';

const failuresToOpen = 5;
const firstRestMs = 10_000;
const longestRestMs = 60_000;

/**
 * Tells an outage at once instead of after every time-out in turn. Opens after five failures in a row;
 * after a rest one request is let through, and its success closes the circuit, its failure doubles the
 * rest.
 */
export class Circuit {
  #failures = 0;
  #restMs = firstRestMs;
  #openUntil = 0;
  #probing = false;

  /** @throws CircuitOpen while resting, or while the one probe is under way */
  check(facts: Facts): void {
    if (this.#openUntil === 0) return;
    const restLeft = this.#openUntil - Date.now();
    if (restLeft > 0 || this.#probing) {
      throw new CircuitOpen(Math.max(1, Math.ceil(restLeft / 1000)), facts);
    }
    this.#probing = true;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#restMs = firstRestMs;
    this.#openUntil = 0;
    this.#probing = false;
  }

  failed(): void {
    this.#failures += 1;
    if (this.#probing) this.#restMs = Math.min(longestRestMs, this.#restMs * 2);
    if (this.#failures >= failuresToOpen) this.#openUntil = Date.now() + this.#restMs;
    this.#probing = false;
  }

  /** The request ended without saying anything about the service, as when a person cancelled it. */
  saidNothing(): void {
    this.#probing = false;
  }
}
