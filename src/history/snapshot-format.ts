/** The stored form of the records of one day: columns of cells, each distinct cell once, compressed. */
import { forEachInSlices } from '../slices.ts';
import { compress, decompress } from '../state/compression.ts';
import { isObject, parseJson } from '../values.ts';

/** The stored fields of one record in the order of its columns, the id first; null where there is none. */
export type Row = readonly Cell[];
export type Cell = string | number | true | null | readonly Cell[];

export const version = 2;

/** The cells of each column, all of one length. */
export type Columns = readonly (readonly Cell[])[];

export const rowAt = (columns: Columns, at: number): Row =>
  columns.map((column) => column[at] ?? null);

/** Whether a row of these columns is the same; without making it, because most are. */
export const isRowAt = (columns: Columns, at: number, row: Row): boolean =>
  columns.length === row.length &&
  columns.every((column, place) => isSameCell(column[at] ?? null, row[place] ?? null));

/** A stored value cannot be read: it is damaged, or from a later version of this server. */
export class UnreadableSnapshot extends Error {
  override readonly name = 'UnreadableSnapshot';
}

/** Several times what 100,000 records take; in bytes. */
const maxLength = 128 * 1024 * 1024;
/** Higher than the default, because snapshots are written once a day and kept for a year. */
const quality = 9;

/**
 * A line of JSON for the header and for each column, so that other work can run between them.
 * @throws RangeError for more than can be read again
 */
export async function pack(header: object, rows: readonly Row[]): Promise<Buffer> {
  const lines = [JSON.stringify(header)];
  await forEachInSlices(rows[0]?.keys() ?? [], (column) =>
    lines.push(JSON.stringify(toColumn(rows.map((row) => row[column] ?? null)))),
  );
  const text = Buffer.from(lines.join('\n'));
  if (text.length > maxLength) throw new RangeError(`a snapshot of ${text.length} bytes`);
  return compress(text, quality);
}

/** A stored value whose columns are not read yet. */
export interface Unpacked {
  header: Record<string, unknown>;
  /** JSON of each column. */
  lines: readonly string[];
}

/** @throws UnreadableSnapshot */
export async function unpack(stored: Buffer): Promise<Unpacked> {
  const body = await decompress(stored, maxLength).catch((cause: unknown) => {
    throw new UnreadableSnapshot('damaged', { cause });
  });
  const [first = '', ...lines] = body.toString().split('\n');
  const header = parseJson(first);
  if (!isObject(header)) throw new UnreadableSnapshot('no header');
  return { header, lines };
}

/**
 * The time at which a day was taken.
 * @throws UnreadableSnapshot if the header has none
 */
export function takenAtOf({ header }: Unpacked): Date {
  const time = new Date(String(header.takenAt));
  if (Number.isNaN(time.getTime())) throw new UnreadableSnapshot('no time');
  return time;
}

/** @throws UnreadableSnapshot */
export async function columnsOf({ lines }: Unpacked): Promise<Columns> {
  const columns: Cell[][] = [];
  await forEachInSlices(lines, (line) => columns.push(cellsOf(parseJson(line))));
  if (columns.some(({ length }) => length !== columns[0]?.length))
    throw new UnreadableSnapshot('a short column');
  return columns;
}

const isSameCell = (one: Cell, other: Cell): boolean =>
  one === other ||
  (Array.isArray(one) &&
    Array.isArray(other) &&
    one.length === other.length &&
    one.every((part, at) => part === other[at]));

/** A column: its distinct cells and the position of each row's, or the cells themselves where few repeat. */
type Column = readonly Cell[] | { cells: readonly Cell[]; at: readonly number[] };

function toColumn(cells: readonly Cell[]): Column {
  const positions = new Map<Cell, number>();
  const distinct: Cell[] = [];
  const at = cells.map((cell) => {
    const key = Array.isArray(cell) ? JSON.stringify(cell) : cell;
    const known = positions.get(key);
    if (known !== undefined) return known;
    positions.set(key, distinct.length);
    return distinct.push(cell) - 1;
  });
  return distinct.length * 2 > cells.length ? cells : { cells: distinct, at };
}

function cellsOf(column: unknown): Cell[] {
  if (Array.isArray(column)) return column;
  if (isObject(column) && Array.isArray(column.cells) && isNumbers(column.at)) {
    const { cells, at } = column;
    return at.map((position): Cell => cells[position] ?? null);
  }
  throw new UnreadableSnapshot('not a column');
}

export const isNumbers = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'number');
