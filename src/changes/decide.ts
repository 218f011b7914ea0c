import { writeGrant } from '../tenant/grants.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { canonicalJson } from '../values.ts';
import type { ChangeCall, NotAgreed, Proposal } from './consent.ts';
import { executePlan, type WriteResult } from './execute.ts';
import { nextValue, referenceOf } from './fields.ts';
import type { WriteIntent } from './journal.ts';
import { forgetPlan, setAsideFor } from './pending.ts';
import { type ChangePlan, planAgain } from './plan.ts';
import { checkAllowed, checkHourlyLimit } from './rules.ts';
import { refreshTarget } from './target.ts';

/** The end of a plan. `plan`: the difference as it is now, where it is another one. */
export type Decision = (NotAgreed | { outcome: 'no_change' } | WriteResult) & { plan?: ChangePlan };

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
  if (consent.outcome === 'not_asked' && (consent.question || consent.offer)) return consent;
  try {
    if (consent.outcome !== 'agreed') return consent;
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
  return tenant.writes.runExclusive(async () => {
    const target = await refreshTarget(tenant, plan.target, { ...call, writes: true });
    const now = planAgain(plan, target);
    if (isNoOp(now)) return { outcome: 'no_change' };
    if (now.digest !== plan.digest) return { outcome: 'moved', plan: now };
    await checkHourlyLimit(tenant);
    call.signal.throwIfAborted();
    return executePlan(tenant, now, approved, call.trace);
  });
}

/** True if nothing would change, for example because somebody made the same change in the meantime. */
const isNoOp = ({ changes }: ChangePlan): boolean => changes.length === 0;

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
