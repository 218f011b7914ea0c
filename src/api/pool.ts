/**
 * undici's connection pool, and nothing else of it: the main module brings fetch, WebSocket and caches
 * along, which a first request would wait for.
 */
import type { Pool as PoolType } from 'undici';
// @ts-expect-error undici declares types for its main module only
import UntypedPool from 'undici/lib/dispatcher/pool.js';

export const Pool: typeof PoolType = UntypedPool;
