import type { LookupFunction } from 'node:net';
import type { Pool } from 'undici';
import { Exchange, type RequestOptions } from './exchange.ts';

export interface WireLimits {
  /** Timeout of one attempt, from the first byte sent to the last received. */
  attemptMs: number;
  connectMs: number;
  /** Maximum size of one response, decompressed. */
  maxBytes: number;
  /** Maximum number of requests that a tenant has in flight; further ones wait. */
  concurrent: number;
  /** Maximum number of connections to one origin, of all tenants together. */
  connections: number;
  /** Resolves host names; set where some addresses must not be reached. */
  lookup?: LookupFunction;
}

const defaultLimits: WireLimits = {
  attemptMs: 20_000,
  connectMs: 5_000,
  maxBytes: 32 * 1024 * 1024,
  concurrent: 16,
  connections: 256,
};

interface SharedPool {
  pool: Promise<Pool>;
  users: number;
}

/** Keep-alive connections by origin. Tenants of the same origin share them. */
export class Connections {
  readonly limits: WireLimits;
  readonly #pools = new Map<string, SharedPool>();

  constructor(limits: Partial<WireLimits> = {}) {
    this.limits = { ...defaultLimits, ...limits };
  }

  /** Opens the connections of one tenant, which must be closed. */
  async open(origin: string): Promise<TenantConnections> {
    const shared = this.#pools.get(origin) ?? { pool: this.#createPool(origin), users: 0 };
    this.#pools.set(origin, shared);
    shared.users += 1;
    const close = () => this.#release(origin, shared);
    return new TenantConnections(await shared.pool, this.limits.concurrent, close);
  }

  async #release(origin: string, shared: SharedPool): Promise<void> {
    shared.users -= 1;
    if (shared.users > 0) return;
    this.#pools.delete(origin);
    await (await shared.pool).destroy();
  }

  /** Loaded on first use: loading undici takes about 0.3 s, which a list of tools would have to wait for. */
  async #createPool(origin: string): Promise<Pool> {
    const { Pool } = await import('./pool.ts');
    const { lookup, connections, connectMs, attemptMs, maxBytes } = this.limits;
    return new Pool(origin, {
      ...(lookup ? { connect: { lookup } } : {}),
      connections,
      connectTimeout: connectMs,
      keepAliveTimeout: 30_000,
      headersTimeout: attemptMs,
      bodyTimeout: attemptMs,
      maxResponseSize: maxBytes,
    });
  }
}

/** What one tenant uses of the shared connections. Its own limit keeps it from taking them all. */
export class TenantConnections {
  readonly #pool: Pool;
  readonly #concurrent: number;
  readonly #release: () => Promise<void>;
  readonly #inFlight = new Set<Exchange>();
  readonly #waiting = new Set<Exchange>();
  #closed: Error | undefined;

  constructor(pool: Pool, concurrent: number, release: () => Promise<void>) {
    this.#pool = pool;
    this.#concurrent = concurrent;
    this.#release = release;
  }

  send(request: RequestOptions): Exchange {
    const exchange = new Exchange(request);
    if (this.#closed) exchange.stop(this.#closed);
    else if (this.#inFlight.size >= this.#concurrent) this.#waiting.add(exchange);
    else this.#start(exchange);
    return exchange;
  }

  /** Must be called when an exchange has ended or was stopped. */
  ended(exchange: Exchange): void {
    this.#waiting.delete(exchange);
    if (!this.#inFlight.delete(exchange)) return;
    const [next] = this.#waiting;
    if (next) this.#start(next);
  }

  /** Stops all exchanges, including those sent later, with this reason. */
  async close(reason: Error): Promise<void> {
    if (this.#closed) return;
    this.#closed = reason;
    for (const exchange of [...this.#waiting, ...this.#inFlight]) exchange.stop(reason);
    this.#waiting.clear();
    await this.#release();
  }

  #start(exchange: Exchange): void {
    this.#waiting.delete(exchange);
    this.#inFlight.add(exchange);
    exchange.start(this.#pool);
  }
}
