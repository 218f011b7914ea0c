import { ChangeRefused } from '../changes/refusal.ts';
import { ApiError } from '../service/errors.ts';
import { StateUnavailable } from '../state/port.ts';
import { NotGranted } from '../tenant/grants.ts';
import { InvalidArguments } from '../tenant/invalid-arguments.ts';

/**
 * Outcome of a call. `asked`: ended with a question to a person. `refused`: invalid or impossible request,
 * such as an unknown record. `error`: the service or the shared state failed. `failed`: a fault of this
 * server.
 */
export type CallOutcome = 'ok' | 'asked' | 'refused' | 'error' | 'failed' | 'cancelled';

/** Observes tool calls; it receives tool names of the catalog only, never text of callers. */
export interface CallObserver {
  /** A call begins. @returns the function to call when it has ended */
  onCall(tool: string): (outcome: CallOutcome) => void;
}

/** Reported name of an unlisted tool. */
export const unknownTool = 'unknown';

/** Every expected error of a tool; any other error is a fault of this server. */
const classes = [ApiError, InvalidArguments, ChangeRefused, NotGranted, StateUnavailable] as const;
type KnownError = InstanceType<(typeof classes)[number]>;

export const isKnown = (error: unknown): error is KnownError =>
  classes.some((known) => error instanceof known);

const refusedKinds: ReadonlySet<string> = new Set<KnownError['kind']>([
  'bad-arguments',
  'not-granted',
  'change-refused',
  'not-found',
  'refused',
]);

export function callOutcomeOf(error: unknown): CallOutcome {
  if (!isKnown(error)) return 'failed';
  return refusedKinds.has(error.kind) ? 'refused' : 'error';
}
