import { type Resource, resources } from '../api/routes.ts';

/** What a tenant's key may be used for here. `read` stands for every read. */
export type Grant = `${Resource}:read` | 'opportunity:write';

export const writeGrant = 'opportunity:write' satisfies Grant;
export const grantNames: readonly string[] = [
  'read',
  ...resources.filter((name) => name !== 'category_tree').map((name) => `${name}:read`),
  writeGrant,
];

/** The category tree is read with the categories' grant. */
export const readGrant = (resource: Resource): Grant =>
  resource === 'category_tree' ? 'category:read' : `${resource}:read`;

/** Those of `grants` that are among `limit`, too. */
export const intersectGrants = (
  grants: ReadonlySet<Grant>,
  limit: ReadonlySet<Grant>,
): ReadonlySet<Grant> => new Set([...grants].filter((grant) => limit.has(grant)));

/**
 * Reads a list of grants, as in `read,opportunity:write`.
 * @throws RangeError that names the unknown ones
 */
export function parseGrants(names: readonly string[]): ReadonlySet<Grant> {
  const unknown = names.filter((name) => !grantNames.includes(name));
  if (unknown.length > 0) throw new RangeError(`unknown: ${unknown.join(', ')}`);
  const reads = names.includes('read') ? resources.map(readGrant) : [];
  // Whoever writes an opportunity must see what is there first.
  const seen: Grant[] = names.includes(writeGrant) ? ['opportunity:read'] : [];
  return new Set([...reads, ...seen, ...(names.filter((name) => name !== 'read') as Grant[])]);
}
