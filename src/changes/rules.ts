import type { ToolCall } from '../tenant/call.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { quote, trusted, wording } from '../text/untrusted-text.ts';
import { nextReference, type Reference } from './fields.ts';
import { mayBeWritten, readChanges } from './journal.ts';
import type { ChangePlan } from './plan.ts';
import { ChangeRefused } from './refusal.ts';
import { matchBarredStages, stagesOf } from './stages.ts';

const hourMs = 3_600_000;

/** @throws ChangeRefused for a field or a stage that may not be written */
export async function checkAllowed(
  tenant: Tenant,
  plan: Pick<ChangePlan, 'changes'>,
  call: ToolCall,
): Promise<void> {
  const { fields, barredStages } = tenant.writeRules;
  const forbidden = plan.changes.filter(({ field }) => !fields.has(field));
  if (forbidden.length > 0) {
    const names = trusted(forbidden.map(({ field }) => field).join(', '));
    throw new ChangeRefused(
      wording`The operator of this server does not let agents write ${names}. Allowed: ${trusted([...fields].join(', '))}.`,
    );
  }
  const stage = nextReference(plan.changes, 'stage');
  if (!stage || barredStages.length === 0) return;
  if (!(await isBarred(tenant, stage, call))) return;
  throw new ChangeRefused(
    wording`The operator of this server does not let agents set the stage ${quote(stage.name ?? stage.id)}. A person can do it in the product.`,
  );
}

/** Checks all names of the stage: a renamed stage is barred under its old and its new name. */
async function isBarred(tenant: Tenant, stage: Reference, call: ToolCall): Promise<boolean> {
  const { records } = await tenant.collection('opportunity', call);
  const known = stagesOf(records).find(({ id }) => id === stage.id);
  const names = new Set([...(known?.names ?? []), stage.name ?? '']);
  const { barredStages } = tenant.writeRules;
  const { barred } = await matchBarredStages([{ id: stage.id, names }], barredStages);
  return barred.has(stage.id);
}

/** Counts the writes of the last hour in the journal. @throws ChangeRefused if the limit is reached */
export async function checkHourlyLimit(tenant: Tenant): Promise<void> {
  const { perHour } = tenant.writeRules;
  if (perHour === 0) {
    throw new ChangeRefused(wording`The operator of this server has disabled writing.`);
  }
  const { changes } = await readChanges(tenant.journal);
  const since = Date.now() - hourMs;
  const times = changes
    .filter(mayBeWritten)
    .map(({ intent }) => Date.parse(intent.at))
    .filter((time) => time > since)
    .sort((one, other) => one - other);
  const oldest = times.at(-perHour);
  if (oldest === undefined) return;
  const freeAt = oldest + hourMs;
  throw new ChangeRefused(
    wording`The limit of ${perHour} writes an hour is reached. The next write is possible in ${Math.ceil((freeAt - Date.now()) / 60_000)} minutes.`,
  );
}
