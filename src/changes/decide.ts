import { BoundedMap } from '../containers.ts';
import { requireGrant, writeGrant } from '../tenant/grants.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { identifier, join, quote, trusted, wording } from '../text/untrusted-text.ts';
import { canonicalJson } from '../values.ts';
import { answerMs, type ChangeCall, type NotAgreed, type Question } from './consent.ts';
import { executePlan, type WriteResult } from './execute.ts';
import { type FieldChange, nextReference, type Reference } from './fields.ts';
import { mayBeWritten, readChanges, type WriteIntent } from './journal.ts';
import { buildPlan, type ChangePlan, planAgain } from './plan.ts';
import { ChangeRefused, refused } from './refusal.ts';
import { doubtRow, TargetFinder } from './target.ts';

export type Decision = (NotAgreed | { outcome: 'no_change' } | WriteResult) & {
  /** With the difference as it is now. */
  plan: ChangePlan;
};

const maxPending = 100;
/** Reading again, looking for a namesake in two ways, writing (twice where the scale is learnt), and reading back twice. */
const requestsOfWrite = 7;

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
  const stored = pending.get(key);
  const earlier = stored && stored.until > Date.now() ? stored.plan : undefined;
  // The same question again: another process, which got the answer, may have found that the row differs from its record.
  if (earlier && !call.answered) doubtRow(tenant, earlier.target);
  const plan = earlier && call.answered ? earlier : await make();
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
  const plan = isOfRow
    ? planAgain(found, await new TargetFinder(tenant, call).refresh(found.target))
    : found;
  if (isNoOp(plan)) return { outcome: 'no_change', plan };
  await checkAllowed(tenant, plan);
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
  return tenant.writes.runExclusive(async (isHeld) => {
    // Another call: what is read once a call is read again.
    const target = await new TargetFinder(tenant, { ...call }).refresh(agreed.target);
    const plan = planAgain(agreed, target);
    if (isNoOp(plan)) return { outcome: 'no_change', plan };
    if (plan.digest !== agreed.digest) {
      doubtRow(tenant, agreed.target);
      // Its company, whether it exists, and what a person is told of it may have changed too.
      const isChange = agreed.what === 'change';
      const now = isChange ? await buildPlan(tenant, target, agreed.requested, call) : await make();
      return isNoOp(now) ? { outcome: 'no_change', plan: now } : { outcome: 'moved', plan: now };
    }
    await checkHourlyLimit(tenant);
    if (plan.what === 'create') await refuseJustCreated(tenant, target.externalId);
    call.signal.throwIfAborted();
    if (!(await isHeld())) throw refused`Another process may be writing meanwhile: ask again.`;
    return { ...(await executePlan(tenant, plan, { consent, client, caller })), plan };
  });
}

/** True if nothing would change, for example because somebody made the same change in the meantime. */
const isNoOp = ({ changes }: ChangePlan): boolean => changes.length === 0;

async function checkBudget(tenant: Tenant): Promise<void> {
  if ((await tenant.writes.remainingRequests()) >= requestsOfWrite) return;
  throw refused`A write takes up to ${requestsOfWrite} requests, and fewer are left in the tenant's request budget, which all its programs share. Ask again in a few minutes.`;
}

const hourMs = 3_600_000;

/** @throws ChangeRefused for a field or a stage that may not be written */
export async function checkAllowed(
  tenant: Tenant,
  plan: { changes: readonly FieldChange[] },
): Promise<void> {
  const { fields, allowedStages } = tenant.writes.rules;
  const forbidden = plan.changes.filter(({ field }) => !fields.has(field));
  if (forbidden.length > 0) {
    const names = trusted(forbidden.map(({ field }) => field).join(', '));
    throw new ChangeRefused(
      wording`The operator of this server does not let agents write ${names}. Allowed: ${trusted([...fields].join(', '))}.`,
      undefined,
      'writeFields',
    );
  }
  const stage = nextReference(plan.changes, 'stage');
  if (stage && allowedStages.length > 0) await checkStage(stage, allowedStages);
}

/** @param allowed names or ids */
async function checkStage({ id, name = id }: Reference, allowed: readonly string[]): Promise<void> {
  const { looksLike } = await import('../text/look-alikes.ts');
  if (allowed.some((word) => [id, name].some(looksLike(word)))) return;
  const quoted = allowed.map((it) => quote(it));
  throw new ChangeRefused(
    wording`The operator of this server does not let agents set the stage ${quote(name)}. Allowed: ${join(quoted, ', ')}. A person can do it in the product.`,
    undefined,
    'allowedStages',
  );
}

/** Counts the writes of the last hour in the journal. @throws ChangeRefused if the limit is reached */
export async function checkHourlyLimit(tenant: Tenant): Promise<void> {
  const { perHour } = tenant.writes.rules;
  if (perHour === 0) {
    throw new ChangeRefused(
      wording`The operator of this server has disabled writing.`,
      undefined,
      'writesPerHour',
    );
  }
  const { changes } = await readChanges(tenant);
  const since = Date.now() - hourMs;
  const times = changes
    .filter(mayBeWritten)
    .map(({ intent }) => Date.parse(intent.at))
    .filter((time) => time > since)
    .sort((one, other) => other - one);
  const oldest = times[perHour - 1];
  if (oldest === undefined) return;
  const freeAt = oldest + hourMs;
  throw new ChangeRefused(
    wording`The limit of ${perHour} writes an hour is reached. The next write is possible in ${Math.ceil((freeAt - Date.now()) / 60_000)} minutes.`,
    undefined,
    'writesPerHour',
  );
}

/** The service's search may not find yet what was created a moment ago. @throws ChangeRefused */
export async function refuseJustCreated(tenant: Tenant, externalId: string): Promise<void> {
  const { changes } = await readChanges(tenant);
  const made = changes.find(
    (change) =>
      change.intent.what === 'create' &&
      change.intent.externalId === externalId &&
      mayBeWritten(change) &&
      Date.parse(change.intent.at) > Date.now() - answerMs,
  );
  if (!made) return;
  throw refused`A new opportunity ${made.outcome?.outcome === 'written' ? 'got' : 'may have got'} the external identifier ${quote(externalId)} just now, by ${identifier(made.intent.id)}. To change that one, leave create out.`;
}
