import { setImmediate as nextTurn } from 'node:timers/promises';
import { nextSlice, waitForSlice } from '../slices.ts';
import type { Call, RequestSlot, Trace } from './call.ts';
import type { Connections, TenantConnections, WireLimits } from './connections/connections.ts';
import { decompressed } from './connections/decompress.ts';
import type { Received, RequestOptions } from './connections/exchange.ts';
import { toApiError } from './connections/network-errors.ts';
import { ApiError, type ErrorFacts } from './errors.ts';

export interface WireRequest {
  method: 'GET' | 'PUT';
  /** Below `/public-api`, with the query. */
  path: string;
  body?: string;
  /** Sent as trace headers. */
  trace?: Trace | undefined;
}

/** Its body is decompressed. */
export type WireResponse = Received;

/** A larger response has records; after an empty page no further request may be needed. */
const maxEmptyBody = 1024;
/** Size of a response that is parsed in less than a millisecond. */
const maxSmallBody = 64 * 1024;

/** One tenant's requests. Sends the key with every request and never follows redirects. */
export class Wire {
  readonly #base: URL;
  readonly #key: string;
  readonly #limits: WireLimits;
  readonly #shared: Connections;
  #connections: Promise<TenantConnections> | undefined;
  #closed: ApiError | undefined;

  /** `baseUrl` is the tenant's address, without `/public-api`. */
  constructor(baseUrl: URL, key: string, shared: Connections) {
    this.#base = new URL(`${baseUrl.pathname}/public-api`.replace(/\/+/g, '/'), baseUrl);
    this.#key = key;
    this.#limits = shared.limits;
    this.#shared = shared;
  }

  /**
   * Sends one request, once.
   * @throws ApiError, of the kind `unreachable` only if nothing was sent; the signal's reason when cancelled
   */
  async send(request: WireRequest, call: Call, facts: ErrorFacts): Promise<WireResponse> {
    const received = await this.#exchange(request, call, facts);
    const { slot } = call;
    if (slot && received.status < 300 && received.body.length > maxEmptyBody) {
      await releaseEarly(slot);
    } else if (received.body.length > maxSmallBody) {
      // Several large pages may arrive at once, and each takes milliseconds to be parsed.
      await waitForSlice();
    }
    call.signal.throwIfAborted();
    return decompressed(received, this.#limits.maxBytes, facts);
  }

  async #exchange(request: WireRequest, call: Call, facts: ErrorFacts): Promise<Received> {
    call.signal.throwIfAborted();
    if (this.#closed) throw this.#closed;
    this.#connections ??= this.#shared.open(this.#base.origin);
    const connections = await this.#connections;
    call.signal.throwIfAborted(); // It may have been cancelled while the pool was loaded.
    const exchange = connections.send(this.#options(request));
    const cancel = () => exchange.stop(call.signal.reason);
    const timeLeft = Math.max(1, Math.min(this.#limits.attemptMs, call.deadline - Date.now()));
    const timer = setTimeout(() => exchange.stop(new ApiError('timed-out', facts)), timeLeft);
    call.signal.addEventListener('abort', cancel, { once: true });
    try {
      return await exchange.received;
    } catch (error) {
      throw call.signal.aborted ? call.signal.reason : toApiError(error, facts);
    } finally {
      connections.ended(exchange);
      clearTimeout(timer);
      call.signal.removeEventListener('abort', cancel);
    }
  }

  /** Requests that are not answered yet fail. */
  async close(): Promise<void> {
    this.#closed = new ApiError('connection-lost', { host: this.#base.host }, 'closed');
    await (await this.#connections)?.close(this.#closed);
  }

  #options({ method, path, body, trace }: WireRequest): RequestOptions {
    const headers: Record<string, string> = {
      ...trace,
      'api-key': this.#key,
      accept: 'application/json',
      'accept-encoding': 'gzip, br',
    };
    if (body !== undefined) headers['content-type'] = 'application/json';
    return { method, path: this.#base.pathname + path, headers, body: body ?? null };
  }
}

/** Lets the next request be sent on the same connection, before the response that has arrived is parsed. */
async function releaseEarly(slot: RequestSlot): Promise<void> {
  await nextTurn(); // undici can use the connection again.
  slot.release();
  await nextTurn(); // undici has written the next request.
  await nextSlice();
}
