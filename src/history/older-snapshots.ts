/**
 * Days in the first version of the format: differences from a full copy, their base, which up to a month of days share.
 * Beside the id of a reference they may have a name that came from another collection, which is left out.
 */
import { forEachInSlices } from '../slices.ts';
import type { SnapshotKind } from './snapshot-columns.ts';
import {
  type Cell,
  type Columns,
  columnsOf,
  isNumbers,
  type Row,
  rowAt,
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
export async function olderColumns(
  day: Unpacked,
  kind: Pick<SnapshotKind<unknown>, 'prefix' | 'namedElsewhere'>,
  readBase: (name: string) => Promise<Unpacked | undefined>,
): Promise<Columns> {
  const { base: name, removed } = day.header;
  if (typeof name !== 'string' || !name.startsWith(`${kind.prefix}base-`) || !isNumbers(removed))
    throw new UnreadableSnapshot('not a day');
  const unpacked = await readBase(name);
  if (unpacked?.header.version !== firstVersion) throw new UnreadableSnapshot('no base');
  const [base, changed] = [await columnsOf(unpacked), await columnsOf(day)];
  const isRemoved = new Set(removed);
  const byId = new Map<Cell, Row>();
  await forEachInSlices(base[0]?.entries() ?? [], ([at, id]) => {
    if (!isRemoved.has(at)) byId.set(id, rowAt(base, at));
  });
  await forEachInSlices(changed[0]?.entries() ?? [], ([at, id]) =>
    byId.set(id, rowAt(changed, at)),
  );
  const columns: Cell[][] = [];
  await forEachInSlices((base.length > 0 ? base : changed).keys(), (place) => {
    const cells = [...byId.values()].map((row) => row[place] ?? null);
    columns.push(kind.namedElsewhere.includes(place) ? cells.map(withoutName) : cells);
  });
  return columns;
}

/** A name without an id is the record's own. */
function withoutName(cell: Cell): Cell {
  if (!Array.isArray(cell) || cell[0] === null) return cell;
  const [id, _name, ...others] = cell;
  return [id, null, ...others];
}
