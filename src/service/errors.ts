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

/** The facts that only some kinds have. */
interface MoreFacts {
  'rate-limited': Wait;
  /** `reserved`: remaining requests that are kept for single records and pages. */
  'budget-spent': Wait & { readonly reserved?: number };
  'server-error': Wait;
  /** `byUs`: the tenant was closed. */
  'connection-lost': { readonly byUs?: true };
  /** `code` is the operating system's error code. */
  unreachable: { readonly code: string };
  /** `code` as of `unreachable`, where that was the last failure. */
  'circuit-open': { readonly seconds: number; readonly code?: string };
  malformed: Problem;
  unexpected: Problem;
}

/**
 * `retryable`: the same request can succeed later. `outcomeUnknown`: a write may or may not have been stored; this
 * includes unreadable responses, because the service may have stored it before it responded.
 */
const lasting = { retryable: false, outcomeUnknown: false } as const;
const temporary = { retryable: true, outcomeUnknown: false } as const;
const interrupted = { retryable: true, outcomeUnknown: true } as const;
const notUnderstood = { retryable: false, outcomeUnknown: true } as const;

const traits = {
  /** 401, or 403 about the key itself. */
  'key-refused': lasting,
  /** 403: the key is valid but does not permit this request. */
  'not-permitted': lasting,
  /** 404 of one record. */
  'not-found': lasting,
  /** 404 of a route: the address is wrong, or the tenant does not have the feature. */
  'no-route': lasting,
  /** A web page instead of JSON: the address is wrong. */
  'web-page': notUnderstood,
  /** A redirect, which is never followed. Some services answer a write that they stored with one. */
  redirect: notUnderstood,
  /** 400 and the other 4xx statuses. */
  refused: lasting,
  /** 429. */
  'rate-limited': temporary,
  /** Not sent: by our own count of the rate budget, the response would be a 429. */
  'budget-spent': temporary,
  /** 5xx, or 408. */
  'server-error': interrupted,
  /** The connection failed after the request may have been sent. */
  'connection-lost': interrupted,
  /** No connection could be made, so nothing was sent. */
  unreachable: temporary,
  /** Not sent: the circuit breaker is open after repeated failures. */
  'circuit-open': temporary,
  /** No complete response in time. */
  'timed-out': interrupted,
  /** A response that cannot be parsed, such as truncated JSON. */
  malformed: interrupted,
  /** Status 200 with an error instead of records. */
  'embedded-error': interrupted,
  /** JSON of an unexpected structure: an unknown envelope, or nested too deeply. */
  unexpected: notUnderstood,
  /** Larger than the maximum response size. */
  'too-large': notUnderstood,
};

export type ApiErrorKind = keyof typeof traits;
export type FactsOf = {
  [K in ApiErrorKind]: ErrorFacts & (K extends keyof MoreFacts ? MoreFacts[K] : unknown);
};

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

/** A handler for `catch`, for what can be left out: rethrows all but an `ApiError`, and that the key is refused. */
export function unlessKeyRefused(error: unknown): undefined {
  if (!isApiError(error) || error.kind === 'key-refused') throw error;
}

/** Some services answer a too large `size` with status 500. */
export const isInternalError = (error: unknown): error is ApiError<'server-error'> =>
  isApiError(error, 'server-error') && error.facts.status === 500;

/** Error code for a connection that was refused because the address is not public. */
export const privateAddress = 'EPRIVATE';
