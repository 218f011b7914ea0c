import type { Watched } from '../api/observer.ts';
import type { Trace } from '../api/trace.ts';
import { ChangeRefused } from '../tenant/changes/refusal.ts';
import { NotGranted } from '../tenant/tenant.ts';
import { BadArguments } from './arguments.ts';
import { AskPerson } from './ask-person.ts';

/**
 * What came of a call. `asked`: it ended with a question to a person. `refused`: by us, before the service
 * had a say in it. `error`: the service, or what is shared, did not play along. `failed`: our own mistake.
 */
export type CallOutcome = 'ok' | 'asked' | 'refused' | 'error' | 'failed' | 'cancelled';

/** Watches calls of tools; it is told names of the catalogue, and nothing that a caller wrote. */
export interface CallObserver {
  calls(tool: string, trace: Trace | undefined): Watched<CallOutcome>;
}

/** In the place of the name of a tool that is not listed. */
export const unknownTool = 'unknown';

export function callOutcomeOf(error: unknown): CallOutcome {
  if (error instanceof AskPerson) return 'asked';
  const byUs =
    error instanceof BadArguments || error instanceof NotGranted || error instanceof ChangeRefused;
  if (byUs) return 'refused';
  return isUnexpected(error) ? 'failed' : 'error';
}

/** Whether it is a mistake of our own. */
export const isUnexpected = (error: unknown): boolean =>
  !(error instanceof Error) ||
  error.constructor === Error ||
  error instanceof TypeError ||
  error instanceof RangeError;
