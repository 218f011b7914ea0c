import type { IncomingMessage } from 'node:http';
import { Denied, retryAfter } from './denied.ts';
import { Failures } from './failures.ts';
import { networkOf, type Proxies, senderOf } from './proxies.ts';

const defaultPerMinute = 30;

/**
 * Slows down guessing: after so many wrong credentials in a minute an address, or an IPv6 network, is refused
 * whatever it shows.
 */
export class Guesses {
  readonly #proxies: Proxies;
  readonly #failures: Failures;

  constructor(proxies: Proxies, perMinute = defaultPerMinute) {
    this.#proxies = proxies;
    this.#failures = new Failures(perMinute);
  }

  /** What one sender cannot change, by which its guesses are counted. */
  senderOf(request: IncomingMessage): string {
    return networkOf(senderOf(request, this.#proxies));
  }

  /** @throws Denied (429) while this sender has to wait */
  check(sender: string): void {
    const wait = this.#failures.waitSeconds(sender);
    if (wait > 0)
      throw new Denied(429, 'Too many wrong credentials', { headers: retryAfter(wait) });
  }

  /** One that was wrong. */
  count(sender: string): void {
    this.#failures.count(sender);
  }
}
