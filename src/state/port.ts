/**
 * The port for state that outlives a request: in memory and files for one process, in Redis for several. Most
 * methods are asynchronous, because an implementation may use the network.
 */

export interface WindowRule {
  /** Requests allowed in any interval of `windowMs`. */
  limit: number;
  windowMs: number;
  /** Requests of the limit that this caller must leave to others. */
  reserve: number;
}

export interface RateDecision {
  taken: boolean;
  /** Remaining requests in the window after this one, including the reserve. */
  remaining: number;
  /** Milliseconds until a request can be taken; 0 if one was taken. */
  waitMs: number;
}

/** A rolling window of requests for each key; `now` is in milliseconds since the epoch. */
export interface RateWindow {
  /** Counts one request if the rule allows it. */
  take(key: string, rule: WindowRule, now: number): Promise<RateDecision>;
  /** Applies the service's count of remaining requests: the difference to ours was sent by other programs. */
  correct(key: string, rule: WindowRule, remaining: number, now: number): Promise<void>;
  /** Allows no request before `until` (milliseconds since the epoch), at most `windowMs` from now. */
  block(key: string, until: number): Promise<void>;
  /** The result of `take`, without counting a request. */
  peek(key: string, rule: WindowRule, now: number): Promise<RateDecision>;
}

/** An append-only log of changes; an entry is a JSON object. */
export interface Journal {
  /**
   * Returns after the entry is stored durably.
   * @throws Error when it could not be stored: the change that it announces must then not be sent
   */
  append(entry: Record<string, unknown>): Promise<void>;
  /** Every entry, oldest first, and the number of damaged ones. */
  read(): Promise<{ entries: Record<string, unknown>[]; damaged: number }>;
}

/** A change of a tenant's data, for processes that cache it. */
export interface Update {
  collection?: string;
  /** Identity of a reader whose key the service refused: it must get no cached data. */
  keyRefused?: string;
  /** What the host of a caller answered over HTTP in the legacy era, to the question with this id. */
  answer?: { to: string; result: unknown; from?: string | undefined };
}

/** Sends updates to every process that serves a tenant. */
interface UpdateBus {
  /**
   * Notifies the listeners of this process before it returns, and those of other processes soon after. The shared
   * copies of the collection are outdated from then on.
   */
  publish(tenant: string, update: Update): Promise<void>;
  /** The listener gets `missed` if updates of other processes may have been lost. */
  subscribe(tenant: string, listener: (update: Update | 'missed') => void): () => void;
}

/** An event that the service sent. Times are in milliseconds since the epoch. */
export interface InboxEvent {
  /** Equal for all deliveries of one event. */
  id: string;
  /** Time of the event, if it contains one; otherwise the time of arrival is used. */
  at?: number | undefined;
  subject: string;
  event: string;
  /** Id of the record. */
  record?: string | undefined;
  /** The request body; of a stored event empty if it cannot be read. */
  body: string;
  /** Previous values of changed fields, from the cached record. */
  before?: Record<string, unknown> | undefined;
}

export type InboxEntry = Pick<InboxEvent, 'id' | 'subject' | 'event' | 'record'> & { at: number };

export interface InboxRow {
  event: InboxEvent & { at: number };
  previous?: InboxEvent;
}

export interface InboxPage {
  /** Newest first, by time of the event, then by arrival. */
  rows: InboxRow[];
  total: number;
  /** Arrival of the oldest stored event. */
  keptSince: number | undefined;
  /** Number of lines in which no event could be recognized; they are not in `total`. */
  damaged: number;
}

/** Which of the accepted events are returned, counted from the newest. */
export interface InboxSlice {
  from: number;
  size: number;
}

/** The events of one tenant, each stored once, within `InboxLimits`. */
export interface Inbox {
  /**
   * Returns after the event is stored durably and its update is published. `known`: the event was stored before,
   * and nothing was done.
   * @throws Error when it could not be stored: the sender must deliver it again
   */
  add(event: InboxEvent, update?: Update): Promise<'new' | 'known'>;
  list(accepts: (entry: InboxEntry) => boolean, slice: InboxSlice): Promise<InboxPage>;
}

export interface InboxLimits {
  days: number;
  /** Beyond these limits the events that arrived first are deleted. */
  events: number;
  megabytes: number;
}

export const defaultInboxLimits: InboxLimits = { days: 30, events: 50_000, megabytes: 128 };

export interface CollectionKey {
  tenant: string;
  /** The key that reads it: another key may have other permissions. */
  reader: string;
  collection: string;
}

/** A collection as a JSON value, and its age. */
export interface SharedReading {
  value: unknown;
  ageMs: number;
}

/** A copy that cannot be returned as it is, but can be brought up to date. */
export interface EarlierReading extends SharedReading {
  /** An update said that the collection changed since; otherwise the copy is only too old. */
  isOutdated: boolean;
}

/** For how long a complete copy is kept, so that it can be brought up to date. */
export const keptMs = 86_400_000;

/** Collections that one process reads and the others get. */
export interface SharedCollections {
  /**
   * Returns the shared copy if it is younger than `freshMs`. Otherwise waits for the process that is loading the
   * collection, or loads it here, with the copy that is there. What changes while it is loaded is stored as outdated.
   * @throws the error of `load`; the signal's reason
   */
  getOrLoad(
    key: CollectionKey,
    freshMs: number,
    load: (earlier: EarlierReading | undefined) => Promise<SharedReading & { keepMs: number }>,
    signal: AbortSignal,
  ): Promise<SharedReading>;
  /** The age of the copy that is kept, fresh or not, in milliseconds. Its content is not read. */
  ageOf(key: CollectionKey): Promise<number | undefined>;
}

/** Byte strings of one tenant by name, such as the daily snapshots of its pipeline. */
export interface SnapshotStore {
  /** In alphabetical order. */
  names(): Promise<string[]>;
  read(name: string): Promise<Buffer | undefined>;
  /**
   * Replaces a value atomically: a reader gets the old or the new one. Returns after it is stored
   * durably. Names consist of lower-case letters, digits and hyphens.
   */
  write(name: string, value: Buffer): Promise<void>;
  remove(names: readonly string[]): Promise<void>;
}

/** The shared state is unavailable: operations that depend on it must fail. `code` is the cause, for messages. */
export class StateUnavailable extends Error {
  override readonly name = 'StateUnavailable';
  readonly kind = 'state-unavailable';
  readonly code: string;

  constructor(code: string) {
    super(`shared state: ${code}`);
    this.code = code;
  }
}

/** A handler for `catch`: returns `instead()` for StateUnavailable and rethrows every other error. */
export const ifUnavailable =
  <T>(instead: () => T) =>
  (error: unknown): T => {
    if (error instanceof StateUnavailable) return instead();
    throw error;
  };

export type ReportEvent = (event: string, facts: Record<string, unknown>) => void;

export interface Health {
  kind: 'local' | 'redis';
  ok: boolean;
  /** If not ok: the last write failed, or the store cannot be reached. */
  fault?: 'unwritable' | 'unreachable';
  /** Start of the fault, ISO 8601. */
  since?: string;
}

export const storedKinds = ['changes', 'events', 'history', 'collections'] as const;

/** One file, folder or Redis key with data of a tenant. */
export interface StoredPart {
  tenant: string;
  kind: (typeof storedKinds)[number];
  place: string;
}

export interface State {
  rates: RateWindow;
  /** Claims a name, such as the consent of a person, until `expiresAt`; false if it is already claimed. */
  claim(name: string, expiresAt: number): Promise<boolean>;
  bus: UpdateBus;
  /** Absent if the state is not shared. */
  collections?: SharedCollections | undefined;
  inbox(tenant: string): Inbox;
  health(): Promise<Health>;
  /** The key that signs tokens; all processes that share this state have the same one. */
  secret(): Promise<Uint8Array>;
  journal(tenant: string): Journal;
  snapshots(tenant: string): SnapshotStore;
  /** Everything that is stored about tenants, in alphabetical order of its places. */
  stored(): Promise<StoredPart[]>;
  remove(parts: readonly StoredPart[]): Promise<void>;
  /**
   * Runs one work at a time for each name, in all processes. `isHeld` renews the lock, and is false if another process
   * has got it meanwhile.
   * @throws StateUnavailable if the lock cannot be got
   */
  runExclusive<T>(name: string, work: (isHeld: () => Promise<boolean>) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
