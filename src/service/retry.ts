import { delay } from '../state/delay.ts';
import type { Call } from './call.ts';
import { type ApiError, isApiError } from './errors.ts';

interface RetryRules {
  maxAttempts: number;
  /** Average delay before the first retry; each further one waits twice as long. */
  firstDelayMs: number;
  mayRetry?: ((error: ApiError) => boolean) | undefined;
}

/** No call takes longer, whatever its deadline says after the clock was set back. */
const maxWaitMs = 45_000;

/** @throws what the last attempt threw; the signal's reason when the call was cancelled */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  call: Call,
  { maxAttempts, firstDelayMs, mayRetry = ({ retryable }) => retryable }: RetryRules,
): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await attempt();
    } catch (error) {
      // An immediate retry of what was rejected locally would be rejected again.
      if (!isApiError(error) || isApiError(error, 'circuit-open', 'budget-spent')) throw error;
      const wait = retryDelay(number, error, firstDelayMs);
      const inTime = wait < maxWaitMs && Date.now() + wait < call.deadline;
      if (number === maxAttempts || !inTime || !mayRetry(error)) throw error;
      await delay(wait, call.signal);
    }
  }
}

/** Exponential backoff with jitter, or the delay that the service asks for. In milliseconds. */
function retryDelay(attempt: number, error: unknown, firstDelayMs: number): number {
  const jitter = 0.5 + Math.random();
  const isRateLimit = isApiError(error, 'rate-limited');
  const requested =
    isRateLimit || isApiError(error, 'server-error') ? error.facts.seconds : undefined;
  if (requested !== undefined) return requested * 1000 + jitter * 100;
  return (isRateLimit ? 4 * firstDelayMs : firstDelayMs) * 2 ** (attempt - 1) * jitter;
}
