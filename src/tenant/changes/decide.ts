import type { ToolCall } from '../call.ts';
import type { Tenant } from '../tenant.ts';
import { type Carried, carryOut } from './carry-out.ts';
import type { Consent, Proposal } from './consent.ts';
import { snapshotOf } from './fields.ts';
import type { Sending } from './journal.ts';
import { type Plan, planOf, sameTarget } from './plan.ts';
import { checkAllowed, checkHourly } from './rules.ts';

/** What came of a plan: one of these, and never two. */
export type Decision =
  | { outcome: 'no_change' }
  | { outcome: 'refused_by_person'; answer: 'declined' | 'cancelled' }
  | { outcome: 'not_asked'; token?: string; why: string }
  | { outcome: 'moved'; plan: Plan }
  | { outcome: 'invalid_consent'; why: string }
  | { outcome: 'carried'; carried: Carried };

export interface Purpose {
  what: Sending['what'];
  reverts?: string;
}

/**
 * Asks the person, and writes exactly what they agreed to if the record is still as they saw it. One
 * write at a time for a tenant: so two calls that race on one record cannot both win.
 * @throws ChangeRefused for what the operator does not allow
 */
export async function decide(
  tenant: Tenant,
  plan: Plan,
  purpose: Purpose,
  call: ToolCall,
): Promise<Decision> {
  if (plan.changes.length === 0 && plan.target.record) return { outcome: 'no_change' };
  checkAllowed(tenant.writing, plan);
  await checkHourly(tenant);
  const consent = await call.consent(proposalOf(plan, purpose));
  if (consent.answer === 'accepted') {
    const approved = { ...purpose, consent: consent.how, client: call.client };
    return tenant.state.alone(`write ${tenant.identity}`, async () => {
      const now = await readAgain(tenant, plan, call);
      if (now.digest !== plan.digest) return { outcome: 'moved', plan: now };
      await checkHourly(tenant);
      call.signal.throwIfAborted();
      return { outcome: 'carried', carried: await carryOut(tenant, now, approved) };
    });
  }
  return notAccepted(consent, plan);
}

function notAccepted(consent: Exclude<Consent, { answer: 'accepted' }>, plan: Plan): Decision {
  switch (consent.answer) {
    case 'declined':
    case 'cancelled':
      return { outcome: 'refused_by_person', answer: consent.answer };
    case 'moved':
      return { outcome: 'moved', plan };
    case 'invalid':
      return { outcome: 'invalid_consent', why: consent.why };
    case 'unasked': {
      const { token, why } = consent;
      return token === undefined
        ? { outcome: 'not_asked', why }
        : { outcome: 'not_asked', token, why };
    }
  }
}

/** The same wish against the record as it is now. */
async function readAgain(tenant: Tenant, plan: Plan, call: ToolCall): Promise<Plan> {
  const target = await sameTarget(tenant, plan.target, call);
  const before = target.record ? snapshotOf(target.record, target.scale) : {};
  const wanted = Object.fromEntries(plan.changes.map(({ field, to }) => [field, to]));
  return planOf(tenant, target, before, wanted, call);
}

function proposalOf(plan: Plan, { what }: Purpose): Proposal {
  const { target, before, changes, digest, currency } = plan;
  const name = before.name ?? changes.find(({ field }) => field === 'name')?.to;
  const company = changes.find(({ field }) => field === 'company')?.to ?? before.company;
  const companyName = (company as { name?: string } | undefined)?.name;
  return {
    what,
    opportunity: String(name ?? ''),
    externalId: target.externalId,
    changes,
    digest,
    ...(companyName === undefined ? {} : { company: companyName }),
    ...(currency === undefined ? {} : { currency }),
  };
}
