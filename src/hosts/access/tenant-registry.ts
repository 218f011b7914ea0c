import type { Grant } from '../../tenant/grants.ts';
import type { TenantEndpoint } from '../endpoint.ts';

/** The way in to one tenant. */
export interface ServedTenant {
  /** What the operator calls it. */
  readonly name: string;
  /** What the operator lets anybody do with it. */
  readonly grants: ReadonlySet<Grant>;
  /** For somebody who may do no more than these; the same for the same grants. */
  endpointFor(grants: ReadonlySet<Grant>): TenantEndpoint;
}

export interface TenantRegistry {
  /** The tenant of that name. Without a name it is the only one, where there is only one. */
  find(name: string | undefined): ServedTenant | undefined;
}
