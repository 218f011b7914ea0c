/** The fields of records that snapshots keep. */
import { dayOf } from '../figures/days.ts';
import { rounded } from '../figures/money.ts';
import { compact } from '../figures/naming.ts';
import { firstYearValue, sumQuote, termTotals } from '../figures/quote-totals.ts';
import type { Opportunity, Quote } from '../service/records/records.ts';
import { isObject } from '../values.ts';
import type { Cell, Row } from './snapshot-format.ts';

/** Records of one kind and their stored form. */
export interface SnapshotKind<T> {
  /** What the names of stored values begin with. */
  prefix: string;
  toRow(record: T): Row;
  /** The record with the stored fields only. */
  toRecord(row: Row): T;
  /** Positions of the references to records of other collections. */
  namedElsewhere: readonly number[];
}

type Keep = (value: unknown) => Cell;
type Columns = Readonly<Record<string, Keep>>;

const scalar: Keep = (value) =>
  typeof value === 'string' || typeof value === 'number' || value === true ? value : null;
/** The day of a time, which is all that briefs count by. */
const day: Keep = (value) =>
  typeof value === 'string' ? (dayOf(value) ?? value.slice(0, maxUnreadableTime)) : scalar(value);
const maxUnreadableTime = 40;
const reference: Keep = (value) =>
  isObject(value) ? [scalar(value.id), scalar(value.name), scalar(value.currency)] : null;

// In the order of the columns. A field that is added later goes to the end.
const opportunityColumns: Columns = {
  id: scalar,
  name: scalar,
  company: reference,
  owner: reference,
  pipelineStage: reference,
  category: reference,
  source: reference,
  statusId: scalar,
  currency: scalar,
  probability: scalar,
  onetimeRevenue: scalar,
  monthlyRevenue: scalar,
  valueMonths: scalar,
  expectedCloseDate: day,
  createdAt: day,
  stageUpdatedAt: day,
  closedAt: day,
  deletedAt: day,
  deleted: day,
};

const quoteColumns: Columns = {
  id: scalar,
  number: scalar,
  title: scalar,
  name: scalar,
  company: reference,
  owner: reference,
  opportunity: reference,
  status: scalar,
  currency: scalar,
  createdAt: day,
  sentAt: day,
  approvedAt: day,
  declinedAt: day,
  expiredAt: day,
  expiresAt: day,
  deletedAt: day,
  deleted: day,
  oneTime: scalar,
  monthly: scalar,
  yearly: scalar,
  firstYearValue: scalar,
};

const toRow = (record: Readonly<Record<string, unknown>>, columns: Columns): Row =>
  Object.entries(columns).map(([field, keep]) => keep(record[field]));

function toRecord(row: Row, columns: Columns): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  Object.entries(columns).forEach(([field, keep], at) => {
    const cell = row[at] ?? null;
    if (cell !== null) record[field] = keep === reference ? toReference(cell) : cell;
  });
  return record;
}

function toReference(cell: Cell): Record<string, unknown> {
  const [id, name, currency] = Array.isArray(cell) ? cell : [];
  const kept = Object.entries({ id, name, currency }).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined));
}

/** Owners are named by quotes and opportunities; stages and sources by opportunities only. */
const elsewhere = ['company', 'owner', 'category', 'opportunity'];
const namedElsewhere = (columns: Columns): number[] =>
  Object.keys(columns).flatMap((field, at) => (elsewhere.includes(field) ? at : []));

export const opportunitySnapshots: SnapshotKind<Opportunity> = {
  prefix: '',
  namedElsewhere: namedElsewhere(opportunityColumns),
  toRow: (record) => toRow(record, opportunityColumns),
  toRecord: (row) => toRecord(row, opportunityColumns),
};

/** A quote with its totals after discounts, rounded to cents; a missing total is unknown or nothing. */
export interface PricedQuote extends Quote {
  oneTime?: number;
  monthly?: number;
  yearly?: number;
  firstYearValue?: number;
}

/** Sums the items; a quote whose items are unknown has no totals. */
export function priceQuote(quote: Quote): PricedQuote {
  const sums = sumQuote(quote);
  const firstYear = firstYearValue(sums);
  const { oneTime: _1, monthly: _2, yearly: _3, firstYearValue: _4, ...own } = quote;
  return {
    ...own,
    ...termTotals(sums),
    ...compact({ firstYearValue: firstYear && rounded(firstYear) }),
  };
}

/** Quotes are stored with their totals in place of their items. */
export const quoteSnapshots: SnapshotKind<PricedQuote> = {
  prefix: 'quotes-',
  namedElsewhere: namedElsewhere(quoteColumns),
  toRow: (quote) => toRow(priceQuote(quote), quoteColumns),
  toRecord: (row) => toRecord(row, quoteColumns),
};

/** A quote as it would be read from a snapshot. */
export const asStored = (quote: Quote): PricedQuote =>
  quoteSnapshots.toRecord(quoteSnapshots.toRow(quote));
