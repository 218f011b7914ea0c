import type { Observation } from '../api/observer.ts';
import type { Trace } from '../api/trace.ts';
import { ElicitationRequired } from './elicitation-required.ts';
import { type ErrorKind, isKnown } from './errors.ts';

/**
 * What came of a call. `asked`: it ended with a question to a person. `refused`: what was asked for cannot
 * be had, such as a record that is not there. `error`: the service, or what is shared, did not play along.
 * `failed`: our own mistake.
 */
export type CallOutcome = 'ok' | 'asked' | 'refused' | 'error' | 'failed' | 'cancelled';

/** Watches calls of tools; it is told names of the catalogue, and nothing that a caller wrote. */
export interface CallObserver {
  onCall(tool: string, trace: Trace | undefined): Observation<CallOutcome>;
}

/** In the place of the name of a tool that is not listed. */
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
  'too-large': 'error',
};

export function callOutcomeOf(error: unknown): CallOutcome {
  if (error instanceof ElicitationRequired) return 'asked';
  if (isKnown(error)) return outcomes[error.kind];
  return isUnexpected(error) ? 'failed' : 'error';
}

/** Whether it is a mistake of our own. */
export const isUnexpected = (error: unknown): boolean =>
  !(error instanceof Error) ||
  error.constructor === Error ||
  error instanceof TypeError ||
  error instanceof RangeError;
