/**
 * Errors of requests to the service. An error has a kind and facts (host, status, seconds to wait), and never
 * contains a key or an upstream body. Its message for the assistant is made in `mcp/wording.ts`.
 */
export interface ErrorFacts {
  /** Host and port of the service. */
  readonly host: string;
  /** Path below `/public-api`, without the query. */
  readonly path?: string;
  readonly status?: number;
  /** The text of the `message` field of an error response. */
  readonly upstreamMessage?: string;
}

interface Wait {
  /** Seconds until the next request can succeed, if known. */
  readonly seconds: number | undefined;
}

interface Problem {
  /** What is wrong with the response, as the end of a sentence. Never quotes the response. */
  readonly problem: string;
}

export interface FactsOf {
  /** 401, or 403 about the key itself. */
  'key-refused': ErrorFacts;
  /** 403: the key is valid but does not permit this request. */
  'not-permitted': ErrorFacts;
  /** 404 of one record. */
  'not-found': ErrorFacts;
  /** 404 of a route: the address is wrong, or the tenant does not have the feature. */
  'no-route': ErrorFacts;
  /** A web page instead of JSON: the address is wrong. */
  'web-page': ErrorFacts;
  /** A redirect, which is never followed. */
  redirect: ErrorFacts;
  /** 400 and the other 4xx statuses. */
  refused: ErrorFacts;
  /** 429. */
  'rate-limited': ErrorFacts & Wait;
  /**
   * Not sent: by our own count of the rate budget, the response would be a 429. `reserved`: remaining requests that
   * are kept for single records and pages.
   */
  'budget-spent': ErrorFacts & Wait & { readonly reserved?: number };
  /** 5xx, or 408. */
  'server-error': ErrorFacts & Wait;
  /** The connection failed after the request may have been sent. */
  'connection-lost': ErrorFacts;
  /** No connection could be made, so nothing was sent. `code` is the operating system's error code. */
  unreachable: ErrorFacts & { readonly code: string };
  /** Not sent: the circuit breaker is open after repeated failures. */
  'circuit-open': ErrorFacts & { readonly seconds: number };
  /** No complete response in time. */
  'timed-out': ErrorFacts;
  /** A response that cannot be parsed, such as truncated JSON. */
  malformed: ErrorFacts & Problem;
  /** Status 200 with an error instead of records. */
  'embedded-error': ErrorFacts;
  /** JSON of an unexpected structure: an unknown envelope, or nested too deeply. */
  unexpected: ErrorFacts & Problem;
  /** Records without any of the fields that they are read by. `unknownFields`: names of the fields that they have. */
  unfamiliar: ErrorFacts & { readonly unknownFields: readonly string[] };
  /** Larger than the maximum response size. */
  'too-large': ErrorFacts;
}

export type ApiErrorKind = keyof FactsOf;

interface Traits {
  /** True if the same request can succeed later. */
  retryable: boolean;
  /**
   * True if a write may or may not have been stored. This includes unreadable responses: the service may have
   * stored the write before it responded.
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
  'embedded-error': { retryable: true, outcomeUnknown: true },
  unexpected: { retryable: false, outcomeUnknown: true },
  unfamiliar: { retryable: false, outcomeUnknown: true },
  'too-large': { retryable: false, outcomeUnknown: true },
} satisfies Record<ApiErrorKind, Traits>;

/** The kinds after which a write is known not to be stored. */
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

/** True for an `ApiError` of one of these kinds, or of any kind if none is given. */
export const isApiError = <K extends ApiErrorKind = ApiErrorKind>(
  error: unknown,
  ...kinds: K[]
): error is ApiError<K> =>
  error instanceof ApiError && (kinds.length === 0 || kinds.some((kind) => kind === error.kind));

/** A handler for `catch`: returns `undefined` for an `ApiError` of these kinds (default: any), and rethrows others. */
export const ignoreApiError =
  (...kinds: ApiErrorKind[]) =>
  (error: unknown): undefined => {
    if (!isApiError(error, ...kinds)) throw error;
  };

/** Some services answer a too large `size` with status 500. */
export const isInternalError = (error: unknown): error is ApiError<'server-error'> =>
  isApiError(error, 'server-error') && error.facts.status === 500;

/** True if the error proves that a write was not stored. */
export const isNotStored = (error: unknown): error is ApiError<NotStoredKind> =>
  isApiError(error) && !error.outcomeUnknown;

/** Error code for a connection that was refused because the address is not public. */
export const privateAddress = 'EPRIVATE';
