import type { Trace } from '../service/call.ts';
import type { Observation } from '../service/traffic/observer.ts';
import { type ErrorKind, isKnown } from './errors.ts';

/**
 * Outcome of a call. `asked`: ended with a question to a person. `refused`: invalid or impossible request,
 * such as an unknown record. `error`: the service or the shared state failed. `failed`: a fault of this
 * server.
 */
export type CallOutcome = 'ok' | 'asked' | 'refused' | 'error' | 'failed' | 'cancelled';

/** Observes tool calls; it receives tool names of the catalog only, never text of callers. */
export interface CallObserver {
  onCall(tool: string, trace: Trace | undefined): Observation<CallOutcome>;
}

/** Reported name of an unlisted tool. */
export const unknownTool = 'unknown';

const outcomes: Record<ErrorKind, CallOutcome> = {
  'bad-arguments': 'refused',
  'not-granted': 'refused',
  'change-refused': 'refused',
  'state-unavailable': 'error',
  'key-refused': 'error',
  'not-permitted': 'error',
  'not-found': 'refused',
  'no-route': 'error',
  'web-page': 'error',
  redirect: 'error',
  refused: 'refused',
  'rate-limited': 'error',
  'budget-spent': 'error',
  'server-error': 'error',
  'connection-lost': 'error',
  unreachable: 'error',
  'circuit-open': 'error',
  'timed-out': 'error',
  malformed: 'error',
  'embedded-error': 'error',
  unexpected: 'error',
  unfamiliar: 'error',
  'too-large': 'error',
};

export function callOutcomeOf(error: unknown): CallOutcome {
  if (isKnown(error)) return outcomes[error.kind];
  return isUnexpected(error) ? 'failed' : 'error';
}

/** Whether an error is a fault of this server. */
export const isUnexpected = (error: unknown): boolean =>
  !(error instanceof Error) ||
  error.constructor === Error ||
  error instanceof TypeError ||
  error instanceof RangeError;
