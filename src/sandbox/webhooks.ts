import { createHmac, randomUUID } from 'node:crypto';
import type { Change } from './context.ts';
import { isObject } from './json.ts';

/** A webhook: its address and its events. */
export interface Subscription {
  id: string;
  tenant: string;
  url: string;
  /** `quote.ordered`, or `quote` for all events of a subject; empty for all events. */
  events: string[];
  /** Sent as `x-webhook-secret`. */
  secret?: string;
  /** Signs the body: `x-webhook-signature: sha256=…`. */
  signingSecret?: string;
  /** The form of the event name: `{event: "quote.ordered"}` or `{subject: "quote", event: "ordered"}`. */
  form: 'dotted' | 'pair';
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
  id: string;
  subscription: string;
  eventId: string;
  /** As in `quote.ordered`. */
  event: string;
  state: 'waiting' | 'delivered' | 'failed';
  attempts: Attempt[];
}

/** Called once when a delivery is given up. */
export interface Failure {
  at: string;
  delivery: string;
  subscription: string;
  event: string;
  attempts: number;
  why: string;
}

interface QueuedDelivery {
  delivery: Delivery;
  subscription: Subscription;
  body: string;
  /** Remaining attempts of this round. */
  attemptsRemaining: number;
  attemptsMade: number;
}

const deliveriesKept = 10_000;
const maxConcurrent = 8;

/** Sends the events of the tenants to their webhooks. */
export class Webhooks {
  readonly subscriptions = new Map<string, Subscription>();
  readonly failures: Failure[] = [];
  retry: Retry;
  readonly #onFailure: (failure: Failure) => void;
  readonly #deliveries = new Map<string, QueuedDelivery>();
  readonly #queue: QueuedDelivery[] = [];
  readonly #stop = new AbortController();
  readonly #timers = new Set<NodeJS.Timeout>();
  #running = 0;

  constructor(retry: Retry, onFailure: (failure: Failure) => void) {
    this.retry = retry;
    this.#onFailure = onFailure;
  }

  subscribe(wanted: Omit<Subscription, 'id'>): Subscription {
    const subscription = { ...wanted, id: randomUUID() };
    this.subscriptions.set(subscription.id, subscription);
    return subscription;
  }

  /** Sends the event of a write. */
  announce(change: Change): void {
    const eventId = randomUUID();
    for (const subscription of this.subscriptions.values()) {
      if (isSubscribed(subscription, change)) this.#send(subscription, change, eventId);
    }
  }

  /** Newest first. */
  get deliveries(): Delivery[] {
    return [...this.#deliveries.values()].map(({ delivery }) => delivery).reverse();
  }

  /** Sends a delivery again, unchanged, with the full number of attempts. */
  redeliver(id: string): Delivery | undefined {
    const queued = this.#deliveries.get(id);
    if (!queued) return undefined;
    if (queued.delivery.state !== 'waiting') this.#startNext(queued);
    return queued.delivery;
  }

  close(): void {
    this.#stop.abort();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #send(subscription: Subscription, change: Change, eventId: string): void {
    const event = `${change.subject}.${change.event}`;
    const delivery: Delivery = {
      ...{ id: randomUUID(), subscription: subscription.id, eventId, event },
      state: 'waiting',
      attempts: [],
    };
    const body = JSON.stringify(payloadOf(subscription, change, eventId));
    const queued = { delivery, subscription, body, attemptsRemaining: 0, attemptsMade: 0 };
    this.#deliveries.set(delivery.id, queued);
    for (const id of this.#deliveries.keys()) {
      if (this.#deliveries.size <= deliveriesKept) break;
      this.#deliveries.delete(id);
    }
    this.#startNext(queued);
  }

  #startNext(queued: QueuedDelivery): void {
    queued.delivery.state = 'waiting';
    queued.attemptsRemaining = this.retry.attempts;
    queued.attemptsMade = 0;
    this.#queue.push(queued);
    this.#processQueue();
  }

  #processQueue(): void {
    while (this.#running < maxConcurrent && !this.#stop.signal.aborted) {
      const queued = this.#queue.shift();
      if (!queued) return;
      this.#running += 1;
      void this.#attempt(queued).finally(() => {
        this.#running -= 1;
        this.#processQueue();
      });
    }
  }

  async #attempt(queued: QueuedDelivery): Promise<void> {
    const { delivery } = queued;
    const attempt = await post(queued, this.retry.timeoutMs, this.#stop.signal);
    if (this.#stop.signal.aborted) return;
    queued.attemptsRemaining -= 1;
    queued.attemptsMade += 1;
    delivery.attempts.push(attempt);
    const { status = 0 } = attempt;
    if (status >= 200 && status < 300) delivery.state = 'delivered';
    else if (queued.attemptsRemaining > 0) this.#retryLater(queued);
    else this.#fail(queued, attempt);
  }

  #retryLater(queued: QueuedDelivery): void {
    const { firstMs, maxMs } = this.retry;
    const doubled = Math.min(maxMs, firstMs * 2 ** (queued.attemptsMade - 1));
    // Jitter spreads retries of deliveries that failed at the same time.
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        this.#queue.push(queued);
        this.#processQueue();
      },
      doubled * (0.5 + Math.random()),
    );
    this.#timers.add(timer);
  }

  #fail({ delivery, attemptsMade: made }: QueuedDelivery, { status, error }: Attempt): void {
    delivery.state = 'failed';
    const { id, subscription, event } = delivery;
    const failure = {
      ...{ at: new Date().toISOString(), delivery: id, subscription, event },
      attempts: made,
      why: error ?? `answered with ${status}`,
    };
    this.failures.push(failure);
    this.#onFailure(failure);
  }
}

const isSubscribed = ({ tenant, events }: Subscription, change: Change): boolean =>
  tenant === change.tenant &&
  (events.length === 0 ||
    events.includes(change.subject) ||
    events.includes(`${change.subject}.${change.event}`));

function payloadOf({ form }: Subscription, change: Change, eventId: string): object {
  const { subject, event, at, record } = change;
  return form === 'dotted'
    ? { id: eventId, event: `${subject}.${event}`, createdAt: at, data: record }
    : { eventId, subject, event, occurredAt: at, record };
}

async function post(
  { subscription, body }: QueuedDelivery,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<Attempt> {
  const at = new Date().toISOString();
  const { url, secret, signingSecret } = subscription;
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
