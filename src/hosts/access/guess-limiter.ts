import type { IncomingMessage } from 'node:http';
import type { BlockList } from 'node:net';
import { MemoryRates } from '../../state/memory-rates.ts';
import { HttpError } from './http-error.ts';
import { clientAddress, networkOf } from './networks.ts';

const rule = { limit: 30, windowMs: 60_000, reserve: 0 };

/**
 * Limits guessing: after too many wrong credentials in a minute, all requests of an address or IPv6 network
 * are refused.
 */
export class GuessLimiter {
  readonly #proxies: BlockList;
  readonly #wrong = new MemoryRates();

  /** @param proxies whose X-Forwarded-For header is trusted */
  constructor(proxies: BlockList) {
    this.#proxies = proxies;
  }

  /** The address or IPv6 /64 network by which guesses are counted. */
  senderOf(request: IncomingMessage): string {
    return networkOf(clientAddress(request, this.#proxies));
  }

  /** @throws HttpError (429) while this sender has to wait */
  check(sender: string): void {
    const { taken, waitMs } = this.#wrong.evaluate(sender, rule, performance.now());
    if (taken) return;
    throw new HttpError(429, 'Too many wrong credentials', { retryAfter: waitMs / 1000 });
  }

  count(sender: string): void {
    this.#wrong.count(sender, rule, performance.now());
  }
}
