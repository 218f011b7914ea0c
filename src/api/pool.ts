/**
 * undici's connection pool with its `request`, and nothing else of it: the main module brings fetch,
 * WebSocket and caches along, which a first request would wait for.
 */
import type { Pool as PoolType } from 'undici';
// @ts-expect-error undici declares types for its main module only
import request from 'undici/lib/api/api-request.js';
// @ts-expect-error as above
import UntypedPool from 'undici/lib/dispatcher/pool.js';

UntypedPool.prototype.request = request;

export const Pool: typeof PoolType = UntypedPool;
