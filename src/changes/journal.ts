import { StateUnavailable } from '../state/port.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { trusted, wording } from '../text/untrusted-text.ts';
import { errorCode, isObject, isOneOf, type JsonObject } from '../values.ts';
import { type AskedBy, type Proposal, writeOutcomes } from './consent.ts';
import type { FieldValues } from './fields.ts';
import { ChangeRefused, refused } from './refusal.ts';

/** The entry that is written before a change is sent. */
export interface WriteIntent extends Pick<Proposal, 'what' | 'externalId' | 'changes'> {
  phase: 'sending';
  id: string;
  at: string;
  /** Absent if the change creates the record. */
  opportunityId?: string | undefined;
  name: string;
  before: FieldValues;
  /** The request body. */
  sent: JsonObject;
  client: string;
  /** The authenticated caller, if callers are authenticated. */
  caller?: string | undefined;
  consent: AskedBy;
  reverts?: string;
}

/** The entry that is written when the outcome is known. */
export interface WriteOutcome extends Pick<WriteIntent, 'id' | 'at' | 'opportunityId'> {
  phase: 'done';
  outcome: (typeof writeOutcomes)[number];
  after?: FieldValues;
  reason?: string;
}

/** A change in the journal. Without an outcome, the process ended during the write. */
export interface RecordedChange {
  intent: WriteIntent;
  outcome?: WriteOutcome;
  /** The change that took it back, unless that was taken back itself. */
  revertedBy?: string;
}

/** Every change, newest first. @throws ChangeRefused when the journal cannot be read */
export async function readChanges({
  writes,
  grants,
}: Pick<Tenant, 'writes' | 'grants'>): Promise<{ changes: RecordedChange[]; damaged: number }> {
  const { entries, damaged } = await writes.journal.read().catch((error: unknown) => {
    throw journalError('read', error);
  });
  const byId = new Map<string, RecordedChange>();
  let unrecognized = 0;
  for (const entry of entries) {
    if (isIntent(entry)) byId.set(entry.id, { intent: intentFor(grants, entry) });
    else if (isOutcome(entry)) {
      const after = entry.after && valuesFor(grants, entry.after);
      Object.assign(byId.get(entry.id) ?? {}, { outcome: { ...entry, ...(after && { after }) } });
    } else unrecognized += 1;
  }
  const changes = [...byId.values()].reverse();
  // The newest first: what a revert took back holds again where it was reverted itself.
  for (const { intent, outcome, revertedBy } of changes) {
    const reverted = intent.reverts === undefined ? undefined : byId.get(intent.reverts);
    if (reverted && outcome?.outcome === 'written' && revertedBy === undefined)
      reverted.revertedBy = intent.id;
  }
  return { changes, damaged: damaged + unrecognized };
}

/** Names of these may be known from their own collection only, which the writer could read. */
const namedFields: readonly string[] = ['company', 'contact', 'category'];

type Grants = ReadonlySet<string>;

/** A value of a field as a caller with these grants may see it: of a reference the id, where it has one. */
const valueFor = (grants: Grants, field: string, value: unknown): unknown =>
  namedFields.includes(field) && !grants.has(`${field}:read`) && isObject(value) && value.id
    ? { id: value.id }
    : value;

const valuesFor = (grants: Grants, values: FieldValues): FieldValues =>
  Object.fromEntries(
    Object.entries(values).map(([field, value]) => [field, valueFor(grants, field, value)]),
  );

const intentFor = (grants: Grants, intent: WriteIntent): WriteIntent => ({
  ...intent,
  before: valuesFor(grants, intent.before),
  changes: intent.changes.map((change) => ({
    ...change,
    from: valueFor(grants, change.field, change.from),
    to: valueFor(grants, change.field, change.to),
  })),
});

/** A valid JSON line may come from another program, or from a person who edited the file. */
function isIntent(entry: JsonObject): entry is JsonObject & WriteIntent {
  const { phase, id, at, what, externalId, name, before, changes } = entry;
  const texts = [id, at, what, externalId, name].every((text) => typeof text === 'string');
  const listed =
    Array.isArray(changes) &&
    changes.every((change) => isObject(change) && typeof change.field === 'string');
  return phase === 'sending' && texts && isObject(before) && listed;
}

function isOutcome(entry: JsonObject): entry is JsonObject & WriteOutcome {
  const { phase, id, outcome } = entry;
  return phase === 'done' && typeof id === 'string' && isOneOf(writeOutcomes, outcome);
}

/** The refusal of a change because the journal cannot be read or written. */
export function journalError(verb: 'read' | 'written', error: unknown): ChangeRefused {
  const code = trusted(errorCode(error) ?? 'unknown reason');
  const reason = wording`The journal of changes cannot be ${verb} (${code}).`;
  if (error instanceof StateUnavailable) {
    return refused`${reason} It is stored in the shared state, which cannot be reached: ask again in a minute.`;
  }
  return new ChangeRefused(reason, undefined, 'stateDir');
}

/** True unless the change is known not to be written. */
export const mayBeWritten = ({ outcome }: RecordedChange): boolean =>
  outcome?.outcome !== 'not_written';
