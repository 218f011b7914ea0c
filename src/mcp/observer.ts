import { NotFound, Refused } from '../api/errors.ts';
import type { Watched } from '../api/observer.ts';
import type { Trace } from '../api/trace.ts';
import { ChangeRefused } from '../tenant/changes/refusal.ts';
import { NotGranted } from '../tenant/tenant.ts';
import { BadArguments } from './arguments.ts';
import { AskPerson } from './ask-person.ts';

/**
 * What came of a call. `asked`: it ended with a question to a person. `refused`: what was asked for cannot
 * be had, such as a record that is not there. `error`: the service, or what is shared, did not play along.
 * `failed`: our own mistake.
 */
export type CallOutcome = 'ok' | 'asked' | 'refused' | 'error' | 'failed' | 'cancelled';

/** Watches calls of tools; it is told names of the catalogue, and nothing that a caller wrote. */
export interface CallObserver {
  calls(tool: string, trace: Trace | undefined): Watched<CallOutcome>;
}

/** In the place of the name of a tool that is not listed. */
export const unknownTool = 'unknown';

const refusals = [BadArguments, NotGranted, ChangeRefused, NotFound, Refused];

export function callOutcomeOf(error: unknown): CallOutcome {
  if (error instanceof AskPerson) return 'asked';
  if (refusals.some((kind) => error instanceof kind)) return 'refused';
  return isUnexpected(error) ? 'failed' : 'error';
}

/** Whether it is a mistake of our own. */
export const isUnexpected = (error: unknown): boolean =>
  !(error instanceof Error) ||
  error.constructor === Error ||
  error instanceof TypeError ||
  error instanceof RangeError;
