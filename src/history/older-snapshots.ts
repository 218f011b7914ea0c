/**
 * Days in the first version of the format: differences from a full copy, their base, which up to a month of days share.
 * Beside the id of a reference they may have a name that came from another collection, which is left out.
 */
import type { SnapshotKind } from './snapshot-columns.ts';
import {
  isNumbers,
  type Row,
  rowsOf,
  type Unpacked,
  UnreadableSnapshot,
} from './snapshot-format.ts';

export const firstVersion = 1;

/** After so many days a base was replaced. */
export const maxBaseDays = 30;

/**
 * @param readBase reads the value of this name
 * @throws UnreadableSnapshot, also without its base
 */
export async function olderRows(
  day: Unpacked,
  kind: Pick<SnapshotKind<unknown>, 'prefix' | 'namedElsewhere'>,
  readBase: (name: string) => Promise<Unpacked | undefined>,
): Promise<Row[]> {
  const { base, removed } = day.header;
  if (typeof base !== 'string' || !base.startsWith(`${kind.prefix}base-`) || !isNumbers(removed))
    throw new UnreadableSnapshot('not a day');
  const unpacked = await readBase(base);
  if (unpacked?.header.version !== firstVersion) throw new UnreadableSnapshot('no base');
  const isRemoved = new Set(removed);
  const rows = (await rowsOf(unpacked)).filter((_, at) => !isRemoved.has(at));
  const byId = new Map(rows.map((row) => [row[0], row]));
  for (const row of await rowsOf(day)) byId.set(row[0], row);
  return [...byId.values()].map((row) => withoutNames(row, kind.namedElsewhere));
}

/** A name without an id is the record's own. */
const withoutNames = (row: Row, references: readonly number[]): Row =>
  row.map((cell, at) => {
    if (!references.includes(at) || !Array.isArray(cell) || cell[0] === null) return cell;
    const [id, _name, ...others] = cell;
    return [id, null, ...others];
  });
