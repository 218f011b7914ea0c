import type { Day } from '../../briefs/days.ts';
import { toRecord } from '../../records/records.ts';
import type { PipelineHistory, QuoteHistory, RecordHistory } from './history.ts';
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
  pastHistory(
    past,
    (day) => past.recordsAt(day),
    (text) => {
      const record = toRecord('opportunity', JSON.parse(text));
      return opportunitySnapshots.toRecord(opportunitySnapshots.toRow(record));
    },
  );

/** The quotes of a known past in the form of snapshots. */
export const pastQuotes = (past: KnownPast): QuoteHistory =>
  pastHistory(
    past,
    (day) => past.quotesAt(day),
    (text) => asStored(toRecord('quote', JSON.parse(text))),
  );

const pastHistory = <T>(
  past: KnownPast,
  textsAt: (day: Day) => readonly string[],
  parse: (text: string) => T,
): RecordHistory<T> => ({
  days: async () => [...past.days()],
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
        if (!past.days().includes(day)) return undefined;
        return {
          takenAt: new Date(`${day}T23:59:59.999Z`),
          records: textsAt(day).map(recordOf),
        };
      },
    };
  },
});
