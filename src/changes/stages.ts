import type { ApiRecord } from '../service/records/records.ts';
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

/**
 * The stages that these words name, by id, name or external identifier. Names that look alike match, regardless of letter case,
 * spaces and script. `unknown` are the words that match no stage.
 */
export async function matchStages(
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
