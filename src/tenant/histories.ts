import type { GeneratedHistory } from '../history/generated-history.ts';
import type { PipelineHistory, QuoteHistory } from '../history/history.ts';
import { historyRecorder } from '../history/recorder.ts';
import type { Collection } from '../reading/coverage.ts';
import type { ApiRecord, Resource } from '../service/records/records.ts';
import type { SnapshotStore } from '../state/port.ts';

export interface HistoryOptions {
  /** Days for which snapshots are kept; 0 keeps none. */
  keepDays: number;
  /** Of the embedded tenant; then no snapshots are made. */
  generated?: GeneratedHistory | undefined;
  /** Called when a snapshot could not be stored. */
  onError(error: unknown): void;
}

export interface Past {
  opportunity: PipelineHistory;
  quote: QuoteHistory;
}

/**
 * The past of the pipeline and of the quotes of a tenant. Loaded when it is first used: a start does not need it.
 * @param owner of the readings, as in `storedSnapshots`
 */
export function historiesOf(
  given: HistoryOptions | undefined,
  store: SnapshotStore,
  owner: string,
) {
  const options = given?.keepDays === 0 ? undefined : given;
  const stored = async () =>
    (await import('../history/history.ts')).storedPast(store, options?.keepDays ?? 0, owner);
  const recorderOf = (kind: keyof Past) =>
    historyRecorder<ApiRecord>(
      async () => (await stored())[kind],
      (error) => options?.onError(error),
    );
  // A generated history needs no snapshots.
  const isRecorded = options !== undefined && !options.generated;
  const recorders: { readonly [R in Resource]?: ReturnType<typeof recorderOf> } = isRecorded
    ? { opportunity: recorderOf('opportunity'), quote: recorderOf('quote') }
    : {};
  return {
    /** `undefined` if no history is kept. */
    async open(): Promise<Past | undefined> {
      if (!options?.generated) return options && stored();
      return (await import('../history/generated-history.ts')).generatedPast(options.generated);
    },
    note: (resource: Resource, collection: Collection<ApiRecord>): void =>
      recorders[resource]?.note(collection),
    async flush(): Promise<void> {
      for (const recorder of Object.values(recorders)) await recorder.flush();
    },
  };
}
