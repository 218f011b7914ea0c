import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Change } from './context.ts';
import { isObject } from './json.ts';

/** A webhook: where all events of a tenant are sent. */
export interface Subscription {
  tenant: string;
  url: string;
  /** Sent as `x-webhook-secret`. */
  secret?: string;
}

/** Retry policy for deliveries that were not answered with 2xx. */
export interface Retry {
  attempts: number;
  /** Delay before the second attempt; it doubles for each further one, with jitter. */
  firstMs: number;
  maxMs: number;
  /** Timeout of an attempt. */
  timeoutMs: number;
}

export const defaultRetry: Retry = {
  attempts: 6,
  firstMs: 1_000,
  maxMs: 300_000,
  timeoutMs: 10_000,
};

/** Called once when a delivery is given up. */
export interface Failure {
  at: string;
  eventId: string;
  event: string;
  attempts: number;
  why: string;
}

/** Sends the events of the tenants to their webhooks. */
export class Webhooks {
  /** Deliveries that were neither accepted nor given up. */
  waiting = 0;
  readonly #subscriptions: Subscription[] = [];
  readonly #retry: Retry;
  readonly #onFailure: (failure: Failure) => void;
  readonly #stop = new AbortController();

  constructor(retry: Retry, onFailure: (failure: Failure) => void) {
    this.#retry = retry;
    this.#onFailure = onFailure;
  }

  subscribe(subscription: Subscription): void {
    this.#subscriptions.push(subscription);
  }

  /** Sends the event of a write. */
  announce(change: Change): void {
    const eventId = randomUUID();
    const event = `${change.subject}.${change.event}`;
    const content = { id: eventId, event, createdAt: change.at, data: change.record };
    for (const subscription of this.#subscriptions) {
      if (subscription.tenant !== change.tenant) continue;
      this.waiting++;
      void this.#deliver(subscription, JSON.stringify(content)).then((failure) => {
        this.waiting--;
        if (failure) this.#onFailure({ at: new Date().toISOString(), eventId, event, ...failure });
      });
    }
  }

  close(): void {
    this.#stop.abort();
  }

  /** Repeats the delivery until it is accepted. Returns why not, if it was given up. */
  async #deliver(subscription: Subscription, body: string) {
    const { signal } = this.#stop;
    const { attempts, firstMs, maxMs, timeoutMs } = this.#retry;
    for (let made = 1; ; made++) {
      const why = await post(subscription, body, timeoutMs, signal);
      if (why === undefined || signal.aborted) return undefined;
      if (made === attempts) return { attempts, why };
      // Jitter spreads retries of deliveries that failed at the same time.
      const waitMs = Math.min(maxMs, firstMs * 2 ** (made - 1)) * (0.5 + Math.random());
      await delay(waitMs, undefined, { signal }).catch(() => {}); // The next attempt ends at once.
    }
  }
}

/** Makes one attempt. Returns why it was not accepted. */
async function post(
  { url, secret }: Subscription,
  body: string,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<string | undefined> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (secret !== undefined) headers['x-webhook-secret'] = secret;
  try {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]);
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      signal,
      redirect: 'manual',
    });
    await response.arrayBuffer();
    return response.ok ? undefined : `answered with ${response.status}`;
  } catch (error) {
    return reasonOf(error);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'no answer in time';
  const code = isObject(error.cause) ? error.cause.code : undefined;
  return typeof code === 'string' ? code : String(error);
}
