import { shiftWhile } from '../containers.ts';
import { addDays, type Day, daysBetween } from '../figures/days.ts';
import { payloadOf, recordFrom } from '../service/records/payload.ts';
import { type Opportunity, toRecord } from '../service/records/records.ts';
import { forEachInSlices } from '../slices.ts';
import { type Inbox, type InboxEntry, type InboxRow, ifUnavailable } from '../state/port.ts';
import type { PipelineHistory, RecordHistory, Snapshot, SnapshotReader } from './history.ts';
import { DealSeries } from './pipeline-change-series.ts';

export interface DatedSnapshot<T = Opportunity> extends Snapshot<T> {
  day: Day;
}

export interface Period {
  /** The period starts at the end of this day. */
  opening: Day;
  /** Its last day. */
  closing: Day;
}

/** The two states of a period. */
export interface StatePair<T = Opportunity> {
  opening: DatedSnapshot<T>;
  closing: DatedSnapshot<T>;
  /** Whether the closing is the present reading. */
  isLive: boolean;
}

/** The two states of a period, and what is known of the days between them. */
export interface PeriodStates extends StatePair {
  series: DealSeries;
  /** Whether days are missing between the states, so that the series has at least what happened, not all of it. */
  isPartial: boolean;
  events: UsedEvents;
  /** A state about a month before the closing, for the accuracy of the forecast. */
  monthBefore: DatedSnapshot | undefined;
  /** The days with a snapshot after the opening and before the closing, oldest first. */
  between: readonly Day[];
  reader: SnapshotReader;
}

/** Whether all events received in a period were used. */
export interface UsedEvents {
  /** Number of those that were not: the earliest of very many, and those that cannot be read. */
  unused: number;
  /** False if no event could be read, because the shared state is unavailable. */
  available: boolean;
}

interface EventSource {
  inbox: Pick<Inbox, 'list'>;
}

/** The days that a history has. */
export interface KeptDays {
  first: Day | undefined;
  count: number;
  /** Days whose snapshots cannot be read; counted only if there is nothing to compare. */
  unreadable?: number;
}

/** The days between two states that are read: more would take longer than a call may. */
const maxDaysBetween = 60;
const maxRecordsBetween = 150_000;
const maxEvents = 5_000;
const monthDays = 30;
/** A snapshot may be older than a month by this much to count as one of a month ago. */
const monthToleranceDays = 10;

/**
 * Finds and reads the states of a period: the last snapshot of the opening day or before it, else the first one after
 * it; the last of the closing day or before it, which is `present` if that is given and not later than it. `days` are
 * those of the history, oldest first.
 * @returns undefined if there are not two states
 */
export async function readStates<T>(
  reader: SnapshotReader<T>,
  days: readonly Day[],
  { opening, closing }: Period,
  present: DatedSnapshot<T> | undefined,
): Promise<StatePair<T> | undefined> {
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
  return start && { opening: start, closing: last, isLive };
}

export async function countUnreadable<T>(
  history: RecordHistory<T>,
  days: readonly Day[],
): Promise<number> {
  const snapshots = history.reader();
  let unreadable = 0;
  for (const day of days) if (!(await snapshots.read(day))) unreadable += 1;
  return unreadable;
}

/** The states of a period as `readStates` finds them, and the days between them. */
export async function readPeriod(
  tenant: EventSource,
  history: PipelineHistory,
  days: readonly Day[],
  requested: Period,
  present: DatedSnapshot | undefined,
): Promise<PeriodStates | undefined> {
  const reader = history.reader();
  const states = await readStates(reader, days, requested, present);
  if (!states) return undefined;
  const { opening, closing } = states;
  const between = days.filter((day) => opening.day < day && day < closing.day);
  const { events, ...used } = await eventsBetween(tenant, opening.takenAt, closing.takenAt);
  return {
    ...states,
    ...(await seriesBetween(events, reader, between, opening, closing)),
    events: used,
    monthBefore: await monthBefore(reader, days, closing),
    between,
    reader,
  };
}

/** The snapshot of the first of these days that can be read. */
export async function firstReadable<T>(
  reader: SnapshotReader<T>,
  days: readonly Day[],
): Promise<DatedSnapshot<T> | undefined> {
  for (const day of days) {
    const snapshot = await reader.read(day);
    if (snapshot) return { day, ...snapshot };
  }
  return undefined;
}

function monthBefore(
  reader: SnapshotReader,
  days: readonly Day[],
  { day }: DatedSnapshot,
): Promise<DatedSnapshot | undefined> {
  const latest = addDays(day, -monthDays);
  const earliest = addDays(latest, -monthToleranceDays);
  return firstReadable(reader, days.filter((it) => earliest <= it && it <= latest).reverse());
}

/**
 * Every deal's course from one state to the other, by the snapshots between them and the events received.
 * @param events those between the states, oldest first
 */
async function seriesBetween(
  events: DealEvent[],
  reader: SnapshotReader,
  days: readonly Day[],
  start: DatedSnapshot,
  end: DatedSnapshot,
): Promise<{ series: DealSeries; isPartial: boolean }> {
  const series = new DealSeries(start.records, start.takenAt);
  const used = spreadEvenly(days, maxDays(start.records.length));
  for (const day of used) {
    const snapshot = await reader.read(day);
    if (snapshot) await observe(series, events, snapshot);
  }
  await observe(series, events, end);
  const isPartial = used.length < days.length || hasWeekBetween([start.day, ...used, end.day]);
  return { series, isPartial };
}

/** Whether two days that follow each other are a week or more apart, as those of old snapshots are. */
const hasWeekBetween = (days: readonly Day[]): boolean =>
  days.some((day, at) => at > 0 && daysBetween(days[at - 1] ?? day, day) >= 7);

/** @param events those that were not observed yet, oldest first */
async function observe(
  series: DealSeries,
  events: DealEvent[],
  { takenAt, records }: Snapshot,
): Promise<void> {
  const earlier = shiftWhile(events, ({ at }) => at <= takenAt.getTime());
  await forEachInSlices(earlier, ({ at, id, fields }) =>
    series.observeEvent(id, fields, new Date(at).toISOString()),
  );
  const time = takenAt.toISOString();
  series.startSnapshot(takenAt);
  await forEachInSlices(records, (record) => series.observe(record, time));
}

const maxDays = (records: number): number =>
  Math.max(5, Math.min(maxDaysBetween, Math.floor(maxRecordsBetween / Math.max(1, records))));

/** At most so many, evenly spread. */
export const spreadEvenly = (days: readonly Day[], count: number): Day[] =>
  days.length <= count
    ? [...days]
    : days.filter(
        (_, at) =>
          Math.floor((at * count) / days.length) !== Math.floor(((at - 1) * count) / days.length),
      );

interface DealEvent {
  at: number;
  id: string;
  fields: Opportunity;
}

/** The events of opportunities that name their fields, oldest first. */
async function eventsBetween(
  tenant: EventSource,
  from: Date,
  to: Date,
): Promise<UsedEvents & { events: DealEvent[] }> {
  const accepts = ({ subject, at }: InboxEntry) =>
    subject === 'opportunity' && from.getTime() < at && at <= to.getTime();
  const page = await tenant.inbox
    .list(accepts, { from: 0, size: maxEvents, withPrevious: false })
    .catch(ifUnavailable(() => undefined));
  if (!page) return { events: [], unused: 0, available: false };
  const { rows, total } = page;
  const events: DealEvent[] = [];
  let unused = total - rows.length;
  await forEachInSlices(rows.reverse(), ({ event }) => {
    const read = dealEventFrom(event);
    if (read === 'unreadable') unused += 1;
    else if (read) events.push(read);
  });
  return { events, unused, available: true };
}

/** @returns undefined if the event does not name a deal and its fields */
function dealEventFrom(stored: InboxRow['event']): DealEvent | 'unreadable' | undefined {
  const { at, record, subject, body } = stored;
  const payload = payloadOf(body);
  if (!payload) return 'unreadable';
  const fields = recordFrom(payload, subject);
  if (record === undefined || !fields) return undefined;
  return { at, id: record, fields: toRecord('opportunity', structuredClone(fields)) };
}
