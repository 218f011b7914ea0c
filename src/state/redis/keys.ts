import { shortHash } from '../short-hash.ts';

/** A tenant's namespace: a hash, with the tenant's name in front if there are several tenants. */
const isNamespace = /^(?:[a-z0-9][a-z0-9-]{0,62}-)?[0-9a-f]{16}$/;

/**
 * A Redis key of a tenant: `cpq:{tenant}:…`. The braces keep all keys of a tenant on one node of a cluster. A name
 * that is not a namespace is hashed, so that Redis holds no address and no API key.
 */
export const keyOf = (tenant: string, ...rest: readonly string[]): string =>
  ['cpq', `{${isNamespace.test(tenant) ? tenant : shortHash(tenant)}}`, ...rest].join(':');
