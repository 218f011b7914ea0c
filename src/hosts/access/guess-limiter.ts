import type { IncomingMessage } from 'node:http';
import { FailureLimiter } from './failure-limiter.ts';
import { HttpError, retryAfterHeader } from './http-error.ts';
import { clientAddress, networkOf, type TrustedProxies } from './proxies.ts';

const defaultPerMinute = 30;

/**
 * Slows down guessing: after so many wrong credentials in a minute an address, or an IPv6 network, is refused
 * whatever it shows.
 */
export class GuessLimiter {
  readonly #proxies: TrustedProxies;
  readonly #failures: FailureLimiter;

  constructor(proxies: TrustedProxies, perMinute = defaultPerMinute) {
    this.#proxies = proxies;
    this.#failures = new FailureLimiter(perMinute);
  }

  /** What one sender cannot change, by which its guesses are counted. */
  senderOf(request: IncomingMessage): string {
    return networkOf(clientAddress(request, this.#proxies));
  }

  /** @throws Denied (429) while this sender has to wait */
  check(sender: string): void {
    const wait = this.#failures.waitSeconds(sender);
    if (wait > 0)
      throw new HttpError(429, 'Too many wrong credentials', { headers: retryAfterHeader(wait) });
  }

  /** One that was wrong. */
  count(sender: string): void {
    this.#failures.count(sender);
  }
}
