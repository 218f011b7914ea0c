import type { IncomingMessage } from 'node:http';

interface HttpErrorOptions {
  headers?: Readonly<Record<string, string>>;
  /** In seconds, instead of other headers. */
  retryAfter?: number;
  countsAsFailure?: boolean;
}

/** An HTTP error response. The message is sent to the caller and must contain nothing confidential. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: 400 | 401 | 403 | 404 | 405 | 413 | 415 | 429 | 503;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether this counts as a guess of credentials. */
  readonly countsAsFailure: boolean;

  constructor(
    status: HttpError['status'],
    message: string,
    { headers = {}, retryAfter, countsAsFailure = false }: HttpErrorOptions = {},
  ) {
    super(message);
    this.status = status;
    this.headers =
      retryAfter === undefined
        ? headers
        : { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) };
    this.countsAsFailure = countsAsFailure;
  }
}

/** Whether an error was caused by wrong credentials. */
export const isGuess = (error: unknown): boolean =>
  error instanceof HttpError && error.countsAsFailure;

/**
 * The token of `Authorization: Bearer …` (RFC 6750); tokens in the URL are not accepted. A request with two
 * Authorization headers is treated as having none, because a proxy may have checked the other one.
 */
export function bearerToken({ headers, headersDistinct }: IncomingMessage): string | undefined {
  if ((headersDistinct.authorization?.length ?? 0) > 1) return undefined;
  const [, token] = /^Bearer +([\w.~+/-]+=*) *$/i.exec(headers.authorization ?? '') ?? [];
  return token;
}

/**
 * A 401 for an invalid token. `more` is appended to the challenge.
 * @param isGuess false for a token that was really issued, such as an expired one
 */
export const invalidTokenError = (message: string, more = '', isGuess = true): HttpError =>
  new HttpError(401, message, {
    countsAsFailure: isGuess,
    headers: { 'www-authenticate': `Bearer realm="cpq-mcp", error="invalid_token"${more}` },
  });
