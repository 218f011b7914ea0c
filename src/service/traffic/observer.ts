import { type ApiErrorKind, isApiError } from '../errors.ts';

/** Outcome of a request to the service: its status class, or the reason why there is no valid response. */
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

/** Values of one tenant that are read when metrics are collected. */
export interface Gauges {
  remainingBudget(): Promise<number>;
  /** The cached collections and when they were read, in milliseconds since the epoch. */
  cachedCollections(): Iterable<readonly [collection: string, asOf: number]>;
}

/** Observes the requests of one tenant. It receives no customer text. */
export interface Observer {
  /** A request has ended; without a duration if it was rejected locally. Each retry is a separate request. */
  onRequest(outcome: RequestOutcome, seconds?: number): void;
  /** @returns a function that unregisters the gauges */
  registerGauges(gauges: Gauges): () => void;
}

/** Of the other kinds: by status. */
const outcomes: { readonly [K in ApiErrorKind]?: RequestOutcome } = {
  'web-page': 'unreadable',
  'rate-limited': '429',
  'budget-spent': 'budget',
  'connection-lost': 'broken',
  unreachable: 'unreachable',
  'circuit-open': 'circuit',
  'timed-out': 'timeout',
  malformed: 'unreadable',
  'embedded-error': '5xx',
  unexpected: 'unreadable',
  unfamiliar: 'unreadable',
  'too-large': 'unreadable',
};

export function requestOutcome(error: unknown): RequestOutcome {
  if (!isApiError(error)) return 'broken';
  const { status } = error.facts;
  return outcomes[error.kind] ?? (status === undefined ? 'broken' : statusClass(status));
}

function statusClass(status: number): RequestOutcome {
  if (status >= 500) return '5xx';
  return status >= 400 ? '4xx' : '3xx';
}
