/** A request is refused; worded for whoever sends it, and saying nothing that they could not know. */
export class Denied extends Error {
  override readonly name = 'Denied';
  readonly status: 400 | 401 | 403 | 405 | 413 | 415 | 429 | 503;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether something was shown that is not right: guessing must not be for free. */
  readonly guessed: boolean;

  constructor(
    status: Denied['status'],
    message: string,
    { headers = {}, guessed = false }: Partial<Pick<Denied, 'headers' | 'guessed'>> = {},
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.guessed = guessed;
  }
}

/** Whether something was shown that is not right. */
export const isGuess = (error: unknown): boolean => error instanceof Denied && error.guessed;

export const retryAfter = (seconds: number): Record<string, string> => ({
  'retry-after': String(Math.max(1, Math.ceil(seconds))),
});
