/**
 * What must outlive one request, behind one port: in memory for one process, in Redis for many. Every
 * method is asynchronous, because the other side may be a network away.
 */
export interface WindowRule {
  /** Requests allowed in any stretch of `windowMs`. */
  limit: number;
  windowMs: number;
  /** Requests of the limit that this taker must leave to others. */
  reserve: number;
}

/**
 * How long a request counts: longer than the window, because the service counts it when it arrives, which
 * is later than when it was taken.
 */
export const countedMs = ({ windowMs }: WindowRule): number =>
  windowMs + Math.min(2_000, windowMs / 50);

export interface WindowVerdict {
  taken: boolean;
  /** Requests left in the window after this, the reserve not deducted. */
  remaining: number;
  /** Milliseconds until one can be taken; 0 when taken. */
  waitMs: number;
}

/** A rolling window of requests for each key; `now` is in milliseconds since the epoch. */
export interface RateWindow {
  /** Counts one request if the rule leaves room for it. */
  take(key: string, rule: WindowRule, now: number): Promise<WindowVerdict>;
  /** The service says how many are left: what we did not send was sent by other programs. */
  correct(key: string, rule: WindowRule, remaining: number, now: number): Promise<void>;
  /** The service wants no request before `until` (milliseconds since the epoch). */
  block(key: string, until: number): Promise<void>;
  /** What `take` would find, without taking. */
  peek(key: string, rule: WindowRule, now: number): Promise<WindowVerdict>;
}

/** Things that may happen once: a consent that was used cannot be used again. */
export interface OnceSet {
  /** Claims `name` until `expiresAt` (milliseconds since the epoch); false when it was claimed before. */
  claim(name: string, expiresAt: number): Promise<boolean>;
}

/** An append-only record of what was done; an entry is a JSON object. */
export interface Journal {
  /**
   * Returns when the entry is safe.
   * @throws Error when it could not be made safe: what it announces must then not be done
   */
  append(entry: Record<string, unknown>): Promise<void>;
  /** Every entry, oldest first, and how many could not be read. */
  read(): Promise<{ entries: Record<string, unknown>[]; damaged: number }>;
}

/** Something about a tenant's data moved: for everyone who holds some of it. */
export interface Update {
  /** The collection that is no longer as it was read. */
  collection?: string;
  /** Every word by which the record that moved is asked for: its id, its name. */
  names?: readonly string[];
  /** Identity of a reader whose key the service refused: nothing that is held may be told to it. */
  keyRefused?: string;
}

/** Tells every process that serves a tenant what moved. */
export interface UpdateBus {
  /**
   * The listeners of this process hear it before this returns, those of others soon. What is shared of the
   * collection is dropped with it.
   */
  publish(tenant: string, update: Update): Promise<void>;
  /** `onMissed`: others may have told something meanwhile that was not heard here. */
  subscribe(tenant: string, listener: (update: Update | 'missed') => void): () => void;
}

/** An event that the service sent. Times are in milliseconds since the epoch. */
export interface InboxEvent {
  /** The same for every delivery of one event. */
  id: string;
  /** When it happened, where the event says so: otherwise it counts as happened when it arrived. */
  at?: number;
  subject: string;
  event: string;
  /** Id of the record. */
  record?: string;
  /** As it was sent. */
  body: string;
  /** Fields of the record as they were held here before, where they differ. */
  before?: Record<string, unknown>;
}

/** What is known of an event without opening it. */
export interface InboxEntry {
  id: string;
  at: number;
  subject: string;
  event: string;
  record: string | undefined;
}

export interface InboxRow {
  event: InboxEvent & { at: number };
  /** The event of the same record that came before it. */
  previous?: InboxEvent;
}

export interface InboxPage {
  /** The latest first: by their own time, and those of one moment by arrival. */
  rows: InboxRow[];
  /** All that were accepted. */
  total: number;
  /** When the oldest of all that are kept arrived. */
  keptSince?: number;
  /** How many could not be read. */
  damaged: number;
}

/** The events of one tenant, each kept once, for as long and as many as `InboxLimits` say. */
export interface Inbox {
  /**
   * Returns when the event is safe, and everyone was told what it moved. `known`: it was there already,
   * and nothing was done.
   * @throws Error when it could not be made safe: it must be sent again
   */
  add(event: InboxEvent, update?: Update): Promise<'new' | 'known'>;
  list(
    accepts: (entry: InboxEntry) => boolean,
    slice: { from: number; size: number },
  ): Promise<InboxPage>;
}

export interface InboxLimits {
  days: number;
  /** Beyond these the events that arrived first go first. */
  events: number;
  megabytes: number;
}

export const defaultInboxLimits: InboxLimits = { days: 30, events: 50_000, megabytes: 128 };

/** Whose reading of which collection of which tenant. */
export interface CollectionKey {
  tenant: string;
  /** The key that reads it: another one may not be allowed to see the same. */
  reader: string;
  collection: string;
}

/** A reading of a collection as JSON, and how old it is. */
export interface SharedReading {
  value: unknown;
  ageMs: number;
}

/** Collections that many processes hold together: one of them reads, the others get what it read. */
export interface SharedCollections {
  /**
   * The reading that is shared, if it is younger than `freshMs`. Otherwise what `read` reads: here, if
   * nobody is at it, or elsewhere. What changes while it is being read is not kept.
   * @throws what `read` throws; the signal's reason
   */
  getOrLoad(
    key: CollectionKey,
    freshMs: number,
    load: () => Promise<SharedReading & { keepMs: number }>,
    signal: AbortSignal,
  ): Promise<SharedReading>;
}

/** What is shared with other processes cannot be reached: what depends on it must not be done now. */
export class StateUnavailable extends Error {
  override readonly name = 'StateUnavailable';
  readonly kind = 'state-unavailable';
  /** For whoever has to word it. */
  readonly code: string;

  constructor(code: string) {
    super(`shared state: ${code}`);
    this.code = code;
  }
}

/** For `catch`: does this instead while the shared state cannot be reached, and throws everything else. */
export const ifUnavailable =
  <T>(instead: () => T) =>
  (error: unknown): T => {
    if (error instanceof StateUnavailable) return instead();
    throw error;
  };

export interface Health {
  kind: 'local' | 'redis';
  ok: boolean;
  /** What is wrong where it is not: the last write failed, or nothing can be asked at all. */
  fault?: 'unwritable' | 'unreachable';
  /** Since when it is not, ISO 8601. */
  since?: string;
  /** What whoever runs this should know, a sentence each. */
  notes: string[];
}

export interface State {
  rates: RateWindow;
  once: OnceSet;
  bus: UpdateBus;
  /** Absent where there is nobody to share with. */
  collections?: SharedCollections;
  inbox(tenant: string): Inbox;
  health(): Health;
  /** What signs tokens: the same for everyone who shares this state. */
  secret(): Promise<Uint8Array>;
  journal(tenant: string): Journal;
  /** One at a time for each name. */
  runExclusive<T>(name: string, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
