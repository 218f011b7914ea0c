import type { Day } from '../figures/days.ts';
import { toRecord } from '../service/records/records.ts';
import type { PipelineHistory, QuoteHistory, RecordHistory } from './history.ts';
import { asStored, opportunitySnapshots } from './snapshot-columns.ts';

/** The history of the embedded tenant, which is generated with its records and needs no snapshots. */
export interface GeneratedHistory {
  /** The days that it covers, oldest first; today is not one of them. */
  days(): readonly Day[];
  /** JSON text of each opportunity at the end of that day, as the service would have sent it. */
  recordsAt(day: Day): readonly string[];
  /** JSON text of each quote at the end of that day. */
  quotesAt(day: Day): readonly string[];
}

/** The opportunities of a generated history in the form of snapshots. */
export const generatedPipeline = (generated: GeneratedHistory): PipelineHistory =>
  toHistory(
    generated,
    (day) => generated.recordsAt(day),
    (text) => {
      const record = toRecord('opportunity', JSON.parse(text));
      return opportunitySnapshots.toRecord(opportunitySnapshots.toRow(record));
    },
  );

/** The quotes of a generated history in the form of snapshots. */
export const generatedQuotes = (generated: GeneratedHistory): QuoteHistory =>
  toHistory(
    generated,
    (day) => generated.quotesAt(day),
    (text) => asStored(toRecord('quote', JSON.parse(text))),
  );

const toHistory = <T>(
  generated: GeneratedHistory,
  textsAt: (day: Day) => readonly string[],
  parse: (text: string) => T,
): RecordHistory<T> => ({
  days: async () => [...generated.days()],
  reader() {
    const known = new Map<string, T>();
    // The same object for the same text, as snapshots give it.
    const recordOf = (text: string): T => {
      const record = known.get(text) ?? parse(text);
      known.set(text, record);
      return record;
    };
    return {
      async read(day) {
        if (!generated.days().includes(day)) return undefined;
        return {
          takenAt: new Date(`${day}T23:59:59.999Z`),
          records: textsAt(day).map(recordOf),
        };
      },
    };
  },
});
