/**
 * What can go wrong between this server and the service. An error says what kind it is and carries facts
 * (host, status, seconds to wait), never a key, never an upstream body; it is worded for the assistant in
 * one place, `mcp/wording.ts`.
 */
export interface ErrorFacts {
  /** Host and port of the service. */
  readonly host: string;
  /** Path below `/public-api`, without the query. */
  readonly path?: string;
  readonly status?: number;
  /** What the service reports as wrong, in its own words, where it does so in a `message`. */
  readonly upstreamMessage?: string;
}

interface Wait {
  /** Seconds until a request can go through again, where that is known. */
  readonly seconds: number | undefined;
}

interface Problem {
  /** What is wrong with the answer, as the end of a sentence; nothing of the answer itself. */
  readonly problem: string;
}

/** Every kind of error, with the facts that it comes with. */
export interface FactsOf {
  /** 401, or 403 about the key itself. */
  'key-refused': ErrorFacts;
  /** 403: the key is good, but not for this. */
  'not-permitted': ErrorFacts;
  /** 404 of one record. */
  'not-found': ErrorFacts;
  /** 404 of a route: the address is not the API's, or the tenant lacks the feature. */
  'no-route': ErrorFacts;
  /** A web page where JSON should be: the address is not the API's. */
  'web-page': ErrorFacts;
  /** An answer that leads to another address, which is not followed. */
  redirect: ErrorFacts;
  /** 400 and other refusals of what was asked. */
  refused: ErrorFacts;
  /** 429. */
  'rate-limited': ErrorFacts & Wait;
  /** Not sent: our own count of the shared budget says that it would be a 429. */
  'budget-spent': ErrorFacts & Wait;
  /** 5xx, or 408. */
  'server-error': ErrorFacts & Wait;
  /** The connection broke off after something may have been sent. */
  'connection-lost': ErrorFacts;
  /** No connection could be made, so that nothing was sent. The code is the operating system's. */
  unreachable: ErrorFacts & { readonly code: string };
  /** Not sent: the last requests all failed. */
  'circuit-open': ErrorFacts & { readonly seconds: number };
  /** No complete answer in time. */
  'timed-out': ErrorFacts;
  /** Not the format that it claims to be, such as half of a JSON text: perhaps cut off on the way. */
  malformed: ErrorFacts & Problem;
  /** JSON, but not what the API sends: an unknown envelope, or nested without end. */
  unexpected: ErrorFacts & Problem;
  /** Over the cap on a response's size. */
  'too-large': ErrorFacts;
}

export type ApiErrorKind = keyof FactsOf;

interface Traits {
  /** Whether asking again, unchanged, can help. */
  retryable: boolean;
  /**
   * Whether nobody knows what became of a write: also where only the words of the answer cannot be read,
   * because a service that answers at all may have done its work before.
   */
  outcomeUnknown: boolean;
}

const traits = {
  'key-refused': { retryable: false, outcomeUnknown: false },
  'not-permitted': { retryable: false, outcomeUnknown: false },
  'not-found': { retryable: false, outcomeUnknown: false },
  'no-route': { retryable: false, outcomeUnknown: false },
  'web-page': { retryable: false, outcomeUnknown: true },
  redirect: { retryable: false, outcomeUnknown: false },
  refused: { retryable: false, outcomeUnknown: false },
  'rate-limited': { retryable: true, outcomeUnknown: false },
  'budget-spent': { retryable: true, outcomeUnknown: false },
  'server-error': { retryable: true, outcomeUnknown: true },
  'connection-lost': { retryable: true, outcomeUnknown: true },
  unreachable: { retryable: true, outcomeUnknown: false },
  'circuit-open': { retryable: true, outcomeUnknown: false },
  'timed-out': { retryable: true, outcomeUnknown: true },
  malformed: { retryable: true, outcomeUnknown: true },
  unexpected: { retryable: false, outcomeUnknown: true },
  'too-large': { retryable: false, outcomeUnknown: true },
} satisfies Record<ApiErrorKind, Traits>;

/** Kinds after which a write is known not to have been stored. */
export type NotStoredKind = {
  [K in ApiErrorKind]: (typeof traits)[K]['outcomeUnknown'] extends true ? never : K;
}[ApiErrorKind];

export class ApiError<K extends ApiErrorKind = ApiErrorKind> extends Error {
  override readonly name = 'ApiError';
  readonly kind: K;
  readonly facts: FactsOf[K];

  constructor(kind: K, facts: FactsOf[K], message: string = kind) {
    super(message);
    this.kind = kind;
    this.facts = facts;
  }

  get retryable(): boolean {
    return traits[this.kind].retryable;
  }

  get outcomeUnknown(): boolean {
    return traits[this.kind].outcomeUnknown;
  }
}

/** Whether it is an error of one of these kinds, or of any where none is named. */
export const isApiError = <K extends ApiErrorKind = ApiErrorKind>(
  error: unknown,
  ...kinds: K[]
): error is ApiError<K> =>
  error instanceof ApiError && (kinds.length === 0 || kinds.some((kind) => kind === error.kind));

/** Whether it says that a write was not stored. */
export const isNotStored = (error: unknown): error is ApiError<NotStoredKind> =>
  isApiError(error) && !error.outcomeUnknown;

/** The code of an address that may not be connected to, because it is not public. */
export const privateAddress = 'EPRIVATE';
