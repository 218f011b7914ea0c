import type { Call } from '../../api/call.ts';
import { isApiError, isNotStored, type NotStoredKind } from '../../api/errors.ts';
import type { Opportunity } from '../../api/records.ts';
import type { Trace } from '../../api/trace.ts';
import { identifier, quote, type Wording, wording } from '../../outside-text.ts';
import type { ToolCall } from '../call.ts';
import type { Tenant } from '../tenant.ts';
import {
  bodyValue,
  canBeSent,
  type FieldChange,
  type Snapshot,
  sentFields,
  snapshotOf,
} from './fields.ts';
import { type Done, newChangeId, type Outcome, type Sending, unusable } from './journal.ts';
import type { Plan } from './plan.ts';
import { type Difference, differing, look, type Sent, type Sight } from './sight.ts';

/** Who let it happen, and on whose behalf. */
export interface Approved {
  what: Sending['what'];
  consent: Sending['consent'];
  client: string;
  caller?: string;
  reverts?: string;
}

export interface Carried {
  changeId: string;
  outcome: Outcome;
  record?: Opportunity;
  /** What the service stored otherwise than was meant. */
  differs: readonly Difference[];
  reason?: Wording;
  /** The service confirmed it, and the record could not be read back to compare. */
  unchecked?: true;
  /** The journal could not take the outcome. */
  unrecorded?: true;
}

/** A write that has begun is brought to its end, whatever the caller does meanwhile. */
const writeMs = 20_000;
const readBackMs = 10_000;
const secondLookMs = 1_500;

/**
 * Writes a plan that a person agreed to: announced in the journal, sent once, read back, and told in the
 * journal. The record must be locked and the plan fresh. Once something was sent this throws no more:
 * whatever happens is an outcome.
 * @throws ChangeRefused when the journal cannot be written: then nothing was sent
 */
export async function carryOut(
  tenant: Tenant,
  plan: Plan,
  approved: Approved,
  trace: Trace | undefined,
): Promise<Carried> {
  const sending = announcementOf(plan, approved);
  await tenant.journal.append({ ...sending }).catch((error: unknown) => {
    throw unusable('kept', error);
  });
  const carried = { changeId: sending.id, ...(await send(tenant, plan, sending, trace)) };
  tenant.changed('opportunity');
  try {
    await tenant.journal.append({ ...doneOf(carried, plan) });
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
    else if (before[name] !== undefined && canBeSent(kind, before[name]))
      body[property] = bodyValue(kind, before[name]);
  }
  return body;
}

type Ended = Omit<Carried, 'changeId' | 'unrecorded'>;

async function send(
  tenant: Tenant,
  plan: Plan,
  sending: Sending,
  trace: Trace | undefined,
): Promise<Ended> {
  let answer: Opportunity;
  try {
    const { externalId, sent } = sending;
    answer = await tenant.client.upsertOpportunity(externalId, sent, ownCall(writeMs, trace));
  } catch (error) {
    const refusal = refusalIn(error);
    if (refusal !== undefined) return { outcome: 'not_written', differs: [], reason: refusal };
    return unanswered(plan, sending, await lookTwice(tenant, plan, sending, trace), error);
  }
  const isNew = sending.opportunityId === undefined;
  const sent = isNew ? { ...sending, madeId: answer.id } : sending;
  return answered(plan, sent, await lookTwice(tenant, plan, sent, trace), answer);
}

/** Why nothing was stored, where that is certain. */
function refusalIn(error: unknown): Wording | undefined {
  if (!isNotStored(error)) return undefined;
  const why = whyNotStored[error.kind];
  if (isApiError(error, 'unreachable')) return wording`${why} (${identifier(error.facts.code)})`;
  const { upstreamMessage } = error.facts;
  return upstreamMessage === undefined ? why : wording`${why}: ${quote(upstreamMessage)}`;
}

const whyNotStored: Record<NotStoredKind, Wording> = {
  'key-refused': wording`the service did not accept the key`,
  'not-permitted': wording`the service does not let this key write it`,
  'not-found': wording`the service has no such route`,
  'no-route': wording`the service has no such route`,
  redirect: wording`the service sent it elsewhere, which is not followed`,
  refused: wording`the service refused it`,
  'rate-limited': wording`no more requests are allowed for now`,
  'budget-spent': wording`no more requests are allowed for now`,
  unreachable: wording`the service could not be reached`,
  'circuit-open': wording`the service failed several times and is left alone`,
};

/** The answer to a write says what was asked, the record what was stored. */
function answered(plan: Plan, sent: Sent, sight: Sight, answer: Opportunity): Ended {
  switch (sight.seen) {
    case 'as before':
      return {
        outcome: 'not_written',
        differs: [],
        reason: wording`the service confirmed it, but the record is as it was`,
      };
    case 'unreadable': {
      const isIt = answer.externalIdentifier === sent.externalId && answer.id !== undefined;
      return { outcome: 'written', differs: [], unchecked: true, ...(isIt && { record: answer }) };
    }
    default:
      return writtenAs(plan, sent, sight.record);
  }
}

const writtenAs = (plan: Plan, sent: Sent, record: Opportunity): Ended => ({
  outcome: 'written',
  record,
  differs: differing(sent, record, plan.target.scale),
});

/** Nobody said whether the write was stored: the record itself has to. */
function unanswered(plan: Plan, sent: Sent, sight: Sight, error: unknown): Ended {
  switch (sight.seen) {
    case 'arrived':
    case 'partly':
      return writtenAs(plan, sent, sight.record);
    case 'otherwise':
      return unclear(wording`the record has changed, but not to what was meant`);
    case 'unreadable':
      return unclear(wording`the service broke off, and the record cannot be read back now`);
    case 'as before':
      if (mayYetArrive(error)) {
        return unclear(
          wording`no answer in time; the record is still as it was, but may yet change`,
        );
      }
      return {
        outcome: 'not_written',
        differs: [],
        reason: wording`the service broke off, and the record is as it was`,
      };
  }
}

const unclear = (reason: Wording): Ended => ({ outcome: 'cannot_tell', differs: [], reason });

/** Nobody waits for the service any more, yet it may still be at work: time ran out, here or at a gateway. */
const mayYetArrive = (error: unknown): boolean =>
  isApiError(error, 'timed-out') ||
  (isApiError(error, 'server-error') && [408, 502, 504].includes(error.facts.status ?? 0));

/** What does not show at once may show a moment later: a write under way, a copy that lags behind. */
async function lookTwice(
  tenant: Tenant,
  plan: Plan,
  sent: Sent,
  trace: Trace | undefined,
): Promise<Sight> {
  const { scale } = plan.target;
  const first = await look(tenant, sent, scale, ownToolCall(readBackMs, trace));
  if ('record' in first) return first;
  await new Promise((resolve) => setTimeout(resolve, secondLookMs));
  return look(tenant, sent, scale, ownToolCall(readBackMs, trace));
}

const ownToolCall = (ms: number, trace: Trace | undefined): ToolCall => ({
  ...ownCall(ms, trace),
  progress: () => {},
  client: '',
  consent: () => Promise.reject(new Error('nobody is asked while a write is under way')),
});

const ownCall = (ms: number, trace: Trace | undefined): Call => ({
  signal: new AbortController().signal,
  deadline: Date.now() + ms,
  purpose: 'interactive',
  trace,
});

function doneOf({ changeId, outcome, record, reason, unchecked }: Carried, plan: Plan): Done {
  const after = record && !unchecked && snapshotOf(record, plan.target.scale.divisor);
  return {
    phase: 'done',
    id: changeId,
    at: new Date().toISOString(),
    outcome,
    ...(record?.id === undefined ? {} : { opportunityId: record.id }),
    ...(after ? { after } : {}),
    ...(reason === undefined ? {} : { reason }),
  };
}
