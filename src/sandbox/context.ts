import type { Json } from './json.ts';
import type { RateLimit } from './limits.ts';
import type { Store } from './store.ts';

/** Settings that can be changed while the sandbox runs. */
export interface Settings {
  /** What PUT of an opportunity does with fields that the body omits. */
  upsertOmitted: 'keep' | 'clear';
  rateLimit: RateLimit | false;
  /** `false` answers every request with 403 "Public API is not enabled". */
  publicApi: boolean;
}

type Subject = 'company' | 'contact' | 'opportunity' | 'order' | 'product' | 'quote';
export type EventName =
  | 'created'
  | 'updated'
  | 'status_changed'
  | 'completed'
  | 'deleted'
  | 'ordered';

/** An event of a write, with the service's event names. */
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

/** The context of a route: everything of one tenant. */
export interface Context {
  tenant: string;
  store: Store;
  settings: Settings;
  now(): Date;
  announce(change: Change): void;
}

/** The input of a route: the query, the variable part of the path, and the parsed body. */
export interface Request {
  query: URLSearchParams;
  key: string;
  body: Json | undefined;
}

export interface Reply {
  status: number;
  /** JSON text. */
  body: string;
}
