import type { Day } from '../../briefs/days.ts';
import type { Opportunity } from '../../records/records.ts';
import { toRecord } from '../../records/records.ts';
import type { PipelineHistory, Snapshot, SnapshotReader } from './history.ts';
import { toOpportunity, toRow } from './snapshot-format.ts';

/** The past of a tenant that is known without snapshots, such as that of the embedded tenant. */
export interface KnownPast {
  /** The days that are known, oldest first; today is not one of them. */
  days(): readonly Day[];
  /** JSON text of each opportunity at the end of that day, as the service would have sent it. */
  recordsAt(day: Day): readonly string[];
}

/** A known past in the form of snapshots. */
export class PastHistory implements PipelineHistory {
  readonly #past: KnownPast;

  constructor(past: KnownPast) {
    this.#past = past;
  }

  async days(): Promise<Day[]> {
    return [...this.#past.days()];
  }

  reader(): SnapshotReader {
    const known = new Map<string, Opportunity>();
    return { read: async (day) => this.#read(day, known) };
  }

  #read(day: Day, known: Map<string, Opportunity>): Snapshot | undefined {
    if (!this.#past.days().includes(day)) return undefined;
    const records = this.#past.recordsAt(day).map((text) => parsed(text, known));
    return { takenAt: new Date(`${day}T23:59:59.999Z`), records };
  }
}

/** The same object for the same text, as snapshots give it. */
function parsed(text: string, known: Map<string, Opportunity>): Opportunity {
  const record = known.get(text) ?? toOpportunity(toRow(toRecord('opportunity', JSON.parse(text))));
  known.set(text, record);
  return record;
}
