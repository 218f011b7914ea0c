import type { Grant } from '../../tenant/grants.ts';
import type { TenantEndpoint } from '../endpoint.ts';

/** A tenant that callers can be served from. */
export interface ServedTenant {
  /** The operator's name of the tenant. */
  readonly name: string;
  /** The grants that the operator configured. */
  readonly grants: ReadonlySet<Grant>;
  /**
   * The endpoint for callers with these grants; the same object for the same arguments.
   * @param tools the only tools that they may use; default all
   */
  endpointFor(grants: ReadonlySet<Grant>, tools?: ReadonlySet<string>): TenantEndpoint;
}

export interface TenantRegistry {
  /** The tenant of that name; without a name, the only tenant if there is exactly one. */
  find(name: string | undefined): ServedTenant | undefined;
}
