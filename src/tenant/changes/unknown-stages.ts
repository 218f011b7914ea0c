import type { ApiRecord, Resource } from '../../api/records.ts';
import type { Collection } from '../collections.ts';

/** A list of the operator's in which something bars nothing. */
export interface UnknownStages {
  /** What was said to be barred. */
  unknown: readonly string[];
  /** The names of the stages that there are, or of the first of them. */
  stages: readonly string[];
}

const maxStages = 30;

/**
 * Looks at the first whole reading of the opportunities, and tells of barred stages that none is in: a
 * misspelt one bars nothing. Nothing is read for it.
 */
export function watchStages(
  words: readonly string[],
  report: (found: UnknownStages) => void,
): (resource: Resource, collection: Collection<ApiRecord>) => void {
  let isOver = words.length === 0;
  return (resource, { records, coverage }) => {
    if (isOver || resource !== 'opportunity' || !coverage.complete) return;
    isOver = true;
    void findUnknownStages(records, words).then((found) => {
      if (found.unknown.length > 0) report(found);
    });
  };
}

/** The words that bar none of the stages that these opportunities are in. */
export async function findUnknownStages(
  opportunities: readonly ApiRecord[],
  words: readonly string[],
): Promise<UnknownStages> {
  const { matchBarredStages: barredAmong, stagesOf } = await import('./stages.ts');
  const stages = stagesOf(opportunities);
  const { unknown } = await barredAmong(stages, words);
  const names = stages.flatMap(({ names: [name] }) => name ?? []);
  return { unknown, stages: names.slice(0, maxStages) };
}
