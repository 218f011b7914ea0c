import type { ApiRecord } from '../service/records/records.ts';
import type { NameOf } from '../setting-names.ts';
import type { Tenant, ToolCall } from '../tenant/tenant.ts';
import { identifier, join, quote, trusted, wording } from '../text/untrusted-text.ts';
import { isObject } from '../values.ts';
import { answerMs } from './consent.ts';
import { type FieldChange, nextReference, type Reference } from './fields.ts';
import { mayBeWritten, readChanges } from './journal.ts';
import { ChangeRefused, type Remedy } from './refusal.ts';

const hourMs = 3_600_000;

/** Names the limit of the operator. */
const limitedBy =
  (setting: Parameters<NameOf>[0]): Remedy =>
  (nameOf) =>
    wording`The limit is ${trusted(nameOf(setting))}.`;

/** @throws ChangeRefused for a field or a stage that may not be written */
export async function checkAllowed(
  tenant: Tenant,
  plan: { changes: readonly FieldChange[] },
  call: ToolCall,
): Promise<void> {
  const { fields } = tenant.writes.rules;
  const forbidden = plan.changes.filter(({ field }) => !fields.has(field));
  if (forbidden.length > 0) {
    const names = trusted(forbidden.map(({ field }) => field).join(', '));
    throw new ChangeRefused(
      wording`The operator of this server does not let agents write ${names}. Allowed: ${trusted([...fields].join(', '))}.`,
      undefined,
      limitedBy('writeFields'),
    );
  }
  const stage = nextReference(plan.changes, 'stage');
  if (stage) await checkStage(tenant, stage, call);
}

/** Checks all names of the stage: a renamed stage is allowed under its old and its new name. */
async function checkStage(tenant: Tenant, stage: Reference, call: ToolCall): Promise<void> {
  const { allowedStages } = tenant.writes.rules;
  if (allowedStages.length === 0) return;
  const { records } = await tenant.collection('opportunity', call);
  const names = namesOf(stage, records);
  const { looksLike } = await import('../text/look-alikes.ts');
  if (allowedStages.some((word) => names.some(looksLike(word)))) return;
  const quoted = allowedStages.map((it) => quote(it));
  throw new ChangeRefused(
    wording`The operator of this server does not let agents set the stage ${quote(stage.name ?? stage.id)}. Allowed: ${join(quoted, ', ')}. A person can do it in the product.`,
    undefined,
    limitedBy('allowedStages'),
  );
}

/** Counts the writes of the last hour in the journal. @throws ChangeRefused if the limit is reached */
export async function checkHourlyLimit(tenant: Tenant): Promise<void> {
  const { perHour } = tenant.writes.rules;
  if (perHour === 0) {
    throw new ChangeRefused(
      wording`The operator of this server has disabled writing.`,
      undefined,
      limitedBy('writesPerHour'),
    );
  }
  const { changes } = await readChanges(tenant.writes.journal);
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
    limitedBy('writesPerHour'),
  );
}

/** The service's search may not find yet what was created a moment ago. @throws ChangeRefused */
export async function refuseJustCreated(tenant: Tenant, externalId: string): Promise<void> {
  const { changes } = await readChanges(tenant.writes.journal);
  const made = changes.find(
    (change) =>
      change.intent.what === 'create' &&
      change.intent.externalId === externalId &&
      mayBeWritten(change) &&
      Date.parse(change.intent.at) > Date.now() - answerMs,
  );
  if (!made) return;
  throw new ChangeRefused(
    wording`A new opportunity ${made.outcome?.outcome === 'written' ? 'got' : 'may have got'} the external identifier ${quote(externalId)} just now, by ${identifier(made.intent.id)}. To change that one, leave create out.`,
  );
}

/** The id of a stage, and what opportunities call it: the API has no list of stages. */
function namesOf({ id, name = id }: Reference, opportunities: readonly ApiRecord[]): string[] {
  const names = new Set([id, name]);
  for (const { pipelineStage: stage } of opportunities) {
    if (!isObject(stage) || String(stage.id) !== id) continue;
    for (const called of [stage.name, stage.externalIdentifier])
      if (typeof called === 'string' && called !== '') names.add(called);
  }
  return [...names];
}
