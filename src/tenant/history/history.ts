import { addDays, type Day, dayOf } from '../../briefs/days.ts';
import type { Opportunity } from '../../records/records.ts';
import { forEachInSlices } from '../../slices.ts';
import type { SnapshotStore } from '../../state/port.ts';
import { shortHash } from '../../state/short-hash.ts';
import {
  decodeBase,
  decodeDay,
  encodeBase,
  encodeDay,
  isSameRow,
  type Row,
  type StoredDay,
  toOpportunity,
  toRow,
  UnreadableSnapshot,
} from './snapshot-format.ts';

/** The opportunities of a tenant as they were read at one time. */
export interface Snapshot {
  takenAt: Date;
  /** With the stored fields only. An unchanged opportunity is the same object in snapshots of one `SnapshotReader`. */
  records: readonly Opportunity[];
}

/** The past of a tenant's pipeline, one snapshot a day at most. Days are in UTC. */
export interface PipelineHistory {
  /** Days with a snapshot up to today, oldest first. */
  days(): Promise<Day[]>;
  /** Reads snapshots; those of one reader share what did not change. */
  reader(): SnapshotReader;
}

export interface SnapshotReader {
  /** `undefined` for a day without a snapshot, or with one that cannot be read. */
  read(day: Day): Promise<Snapshot | undefined>;
}

/** After so many days a base is replaced. */
const maxBaseDays = 30;
/** A base is also replaced when more than this share of its rows has changed. */
const maxChangedShare = 0.25;

const basePrefix = 'base-';
const isBase = (name: string): boolean => name.startsWith(basePrefix);
const dayOfBase = (name: string): Day => name.slice(basePrefix.length, basePrefix.length + 10);
const utcDay = (time: Date): Day => time.toISOString().slice(0, 10);

/** The stored snapshots of one tenant. */
export class StoredHistory implements PipelineHistory {
  readonly #store: SnapshotStore;
  readonly #keepDays: number;
  readonly #now: () => Date;

  /** @param keepDays snapshots are deleted after so many days */
  constructor(store: SnapshotStore, keepDays: number, now = () => new Date()) {
    this.#store = store;
    this.#keepDays = keepDays;
    this.#now = now;
  }

  async days(): Promise<Day[]> {
    const today = utcDay(this.#now());
    const names = await this.#store.names();
    return names.filter((name) => dayOf(name) === name && name <= today);
  }

  reader(): StoredReader {
    return new StoredReader(this.#store);
  }

  /**
   * Keeps the opportunities as the snapshot of the day on which they were read, unless a later one of that day is
   * stored. Deletes expired snapshots.
   * @param records every opportunity of the tenant
   * @returns false if a later one is stored
   */
  async save(records: readonly Opportunity[], takenAt: Date): Promise<boolean> {
    if (await this.#isOutdated(takenAt)) return false;
    const rows = await toRows(records);
    const day = await this.#againstBase(rows, takenAt);
    await this.#store.write(utcDay(takenAt), await encodeDay(day));
    await this.#deleteExpired();
    return true;
  }

  /** Deletes everything. @returns the number of days that were stored */
  async clear(): Promise<number> {
    const names = await this.#store.names();
    await this.#store.remove(names);
    return names.filter((name) => !isBase(name)).length;
  }

  /** A snapshot from the future was taken while the clock was wrong: it is replaced. */
  async #isOutdated(takenAt: Date): Promise<boolean> {
    const stored = await this.reader().stored(utcDay(takenAt));
    return stored !== undefined && takenAt < stored.takenAt && stored.takenAt <= this.#now();
  }

  async #againstBase(rows: ReadonlyMap<string, Row>, takenAt: Date): Promise<StoredDay> {
    const name = await this.#currentBase(takenAt);
    const base = name === undefined ? undefined : await this.reader().base(name);
    if (name !== undefined && base !== undefined) {
      const difference = await differenceFrom(base, rows);
      const { length } = difference.changed;
      if (length + difference.removed.length <= base.length * maxChangedShare)
        return { takenAt, base: name, ...difference };
    }
    return { takenAt, base: await this.#writeBase(rows, takenAt), changed: [], removed: [] };
  }

  /** The newest base that is not too old. */
  async #currentBase(takenAt: Date): Promise<string | undefined> {
    const today = utcDay(takenAt);
    const oldest = addDays(today, -maxBaseDays);
    const names = await this.#store.names();
    return names
      .filter((name) => isBase(name) && dayOfBase(name) > oldest && dayOfBase(name) <= today)
      .at(-1);
  }

  async #writeBase(rows: ReadonlyMap<string, Row>, takenAt: Date): Promise<string> {
    const base = await encodeBase([...rows.values()]);
    // Named by its content: a base that days refer to is never replaced by another.
    const name = `${basePrefix}${utcDay(takenAt)}-${shortHash(base)}`;
    await this.#store.write(name, base);
    return name;
  }

  /** A base outlives its day by as long as later days may refer to it. */
  async #deleteExpired(): Promise<void> {
    const oldest = addDays(utcDay(this.#now()), -this.#keepDays);
    const oldestBase = addDays(oldest, -maxBaseDays);
    const names = await this.#store.names();
    const expired = names.filter((name) =>
      isBase(name) ? dayOfBase(name) < oldestBase : name < oldest,
    );
    if (expired.length > 0) await this.#store.remove(expired);
  }
}

/** Reads stored days, and each base once. */
class StoredReader implements SnapshotReader {
  readonly #store: SnapshotStore;
  readonly #bases = new Map<string, Promise<readonly Row[] | undefined>>();
  readonly #records = new Map<string, Promise<Opportunity[]>>();
  /** The last row that was read of each deal, and its record. */
  readonly #known = new Map<string, { row: Row; record: Opportunity }>();

  constructor(store: SnapshotStore) {
    this.#store = store;
  }

  async read(day: Day): Promise<Snapshot | undefined> {
    const stored = await this.stored(day);
    const base = stored && (await this.base(stored.base));
    if (!stored || !base) return undefined;
    const removed = new Set(stored.removed);
    const changed = new Map(stored.changed.map((row) => [row[0], this.#recordOf(row)]));
    const records: Opportunity[] = [];
    const known = await this.#recordsOf(stored.base, base);
    await forEachInSlices(known.entries(), ([at, record]) => {
      const { id = '' } = record;
      if (!removed.has(at)) records.push(changed.get(id) ?? record);
      changed.delete(id);
    });
    records.push(...changed.values());
    return { takenAt: stored.takenAt, records };
  }

  stored(day: Day): Promise<StoredDay | undefined> {
    return this.#decoded(day, decodeDay);
  }

  base(name: string): Promise<readonly Row[] | undefined> {
    const known = this.#bases.get(name) ?? this.#decoded(name, decodeBase);
    this.#bases.set(name, known);
    return known;
  }

  #recordsOf(name: string, rows: readonly Row[]): Promise<Opportunity[]> {
    const known = this.#records.get(name) ?? this.#recordsOfRows(rows);
    this.#records.set(name, known);
    return known;
  }

  async #recordsOfRows(rows: readonly Row[]): Promise<Opportunity[]> {
    const records: Opportunity[] = [];
    await forEachInSlices(rows, (row) => records.push(this.#recordOf(row)));
    return records;
  }

  #recordOf(row: Row): Opportunity {
    const id = String(row[0]);
    const known = this.#known.get(id);
    if (known && isSameRow(known.row, row)) return known.record;
    const record = toOpportunity(row);
    this.#known.set(id, { row, record });
    return record;
  }

  async #decoded<T>(name: string, decode: (stored: Buffer) => Promise<T>): Promise<T | undefined> {
    const stored = await this.#store.read(name);
    if (stored === undefined) return undefined;
    return decode(stored).catch((error: unknown) => {
      if (error instanceof UnreadableSnapshot) return undefined;
      throw error;
    });
  }
}

/** By id. Records without an id cannot be followed. */
async function toRows(records: readonly Opportunity[]): Promise<Map<string, Row>> {
  const rows = new Map<string, Row>();
  await forEachInSlices(records, (record) => {
    if (record.id) rows.set(record.id, toRow(record));
  });
  return rows;
}

async function differenceFrom(
  base: readonly Row[],
  rows: ReadonlyMap<string, Row>,
): Promise<Pick<StoredDay, 'changed' | 'removed'>> {
  const changed = new Map(rows);
  const removed: number[] = [];
  await forEachInSlices(base.entries(), ([at, row]) => {
    const id = String(row[0]);
    const now = rows.get(id);
    if (!now) removed.push(at);
    else if (isSameRow(now, row)) changed.delete(id);
  });
  return { changed: [...changed.values()], removed };
}
