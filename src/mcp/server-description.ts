import type { Grant } from '../tenant/grants.ts';
import type { Surface } from './surface.ts';

/** What a caller may use: nothing is served that none of the tools serves. */
export interface Access {
  grants: ReadonlySet<Grant>;
  surface: Surface;
}

/** What a server says of itself, and lists. It is known before the tenant is opened. */
export interface ServerDescription extends Access {
  version: string;
  /** Whether record updates are received, so that hosts can subscribe to them. */
  receivesUpdates?: boolean;
  /** The tenant is the embedded one, whose records are invented. */
  isMadeUp?: boolean;
}
