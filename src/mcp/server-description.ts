import type { Grant } from '../tenant/grants.ts';
import type { Surface } from './surface.ts';

/** What a server says of itself, and lists. It is known before the tenant is opened. */
export interface ServerDescription {
  version: string;
  surface: Surface;
  grants: ReadonlySet<Grant>;
  /** Whether record updates are received, so that hosts can subscribe to them. */
  receivesUpdates?: boolean;
  /** The tenant is the embedded one, whose records are invented. */
  isMadeUp?: boolean;
}
