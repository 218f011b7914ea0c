import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Change } from './context.ts';
import { isObject } from './json.ts';

/** A webhook: where all events of a tenant are sent. */
export interface Subscription {
  tenant: string;
  url: string;
  /** Sent as `x-webhook-secret`. */
  secret?: string;
  /** Signs the body: `x-webhook-signature: sha256=…`. */
  signingSecret?: string;
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

interface Attempt {
  at: string;
  /** Status of the answer; absent if there was none. */
  status?: number;
  error?: string;
}

/** The delivery of one event to one webhook. */
export interface Delivery {
  eventId: string;
  /** As in `quote.ordered`. */
  event: string;
  state: 'waiting' | 'delivered' | 'failed';
  attempts: Attempt[];
}

/** Called once when a delivery is given up. */
export interface Failure {
  at: string;
  eventId: string;
  event: string;
  attempts: number;
  why: string;
}

const deliveriesKept = 1_000;

/** Sends the events of the tenants to their webhooks. */
export class Webhooks {
  /** The last ones, newest first. */
  readonly deliveries: Delivery[] = [];
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
    for (const subscription of this.#subscriptions) {
      if (subscription.tenant !== change.tenant) continue;
      const event = `${change.subject}.${change.event}`;
      const delivery: Delivery = { eventId, event, state: 'waiting', attempts: [] };
      this.deliveries.unshift(delivery);
      this.deliveries.splice(deliveriesKept);
      const body = JSON.stringify({
        id: eventId,
        event,
        createdAt: change.at,
        data: change.record,
      });
      void this.#deliver(subscription, delivery, body);
    }
  }

  close(): void {
    this.#stop.abort();
  }

  async #deliver(subscription: Subscription, delivery: Delivery, body: string): Promise<void> {
    const { signal } = this.#stop;
    const { attempts, firstMs, maxMs, timeoutMs } = this.#retry;
    for (let made = 1; ; made++) {
      const attempt = await post(subscription, body, timeoutMs, signal);
      if (signal.aborted) return;
      delivery.attempts.push(attempt);
      const { status = 0 } = attempt;
      if (status >= 200 && status < 300) {
        delivery.state = 'delivered';
        return;
      }
      if (made === attempts) return this.#fail(delivery, attempt);
      // Jitter spreads retries of deliveries that failed at the same time.
      const waitMs = Math.min(maxMs, firstMs * 2 ** (made - 1)) * (0.5 + Math.random());
      await delay(waitMs, undefined, { signal }).catch(() => {}); // The next attempt ends at once.
    }
  }

  #fail(delivery: Delivery, { status, error }: Attempt): void {
    delivery.state = 'failed';
    const { eventId, event, attempts } = delivery;
    this.#onFailure({
      at: new Date().toISOString(),
      ...{ eventId, event, attempts: attempts.length },
      why: error ?? `answered with ${status}`,
    });
  }
}

async function post(
  { url, secret, signingSecret }: Subscription,
  body: string,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<Attempt> {
  const at = new Date().toISOString();
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (secret !== undefined) headers['x-webhook-secret'] = secret;
  if (signingSecret !== undefined) {
    const digest = createHmac('sha256', signingSecret).update(body).digest('hex');
    headers['x-webhook-signature'] = `sha256=${digest}`;
  }
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
    return { at, status: response.status };
  } catch (error) {
    return { at, error: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'no answer in time';
  const code = isObject(error.cause) ? error.cause.code : undefined;
  return typeof code === 'string' ? code : String(error);
}
