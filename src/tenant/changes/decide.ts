import type { Wording } from '../../outside-text.ts';
import type { ToolCall } from '../call.ts';
import { writeGrant } from '../grants.ts';
import type { Tenant } from '../tenant.ts';
import { type Carried, carryOut } from './carry-out.ts';
import type { Consent, Offer, Proposal } from './consent.ts';
import { canonical, type Reference } from './fields.ts';
import type { Sending } from './journal.ts';
import { type Plan, planOf } from './plan.ts';
import { checkAllowed, checkHourly } from './rules.ts';
import { sameTarget } from './target.ts';

/** What came of a plan: one of these, and never two. */
export type Decision =
  | { outcome: 'no_change' }
  | { outcome: 'refused_by_person'; answer: 'declined' | 'cancelled' }
  | { outcome: 'not_asked'; offer?: Offer; why: Wording }
  | { outcome: 'moved'; plan: Plan }
  | { outcome: 'invalid_consent'; why: Wording }
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
  tenant.require(writeGrant);
  if (isDone(plan)) return { outcome: 'no_change' };
  await checkAllowed(tenant, plan, call);
  await checkHourly(tenant);
  const consent = await call.consent(proposalOf(plan, purpose, call));
  if (consent.answer !== 'accepted') return notAccepted(consent, plan);
  const { client, caller } = call;
  const who = caller === undefined ? { client } : { client, caller };
  const approved = { ...purpose, consent: consent.how, ...who };
  return tenant.state.alone(`write ${tenant.namespace}`, async () => {
    const target = await sameTarget(tenant, plan.target, call);
    const now = await planOf(tenant, target, plan.wanted, call);
    if (isDone(now)) return { outcome: 'no_change' };
    if (now.digest !== plan.digest) return { outcome: 'moved', plan: now };
    await checkHourly(tenant);
    call.signal.throwIfAborted();
    return { outcome: 'carried', carried: await carryOut(tenant, now, approved, call.trace) };
  });
}

/** Somebody may have made the same change while the person was asked. */
const isDone = ({ changes, target }: Plan): boolean =>
  changes.length === 0 && Boolean(target.record);

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
      const { answer, ...how } = consent;
      return { outcome: 'not_asked', ...how };
    }
  }
}

function proposalOf(plan: Plan, { what, reverts }: Purpose, { caller }: ToolCall): Proposal {
  const { target, before, changes, digest, currency, remarks, wish } = plan;
  const name = before.name ?? changes.find(({ field }) => field === 'name')?.to;
  const company = before.company ?? changes.find(({ field }) => field === 'company')?.to;
  const companyName = (company as Reference | undefined)?.name;
  return {
    what,
    opportunity: String(name ?? ''),
    externalId: target.externalId,
    changes,
    currency,
    remarks,
    digest,
    subject: canonical([what, reverts, wish, caller]),
    ...(companyName === undefined ? {} : { company: companyName }),
  };
}
