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

export type Connections = ReturnType<typeof openConnections>;

/** Keep-alive connections by origin. Tenants of the same origin share them. */
export function openConnections(given: Partial<WireLimits> = {}) {
  const limits: WireLimits = {
    attemptMs: 20_000,
    connectMs: 5_000,
    maxBytes: 32 * 1024 * 1024,
    concurrent: 16,
    connections: 256,
    ...given,
  };
  const pools = new Map<string, { pool: Promise<Pool>; users: number }>();
  return {
    limits,
    /** The connections for one more tenant, which must release them. */
    acquire(origin: string): Promise<Pool> {
      const shared = pools.get(origin) ?? { pool: createPool(origin, limits), users: 0 };
      pools.set(origin, shared);
      shared.users += 1;
      return shared.pool;
    },
    async release(origin: string): Promise<void> {
      const shared = pools.get(origin);
      if (!shared || --shared.users > 0) return;
      pools.delete(origin);
      await (await shared.pool).destroy();
    },
  };
}

/** Loaded on first use: loading undici takes about 0.3 s, which a list of tools would have to wait for. */
async function createPool(
  origin: string,
  { lookup, connections, connectMs, maxBytes }: WireLimits,
): Promise<Pool> {
  const { Pool } = await import('./pool.ts');
  return new Pool(origin, {
    ...(lookup ? { connect: { lookup } } : {}),
    connections,
    connectTimeout: connectMs,
    keepAliveTimeout: 30_000,
    maxResponseSize: maxBytes,
  });
}
