/**
 * Imports undici's connection pool alone: the main module also loads fetch, WebSocket and caches, which would
 * delay the first request.
 */
import type { Pool as PoolType } from 'undici';
// @ts-expect-error undici declares types for its main module only
import UntypedPool from 'undici/lib/dispatcher/pool.js';

export const Pool: typeof PoolType = UntypedPool;
