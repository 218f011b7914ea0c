import { randomBytes } from 'node:crypto';
import type { Journal } from '../../state/port.ts';
import type { FieldChange, Snapshot } from './fields.ts';

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

/** Every change, newest first. @throws Error when the journal cannot be read */
export async function readChanges(
  journal: Journal,
): Promise<{ changes: RecordedChange[]; damaged: number }> {
  const { entries, damaged } = await journal.read();
  const byId = new Map<string, RecordedChange>();
  for (const entry of entries as unknown as (Sending | Done)[]) {
    if (entry.phase === 'sending') byId.set(entry.id, { sending: entry });
    const known = byId.get(entry.id);
    if (entry.phase === 'done' && known) known.done = entry;
  }
  for (const { sending, done } of byId.values()) {
    const reverted = sending.reverts === undefined ? undefined : byId.get(sending.reverts);
    if (reverted && done?.outcome === 'written') reverted.revertedBy = sending.id;
  }
  return { changes: [...byId.values()].reverse(), damaged };
}

/** Whether it may have reached the service: what is not known to have failed counts as written. */
export const mayBeWritten = ({ done }: RecordedChange): boolean => done?.outcome !== 'not_written';
