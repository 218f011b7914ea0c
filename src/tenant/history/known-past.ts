import type { Day } from '../../briefs/days.ts';
import { toRecord } from '../../records/records.ts';
import type {
  PipelineHistory,
  QuoteHistory,
  RecordHistory,
  Snapshot,
  SnapshotReader,
} from './history.ts';
import { asStored, opportunitySnapshots } from './snapshot-columns.ts';

/** The past of a tenant that is known without snapshots, such as that of the embedded tenant. */
export interface KnownPast {
  /** The days that are known, oldest first; today is not one of them. */
  days(): readonly Day[];
  /** JSON text of each opportunity at the end of that day, as the service would have sent it. */
  recordsAt(day: Day): readonly string[];
  /** JSON text of each quote at the end of that day. */
  quotesAt(day: Day): readonly string[];
}

/** The opportunities of a known past in the form of snapshots. */
export const pastOpportunities = (past: KnownPast): PipelineHistory =>
  new PastHistory(
    past,
    (day) => past.recordsAt(day),
    (text) => {
      const record = toRecord('opportunity', JSON.parse(text));
      return opportunitySnapshots.toRecord(opportunitySnapshots.toRow(record));
    },
  );

/** The quotes of a known past in the form of snapshots. */
export const pastQuotes = (past: KnownPast): QuoteHistory =>
  new PastHistory(
    past,
    (day) => past.quotesAt(day),
    (text) => asStored(toRecord('quote', JSON.parse(text))),
  );

class PastHistory<T> implements RecordHistory<T> {
  readonly #past: KnownPast;
  readonly #textsAt: (day: Day) => readonly string[];
  readonly #parse: (text: string) => T;

  constructor(
    past: KnownPast,
    textsAt: (day: Day) => readonly string[],
    parse: (text: string) => T,
  ) {
    this.#past = past;
    this.#textsAt = textsAt;
    this.#parse = parse;
  }

  async days(): Promise<Day[]> {
    return [...this.#past.days()];
  }

  reader(): SnapshotReader<T> {
    const known = new Map<string, T>();
    return { read: async (day) => this.#read(day, known) };
  }

  #read(day: Day, known: Map<string, T>): Snapshot<T> | undefined {
    if (!this.#past.days().includes(day)) return undefined;
    const records = this.#textsAt(day).map((text) => this.#parsed(text, known));
    return { takenAt: new Date(`${day}T23:59:59.999Z`), records };
  }

  /** The same object for the same text, as snapshots give it. */
  #parsed(text: string, known: Map<string, T>): T {
    const record = known.get(text) ?? this.#parse(text);
    known.set(text, record);
    return record;
  }
}
