import { createHash } from 'node:crypto';

/**
 * A key of a tenant's: `cpq:{tenant}:…`. The braces keep all keys of a tenant on one node of a cluster.
 * What is no hash is hashed: no address, and nothing of a key, stands in Redis.
 */
export const keyOf = (tenant: string, ...rest: readonly string[]): string =>
  ['cpq', `{${/^[0-9a-f]{16}$/.test(tenant) ? tenant : hashOf(tenant)}}`, ...rest].join(':');

export const hashOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 16);
