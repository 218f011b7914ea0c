/** The two states of a period, from the snapshots of a history and the present. */
import type { Day } from '../figures/days.ts';
import type { Opportunity } from '../service/records/records.ts';
import type { Snapshot, SnapshotReader } from './history.ts';

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

/** The snapshot of the first of these days that can be read. */
async function firstReadable<T>(
  reader: SnapshotReader<T>,
  days: readonly Day[],
): Promise<DatedSnapshot<T> | undefined> {
  for (const day of days) {
    const snapshot = await reader.read(day);
    if (snapshot) return { day, ...snapshot };
  }
  return undefined;
}
