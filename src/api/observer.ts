import { type ApiErrorKind, isApiError } from './errors.ts';
import type { Trace } from './trace.ts';

/** What came of a request to the service: a class of its status, or what stood in the way. */
export type RequestOutcome =
  | '2xx'
  | '3xx'
  | '4xx'
  | '429'
  | '5xx'
  | 'unreadable'
  | 'timeout'
  | 'unreachable'
  | 'broken'
  | 'cancelled'
  | 'budget'
  | 'circuit';

/** A request that is about to leave. */
export interface OutgoingRequest {
  method: 'GET' | 'PUT';
  /** The service's host and port. */
  host: string;
  /** Below `/public-api`, with `…` for what stands for a record. */
  path: string;
}

/** Something that was begun, for whoever watches it. */
export interface Observation<Outcome> {
  /** Where it is in the trace, for what it leads to; absent where that is unchanged. */
  trace?: Trace;
  /** `status` is the service's, where it answered. */
  end(outcome: Outcome, status?: number): void;
}

/** What can be looked up of one tenant when somebody asks. */
export interface Gauges {
  /** Requests left in the rate budget. */
  remainingBudget?(): Promise<number>;
  /** Collections that are held, and since when, in milliseconds since the epoch. */
  cachedCollections?(): Iterable<readonly [collection: string, asOf: number]>;
}

/** Watches one tenant at work; nothing that it is told is customer text. */
export interface Observer {
  /** Sends a request; retries are requests of their own. */
  onRequest(outgoing: OutgoingRequest, trace: Trace | undefined): Observation<RequestOutcome>;
  /** A request that was not let out. */
  onRejected(by: 'budget' | 'circuit'): void;
  /** @returns what ends it: from then on they must not be looked up */
  registerGauges(gauges: Gauges): () => void;
}

const outcomes: Record<ApiErrorKind, RequestOutcome | 'by status'> = {
  'key-refused': 'by status',
  'not-permitted': 'by status',
  'not-found': 'by status',
  'no-route': 'by status',
  'web-page': 'unreadable',
  redirect: 'by status',
  refused: 'by status',
  'rate-limited': '429',
  'budget-spent': 'budget',
  'server-error': 'by status',
  'connection-lost': 'broken',
  unreachable: 'unreachable',
  'circuit-open': 'circuit',
  'timed-out': 'timeout',
  malformed: 'unreadable',
  unexpected: 'unreadable',
  'too-large': 'unreadable',
};

export function requestOutcome(error: unknown): RequestOutcome {
  if (!isApiError(error)) return 'broken';
  const outcome = outcomes[error.kind];
  return outcome === 'by status' ? statusClass(error.facts.status) : outcome;
}

function statusClass(status: number | undefined): RequestOutcome {
  if (status === undefined) return 'broken';
  if (status >= 500) return '5xx';
  return status >= 400 ? '4xx' : '3xx';
}
