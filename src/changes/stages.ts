import type { ApiRecord } from '../service/records/records.ts';
import type { WriteRules } from '../tenant/shared-state.ts';
import { isObject } from '../values.ts';

/** A stage that opportunities refer to. The API has no list of stages. */
export interface Stage {
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

/** Whether the operator lets agents set each of these stages. `unknown`: barred words that name no stage. */
export async function allowedStagesAmong(
  stages: readonly Stage[],
  { barredStages, allowedStages }: Pick<WriteRules, 'barredStages' | 'allowedStages'>,
): Promise<{ isAllowed(id: string): boolean; unknown: readonly string[] }> {
  const barred = await matchStages(stages, barredStages);
  const allowed = await matchStages(stages, allowedStages);
  return {
    isAllowed: (id) => !barred.ids.has(id) && (allowedStages.length === 0 || allowed.ids.has(id)),
    unknown: barred.unknown,
  };
}
