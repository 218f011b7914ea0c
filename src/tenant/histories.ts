import type { GeneratedHistory } from '../history/generated-history.ts';
import type { PipelineHistory, QuoteHistory } from '../history/history.ts';
import { HistoryRecorder } from '../history/recorder.ts';
import type { Collection } from '../reading/collection.ts';
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

/** The past of the pipeline and of the quotes of a tenant. Loaded when it is first used: a start does not need it. */
export class Histories {
  readonly #options: HistoryOptions | undefined;
  readonly #store: SnapshotStore;
  readonly #recorders: ReadonlyMap<Resource, HistoryRecorder<ApiRecord>>;

  constructor(options: HistoryOptions | undefined, store: SnapshotStore) {
    this.#options = options?.keepDays === 0 ? undefined : options;
    this.#store = store;
    this.#recorders = this.#startRecorders();
  }

  /** A generated history needs no snapshots. */
  #startRecorders(): ReadonlyMap<Resource, HistoryRecorder<ApiRecord>> {
    const options = this.#options;
    if (!options || options.generated) return new Map();
    const recorderOf = (kind: keyof Past) =>
      new HistoryRecorder<ApiRecord>(
        async () => (await this.#stored(options))[kind],
        options.onError,
      );
    return new Map([
      ['opportunity', recorderOf('opportunity')],
      ['quote', recorderOf('quote')],
    ]);
  }

  /** `undefined` if no history is kept. */
  async open(): Promise<Past | undefined> {
    if (!this.#options) return undefined;
    const { generated } = this.#options;
    if (!generated) return this.#stored(this.#options);
    const { generatedPipeline, generatedQuotes } = await import('../history/generated-history.ts');
    return { opportunity: generatedPipeline(generated), quote: generatedQuotes(generated) };
  }

  async #stored({ keepDays }: HistoryOptions) {
    const { storedPast } = await import('../history/history.ts');
    return storedPast(this.#store, keepDays);
  }

  note(resource: Resource, collection: Collection<ApiRecord>): void {
    this.#recorders.get(resource)?.note(collection);
  }

  async flush(): Promise<void> {
    for (const recorder of this.#recorders.values()) await recorder.flush();
  }
}
