/**
 * The stored form of the records of one day: columns of cells, each distinct cell once, compressed. A day names
 * its base, a full list that up to a month of days share, and holds only the rows that differ from it.
 */
import { forEachInSlices } from '../slices.ts';
import { compress, decompress } from '../state/compression.ts';
import { isObject } from '../values.ts';

/** The stored fields of one record in the order of its columns, the id first; null where there is none. */
export type Row = readonly Cell[];
export type Cell = string | number | true | null | readonly Cell[];

const version = 1;

/** A day as it is stored. */
export interface StoredDay {
  takenAt: Date;
  /** Name of the base. */
  base: string;
  /** Rows that are new or differ from the base. */
  changed: readonly Row[];
  /** Positions in the base of the rows that are no longer there. */
  removed: readonly number[];
}

/** A stored value cannot be read: it is damaged, or from a later version of this server. */
export class UnreadableSnapshot extends Error {
  override readonly name = 'UnreadableSnapshot';
}

export const encodeBase = (rows: readonly Row[]): Promise<Buffer> => pack({}, rows);

/** @throws UnreadableSnapshot */
export async function decodeBase(stored: Buffer): Promise<Row[]> {
  return (await unpack(stored)).rows;
}

export const encodeDay = ({ takenAt, base, changed, removed }: StoredDay): Promise<Buffer> =>
  pack({ takenAt: takenAt.toISOString(), base, removed }, changed);

/** @throws UnreadableSnapshot */
export async function decodeDay(stored: Buffer): Promise<StoredDay> {
  const { header, rows } = await unpack(stored);
  const { takenAt, base, removed } = header;
  const time = new Date(String(takenAt));
  if (typeof base !== 'string' || Number.isNaN(time.getTime()) || !isNumbers(removed))
    throw new UnreadableSnapshot('not a day');
  return { takenAt: time, base, removed, changed: rows };
}

export const isSameRow = (one: Row, other: Row): boolean =>
  one.length === other.length && one.every((cell, at) => isSameCell(cell, other[at]));

export const isSameCell = (one: Cell, other: Cell | undefined): boolean =>
  Array.isArray(one) && Array.isArray(other) ? isSameRow(one, other) : one === other;

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

async function toRows(columnsRead: readonly Cell[][]): Promise<Row[]> {
  const [ids = []] = columnsRead;
  if (columnsRead.some(({ length }) => length !== ids.length))
    throw new UnreadableSnapshot('a short column');
  const rows: Row[] = [];
  await forEachInSlices(ids.keys(), (row) =>
    rows.push(columnsRead.map((column) => column[row] ?? null)),
  );
  return rows;
}

function cellsOf(column: unknown): Cell[] {
  if (Array.isArray(column)) return column;
  if (isObject(column) && Array.isArray(column.cells) && isNumbers(column.at)) {
    const { cells, at } = column;
    return at.map((position): Cell => cells[position] ?? null);
  }
  throw new UnreadableSnapshot('not a column');
}

const isNumbers = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'number');

/** Several times what 100,000 records take; in bytes. */
const maxLength = 128 * 1024 * 1024;
/** Higher than the default, because snapshots are written once a day and kept for a year. */
const quality = 9;

/** A line of JSON for the header and for each column, so that other work can run between them. */
async function pack(header: object, rows: readonly Row[]): Promise<Buffer> {
  const lines = [JSON.stringify({ version, ...header })];
  const [first = []] = rows;
  await forEachInSlices(first.keys(), (column) =>
    lines.push(JSON.stringify(toColumn(rows.map((row) => row[column] ?? null)))),
  );
  return compress(Buffer.from(lines.join('\n')), quality);
}

interface Unpacked {
  header: Record<string, unknown>;
  rows: Row[];
}

async function unpack(stored: Buffer): Promise<Unpacked> {
  const [first, ...lines] = (await textOf(stored)).split('\n');
  const header = parseLine(first);
  if (!isObject(header)) throw new UnreadableSnapshot('no header');
  if (header.version !== version)
    throw new UnreadableSnapshot(`version ${String(header.version)} instead of ${version}`);
  const columnsRead: Cell[][] = [];
  await forEachInSlices(lines, (line) => columnsRead.push(cellsOf(parseLine(line))));
  return { header, rows: await toRows(columnsRead) };
}

async function textOf(stored: Buffer): Promise<string> {
  try {
    return (await decompress(stored, maxLength)).toString();
  } catch (cause) {
    throw new UnreadableSnapshot('damaged', { cause });
  }
}

function parseLine(line: string | undefined): unknown {
  try {
    return JSON.parse(line ?? '');
  } catch (cause) {
    throw new UnreadableSnapshot('damaged', { cause });
  }
}
