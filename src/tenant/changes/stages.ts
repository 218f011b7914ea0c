import { isObject } from '../../api/envelope.ts';
import type { ApiRecord } from '../../api/records.ts';

/** A stage, as opportunities carry it: the API lists none. */
export interface Stage {
  id: string;
  /** Every name, and every external identifier, that it was seen with. */
  names: ReadonlySet<string>;
}

/** The stages that these opportunities are in. */
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
 * Which of these stages the operator's words bar, by id, name or external identifier: what looks like a
 * barred name to a person is barred, whatever its letter case, blanks and script. And the words that bar
 * none of them.
 */
export async function matchBarredStages(
  stages: readonly Stage[],
  words: readonly string[],
): Promise<{ barred: ReadonlySet<string>; unknown: readonly string[] }> {
  const { looksLike } = await import('../../text/look-alikes.ts');
  const matches = words.map((word) => {
    const isAlike = looksLike(word);
    return stages.filter(({ id, names }) => [id, ...names].some(isAlike)).map(({ id }) => id);
  });
  return {
    barred: new Set(matches.flat()),
    unknown: words.filter((_, at) => matches[at]?.length === 0),
  };
}
