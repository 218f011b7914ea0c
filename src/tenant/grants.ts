import { type Resource, resources } from '../service/routes.ts';
import { InvalidValue } from '../setting-values.ts';

/** A permission to use a tenant's key. In settings, `read` means all read grants. */
export type Grant = `${Resource}:read` | 'opportunity:write';

export const writeGrant = 'opportunity:write' satisfies Grant;
const allGrants: readonly Grant[] = [
  ...resources.filter((name) => name !== 'category_tree').map((name): Grant => `${name}:read`),
  writeGrant,
];
export const grantNames: readonly string[] = ['read', ...allGrants];

/** The category tree has the same grant as categories. */
export const readGrant = (resource: Resource): Grant =>
  resource === 'category_tree' ? 'category:read' : `${resource}:read`;

export const intersectGrants = (
  grants: ReadonlySet<Grant>,
  limit: ReadonlySet<Grant>,
): ReadonlySet<Grant> => new Set([...grants].filter((grant) => limit.has(grant)));

/**
 * Parses a list of grants such as `read,opportunity:write`.
 * @throws InvalidValue with the unknown names
 */
export function parseGrants(names: readonly string[]): ReadonlySet<Grant> {
  const unknown = names.filter((name) => !grantNames.includes(name));
  if (unknown.length > 0) throw new InvalidValue(`unknown: ${unknown.join(', ')}`);
  const reads = names.includes('read') ? resources.map(readGrant) : [];
  // Writing an opportunity requires reading its present values.
  const implied: Grant[] = names.includes(writeGrant) ? ['opportunity:read'] : [];
  return new Set([...reads, ...implied, ...allGrants.filter((grant) => names.includes(grant))]);
}

/** @throws NotGranted */
export function requireGrant(grants: ReadonlySet<Grant>, grant: Grant): void {
  if (!grants.has(grant)) throw new NotGranted(grant);
}

/** The operator has not granted what the tool needs. */
export class NotGranted extends Error {
  readonly kind = 'not-granted';
  readonly grant: Grant;

  constructor(grant: Grant) {
    super(`not granted: ${grant}`);
    this.grant = grant;
  }
}
