import { BoundedMap } from '../containers.ts';
import { requireGrant, writeGrant } from '../tenant/grants.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { wording } from '../text/untrusted-text.ts';
import { canonicalJson } from '../values.ts';
import { answerMs, type ChangeCall, type NotAgreed, type Question } from './consent.ts';
import { executePlan, type WriteResult } from './execute.ts';
import type { WriteIntent } from './journal.ts';
import { buildPlan, type ChangePlan, planAgain } from './plan.ts';
import { ChangeRefused } from './refusal.ts';
import { checkAllowed, checkHourlyLimit, refuseJustCreated } from './rules.ts';
import { learnFromRow, refreshTarget } from './target.ts';

export type Decision = (NotAgreed | { outcome: 'no_change' } | WriteResult) & {
  /** With the difference as it is now. */
  plan: ChangePlan;
};

const maxPending = 100;
/** Reading again and looking for a namesake, writing (twice where the scale is learnt), and reading back twice. */
const requestsOfWrite = 6;

/** Plans that people are asked about. The call with the answer takes its plan from here; another process plans again. */
const pendingPlans = new WeakMap<
  Tenant['writes']['tokens'],
  BoundedMap<string, { plan: ChangePlan; until: number }>
>();

/**
 * Plans, asks a person, and writes exactly what they agreed to if the record is unchanged since. Runs one write per
 * tenant at a time, so that of two concurrent calls for one record only one can succeed.
 * @param given the arguments of the call
 * @throws ChangeRefused for a change that the operator does not allow, or for which the budget does not suffice
 */
export async function decide(
  tenant: Tenant,
  given: unknown,
  call: ChangeCall,
  make: () => Promise<ChangePlan>,
): Promise<Decision> {
  const pending = pendingPlans.get(tenant.writes.tokens) ?? new BoundedMap(maxPending);
  pendingPlans.set(tenant.writes.tokens, pending);
  const key = canonicalJson([tenant.key.identity, given, call.caller, [...tenant.grants].sort()]);
  const known = call.answered ? pending.get(key) : undefined;
  const plan = known && known.until > Date.now() ? known.plan : await make();
  pending.delete(key);
  const decision = await decidePlan(tenant, plan, call, make);
  const asked = await questionOf(decision, call);
  if (asked) pending.set(key, { plan: decision.plan, until: Date.now() + answerMs });
  return decision.outcome === 'moved' ? { ...decision, question: asked } : decision;
}

async function questionOf(decision: Decision, call: ChangeCall): Promise<Question | undefined> {
  if (decision.outcome === 'moved') return call.askAgain?.(decision.plan);
  return decision.outcome === 'not_asked' ? decision.question : undefined;
}

async function decidePlan(
  tenant: Tenant,
  found: ChangePlan,
  call: ChangeCall,
  make: () => Promise<ChangePlan>,
): Promise<Decision> {
  requireGrant(tenant.grants, writeGrant);
  // A row may lack what the record has.
  const isOfRow = isNoOp(found) && found.target.present?.isRow;
  const plan = isOfRow ? planAgain(found, await refreshTarget(tenant, found.target, call)) : found;
  if (isNoOp(plan)) return { outcome: 'no_change', plan };
  await checkAllowed(tenant, plan, call);
  await checkHourlyLimit(tenant);
  await checkBudget(tenant);
  const consent = await call.consent(plan);
  if (consent.outcome !== 'agreed') return { ...consent, plan };
  return writeAgreed(tenant, plan, consent.how, call, make);
}

/** Writes what the person agreed to if the record is as it was when they were asked. */
function writeAgreed(
  tenant: Tenant,
  agreed: ChangePlan,
  consent: WriteIntent['consent'],
  call: ChangeCall,
  make: () => Promise<ChangePlan>,
): Promise<Decision> {
  const { client, caller } = call;
  const approval = { consent, client, ...(caller === undefined ? {} : { caller }) };
  return tenant.writes.runExclusive(async (isHeld) => {
    // Another call: what is read once a call is read again.
    const target = await refreshTarget(tenant, agreed.target, { ...call });
    const plan = planAgain(agreed, target);
    if (isNoOp(plan)) return { outcome: 'no_change', plan };
    if (plan.digest !== agreed.digest) {
      learnFromRow(tenant, agreed.target, target);
      // Its company, whether it exists, and what a person is told of it may have changed too.
      const isChange = agreed.what === 'change';
      const now = isChange ? await buildPlan(tenant, target, agreed.requested, call) : await make();
      return isNoOp(now) ? { outcome: 'no_change', plan: now } : { outcome: 'moved', plan: now };
    }
    await checkHourlyLimit(tenant);
    if (plan.what === 'create') await refuseJustCreated(tenant, target.externalId);
    call.signal.throwIfAborted();
    if (!(await isHeld()))
      throw new ChangeRefused(wording`Another process may be writing meanwhile: ask again.`);
    return { ...(await executePlan(tenant, plan, approval)), plan };
  });
}

/** True if nothing would change, for example because somebody made the same change in the meantime. */
const isNoOp = ({ changes }: ChangePlan): boolean => changes.length === 0;

async function checkBudget(tenant: Tenant): Promise<void> {
  if ((await tenant.writes.remainingRequests()) >= requestsOfWrite) return;
  throw new ChangeRefused(
    wording`A write takes up to ${requestsOfWrite} requests, and fewer are left in the tenant's request budget, which all its programs share. Ask again in a few minutes.`,
  );
}
