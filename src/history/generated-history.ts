import type { Day } from '../figures/days.ts';
import { toRecord } from '../service/records/recognition.ts';
import type { RecordHistory } from './history.ts';
import { asStored, opportunitySnapshots, quoteSnapshots } from './snapshots.ts';

/** The history of the embedded tenant, which is generated with its records and needs no snapshots. */
export interface GeneratedHistory {
  /** The days that it covers, oldest first; today is not one of them. */
  days(): readonly Day[];
  /** JSON text of each opportunity at the end of that day, as the service would have sent it. */
  recordsAt(day: Day): readonly string[];
  /** JSON text of each quote at the end of that day. */
  quotesAt(day: Day): readonly string[];
}

/** Records as they would be read from snapshots: the same object for the same text. */
export const generatedPast = (generated: GeneratedHistory) => ({
  opportunity: toHistory(generated, 'recordsAt', (raw) =>
    asStored(opportunitySnapshots, toRecord('opportunity', raw)),
  ),
  quote: toHistory(generated, 'quotesAt', (raw) =>
    asStored(quoteSnapshots, toRecord('quote', raw)),
  ),
});

const toHistory = <T>(
  generated: GeneratedHistory,
  textsAt: 'recordsAt' | 'quotesAt',
  parse: (raw: Record<string, unknown>) => T,
): RecordHistory<T> => ({
  days: async () => [...generated.days()],
  reader() {
    const known = new Map<string, T>();
    const recordOf = (text: string): T => {
      const record = known.get(text) ?? parse(JSON.parse(text));
      known.set(text, record);
      return record;
    };
    return {
      read: async (day) =>
        generated.days().includes(day)
          ? {
              day,
              takenAt: new Date(`${day}T23:59:59.999Z`),
              records: generated[textsAt](day).map(recordOf),
            }
          : undefined,
    };
  },
});
