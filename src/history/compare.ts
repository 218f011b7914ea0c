import { addDays, type Day } from '../figures/days.ts';
import { outcomeOf } from '../figures/outcome.ts';
import type { Opportunity } from '../service/records/records.ts';
import { forEachInSlices } from '../slices.ts';
import type { PipelineHistory, RecordHistory, Snapshot, SnapshotReader } from './history.ts';
import { DealSeries } from './pipeline-changes.ts';

export interface Period {
  /** The period starts at the end of this day. */
  opening: Day;
  /** Its last day. */
  closing: Day;
}

export interface StatePair<T = Opportunity> {
  opening: Snapshot<T>;
  closing: Snapshot<T>;
  /** Whether the closing is the present reading. */
  isLive: boolean;
}

/** The two states of a period, and what is known of the days between them. */
export interface PeriodStates extends StatePair {
  series: DealSeries;
  /** The records of the closing as they were read, without those that were seen closed before. */
  listed: readonly Opportunity[];
  /** Whether days are missing between the states, so that the series has at least what happened, not all of it. */
  isPartial: boolean;
  /** The days with a snapshot after the opening and before the closing, oldest first. */
  between: readonly Day[];
  reader: SnapshotReader;
}

/** The days between two states that are read: more would take longer than a call may. */
const maxDaysBetween = 120;
const maxRecordsBetween = 150_000;

/**
 * Finds and reads the states of a period: the last snapshot of the opening day or before it, else the first one after
 * it; the last of the closing day or before it, which is `present` if that is given and not later than it. `days` are
 * those of the history, oldest first.
 * @returns undefined if there are not two states
 */
export async function readStates<T extends { id?: string }>(
  history: RecordHistory<T>,
  days: readonly Day[],
  { opening, closing }: Period,
  present: Snapshot<T> | undefined,
): Promise<(StatePair<T> & { reader: SnapshotReader<T> }) | undefined> {
  const reader = readableNow(history.reader(), present);
  const before = days.filter((day) => day <= closing).reverse();
  const isLive = present !== undefined && present.day <= closing;
  const last = isLive ? present : await firstReadable(reader, before);
  if (!last) return undefined;
  const known = days.filter((day) => day < last.day);
  const candidates = [
    ...known.filter((day) => day <= opening).reverse(),
    ...known.filter((day) => day > opening),
  ];
  const start = await firstReadable(reader, candidates);
  return start && { opening: start, closing: last, isLive, reader };
}

/** Of what was read with another key only what is read now: the present one may not read the rest. */
function readableNow<T extends { id?: string }>(
  reader: SnapshotReader<T>,
  present: Snapshot<T> | undefined,
): SnapshotReader<T> {
  const ids = new Set(present?.records.map(({ id }) => id));
  return {
    async read(day) {
      const snapshot = await reader.read(day);
      if (!snapshot?.isOthers) return snapshot;
      const records = snapshot.records.filter(({ id }) => ids.has(id));
      return present && { ...snapshot, records };
    },
  };
}

/** The states of a period as `readStates` finds them, and the days between them. */
export async function readPeriod(
  history: PipelineHistory,
  days: readonly Day[],
  requested: Period,
  present: Snapshot | undefined,
): Promise<PeriodStates | undefined> {
  const states = await readStates(history, days, requested, present);
  if (!states) return undefined;
  const { opening, closing, reader } = states;
  const between = days.filter((day) => opening.day < day && day < closing.day);
  const series = new DealSeries(opening.records);
  const used: Day[] = [];
  for (const day of spreadEvenly(between, maxDays(opening.records.length))) {
    const snapshot = await reader.read(day);
    if (!snapshot) continue;
    used.push(day);
    await observe(series, snapshot);
  }
  await observe(series, closing);
  const isPartial =
    used.length < between.length || lacksWorkday([opening.day, ...used, closing.day]);
  // The service may list no deals that were closed, or the key may not read them.
  const { records: listed } = closing;
  const ids = new Set(listed.map(({ id }) => id));
  const closed = series
    .latest()
    .filter((deal) => !ids.has(deal.id) && !['open', 'deleted'].includes(outcomeOf(deal)));
  const records = [...listed, ...closed];
  return {
    ...states,
    closing: { ...closing, records },
    listed,
    series,
    isPartial,
    between,
  };
}

/** The snapshot of the first of these days that can be read. */
async function firstReadable<T>(
  reader: SnapshotReader<T>,
  days: readonly Day[],
): Promise<Snapshot<T> | undefined> {
  for (const day of days) {
    const snapshot = await reader.read(day);
    if (snapshot) return snapshot;
  }
  return undefined;
}

/** Whether a day from Monday to Friday is missing between two of these days. */
const lacksWorkday = (days: readonly Day[]): boolean =>
  days.some((day, at) => {
    let missing = addDays(days[at - 1] ?? day, 1);
    while (missing < day && isWeekend(missing)) missing = addDays(missing, 1);
    return missing < day;
  });

const isWeekend = (day: Day): boolean => [0, 6].includes(new Date(day).getUTCDay());

async function observe(series: DealSeries, { takenAt, records }: Snapshot): Promise<void> {
  const time = takenAt.toISOString();
  await forEachInSlices(records, (record) => series.observe(record, time));
}

const maxDays = (records: number): number =>
  Math.max(5, Math.min(maxDaysBetween, Math.floor(maxRecordsBetween / Math.max(1, records))));

/** At most so many, evenly spread between the day before them and the day after. */
export const spreadEvenly = (days: readonly Day[], count: number): Day[] =>
  days.length <= count
    ? [...days]
    : days.filter(
        (_, at) =>
          Math.floor(((at + 1) * (count + 1)) / (days.length + 1)) !==
          Math.floor((at * (count + 1)) / (days.length + 1)),
      );
