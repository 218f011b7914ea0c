import { createHash } from 'node:crypto';

/** A tenant's namespace: a hash, after the name that the operator gave it, if there are several. */
const isNamespace = /^(?:[a-z0-9][a-z0-9-]{0,62}-)?[0-9a-f]{16}$/;

/**
 * A key of a tenant's: `cpq:{tenant}:…`. The braces keep all keys of a tenant on one node of a cluster.
 * Whatever is no namespace is hashed: no address, and nothing of a key, stands in Redis.
 */
export const keyOf = (tenant: string, ...rest: readonly string[]): string =>
  ['cpq', `{${isNamespace.test(tenant) ? tenant : hashOf(tenant)}}`, ...rest].join(':');

export const hashOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 16);
