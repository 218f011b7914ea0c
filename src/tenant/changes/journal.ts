import { randomBytes } from 'node:crypto';
import { isObject } from '../../api/envelope.ts';
import { type Journal, StateUnavailable } from '../../state/port.ts';
import { trusted, wording } from '../../text/untrusted-text.ts';
import type { FieldChange, Snapshot } from './fields.ts';
import { ChangeRefused } from './refusal.ts';

export type OutcomeStatus = 'written' | 'not_written' | 'cannot_tell';

/** Written before anything is sent. */
export interface WriteIntent {
  phase: 'sending';
  id: string;
  at: string;
  what: 'create' | 'change' | 'revert';
  externalId: string;
  opportunityId?: string;
  name: string;
  before: Snapshot;
  changes: readonly FieldChange[];
  /** The body as it was sent. */
  sent: Record<string, unknown>;
  client: string;
  /** Who this server took the caller for, where it asks who calls. */
  caller?: string;
  consent: 'asked' | 'token';
  /** The change that this one takes back. */
  reverts?: string;
}

/** Written when it is known what came of it. */
export interface WriteOutcome {
  phase: 'done';
  id: string;
  at: string;
  outcome: OutcomeStatus;
  opportunityId?: string;
  after?: Snapshot;
  reason?: string;
}

/** One change as the journal tells it; without `done` the process ended in the middle. */
export interface RecordedChange {
  intent: WriteIntent;
  outcome?: WriteOutcome;
  revertedBy?: string;
}

export const newChangeId = (): string =>
  `chg_${Date.now().toString(36)}${randomBytes(3).toString('hex')}`;

/** Every change, newest first. @throws ChangeRefused when the journal cannot be read */
export async function readChanges(
  journal: Journal,
): Promise<{ changes: RecordedChange[]; damaged: number }> {
  const { entries, damaged } = await journal.read().catch((error: unknown) => {
    throw journalError('read', error);
  });
  const byId = new Map<string, RecordedChange>();
  let unrecognized = 0;
  for (const entry of entries) {
    if (isIntent(entry)) byId.set(entry.id, { intent: entry });
    else if (isOutcome(entry)) attachOutcome(byId.get(entry.id), entry);
    else unrecognized += 1;
  }
  for (const { intent, outcome } of byId.values()) {
    const reverted = intent.reverts === undefined ? undefined : byId.get(intent.reverts);
    if (reverted && outcome?.outcome === 'written') reverted.revertedBy = intent.id;
  }
  return { changes: [...byId.values()].reverse(), damaged: damaged + unrecognized };
}

function attachOutcome(known: RecordedChange | undefined, outcome: WriteOutcome): void {
  if (known) known.outcome = outcome;
}

/** Whole lines may still be another program's, or somebody's who edited the file. */
function isIntent(entry: Record<string, unknown>): entry is Record<string, unknown> & WriteIntent {
  const { phase, id, at, what, externalId, name, before, changes } = entry;
  const texts = [id, at, what, externalId, name].every((text) => typeof text === 'string');
  const listed = Array.isArray(changes) && changes.every(isObject);
  return phase === 'sending' && texts && isObject(before) && listed;
}

function isOutcome(
  entry: Record<string, unknown>,
): entry is Record<string, unknown> & WriteOutcome {
  const { phase, id, outcome } = entry;
  return phase === 'done' && typeof id === 'string' && outcomeStatuses.has(outcome);
}

const outcomeStatuses: ReadonlySet<unknown> = new Set<OutcomeStatus>([
  'written',
  'not_written',
  'cannot_tell',
]);

/** What nobody can write down, or look up, is not done. */
export function journalError(verb: 'read' | 'kept', error: unknown): ChangeRefused {
  const code = trusted((error as NodeJS.ErrnoException).code ?? 'unknown reason');
  const reason = wording`The journal of changes cannot be ${verb} (${code}).`;
  if (error instanceof StateUnavailable) {
    return new ChangeRefused(
      wording`${reason} It is stored in the shared state, which cannot be reached: ask again in a minute.`,
    );
  }
  return new ChangeRefused(
    reason,
    undefined,
    (nameOf) =>
      wording`The operator of this server can set ${trusted(nameOf('stateDir'))} to a folder that it can write to.`,
  );
}

/** Whether it may have reached the service: what is not known to have failed counts as written. */
export const mayBeWritten = ({ outcome }: RecordedChange): boolean =>
  outcome?.outcome !== 'not_written';
