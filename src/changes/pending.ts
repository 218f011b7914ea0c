/**
 * Plans that people are asked about. One reading serves plan, question and answer: the call with the answer takes the
 * plan from here. Another process, which has none, plans again.
 */
import { isApiError } from '../service/errors.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { wording } from '../text/untrusted-text.ts';
import { canonicalJson } from '../values.ts';
import type { ChangeCall } from './consent.ts';
import type { ChangePlan } from './plan.ts';
import { ChangeRefused } from './refusal.ts';

/** Validity of an answer or a token. */
export const answerMs = 10 * 60_000;
const maxPending = 100;
/** Reading again, writing (twice where the scale of probabilities is learnt), and reading back twice. */
const requestsOfWrite = 5;

interface Pending {
  plan: ChangePlan;
  until: number;
}

const pendingOf = new WeakMap<Tenant['writes']['tokens'], Map<string, Pending>>();
const setAside = new WeakMap<ChangePlan, () => void>();

/** The plan for these arguments: that of the question if the call brings its answer, otherwise a new one. */
export async function planOnce(
  tenant: Tenant,
  asked: unknown,
  call: ChangeCall,
  make: () => Promise<ChangePlan>,
): Promise<ChangePlan> {
  const known = pendingOf.get(tenant.writes.tokens) ?? new Map<string, Pending>();
  pendingOf.set(tenant.writes.tokens, known);
  const key = canonicalJson([tenant.key.identity, asked, call.caller, [...tenant.grants].sort()]);
  const pending = known.get(key);
  if (call.answered && pending && pending.until > Date.now()) return pending.plan;
  const plan = await make();
  forget(known, key);
  known.set(key, { plan, until: Date.now() + answerMs });
  const [oldest] = known.keys();
  if (known.size > maxPending && oldest !== undefined) forget(known, oldest);
  return plan;
}

/** Forgets a plan that was decided: the same call again plans anew. */
export function forgetPlan(tenant: Tenant, plan: ChangePlan): void {
  setAside.get(plan)?.();
  const known = pendingOf.get(tenant.writes.tokens);
  for (const [key, pending] of known ?? []) if (pending.plan === plan) known?.delete(key);
}

function forget(known: Map<string, Pending>, key: string): void {
  const pending = known.get(key);
  if (!pending) return;
  setAside.get(pending.plan)?.();
  known.delete(key);
}

/**
 * Sets aside what the write will need, before a person is asked; `forgetPlan` releases it.
 * @throws ChangeRefused if the budget does not suffice
 */
export async function setAsideFor(tenant: Tenant, plan: ChangePlan): Promise<void> {
  if (setAside.has(plan)) return;
  const until = Date.now() + answerMs;
  const release = await tenant.writes.setAside(requestsOfWrite, until).catch((error: unknown) => {
    if (!isApiError(error, 'budget-spent')) throw error;
    throw new ChangeRefused(
      wording`A write takes up to ${requestsOfWrite} requests, and fewer are left in the tenant's request budget, which all its programs share. Ask again in ${error.facts.seconds ?? 60} seconds.`,
    );
  });
  setAside.set(plan, release);
}
