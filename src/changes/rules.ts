import type { ApiRecord } from '../service/records/records.ts';
import type { NameOf } from '../setting-names.ts';
import type { ToolCall } from '../tenant/call.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { join, quote, trusted, wording } from '../text/untrusted-text.ts';
import { isObject } from '../values.ts';
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
  const known = stagesOf(records);
  const names = known.find(({ id }) => id === stage.id)?.names ?? [];
  const asked = { id: stage.id, names: new Set([...names, stage.name ?? '']) };
  const stages = [...known.filter(({ id }) => id !== stage.id), asked];
  const { ids } = await matchStages(stages, allowedStages);
  if (ids.has(stage.id)) return;
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

/** A stage that opportunities refer to. The API has no list of stages. */
interface Stage {
  id: string;
  /** All names and external identifiers of the stage in the opportunities. */
  names: ReadonlySet<string>;
}

export function stagesOf(opportunities: readonly ApiRecord[]): Stage[] {
  const stages = new Map<string, Set<string>>();
  for (const { pipelineStage: stage } of opportunities) {
    if (!isObject(stage) || (typeof stage.id !== 'string' && typeof stage.id !== 'number'))
      continue;
    const id = String(stage.id);
    const names = stages.get(id) ?? new Set();
    for (const name of [stage.name, stage.externalIdentifier]) {
      if (typeof name === 'string' && name !== '') names.add(name);
    }
    stages.set(id, names);
  }
  return [...stages].map(([id, names]) => ({ id, names }));
}

/** The stages that words name, by id, name or external identifier, also by one that looks alike, and the other words. */
async function matchStages(
  stages: readonly Stage[],
  words: readonly string[],
): Promise<{ ids: ReadonlySet<string>; unknown: readonly string[] }> {
  const { looksLike } = await import('../text/look-alikes.ts');
  const matches = words.map((word) => {
    const isAlike = looksLike(word);
    return stages.filter(({ id, names }) => [id, ...names].some(isAlike)).map(({ id }) => id);
  });
  return {
    ids: new Set(matches.flat()),
    unknown: words.filter((_, at) => matches[at]?.length === 0),
  };
}

const maxStages = 30;

/** Which of these words name no stage of the opportunities, and the names of some that exist. */
export async function findUnknownStages(
  opportunities: readonly ApiRecord[],
  words: readonly string[],
): Promise<{ unknown: readonly string[]; stages: readonly string[] }> {
  const stages = stagesOf(opportunities);
  const { unknown } = await matchStages(stages, words);
  const names = stages.flatMap(({ names: [name] }) => name ?? []);
  return { unknown, stages: names.slice(0, maxStages) };
}
