import type { RateLimit } from './limits.ts';
import type { Store } from './store.ts';

/** What can be changed while the sandbox runs. */
export interface Settings {
  /** What the PUT of an opportunity does with fields that the body leaves out. */
  upsertOmitted: 'keep' | 'clear';
  rateLimit: RateLimit | false;
  /** `false` answers every request with 403 "Public API is not enabled". */
  publicApi: boolean;
}

export type Subject = 'company' | 'contact' | 'opportunity' | 'order' | 'product' | 'quote';
export type EventName =
  | 'created'
  | 'updated'
  | 'status_changed'
  | 'completed'
  | 'deleted'
  | 'ordered';

/** Something that a write changed, in the words of the service's events. */
export interface Change {
  tenant: string;
  subject: Subject;
  event: EventName;
  id: string;
  /** ISO 8601, UTC. */
  at: string;
  /** The wire record after the change. */
  record: unknown;
}

/** All that a route needs to answer for one tenant. */
export interface Context {
  tenant: string;
  store: Store;
  settings: Settings;
  now(): Date;
  announce(change: Change): void;
}
