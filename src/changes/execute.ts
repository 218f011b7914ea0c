import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { compact } from '../figures/fields.ts';
import { type ApiErrorKind, isApiError } from '../service/errors.ts';
import type { Opportunity } from '../service/records/records.ts';
import type { Tenant, ToolCall } from '../tenant/tenant.ts';
import { withoutSecrets } from '../text/secrets.ts';
import { identifier, quote, type Wording, wording } from '../text/untrusted-text.ts';
import { bodyValue, fieldValuesOf, nextValue, roundShare, unchangedValue } from './fields.ts';
import { journalError, type WriteIntent, type WriteOutcome } from './journal.ts';
import type { ChangePlan } from './plan.ts';
import {
  type SentChange,
  type StoredDifference,
  storedDifferences,
  type Verification,
  verify,
} from './verification.ts';
import { sentFields, type WritableField } from './writable-fields.ts';

type Approval = Pick<WriteIntent, 'consent' | 'client' | 'caller'>;

export interface WriteResult {
  changeId: string;
  outcome: WriteOutcome['outcome'];
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
 * probability), reads the record back, and writes the outcome to the journal. The record must be locked and the plan
 * must be current. Never throws after the change was sent.
 * @throws ChangeRefused if the journal cannot be written; nothing was sent then
 */
export async function executePlan(
  tenant: Tenant,
  plan: ChangePlan,
  approval: Approval,
): Promise<WriteResult> {
  const intent = toIntent(tenant, plan, approval);
  await record(tenant, intent).catch((error: unknown) => {
    throw journalError('written', error);
  });
  const result = { changeId: intent.id, ...(await send(tenant, plan, intent)) };
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
  const { what, reverts, target, before, changes } = plan;
  return compact({
    phase: 'sending' as const,
    id: `chg_${Date.now().toString(36)}${randomBytes(3).toString('hex')}`,
    at: new Date().toISOString(),
    what,
    ...approval,
    reverts,
    externalId: target.externalId,
    opportunityId: target.present?.record.id,
    name: String(nextValue(changes, 'name') ?? before.name ?? ''),
    before,
    changes,
    sent: writeBody(tenant, plan),
  });
}

/** The body includes all present values as they were read, because the API may clear missing fields. */
function writeBody(tenant: Tenant, plan: ChangePlan): Record<string, unknown> {
  const asStored = plan.target.scale.divisor === 1 || tenant.writes.learnt(takesShares) !== true;
  const values = sentFields.map((field) => [field.body, valueToSend(field, plan, asStored)]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** @param asStored whether a probability is sent in the scale in which the service shows it, or else as 0–1 */
function valueToSend(
  field: WritableField,
  { target: { present, scale }, before, changes }: ChangePlan,
  asStored: boolean,
): unknown {
  const { name, kind } = field;
  const change = changes.find((one) => one.field === name);
  if (!change && kind === 'share' && !asStored) return before[name];
  if (!change) return present && unchangedValue(field, present);
  const value = bodyValue(kind, change.to, change.from);
  return kind === 'share' && asStored && typeof value === 'number'
    ? roundShare(value * scale.divisor)
    : value;
}

/** What is learnt of a service that shows probabilities as 0–100, and takes them as 0–1. */
const takesShares = 'probability as 0–1';

/**
 * Sends the change. A probability goes back in the scale in which it was read; if a service that shows 0–100 refuses it,
 * the same change is sent again with 0–1, as the API is said to take it: nothing was stored.
 */
async function put(
  tenant: Tenant,
  plan: ChangePlan,
  { externalId, sent }: WriteIntent,
): Promise<Opportunity> {
  const upsert = (body: Record<string, unknown>) =>
    tenant.writes.upsert(externalId, body, backgroundCall(writeMs));
  try {
    return await upsert(sent);
  } catch (error) {
    const isScale = plan.target.scale.divisor !== 1 && Number(sent.probability) > 1;
    if (!isScale || !isAboutProbability(error)) throw error;
    tenant.writes.learn(takesShares, true);
    return upsert(writeBody(tenant, plan)).catch((again: unknown) => {
      tenant.writes.learn(takesShares, false);
      throw isApiError(again, 'refused') ? error : again;
    });
  }
}

/** What is refused for another reason would be stored with a hundredth of the probability that it has. */
const isAboutProbability = (error: unknown): boolean =>
  isApiError(error, 'refused') &&
  [400, 422].includes(error.facts.status ?? 0) &&
  /probab|^$/i.test(error.facts.upstreamMessage ?? '');

/**
 * Reads the record back after a confirmed write. If the service stored 100 times the probability that it was sent, or a
 * hundredth of the intended one, the same change is sent again in the other scale.
 */
async function verifyScale(
  tenant: Tenant,
  plan: ChangePlan,
  sent: SentChange,
): Promise<Verification> {
  const { divisor } = sent;
  const first = await verifyTwice(tenant, sent);
  if (divisor === 1 || !('record' in first)) return first;
  // The body that was sent last, by what is learnt.
  const written = Number(writeBody(tenant, plan).probability);
  // A service that stores 100 of 1 may have set it, as that of a deal which is won; of 0, or of `50%`, nothing can be told.
  if (!(written > 0) || written === 1) return first;
  const takesShare = tenant.writes.learnt(takesShares) === true;
  const stored = (first.record.probability ?? 0) / written;
  if (Math.abs(stored - (takesShare ? 1 : divisor)) >= 0.01) return first;
  // Another field that differs may have been changed by somebody else meanwhile: it is not overwritten.
  const differs = storedDifferences(sent, first.record).filter(({ kind }) => kind);
  if (differs.some(({ kind }) => kind !== 'share')) return first;
  tenant.writes.learn(takesShares, !takesShare);
  // The record tells whether this one was stored.
  await tenant.writes
    .upsert(sent.externalId, writeBody(tenant, plan), backgroundCall(writeMs))
    .catch(() => undefined);
  return verifyTwice(tenant, sent);
}

type WriteEnd = Omit<WriteResult, 'changeId' | 'unrecorded'>;

async function send(tenant: Tenant, plan: ChangePlan, intent: WriteIntent): Promise<WriteEnd> {
  const { opportunityId } = intent;
  const { present, scale } = plan.target;
  const sent: SentChange = { ...intent, recordBefore: present?.record, divisor: scale.divisor };
  let answer: Opportunity;
  try {
    answer = await put(tenant, plan, intent);
  } catch (error) {
    const refusal = rejectionReason(error);
    if (refusal !== undefined) return notWritten(refusal);
    return resultOf(sent, await verifyTwice(tenant, sent), undefined, error);
  }
  if (opportunityId === undefined) sent.createdId = answer.id;
  return resultOf(sent, await verifyScale(tenant, plan, sent), answer);
}

const rejections: { readonly [K in ApiErrorKind]?: Wording } = {
  refused: wording`the service refused it`,
  'key-refused': wording`the service did not accept the key`,
  'not-permitted': wording`the key may not write it (an administrator can allow that under Settings → Integrations → API Key)`,
  'rate-limited': wording`the service accepts no more requests for now`,
};

/** Why nothing was stored; undefined if that is not certain. */
function rejectionReason(error: unknown): Wording | undefined {
  if (!isApiError(error) || error.outcomeUnknown) return undefined;
  const { upstreamMessage } = error.facts;
  const code = isApiError(error, 'unreachable') ? wording`, ${identifier(error.facts.code)}` : '';
  const why =
    rejections[error.kind] ?? wording`the request failed (${identifier(error.kind)}${code})`;
  return upstreamMessage === undefined ? why : wording`${why}: ${quote(upstreamMessage)}`;
}

/**
 * The stored record decides.
 * @param answer the service's confirmation, which may echo the request; without it the write ended with an error
 */
function resultOf(
  sent: SentChange,
  verification: Verification,
  answer: Opportunity | undefined,
  error?: unknown,
): WriteEnd {
  if ('record' in verification) {
    const { result, record } = verification;
    return result === 'diverged' && !answer
      ? unknownResult(wording`the record has changed, but not to the intended values`)
      : { outcome: 'written', record, differs: storedDifferences(sent, record) };
  }
  if (verification.result === 'unchanged')
    return answer ? unchangedResult(sent, answer) : notAppliedResult(error);
  if (!answer)
    return unknownResult(wording`the service broke off, and the record cannot be read back now`);
  const isThis = answer.externalIdentifier === sent.externalId && answer.id !== undefined;
  return { outcome: 'written', differs: [], unchecked: true, ...(isThis && { record: answer }) };
}

/** Of a confirmed write that the record does not show. */
function unchangedResult({ opportunityId, externalId }: SentChange, answer: Opportunity): WriteEnd {
  const { id, name = '', externalIdentifier = externalId } = answer;
  const isOther =
    opportunityId === undefined ? externalIdentifier !== externalId : id !== opportunityId;
  return unknownResult(
    id !== undefined && isOther
      ? wording`the service confirmed it with another opportunity, ${identifier(id)} ${quote(name)}, which may have been changed instead; this one is as it was`
      : wording`the service confirmed it; the record is as it was, but may yet change`,
  );
}

/** Unless the service says that it failed, it may still be processing the write, as after a timeout of a gateway. */
const notAppliedResult = (error: unknown): WriteEnd =>
  isApiError(error, 'redirect')
    ? notWritten(wording`the service answered with a redirect, and the record is as it was`)
    : isApiError(error, 'embedded-error') ||
        (isApiError(error, 'server-error') && [500, 503].includes(error.facts.status ?? 0))
      ? notWritten(wording`the service broke off, and the record is as it was`)
      : unknownResult(
          wording`no complete answer came; the record is still as it was, but may yet change`,
        );

const unknownResult = (reason: Wording): WriteEnd => ({
  outcome: 'cannot_tell',
  differs: [],
  reason,
});

const notWritten = (reason: Wording): WriteEnd => ({ outcome: 'not_written', differs: [], reason });

/** Verifies again after a delay if nothing shows at first: a write may be in progress, or a replica may lag. */
async function verifyTwice(tenant: Tenant, sent: SentChange): Promise<Verification> {
  const first = await verify(tenant, sent, backgroundCall(readBackMs));
  if ('record' in first) return first;
  await pause(secondCheckMs);
  return verify(tenant, sent, backgroundCall(readBackMs));
}

const backgroundCall = (ms: number): ToolCall => ({
  signal: new AbortController().signal,
  deadline: Date.now() + ms,
  progress: () => {},
  client: '',
});

function toOutcome(
  { changeId, outcome, record, reason, unchecked }: WriteResult,
  plan: ChangePlan,
): WriteOutcome {
  return compact({
    phase: 'done' as const,
    id: changeId,
    at: new Date().toISOString(),
    outcome,
    opportunityId: record?.id,
    after: record && !unchecked ? fieldValuesOf(record, plan.target.scale.divisor) : undefined,
    reason,
  });
}
