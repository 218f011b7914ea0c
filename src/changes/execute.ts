import { setTimeout as pause } from 'node:timers/promises';
import type { Call, Trace } from '../service/call.ts';
import { isApiError, isNotStored, type NotStoredKind } from '../service/errors.ts';
import type { Opportunity } from '../service/records/records.ts';
import type { ToolCall } from '../tenant/call.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { withoutSecrets } from '../text/secrets.ts';
import { identifier, quote, type Wording, wording } from '../text/untrusted-text.ts';
import { bodyValue, fieldValuesOf, nextValue, roundShare } from './fields.ts';
import {
  journalError,
  newChangeId,
  type OutcomeStatus,
  type WriteIntent,
  type WriteOutcome,
} from './journal.ts';
import type { ChangePlan } from './plan.ts';
import { learnStoredScale, shownScale, takesStoredScale } from './probability.ts';
import type { Target } from './target.ts';
import { unchangedValue } from './unchanged.ts';
import {
  type SentChange,
  type StoredDifference,
  storedDifferences,
  type Verification,
  verify,
} from './verification.ts';
import { sentFields } from './writable-fields.ts';

/** Who approved the change, and how. */
export interface Approval {
  what: WriteIntent['what'];
  consent: WriteIntent['consent'];
  client: string;
  caller?: string;
  reverts?: string;
}

export interface WriteResult {
  changeId: string;
  outcome: OutcomeStatus;
  record?: Opportunity;
  /** Fields whose stored value differs from the intended one. */
  differs: readonly StoredDifference[];
  reason?: Wording;
  /** The service confirmed the write, but the record could not be read back. */
  unchecked?: true;
  /** The outcome could not be written to the journal. */
  unrecorded?: true;
}

/** Timeout of a write. It is independent of the call: a started write is never cancelled. */
const writeMs = 20_000;
const readBackMs = 10_000;
const secondCheckMs = 1_500;

/**
 * Writes an approved plan: writes the intent to the journal, sends the change once (again only for the scale of its
 * probability), reads the record back, and writes the outcome to the journal. The record must be locked and the plan must be current. Never throws after the
 * change was sent.
 * @throws ChangeRefused if the journal cannot be written; nothing was sent then
 */
export async function executePlan(
  tenant: Tenant,
  plan: ChangePlan,
  approval: Approval,
  trace: Trace | undefined,
): Promise<WriteResult> {
  const intent = toIntent(tenant, plan, approval);
  await record(tenant, intent).catch((error: unknown) => {
    throw journalError('written', error);
  });
  const result = { changeId: intent.id, ...(await send(tenant, plan, intent, trace)) };
  tenant.updates.invalidate('opportunity');
  try {
    await record(tenant, toOutcome(result, plan));
    return result;
  } catch {
    // The write itself is done, so its result is returned, marked as unrecorded.
    return { ...result, unrecorded: true };
  }
}

/** Stores an entry of the journal, without the key that a record may repeat. */
const record = (tenant: Tenant, entry: WriteIntent | WriteOutcome): Promise<void> =>
  tenant.writes.journal.append(withoutSecrets({ ...entry }));

function toIntent(tenant: Tenant, plan: ChangePlan, approval: Approval): WriteIntent {
  const { target, before, changes } = plan;
  const id = target.present?.record.id;
  const name = String(nextValue(changes, 'name') ?? before.name ?? '');
  return {
    phase: 'sending',
    id: newChangeId(),
    at: new Date().toISOString(),
    ...approval,
    externalId: target.externalId,
    ...(id === undefined ? {} : { opportunityId: id }),
    name,
    before,
    changes,
    sent: writeBody(plan, scaleToSend(tenant, plan)),
  };
}

/** The scale of the probability that is sent: as the service shows it, or 0–1. */
type SentScale = 'stored' | '0-1';

/** The body includes all present values as they were read, because the API may clear missing fields. */
function writeBody({ target, changes }: ChangePlan, scale: SentScale): Record<string, unknown> {
  const { present } = target;
  const body: Record<string, unknown> = {};
  for (const field of sentFields) {
    const change = changes.find(({ field: name }) => name === field.name);
    const value = change
      ? bodyValue(field.kind, change.to, change.from)
      : present && unchangedValue(field, present);
    const isShare = field.kind === 'share' && value !== undefined;
    if (value !== undefined)
      body[field.body] = isShare ? shareToSend(value, target, scale, change !== undefined) : value;
  }
  return body;
}

/** `value`: 0–1 of a changed probability, as stored of any other. */
function shareToSend(
  value: unknown,
  { scale: { divisor }, present }: Target,
  scale: SentScale,
  isChanged: boolean,
): unknown {
  if (isChanged)
    return scale === 'stored' && typeof value === 'number' ? roundShare(value * divisor) : value;
  const stored = present?.record.probability;
  return scale === '0-1' && stored !== undefined ? roundShare(stored / divisor) : value;
}

/**
 * Where the service shows 0–100 and it is not known what it takes, a value above 1 is sent as shown first: a service
 * that takes 0–1 refuses it, and nothing is stored.
 */
function scaleToSend(tenant: Tenant, plan: ChangePlan): SentScale {
  if (plan.target.scale.divisor === 1) return 'stored';
  const takesStored = takesStoredScale(tenant) ?? isAboveOne(writeBody(plan, 'stored'));
  return takesStored ? 'stored' : '0-1';
}

const isAboveOne = ({ probability }: Record<string, unknown>): boolean => Number(probability) > 1;

/** What the service confirmed, and the body that it took. */
interface Confirmed {
  answer: Opportunity;
  body: Record<string, unknown>;
}

/** Sends the change. A body that was refused for its probability is sent again with 0–1. */
async function put(
  tenant: Tenant,
  plan: ChangePlan,
  { externalId, sent }: WriteIntent,
  trace: Trace | undefined,
): Promise<Confirmed> {
  const send = async (body: Record<string, unknown>): Promise<Confirmed> => ({
    answer: await tenant.writes.upsert(externalId, body, backgroundCall(writeMs, trace)),
    body,
  });
  try {
    return await send(sent);
  } catch (error) {
    const isScale = plan.target.scale.divisor !== 1 && isAboveOne(sent);
    if (!isScale || !isApiError(error, 'refused') || takesStoredScale(tenant)) throw error;
    const confirmed = await send(writeBody(plan, '0-1'));
    learnStoredScale(tenant, false);
    return confirmed;
  }
}

/**
 * Reads the record back after a confirmed write. If the service took the probability in the other scale, it stored 100
 * times or a hundredth of it without a word: the same change is then sent again in the scale that it takes.
 */
async function verifyScale(
  tenant: Tenant,
  plan: ChangePlan,
  sent: SentChange,
  { probability }: Confirmed['body'],
  trace: Trace | undefined,
): Promise<Verification> {
  const { scale } = plan.target;
  const first = await verifyTwice(tenant, plan, sent, trace);
  if (scale.divisor === 1 || !('record' in first)) return first;
  const takesStored = shownScale(probability, first.record.probability);
  if (takesStored === undefined) return first;
  learnStoredScale(tenant, takesStored);
  const body = writeBody(plan, takesStored ? 'stored' : '0-1');
  const differs = storedDifferences(sent, first.record, scale).filter(({ kind }) => kind);
  // Another field that differs may have been changed by somebody else meanwhile: it is not overwritten.
  const isProbabilityOnly = differs.length > 0 && differs.every(({ kind }) => kind === 'share');
  if (!isProbabilityOnly || body.probability === probability) return first;
  // The record tells whether this one was stored.
  await tenant.writes
    .upsert(sent.externalId, body, backgroundCall(writeMs, trace))
    .catch(() => undefined);
  return verifyTwice(tenant, plan, sent, trace);
}

type WriteEnd = Omit<WriteResult, 'changeId' | 'unrecorded'>;

async function send(
  tenant: Tenant,
  plan: ChangePlan,
  intent: WriteIntent,
  trace: Trace | undefined,
): Promise<WriteEnd> {
  const change: SentChange = { ...intent, recordBefore: plan.target.present?.record };
  let confirmed: Confirmed;
  try {
    confirmed = await put(tenant, plan, intent, trace);
  } catch (error) {
    const refusal = rejectionReason(error);
    if (refusal !== undefined) return { outcome: 'not_written', differs: [], reason: refusal };
    const verification = await verifyTwice(tenant, plan, change, trace);
    return resultWithoutAnswer(plan, change, verification, error);
  }
  const { answer, body } = confirmed;
  const isNew = intent.opportunityId === undefined;
  const sent = isNew ? { ...change, createdId: answer.id } : change;
  return resultFromAnswer(plan, sent, await verifyScale(tenant, plan, sent, body, trace), answer);
}

/** Why nothing was stored; undefined if that is not certain. */
function rejectionReason(error: unknown): Wording | undefined {
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
  redirect: wording`the service answered with a redirect, which is not followed`,
  refused: wording`the service refused it`,
  'rate-limited': wording`no more requests are allowed for now`,
  'budget-spent': wording`no more requests are allowed for now`,
  unreachable: wording`the service could not be reached`,
  'circuit-open': wording`the service failed several times, so no requests are sent to it for a moment`,
};

/** The result after a confirmed write. The stored record decides, because the response may echo the request. */
function resultFromAnswer(
  plan: ChangePlan,
  sent: SentChange,
  verification: Verification,
  answer: Opportunity,
): WriteEnd {
  switch (verification.result) {
    case 'unchanged':
      return isOther(answer, sent)
        ? unknownResult(
            wording`the service confirmed it with another opportunity, ${identifier(answer.id ?? '')} ${quote(answer.name ?? '')}, which may have been changed instead; this one is as it was`,
          )
        : {
            outcome: 'not_written',
            differs: [],
            reason: wording`the service confirmed it, but the record is as it was`,
          };
    case 'unreadable': {
      const isWrittenRecord =
        answer.externalIdentifier === sent.externalId && answer.id !== undefined;
      return {
        outcome: 'written',
        differs: [],
        unchecked: true,
        ...(isWrittenRecord && { record: answer }),
      };
    }
    default:
      return writtenResult(plan, sent, verification.record);
  }
}

/** Whether the service answered with another record than the one to write. */
const isOther = (answer: Opportunity, { opportunityId, externalId }: SentChange): boolean =>
  answer.id !== undefined &&
  (opportunityId === undefined
    ? answer.externalIdentifier !== undefined && answer.externalIdentifier !== externalId
    : answer.id !== opportunityId);

const writtenResult = (plan: ChangePlan, sent: SentChange, record: Opportunity): WriteEnd => ({
  outcome: 'written',
  record,
  differs: storedDifferences(sent, record, plan.target.scale),
});

/** The result after a write without a valid response. The stored record decides. */
function resultWithoutAnswer(
  plan: ChangePlan,
  sent: SentChange,
  verification: Verification,
  error: unknown,
): WriteEnd {
  switch (verification.result) {
    case 'applied':
    case 'partial':
      return writtenResult(plan, sent, verification.record);
    case 'diverged':
      return unknownResult(wording`the record has changed, but not to the intended values`);
    case 'unreadable':
      return unknownResult(wording`the service broke off, and the record cannot be read back now`);
    case 'unchanged':
      if (mayStillApply(error)) {
        return unknownResult(
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

const unknownResult = (reason: Wording): WriteEnd => ({
  outcome: 'cannot_tell',
  differs: [],
  reason,
});

/** True if the service may still be processing the write: a timeout, here or at a gateway. */
const mayStillApply = (error: unknown): boolean =>
  isApiError(error, 'timed-out') ||
  (isApiError(error, 'server-error') && [408, 502, 504].includes(error.facts.status ?? 0));

/** Verifies again after a delay if nothing shows at first: a write may be in progress, or a replica may lag. */
async function verifyTwice(
  tenant: Tenant,
  plan: ChangePlan,
  sent: SentChange,
  trace: Trace | undefined,
): Promise<Verification> {
  const { scale } = plan.target;
  const first = await verify(tenant, sent, scale, backgroundToolCall(readBackMs, trace));
  if ('record' in first) return first;
  await pause(secondCheckMs);
  return verify(tenant, sent, scale, backgroundToolCall(readBackMs, trace));
}

const backgroundToolCall = (ms: number, trace: Trace | undefined): ToolCall => ({
  ...backgroundCall(ms, trace),
  progress: () => {},
  client: '',
  writes: true,
});

const backgroundCall = (ms: number, trace: Trace | undefined): Call => ({
  signal: new AbortController().signal,
  deadline: Date.now() + ms,
  purpose: 'write',
  trace,
});

function toOutcome(
  { changeId, outcome, record, reason, unchecked }: WriteResult,
  plan: ChangePlan,
): WriteOutcome {
  const after = record && !unchecked && fieldValuesOf(record, plan.target.scale.divisor);
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
