import type { Call } from '../../api/call.ts';
import { leavesOpen } from '../../api/client.ts';
import { ApiError, Refused, TimedOut } from '../../api/errors.ts';
import type { Opportunity } from '../../api/records.ts';
import type { ToolCall } from '../call.ts';
import type { Tenant } from '../tenant.ts';
import {
  bodyValue,
  type FieldChange,
  type FieldValue,
  isSame,
  type Snapshot,
  sentFields,
  snapshotOf,
  type WritableField,
} from './fields.ts';
import { type Done, newChangeId, type Outcome, type Sending } from './journal.ts';
import { findByExternalId, type Plan, readFresh } from './plan.ts';
import { ChangeRefused } from './refusal.ts';

/** Who let it happen, and on whose behalf. */
export interface Approved {
  what: Sending['what'];
  consent: Sending['consent'];
  client: string;
  reverts?: string;
}

export interface Carried {
  changeId: string;
  outcome: Outcome;
  record?: Opportunity;
  /** Fields that the service stored otherwise than was meant. */
  differs: readonly { field: string; meant: FieldValue; stored: FieldValue }[];
  reason?: string;
  /** The journal could not take the outcome. */
  unrecorded?: true;
}

/** A write that has begun is brought to its end, whatever the caller does meanwhile. */
const writeMs = 20_000;
const readBackMs = 10_000;
const secondLookMs = 1_500;

/**
 * Writes a plan that a person agreed to: announced in the journal, sent once, read back, and told in the
 * journal. The record must be locked and the plan fresh.
 * @throws ChangeRefused when the journal cannot be written: then nothing was sent
 */
export async function carryOut(tenant: Tenant, plan: Plan, approved: Approved): Promise<Carried> {
  const sending = announcementOf(plan, approved);
  await tenant.journal.append({ ...sending }).catch((error: unknown) => {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown reason';
    throw new ChangeRefused(
      `Nothing was written: the journal of changes cannot be kept (${code}). Whoever runs this server can set CPQ_STATE_DIR to a folder that it may write.`,
    );
  });
  const carried = await send(tenant, plan, sending);
  tenant.changed('opportunity');
  try {
    await tenant.journal.append({ ...doneOf(sending.id, carried, plan) });
    return carried;
  } catch {
    // It is done; that it could not be recorded must be told, not hide what happened.
    return { ...carried, unrecorded: true };
  }
}

function announcementOf(plan: Plan, approved: Approved): Sending {
  const { target, before, changes } = plan;
  const name = String(changes.find(({ field }) => field === 'name')?.to ?? before.name ?? '');
  return {
    phase: 'sending',
    id: newChangeId(),
    at: new Date().toISOString(),
    ...approved,
    externalId: target.externalId,
    ...(target.record?.id === undefined ? {} : { opportunityId: target.record.id }),
    name,
    before,
    changes,
    sent: bodyOf(before, changes),
  };
}

/**
 * Present values go along with the change, because the API may clear what is left out; a field that has
 * no value and gets none is not mentioned.
 */
export function bodyOf(before: Snapshot, changes: readonly FieldChange[]): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const { name, kind, body: property } of sentFields) {
    const change = changes.find(({ field }) => field === name);
    if (change) body[property] = bodyValue(kind, change.to, change.from);
    else if (before[name] !== undefined) body[property] = bodyValue(kind, before[name]);
  }
  return body;
}

async function send(tenant: Tenant, plan: Plan, { id, sent }: Sending): Promise<Carried> {
  const call = ownCall(writeMs);
  try {
    const answer = await tenant.client.upsertOpportunity(plan.target.externalId, sent, call);
    return await compare(tenant, plan, id, answer);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (!leavesOpen(error))
      return { changeId: id, outcome: 'not_written', differs: [], ...why(error) };
    return findOut(tenant, plan, id, error);
  }
}

/** Reads the record back: the answer to a write says what was asked, the record what was stored. */
async function compare(
  tenant: Tenant,
  plan: Plan,
  changeId: string,
  answer: Opportunity,
): Promise<Carried> {
  const id = answer.id ?? plan.target.record?.id;
  const record = id === undefined ? answer : await readBack(tenant, id).catch(() => answer);
  return { changeId, outcome: 'written', record, differs: differing(plan, record) };
}

/**
 * What the service stored otherwise: over the fields that were to change and, of a record that was there
 * before, those that were to stay. A new record's other fields are the service's to fill.
 */
function differing(plan: Plan, record: Opportunity): Carried['differs'] {
  return sentFields.flatMap((field) => {
    const change = plan.changes.find((one) => one.field === field.name);
    if (!change && !plan.target.record) return [];
    const meant = change ? change.to : plan.before[field.name];
    if (isStored(plan, field, meant, record)) return [];
    const stored = snapshotOf(record, plan.target.scale)[field.name];
    return [{ field: field.name, meant, stored }];
  });
}

/** A tenant that stores 0–100 may as well give back the 0–1 that it was sent. */
function isStored(
  plan: Plan,
  field: WritableField,
  meant: FieldValue,
  record: Opportunity,
): boolean {
  const { name, kind } = field;
  const stored = (scale: 1 | 100) => snapshotOf(record, scale)[name];
  return (
    isSame(kind, meant, stored(plan.target.scale)) ||
    (kind === 'share' && isSame(kind, meant, stored(1)))
  );
}

/** Nobody knows whether the write arrived: the record itself is asked. */
async function findOut(
  tenant: Tenant,
  plan: Plan,
  changeId: string,
  error: ApiError,
): Promise<Carried> {
  const first = await look(tenant, plan);
  // A write that is still under way would show a moment later.
  const seen = first === 'as before' ? await later(secondLookMs, () => look(tenant, plan)) : first;
  if (typeof seen === 'object') {
    return { changeId, outcome: 'written', record: seen, differs: differing(plan, seen) };
  }
  const unknown = seen === 'unreadable' || error instanceof TimedOut;
  return {
    changeId,
    outcome: unknown ? 'cannot_tell' : 'not_written',
    differs: [],
    reason: reasonOf(error, seen),
  };
}

function reasonOf(error: ApiError, seen: 'as before' | 'unreadable'): string {
  if (seen === 'unreadable') return 'the service broke off, and the record cannot be read back now';
  if (error instanceof TimedOut)
    return 'no answer in time; the record is still as it was, but the write may yet arrive';
  return 'the service broke off, and the record is as it was';
}

type Sight = Opportunity | 'as before' | 'unreadable';

async function look(tenant: Tenant, plan: Plan): Promise<Sight> {
  try {
    const { record, externalId } = plan.target;
    const now = record?.id
      ? await readBack(tenant, record.id)
      : await findByExternalId(tenant, externalId, ownToolCall(readBackMs));
    return now && hasArrived(plan, now) ? now : 'as before';
  } catch {
    return 'unreadable'; // Told as "cannot tell".
  }
}

/** Every field that was to change has changed to what was meant. */
const hasArrived = (plan: Plan, now: Opportunity): boolean =>
  sentFields.every((field) => {
    const change = plan.changes.find((one) => one.field === field.name);
    return change === undefined || isStored(plan, field, change.to, now);
  });

const readBack = (tenant: Tenant, id: string): Promise<Opportunity> =>
  readFresh(tenant, id, ownToolCall(readBackMs));

const later = <T>(ms: number, work: () => Promise<T>): Promise<T> =>
  new Promise((resolve) => setTimeout(resolve, ms)).then(work);

const ownToolCall = (ms: number): ToolCall => ({ ...ownCall(ms), ...silent });
const silent = { progress: () => {}, client: '', consent: notHere };

async function notHere(): Promise<never> {
  throw new Error('nobody is asked while a write is under way');
}

const ownCall = (ms: number): Call => ({
  signal: new AbortController().signal,
  deadline: Date.now() + ms,
  purpose: 'interactive',
});

function why(error: ApiError): { reason: string } {
  const said = error.facts.said === undefined ? '' : `: ${error.facts.said}`;
  const refused =
    error instanceof Refused ? 'the service refused it' : `it was not accepted (${error.message})`;
  return { reason: `${refused}${said}` };
}

function doneOf(id: string, carried: Carried, plan: Plan): Done {
  const { outcome, record, reason } = carried;
  return {
    phase: 'done',
    id,
    at: new Date().toISOString(),
    outcome,
    ...(record?.id === undefined ? {} : { opportunityId: record.id }),
    ...(record ? { after: snapshotOf(record, plan.target.scale) } : {}),
    ...(reason === undefined ? {} : { reason }),
  };
}
