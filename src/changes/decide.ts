import { writeGrant } from '../tenant/grants.ts';
import type { Tenant } from '../tenant/tenant.ts';
import type { Wording } from '../text/untrusted-text.ts';
import type { ChangeCall, Consent, Offer, Proposal, Question } from './consent.ts';
import { executePlan, type WriteResult } from './execute.ts';
import { canonicalJson, nextValue, referenceOf } from './fields.ts';
import type { WriteIntent } from './journal.ts';
import { forgetPlan, setAsideFor } from './pending.ts';
import { type ChangePlan, planAgain } from './plan.ts';
import { checkAllowed, checkHourlyLimit } from './rules.ts';
import { refreshTarget } from './target.ts';

/** The outcome of a plan. */
export type Decision =
  | { outcome: 'no_change' }
  /** The person is asked; the host repeats the call with the answer. */
  | { outcome: 'asked'; question: Question }
  | { outcome: 'refused_by_person'; answer: 'declined' | 'cancelled' }
  | { outcome: 'not_asked'; offer?: Offer; why: Wording }
  | { outcome: 'moved'; plan: ChangePlan }
  | { outcome: 'invalid_consent'; why: Wording }
  | { outcome: 'executed'; result: WriteResult };

export interface Purpose {
  what: WriteIntent['what'];
  reverts?: string;
}

/**
 * Asks a person, and writes exactly what they agreed to if the record is unchanged since. Runs one write per tenant
 * at a time, so that of two concurrent calls for one record only one can succeed.
 * @throws ChangeRefused for a change that the operator does not allow
 */
export async function decide(
  tenant: Tenant,
  plan: ChangePlan,
  purpose: Purpose,
  call: ChangeCall,
): Promise<Decision> {
  tenant.requireGrant(writeGrant);
  if (isNoOp(plan)) return { outcome: 'no_change' };
  await checkAllowed(tenant, plan, call);
  await checkHourlyLimit(tenant);
  await setAsideFor(tenant, plan);
  const consent = await call.consent(toProposal(plan, purpose, call));
  if (consent.answer === 'asked' || (consent.answer === 'unasked' && consent.offer))
    return consentMissing(consent, plan);
  try {
    if (consent.answer !== 'accepted') return consentMissing(consent, plan);
    return await writeAgreed(tenant, plan, { ...purpose, consent: consent.how }, call);
  } finally {
    forgetPlan(tenant, plan);
  }
}

/** Writes what the person agreed to if the record is as it was when they were asked. */
function writeAgreed(
  tenant: Tenant,
  plan: ChangePlan,
  agreed: Purpose & { consent: 'asked' | 'token' },
  call: ChangeCall,
): Promise<Decision> {
  const { client, caller } = call;
  const approved = { ...agreed, client, ...(caller === undefined ? {} : { caller }) };
  return tenant.writeExclusively(async () => {
    const target = await refreshTarget(tenant, plan.target, { ...call, writes: true });
    const now = planAgain(tenant, plan, target);
    if (isNoOp(now)) return { outcome: 'no_change' };
    if (now.digest !== plan.digest) return { outcome: 'moved', plan: now };
    await checkHourlyLimit(tenant);
    call.signal.throwIfAborted();
    return { outcome: 'executed', result: await executePlan(tenant, now, approved, call.trace) };
  });
}

/** True if nothing would change, for example because somebody made the same change in the meantime. */
const isNoOp = ({ changes }: ChangePlan): boolean => changes.length === 0;

function consentMissing(
  consent: Exclude<Consent, { answer: 'accepted' }>,
  plan: ChangePlan,
): Decision {
  switch (consent.answer) {
    case 'declined':
    case 'cancelled':
      return { outcome: 'refused_by_person', answer: consent.answer };
    case 'asked':
      return { outcome: 'asked', question: consent.question };
    case 'moved':
      return { outcome: 'moved', plan };
    case 'invalid':
      return { outcome: 'invalid_consent', why: consent.why };
    case 'unasked': {
      const { answer, ...how } = consent;
      return { outcome: 'not_asked', ...how };
    }
  }
}

function toProposal(
  plan: ChangePlan,
  { what, reverts }: Purpose,
  { caller }: ChangeCall,
): Proposal {
  const { target, before, changes, digest, currency, remarks, requestDigest } = plan;
  const name = before.name ?? nextValue(changes, 'name');
  const company = before.company ?? nextValue(changes, 'company');
  const companyName = referenceOf(company)?.name;
  return {
    what,
    opportunity: String(name ?? ''),
    externalId: target.externalId,
    changes,
    currency,
    remarks,
    digest,
    subject: canonicalJson([what, reverts, requestDigest, caller]),
    ...(companyName === undefined ? {} : { company: companyName }),
  };
}
