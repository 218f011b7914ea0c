import type { IncomingMessage } from 'node:http';
import { FailureLimiter } from './failure-limiter.ts';
import { HttpError, retryAfterHeader } from './http-error.ts';
import { clientAddress, networkOf, type TrustedProxies } from './proxies.ts';

const defaultPerMinute = 30;

/**
 * Limits guessing: after too many wrong credentials in a minute, all requests of an address or IPv6 network
 * are refused.
 */
export class GuessLimiter {
  readonly #proxies: TrustedProxies;
  readonly #failures: FailureLimiter;

  constructor(proxies: TrustedProxies, perMinute = defaultPerMinute) {
    this.#proxies = proxies;
    this.#failures = new FailureLimiter(perMinute);
  }

  /** The address or IPv6 /64 network by which guesses are counted. */
  senderOf(request: IncomingMessage): string {
    return networkOf(clientAddress(request, this.#proxies));
  }

  /** @throws HttpError (429) while this sender has to wait */
  check(sender: string): void {
    const wait = this.#failures.waitSeconds(sender);
    if (wait > 0)
      throw new HttpError(429, 'Too many wrong credentials', { headers: retryAfterHeader(wait) });
  }

  count(sender: string): void {
    this.#failures.count(sender);
  }
}
