import type { LookupFunction } from 'node:net';
import type { Pool } from 'undici';

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

/** Keep-alive connections by origin. Tenants of the same origin share them. */
export class Connections {
  readonly limits: WireLimits;
  readonly #pools = new Map<string, { pool: Promise<Pool>; users: number }>();

  constructor(limits: Partial<WireLimits> = {}) {
    this.limits = { ...defaultLimits, ...limits };
  }

  /** The connections for one more tenant, which must release them. */
  acquire(origin: string): Promise<Pool> {
    const shared = this.#pools.get(origin) ?? { pool: this.#createPool(origin), users: 0 };
    this.#pools.set(origin, shared);
    shared.users += 1;
    return shared.pool;
  }

  async release(origin: string): Promise<void> {
    const shared = this.#pools.get(origin);
    if (!shared || --shared.users > 0) return;
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
