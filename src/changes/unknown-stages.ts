import type { Collection } from '../reading/collection.ts';
import type { ApiRecord, Resource } from '../service/records/records.ts';

/** Barred stages that do not exist. */
export interface UnknownStages {
  /** The barred names that match no stage. */
  unknown: readonly string[];
  /** Names of the existing stages, at most `maxStages`. */
  stages: readonly string[];
}

const maxStages = 30;

/**
 * Reports barred stages that no opportunity has, such as misspelt ones, at the first complete reading of the
 * opportunities. Sends no requests of its own.
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

/** The barred names that match no stage of these opportunities. */
export async function findUnknownStages(
  opportunities: readonly ApiRecord[],
  words: readonly string[],
): Promise<UnknownStages> {
  const { matchStages, stagesOf } = await import('./stages.ts');
  const stages = stagesOf(opportunities);
  const { unknown } = await matchStages(stages, words);
  const names = stages.flatMap(({ names: [name] }) => name ?? []);
  return { unknown, stages: names.slice(0, maxStages) };
}
