/** The records of one day as they are stored: their fields, and the form of files. */

import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { dayOf } from '../figures/days.ts';
import { compact } from '../figures/fields.ts';
import { currencyGiven, rounded } from '../figures/money.ts';
import { firstYearValue, sumQuote, termTotals } from '../figures/quote-totals.ts';
import type { TermTotals } from '../figures/terms.ts';
import type { Opportunity, Quote } from '../service/records/records.ts';
import { forEachInSlices } from '../slices.ts';
import { shortHash } from '../state/short-hash.ts';
import { isObject, parseObject } from '../values.ts';

/** Records of one kind and their stored form. */
export interface SnapshotKind<T> {
  /** What the names of stored values begin with. */
  prefix: string;
  toRow(record: T): Row;
  /** The record with the stored fields only. */
  toRecord(row: Row): T;
}

type Keep = (value: unknown) => Cell;
type KeptFields = Readonly<Record<string, Keep>>;

const scalar: Keep = (value) =>
  typeof value === 'string' || typeof value === 'number' || value === true ? value : null;
/** The day of a time, which is all that briefs count by. */
const day: Keep = (value) =>
  typeof value === 'string' ? (dayOf(value) ?? value.slice(0, maxUnreadableTime)) : scalar(value);
const maxUnreadableTime = 40;
const currency: Keep = (value) => scalar(currencyGiven(value));
const reference: Keep = (value) =>
  isObject(value) ? [scalar(value.id), scalar(value.name), scalar(value.currency)] : null;

const keptAs = (keep: Keep, fields: readonly string[]): KeptFields =>
  Object.fromEntries(fields.map((field) => [field, keep]));

// In the order of the columns. A field that is added later goes to the end.
const opportunityFields: KeptFields = {
  ...keptAs(scalar, ['id', 'name']),
  ...keptAs(reference, ['company', 'owner', 'pipelineStage', 'category', 'source']),
  ...keptAs(scalar, ['statusId']),
  ...keptAs(currency, ['currency']),
  ...keptAs(scalar, ['probability', 'onetimeRevenue', 'monthlyRevenue']),
  ...keptAs(scalar, ['valueMonths']),
  ...keptAs(day, ['expectedCloseDate', 'createdAt', 'stageUpdatedAt', 'closedAt']),
  ...keptAs(day, ['deletedAt', 'deleted']),
};

const quoteFields: KeptFields = {
  ...keptAs(scalar, ['id', 'number', 'title', 'name']),
  ...keptAs(reference, ['company', 'owner', 'opportunity']),
  ...keptAs(scalar, ['status']),
  ...keptAs(currency, ['currency']),
  ...keptAs(day, ['createdAt', 'sentAt', 'approvedAt', 'declinedAt', 'expiredAt', 'expiresAt']),
  ...keptAs(day, ['deletedAt', 'deleted']),
  ...keptAs(scalar, ['oneTime', 'monthly', 'yearly', 'firstYearValue']),
};

/** Records of these fields, and their rows. */
const storedFields = (fields: KeptFields) => ({
  toRow: (record: Readonly<Record<string, unknown>>): Row =>
    Object.entries(fields).map(([field, keep]) => keep(record[field])),
  toRecord(row: Row): Record<string, unknown> {
    const record: Record<string, unknown> = {};
    Object.entries(fields).forEach(([field, keep], at) => {
      const cell = row[at] ?? null;
      if (cell !== null) record[field] = keep === reference ? toReference(cell) : cell;
    });
    return record;
  },
});

function toReference(cell: Cell): Record<string, unknown> {
  const [id, name, currency] = Array.isArray(cell) ? cell : [];
  const kept = Object.entries({ id, name, currency }).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined));
}

export const opportunitySnapshots: SnapshotKind<Opportunity> = {
  prefix: '',
  ...storedFields(opportunityFields),
};

/** A quote with its totals after discounts, rounded to cents; a missing total is unknown or nothing. */
export interface PricedQuote extends Quote, Omit<TermTotals, 'otherTerms'> {
  firstYearValue?: number;
}

/** Sums the items; a quote whose items are unknown has no totals. */
function priceQuote(quote: Quote): PricedQuote {
  const sums = sumQuote(quote);
  const firstYear = firstYearValue(sums);
  const { oneTime: _1, monthly: _2, yearly: _3, firstYearValue: _4, ...own } = quote;
  return {
    ...own,
    ...termTotals([sums]),
    ...compact({ firstYearValue: firstYear && rounded(firstYear) }),
  };
}

const pricedQuotes = storedFields(quoteFields);

/** Quotes are stored with their totals in place of their items. */
export const quoteSnapshots: SnapshotKind<PricedQuote> = {
  prefix: 'quotes-',
  ...pricedQuotes,
  toRow: (quote) => pricedQuotes.toRow(priceQuote(quote)),
};

/** The record as it would be read from a snapshot. */
export const asStored = <T>(kind: SnapshotKind<T>, record: T): T =>
  kind.toRecord(kind.toRow(record));

/** The stored fields of one record in the order of its columns, the id first; null where there is none. */
export type Row = readonly Cell[];
type Cell = string | number | true | null | readonly Cell[];

export const version = 2;

/** The cells of each column, all of one length; each distinct cell is stored once. */
export type Columns = readonly (readonly Cell[])[];

export const rowAt = (columns: Columns, at: number): Row =>
  columns.map((column) => column[at] ?? null);

/** Whether a row of these columns is the same; without making it, because most are. */
export const isRowAt = (columns: Columns, at: number, row: Row): boolean =>
  columns.length === row.length &&
  columns.every((column, place) => isSameCell(column[at] ?? null, row[place] ?? null));

/** Several times what 100,000 records take, in bytes: a few kilobytes that were written by others may hold gigabytes. */
const maxLength = 128 * 1024 * 1024;
/** Higher than the default, because snapshots are written once a day and kept for a year. */
const quality = 9;

const brotli = promisify<Buffer, { params: Record<number, number> }, Buffer>(brotliCompress);
const unbrotli = promisify<Buffer, { maxOutputLength: number }, Buffer>(brotliDecompress);

/**
 * A line of JSON for the header and for each column, so that other work can run between them.
 * @throws RangeError for more than can be read again
 */
export async function pack(header: object, rows: readonly Row[]): Promise<Buffer> {
  const lines: string[] = [];
  await forEachInSlices(rows[0]?.keys() ?? [], (column) =>
    lines.push(JSON.stringify(toColumn(rows.map((row) => row[column] ?? null)))),
  );
  const hash = shortHash(lines.join('\n'));
  const text = Buffer.from([JSON.stringify({ ...header, hash }), ...lines].join('\n'));
  if (text.length > maxLength) throw new RangeError(`a snapshot of ${text.length} bytes`);
  return brotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
}

/**
 * What a stored value is, with its columns not read yet; `undefined` if it is damaged. The hash shows that it is as it was
 * written.
 */
export async function unpack(stored: Buffer) {
  const body = await unbrotli(stored, { maxOutputLength: maxLength }).catch(() => undefined);
  const [first = '', ...lines] = body?.toString().split('\n') ?? [];
  const header = parseObject(first) ?? {};
  const takenAt = new Date(String(header.takenAt));
  const isWhole = header.hash === shortHash(lines.join('\n')) && !Number.isNaN(takenAt.getTime());
  return isWhole ? { header, takenAt, lines } : undefined;
}

export async function columnsOf(lines: readonly string[]): Promise<Columns> {
  const columns: (readonly Cell[])[] = [];
  await forEachInSlices(lines, (line) => columns.push(cellsOf(JSON.parse(line))));
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

const cellsOf = (column: Column): readonly Cell[] =>
  'cells' in column ? column.at.map((position) => column.cells[position] ?? null) : column;
