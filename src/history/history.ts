import { addDays, type Day, dayOf, utcDay } from '../figures/days.ts';
import type { Opportunity } from '../service/records/records.ts';
import { forEachInSlices } from '../slices.ts';
import type { SnapshotStore, State } from '../state/port.ts';
import { shortHash } from '../state/short-hash.ts';
import type { PricedQuote } from './quote-changes.ts';
import { opportunitySnapshots, quoteSnapshots, type SnapshotKind } from './snapshot-columns.ts';
import {
  decodeBase,
  decodeDay,
  encodeBase,
  encodeDay,
  isSameRow,
  type Row,
  type StoredDay,
  UnreadableSnapshot,
} from './snapshot-format.ts';

/** All records of one kind of a tenant as they were read at one time. */
export interface Snapshot<T = Opportunity> {
  takenAt: Date;
  /** With the stored fields only. An unchanged record is the same object in snapshots of one `SnapshotReader`. */
  records: readonly T[];
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

/** After so many days a base is replaced. */
const maxBaseDays = 30;
/** The name under which a store says for how many days its snapshots are kept. */
const keepDaysName = 'keep-days';
/** A base is also replaced when more than this share of its rows has changed. */
const maxChangedShare = 0.25;

/** A name is that of a day or of a base: `2026-06-15`, `base-2026-06-15-<hash>`, `quotes-2026-06-15`. */
interface StoredName {
  prefix: string;
  isBase: boolean;
  day: Day;
}

function parseName(name: string): StoredName | undefined {
  const found = /^(quotes-)?(base-)?(\d{4}-\d\d-\d\d)(-[0-9a-f]+)?$/.exec(name);
  const [, prefix = '', base, day = '', hash] = found ?? [];
  const isBase = base !== undefined;
  return dayOf(day) === undefined || isBase !== (hash !== undefined)
    ? undefined
    : { prefix, isBase, day };
}

/** The stored snapshots of one kind of records of a tenant. */
class StoredSnapshots<T extends { id?: string }> implements RecordHistory<T> {
  readonly #kind: SnapshotKind<T>;
  readonly #store: SnapshotStore;
  readonly #keepDays: number;
  readonly #now: () => Date;

  /** @param keepDays snapshots are deleted after so many days */
  constructor(kind: SnapshotKind<T>, store: SnapshotStore, keepDays: number, now: () => Date) {
    this.#kind = kind;
    this.#store = store;
    this.#keepDays = keepDays;
    this.#now = now;
  }

  async days(): Promise<Day[]> {
    const today = utcDay(this.#now());
    const names = await this.#ownNames();
    return names.flatMap(({ isBase, day }) => (isBase || day > today ? [] : [day]));
  }

  reader(): StoredReader<T> {
    return new StoredReader(this.#kind, this.#store);
  }

  async #ownNames(): Promise<(StoredName & { name: string })[]> {
    const { prefix } = this.#kind;
    const names = await this.#store.names();
    return names.flatMap((name) => {
      const parsed = parseName(name);
      return parsed?.prefix === prefix ? [{ ...parsed, name }] : [];
    });
  }

  /**
   * Keeps the records as the snapshot of the day on which they were read, unless a later one of that day is
   * stored. Deletes expired snapshots of every kind.
   * @param records all of the tenant
   * @returns false if a later one is stored
   */
  async save(records: readonly T[], takenAt: Date): Promise<boolean> {
    const last = await this.#lastDay(takenAt);
    if (last && this.#isOutdated(takenAt, last)) return false;
    const rows = await toRows(records, this.#kind);
    await this.#writeDay(rows, takenAt, last && baseFor(takenAt, last));
    await this.#tidy(takenAt, last);
    return true;
  }

  async #tidy(takenAt: Date, last: StoredDay | undefined): Promise<void> {
    const today = utcDay(takenAt);
    const isFirstOfDay = !last || utcDay(last.takenAt) !== today;
    if (isFirstOfDay) {
      await this.#store.write(keepDaysName, Buffer.from(String(this.#keepDays)));
      await this.#deleteUnusedBases(today);
    }
    await deleteExpired(this.#store, this.#keepDays, this.#now());
  }

  /** The last readable day up to that of `takenAt`. */
  async #lastDay(takenAt: Date): Promise<StoredDay | undefined> {
    const reader = this.reader();
    const names = await this.#ownNames();
    for (const { isBase, day } of names.reverse()) {
      const stored = isBase || day > utcDay(takenAt) ? undefined : await reader.stored(day);
      if (stored) return stored;
    }
    return undefined;
  }

  /** A snapshot from the future was taken while the clock was wrong: it is replaced. */
  #isOutdated(takenAt: Date, last: StoredDay): boolean {
    return takenAt < last.takenAt && last.takenAt <= this.#now();
  }

  /** @param base name of the base to be tried; a new one is written if there is none or too much has changed */
  async #writeDay(
    rows: ReadonlyMap<string, Row>,
    takenAt: Date,
    base: string | undefined,
  ): Promise<void> {
    const name = this.#kind.prefix + utcDay(takenAt);
    const day = await this.#againstBase(rows, takenAt, base);
    await this.#store.write(name, await encodeDay(day));
    const names = await this.#store.names();
    if (names.includes(day.base)) return;
    // `history clear` or another process has deleted the base meanwhile.
    const again = await this.#withNewBase(rows, takenAt);
    await this.#store.write(name, await encodeDay(again));
  }

  async #againstBase(
    rows: ReadonlyMap<string, Row>,
    takenAt: Date,
    name: string | undefined,
  ): Promise<StoredDay> {
    const base = name === undefined ? undefined : await this.reader().base(name);
    if (name !== undefined && base !== undefined) {
      const difference = await differenceFrom(base, rows);
      const { length } = difference.changed;
      if (length + difference.removed.length <= base.length * maxChangedShare)
        return { takenAt, base: name, ...difference };
    }
    return this.#withNewBase(rows, takenAt);
  }

  async #withNewBase(rows: ReadonlyMap<string, Row>, takenAt: Date): Promise<StoredDay> {
    return { takenAt, base: await this.#writeBase(rows, takenAt), changed: [], removed: [] };
  }

  async #writeBase(rows: ReadonlyMap<string, Row>, takenAt: Date): Promise<string> {
    const base = await encodeBase([...rows.values()]);
    // Named by its content: a base that days refer to is never replaced by another.
    const name = `${this.#kind.prefix}base-${utcDay(takenAt)}-${shortHash(base)}`;
    await this.#store.write(name, base);
    return name;
  }

  /**
   * Deletes the bases of a day to which neither it nor a later day refers, because the day was replaced. The day is the
   * last but one before today: another process may still write the last one.
   */
  async #deleteUnusedBases(today: Day): Promise<void> {
    const own = await this.#ownNames();
    const ofDay = own.filter(({ isBase, day }) => !isBase && day < today).at(-2)?.day;
    if (ofDay === undefined) return;
    const reader = this.reader();
    const names = own.filter(({ day }) => day >= ofDay);
    const used = new Set<string>();
    for (const { isBase, day } of names) {
      const stored = isBase ? undefined : await reader.stored(day);
      if (stored) used.add(stored.base);
      else if (!isBase) return; // It may be of a later version, and refer to any base.
    }
    const unused = names.filter(
      ({ isBase, day, name }) => isBase && day === ofDay && !used.has(name),
    );
    await this.#store.remove(unused.map(({ name }) => name));
  }
}

/** Deletes expired snapshots of every kind. A base outlives its day by as long as later days may refer to it. */
async function deleteExpired(store: SnapshotStore, keepDays: number, now: Date): Promise<void> {
  const oldest = addDays(utcDay(now), -keepDays);
  const oldestBase = addDays(oldest, -maxBaseDays);
  const names = await store.names();
  const isExpired = (name: string) => {
    const parsed = parseName(name);
    return parsed !== undefined && parsed.day < (parsed.isBase ? oldestBase : oldest);
  };
  const isRest = names.every((name) => isExpired(name) || name === keepDaysName);
  const expired = isRest ? names : names.filter(isExpired);
  if (expired.length > 0) await store.remove(expired);
}

/**
 * Deletes the expired snapshots of every tenant, also of those that nobody reads any more. Each tenant's are kept for
 * as many days as the server that stored them was told.
 * @throws the first error, after all tenants were tried
 */
export async function deleteExpiredSnapshots(
  state: Pick<State, 'snapshots' | 'snapshotTenants'>,
  now: Date,
): Promise<void> {
  const errors: unknown[] = [];
  for (const tenant of await state.snapshotTenants()) {
    const store = state.snapshots(tenant);
    const deleteOwn = async () => {
      const keepDays = Number((await store.read(keepDaysName))?.toString());
      if (keepDays > 0) await deleteExpired(store, keepDays, now);
    };
    await deleteOwn().catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
}

/** The base of the last day, unless it is too old. */
function baseFor(takenAt: Date, { base }: StoredDay): string | undefined {
  const day = parseName(base)?.day;
  return day !== undefined && day > addDays(utcDay(takenAt), -maxBaseDays) ? base : undefined;
}

/** The stored snapshots of the opportunities of a tenant. */
export class StoredHistory extends StoredSnapshots<Opportunity> {
  constructor(store: SnapshotStore, keepDays: number, now = () => new Date()) {
    super(opportunitySnapshots, store, keepDays, now);
  }
}

/** The stored snapshots of the quotes of a tenant. */
export class StoredQuoteHistory extends StoredSnapshots<PricedQuote> {
  constructor(store: SnapshotStore, keepDays: number, now = () => new Date()) {
    super(quoteSnapshots, store, keepDays, now);
  }
}

/**
 * Deletes all snapshots of a tenant, also those that are stored meanwhile.
 * @returns the number of days that had any
 */
export async function clearSnapshots(store: SnapshotStore): Promise<number> {
  const days = new Set<Day>();
  for (;;) {
    const names = await store.names();
    if (names.length === 0) return days.size;
    for (const name of names) {
      const parsed = parseName(name);
      if (parsed && !parsed.isBase) days.add(parsed.day);
    }
    await store.remove(names);
  }
}

/** Reads stored days. In the order of time, it reads each base once, and keeps one at a time in memory. */
class StoredReader<T extends { id?: string }> implements SnapshotReader<T> {
  readonly #kind: SnapshotKind<T>;
  readonly #store: SnapshotStore;
  /** The base that was used last. */
  #base: { name: string; records: Promise<T[] | undefined> } | undefined;
  /** The last row that was read of each record, and the record. */
  readonly #known = new Map<string, { row: Row; record: T }>();

  constructor(kind: SnapshotKind<T>, store: SnapshotStore) {
    this.#kind = kind;
    this.#store = store;
  }

  async read(day: Day): Promise<Snapshot<T> | undefined> {
    const stored = await this.stored(day);
    const known = stored && (await this.#recordsOf(stored.base));
    if (!stored || !known) return undefined;
    const removed = new Set(stored.removed);
    const changed = new Map(stored.changed.map((row) => [row[0], this.#recordOf(row)]));
    const records: T[] = [];
    await forEachInSlices(known.entries(), ([at, record]) => {
      const { id = '' } = record;
      if (!removed.has(at)) records.push(changed.get(id) ?? record);
      changed.delete(id);
    });
    for (const record of changed.values()) records.push(record);
    return { takenAt: stored.takenAt, records };
  }

  /** A file of another day or kind under this name, such as a copy, is as unreadable as a damaged one. */
  async stored(day: Day): Promise<StoredDay | undefined> {
    const { prefix } = this.#kind;
    const stored = await this.#decoded(prefix + day, decodeDay);
    const base = stored && parseName(stored.base);
    const isOwn = base?.isBase === true && base.prefix === prefix;
    return stored && isOwn && utcDay(stored.takenAt) === day ? stored : undefined;
  }

  base(name: string): Promise<readonly Row[] | undefined> {
    return this.#decoded(name, decodeBase);
  }

  #recordsOf(name: string): Promise<T[] | undefined> {
    if (this.#base?.name !== name) this.#base = { name, records: this.#readRecords(name) };
    return this.#base.records;
  }

  async #readRecords(name: string): Promise<T[] | undefined> {
    const rows = await this.base(name);
    if (!rows) return undefined;
    const records: T[] = [];
    await forEachInSlices(rows, (row) => records.push(this.#recordOf(row)));
    return records;
  }

  #recordOf(row: Row): T {
    const id = String(row[0]);
    const known = this.#known.get(id);
    if (known && isSameRow(known.row, row)) return known.record;
    const record = this.#kind.toRecord(row);
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
async function toRows<T extends { id?: string }>(
  records: readonly T[],
  kind: SnapshotKind<T>,
): Promise<Map<string, Row>> {
  const rows = new Map<string, Row>();
  await forEachInSlices(records, (record) => {
    if (record.id) rows.set(record.id, kind.toRow(record));
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
