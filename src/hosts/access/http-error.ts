/** An HTTP error response. The message is sent to the caller and must contain nothing confidential. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: 400 | 401 | 403 | 405 | 413 | 415 | 429 | 503;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether this counts as a guess of credentials. */
  readonly countsAsFailure: boolean;

  constructor(
    status: HttpError['status'],
    message: string,
    {
      headers = {},
      countsAsFailure = false,
    }: Partial<Pick<HttpError, 'headers' | 'countsAsFailure'>> = {},
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.countsAsFailure = countsAsFailure;
  }
}

/** Whether an error was caused by wrong credentials. */
export const isGuess = (error: unknown): boolean =>
  error instanceof HttpError && error.countsAsFailure;

export const retryAfterHeader = (seconds: number): Record<string, string> => ({
  'retry-after': String(Math.max(1, Math.ceil(seconds))),
});
