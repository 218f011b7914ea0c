import { randomBytes } from 'node:crypto';
import { isObject } from '../../api/envelope.ts';
import { trusted, wording } from '../../outside-text.ts';
import { type Journal, StateUnavailable } from '../../state/port.ts';
import type { FieldChange, Snapshot } from './fields.ts';
import { ChangeRefused } from './refusal.ts';

export type Outcome = 'written' | 'not_written' | 'cannot_tell';

/** Written before anything is sent. */
export interface Sending {
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
export interface Done {
  phase: 'done';
  id: string;
  at: string;
  outcome: Outcome;
  opportunityId?: string;
  after?: Snapshot;
  reason?: string;
}

/** One change as the journal tells it; without `done` the process ended in the middle. */
export interface RecordedChange {
  sending: Sending;
  done?: Done;
  revertedBy?: string;
}

export const newChangeId = (): string =>
  `chg_${Date.now().toString(36)}${randomBytes(3).toString('hex')}`;

/** Every change, newest first. @throws ChangeRefused when the journal cannot be read */
export async function readChanges(
  journal: Journal,
): Promise<{ changes: RecordedChange[]; damaged: number }> {
  const { entries, damaged } = await journal.read().catch((error: unknown) => {
    throw unusable('read', error);
  });
  const byId = new Map<string, RecordedChange>();
  let strange = 0;
  for (const entry of entries) {
    if (isSending(entry)) byId.set(entry.id, { sending: entry });
    else if (isDone(entry)) addDone(byId.get(entry.id), entry);
    else strange += 1;
  }
  for (const { sending, done } of byId.values()) {
    const reverted = sending.reverts === undefined ? undefined : byId.get(sending.reverts);
    if (reverted && done?.outcome === 'written') reverted.revertedBy = sending.id;
  }
  return { changes: [...byId.values()].reverse(), damaged: damaged + strange };
}

function addDone(known: RecordedChange | undefined, done: Done): void {
  if (known) known.done = done;
}

/** Whole lines may still be another program's, or somebody's who edited the file. */
function isSending(entry: Record<string, unknown>): entry is Record<string, unknown> & Sending {
  const { phase, id, at, what, externalId, name, before, changes } = entry;
  const texts = [id, at, what, externalId, name].every((text) => typeof text === 'string');
  const listed = Array.isArray(changes) && changes.every(isObject);
  return phase === 'sending' && texts && isObject(before) && listed;
}

function isDone(entry: Record<string, unknown>): entry is Record<string, unknown> & Done {
  const { phase, id, outcome } = entry;
  return phase === 'done' && typeof id === 'string' && outcomes.has(outcome);
}

const outcomes: ReadonlySet<unknown> = new Set<Outcome>(['written', 'not_written', 'cannot_tell']);

/** What nobody can write down, or look up, is not done. */
export function unusable(verb: 'read' | 'kept', error: unknown): ChangeRefused {
  const code = trusted((error as NodeJS.ErrnoException).code ?? 'unknown reason');
  const remedy =
    error instanceof StateUnavailable
      ? 'It is kept where this server shares its state, which is out of reach: ask again in a minute.'
      : 'Whoever runs this server can set CPQ_STATE_DIR to a folder that it may write.';
  return new ChangeRefused(wording`The journal of changes cannot be ${verb} (${code}). ${remedy}`);
}

/** Whether it may have reached the service: what is not known to have failed counts as written. */
export const mayBeWritten = ({ done }: RecordedChange): boolean => done?.outcome !== 'not_written';
