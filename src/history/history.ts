import { addDays, type Day, dayOf, daysBetween, utcDay } from '../figures/days.ts';
import type { Opportunity } from '../service/records/records.ts';
import { forEachInSlices } from '../slices.ts';
import type { SnapshotStore } from '../state/port.ts';
import {
  type Columns,
  columnsOf,
  isRowAt,
  opportunitySnapshots,
  type PricedQuote,
  pack,
  quoteSnapshots,
  type Row,
  rowAt,
  type SnapshotKind,
  unpack,
  version,
} from './snapshots.ts';

/** All records of one kind of a tenant as they were read at one time. */
export interface Snapshot<T = Opportunity> {
  day: Day;
  takenAt: Date;
  /** With the stored fields only. An unchanged record is the same object in snapshots of one `SnapshotReader`. */
  records: readonly T[];
  /** True if it was read with another key, or by other rules for fields. */
  isOthers?: boolean;
}

/** The past of one kind of records of a tenant, one snapshot a day at most. Days are in UTC. */
export interface RecordHistory<T> {
  /** Days with a snapshot up to today, oldest first. */
  days(): Promise<Day[]>;
  /** Reads snapshots; those of one reader share what did not change. */
  reader(): SnapshotReader<T>;
}

export type PipelineHistory = RecordHistory<Opportunity>;
export type QuoteHistory = RecordHistory<PricedQuote>;

export interface SnapshotReader<T = Opportunity> {
  /** `undefined` for a day without a snapshot, or with one that cannot be read. */
  read(day: Day): Promise<Snapshot<T> | undefined>;
}

/** A snapshot is kept of each of so many days, and of one day of each week before them. */
const dailyDays = 60;

type StoredName = ReturnType<typeof parseNames>[number];

/** A name is that of a day: `2026-06-15` or `quotes-2026-06-15`. */
const parseNames = (names: readonly string[]) =>
  names.flatMap((name) => {
    const [, prefix = '', text] = /^(quotes-)?(\d{4}-\d\d-\d\d)$/.exec(name) ?? [];
    const day = dayOf(text);
    return day ? [{ name, prefix, day }] : [];
  });

/**
 * @param keepDays snapshots are deleted after so many days
 * @param owner of what this server reads: differs by key and by rules for fields
 */
export function storedSnapshots<T extends { id?: string }>(
  kind: SnapshotKind<T>,
  store: SnapshotStore,
  keepDays: number,
  owner: string | undefined,
  now = () => new Date(),
) {
  const { prefix } = kind;
  return {
    async days(): Promise<Day[]> {
      const today = utcDay(now());
      const names = parseNames(await store.names());
      return names.filter((it) => it.prefix === prefix && it.day <= today).map(({ day }) => day);
    },
    reader: (): SnapshotReader<T> => storedReader(kind, store, owner),
    /**
     * Keeps the records as the snapshot of the day on which they were read, unless a later one of that day is
     * stored. Deletes expired snapshots of every kind.
     * @param records all of the tenant
     * @returns false if a later one is stored
     */
    async save(records: readonly T[], takenAt: Date): Promise<boolean> {
      const day = utcDay(takenAt);
      const last = (await readUnpacked(store, prefix + day))?.takenAt;
      // One from the future was taken while the clock was wrong: it is replaced.
      if (last && takenAt < last && last <= now()) return false;
      const header = { version, prefix, owner, takenAt: takenAt.toISOString() };
      const rows = new Map<string, Row>();
      // One row for each id: records without an id cannot be followed.
      await forEachInSlices(records, (record) => {
        if (record.id) rows.set(record.id, kind.toRow(record));
      });
      await store.write(prefix + day, await pack(header, [...rows.values()]));
      await deleteExpired(store, keepDays, now());
      return true;
    },
  };
}

async function deleteExpired(store: SnapshotStore, keepDays: number, now: Date): Promise<void> {
  const parsed = parseNames(await store.names());
  const today = utcDay(now);
  // Not by today, so that one day with a clock years ahead deletes nothing.
  const days = parsed.map(({ day }) => day).filter((day) => day < today);
  const last = days.sort().at(-1) ?? today;
  const oldest = addDays(last, 1 - keepDays);
  const kept = parsed.filter(({ day }) => day >= oldest);
  const superfluous = superfluousDays(kept, addDays(last, 1 - dailyDays));
  const expired = parsed.filter((it) => !kept.includes(it));
  const removed = [...expired, ...superfluous].map(({ name }) => name);
  if (removed.length > 0) await store.remove(removed);
}

/**
 * Of the days before this one, those that follow another of the same kind and week, and are not the last of a month, with
 * which a quarter is compared. Names are in the order of time.
 */
function superfluousDays(names: readonly StoredName[], before: Day): StoredName[] {
  const weeks = new Set<string>();
  const monthOf = ({ prefix, day }: StoredName) => prefix + day.slice(0, 7);
  const lastOfMonth = new Map(names.map((it) => [monthOf(it), it]));
  return names.filter((it) => {
    const week = `${it.prefix}${Math.floor(daysBetween(someMonday, it.day) / 7)}`;
    const isFirst = !weeks.has(week);
    weeks.add(week);
    return it.day < before && !isFirst && lastOfMonth.get(monthOf(it)) !== it;
  });
}

const someMonday = '2024-01-01';

export const storedPast = (store: SnapshotStore, keepDays: number, owner: string) => ({
  opportunity: storedSnapshots(opportunitySnapshots, store, keepDays, owner),
  quote: storedSnapshots(quoteSnapshots, store, keepDays, owner),
});

/** Reads stored days, and keeps the last record of each id, because most are the same on the next day. */
function storedReader<T>(
  kind: SnapshotKind<T>,
  store: SnapshotStore,
  owner: string | undefined,
): SnapshotReader<T> {
  const known = new Map<string, { row: Row; record: T }>();
  const recordOf = (columns: Columns, at: number): T => {
    const id = String(columns[0]?.[at]);
    const last = known.get(id);
    if (last && isRowAt(columns, at, last.row)) return last.record;
    const row = rowAt(columns, at);
    const record = kind.toRecord(row);
    known.set(id, { row, record });
    return record;
  };
  return {
    async read(day) {
      const stored = await readUnpacked(store, kind.prefix + day);
      if (!stored) return undefined;
      const { header, takenAt, lines } = stored;
      // A file of another day or kind under this name, such as a copy, is as unreadable as a damaged one.
      const isMeant = utcDay(takenAt) === day && header.prefix === kind.prefix;
      if (!isMeant || header.version !== version) return undefined;
      const columns = await columnsOf(lines);
      const records: T[] = [];
      await forEachInSlices(columns[0]?.keys() ?? [], (at) => records.push(recordOf(columns, at)));
      return { day, takenAt, records, ...(header.owner !== owner && { isOthers: true }) };
    },
  };
}

async function readUnpacked(store: SnapshotStore, name: string) {
  const stored = await store.read(name);
  return stored && unpack(stored);
}
