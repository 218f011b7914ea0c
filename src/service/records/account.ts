/** How often the records of a reading have each field of the table, and what was not understood or is not in the table. */

import { isObject, type JsonObject } from '../../values.ts';
import { type Fields, flag, namesOf } from './normalise.ts';
import { fieldCalled, isBare, isNothing, lettersOf } from './recognition.ts';
import { fieldsOf, marks, quoteItem, type Resource } from './records.ts';

/** Of a field: the rows that have it, and those that have it in a form that is not understood. */
interface FieldCount {
  read: number;
  unread: number;
  /** The first value that was not understood. */
  example?: unknown;
}

/** A field that the table does not have. */
interface UnknownField {
  /** Rows in which it has a value; of what may be a mark, a value that says that it is set. */
  rows: number;
  example?: unknown;
  /** The path of the field that it may be. */
  mayBe: string | undefined;
}

/** By the path of the field: `company`, and `items.price` of the lines of quotes. */
export interface Account {
  rows: number;
  lines: number;
  /** Of the rows, those that have hardly more than an id. */
  bare: { rows: number; example?: unknown };
  fields: ReadonlyMap<string, FieldCount>;
  unknown: ReadonlyMap<string, UnknownField>;
}

/** An example that is short enough to be kept and told. */
const shown = (value: unknown): unknown =>
  typeof value === 'object' ? JSON.stringify(value).slice(0, 100) : value;

class Tally {
  rows = 0;
  /** Rows that have hardly more than an id; the id of the first one. */
  bare = 0;
  bareExample: unknown;
  readonly fields: Map<string, FieldCount>;
  readonly unknown = new Map<string, UnknownField>();
  readonly #names: ReadonlyMap<string, unknown>;
  readonly #kind: Resource | 'quote_item';

  constructor(kind: Resource | 'quote_item', fields: Fields) {
    this.#kind = kind;
    this.#names = namesOf(fields);
    this.fields = new Map(Object.keys(fields).map((name) => [name, { read: 0, unread: 0 }]));
  }

  add(record: JsonObject): void {
    this.rows += 1;
    for (const name in record) {
      const value = record[name];
      const count = this.fields.get(name);
      if (count) count.read += isNothing(value) ? 0 : 1;
      else if (name === 'unreadable') this.#addUnread(value);
      else if (!this.#names.has(name) && !isNothing(value)) this.#addUnknown(name, value);
    }
    if (!isBare(this.#kind, record)) return;
    this.bare += 1;
    this.bareExample ??= record.id ?? 'no id';
  }

  #addUnread(values: unknown): void {
    for (const [name, value] of Object.entries(isObject(values) ? values : {})) {
      const count = this.fields.get(name) ?? { read: 0, unread: 0 };
      count.unread += 1;
      count.example ??= shown(value);
    }
  }

  #addUnknown(name: string, value: unknown): void {
    const known = this.unknown.get(name);
    const field = known ?? { rows: 0, mayBe: fieldCalled(this.#kind, name) };
    if (!known) this.unknown.set(name, field);
    const isMark = field.mayBe !== undefined && marks.has(field.mayBe.replace('items.', ''));
    if (isMark && !isSet(name, value)) return;
    field.rows += 1;
    field.example ??= shown(value);
  }
}

/** The fields of the table that rows have in another spelling. */
const speltOtherwise = ({ unknown }: Account): string[] =>
  [...unknown].flatMap(([name, { mayBe = '' }]) =>
    lettersOf(name) === lettersOf(mayBe) ? [mayBe] : [],
  );

/** Names of flags and states whose usual value says that a record is there. */
export const saysPresent = /^(is)?_?(active|listed|enabled|visible|selected)$/i;
const saysState = /status|state|visibility|availability$/i;
const gone =
  /^(deleted|archived|inactive|removed|disabled|unlisted|discontinued|hidden|void(ed)?|withdrawn)$/i;

export function isSet(name: string, value: unknown): boolean {
  const said = flag(value);
  if (saysPresent.test(name)) return said === false;
  if (saysState.test(name) && typeof value === 'string') return gone.test(value.trim());
  return said !== false && value !== '';
}

/** @returns one account for all of them, in steps */
export function* accountOf(
  resource: Resource,
  records: readonly JsonObject[],
): Generator<undefined, Account> {
  const own = new Tally(resource, fieldsOf[resource]);
  const lines = new Tally('quote_item', quoteItem);
  for (const [at, record] of records.entries()) {
    own.add(record);
    if (resource === 'quote' && Array.isArray(record.items))
      for (const item of record.items) if (isObject(item)) lines.add(item);
    if (at % 50 === 49) yield;
  }
  // Lists that are all empty show no line.
  const items = own.fields.get('items');
  if (items && lines.rows === 0) items.read = 0;
  const all = <T>(of: (tally: Tally) => Iterable<readonly [string, T]>): Map<string, T> =>
    new Map([...of(own), ...[...of(lines)].map(([name, it]) => [`items.${name}`, it] as const)]);
  return {
    rows: own.rows,
    lines: lines.rows,
    bare: { rows: own.bare, example: own.bareExample },
    fields: all(({ fields }) => fields),
    unknown: all(({ unknown }) => unknown),
  };
}

/** A field that figures rest on, and that could not be read in some rows. */
export interface FieldGap {
  record: Resource | 'quote_line';
  field: string;
  /** Of so many rows. */
  of: number;
  /** In so many of them it could not be read. */
  rows: number;
  /** The first value that was not understood. */
  example?: unknown;
  /** The field that it may be in; absent where no row has it in a known form. */
  mayBe?: string;
}

/** Fewer records may all lack a field that others have. */
export const minRows = 10;

/**
 * What is not known of these fields, and of all that rows have in another spelling. A field that no row has is a gap, but
 * not a mark: most tenants have those on few records or on none. A field of another name that may be a mark is a gap. So
 * are rows with hardly more than an id, as the field `fields`.
 * @param isMissing of a part of a collection: whether other records lack a field too
 */
export function gapsIn(
  resource: Resource,
  account: Account,
  paths: readonly string[],
  isMissing?: (path: string) => boolean,
): FieldGap[] {
  const { bare, rows } = account;
  const isPartlyBare = bare.rows > 0 && bare.rows < rows;
  const bareGap = isPartlyBare ? [{ record: resource, field: 'fields', of: rows, ...bare }] : [];
  const hasLines = paths.some((path) => path.startsWith('items.'));
  const all = new Set([...paths, ...(hasLines ? ['items'] : []), ...speltOtherwise(account)]);
  return [
    ...bareGap,
    ...[...all].flatMap((path) => {
      const gap = gapOf(resource, account, path);
      if (gap === undefined || gap.example !== undefined) return gap ?? [];
      const isTelling = isMissing?.(path) ?? gap.of >= minRows;
      return isTelling && !marks.has(gap.field) ? [gap] : [];
    }),
  ];
}

/** All rows of a path. */
export const placeOf = (resource: Resource, { rows, lines }: Account, path: string): FieldGap =>
  path.startsWith('items.')
    ? { record: 'quote_line', field: path.slice('items.'.length), of: lines, rows: lines }
    : { record: resource, field: path, of: rows, rows };

function gapOf(resource: Resource, account: Account, path: string): FieldGap | undefined {
  const gap = placeOf(resource, account, path);
  const { field, of } = gap;
  const { read, unread, example } = account.fields.get(path) ?? { read: 0, unread: 0 };
  if (unread > 0) return { ...gap, rows: unread, example };
  if (read > 0 || of === 0) return undefined;
  for (const [mayBe, other] of account.unknown)
    if (other.mayBe === path && other.rows > 0) {
      const rows = marks.has(field) ? other.rows : of;
      return { ...gap, rows, mayBe, example: other.example };
    }
  return gap;
}

/** The fields that none of so many records has that others would. */
export const missingIn = ({ rows, fields }: Account): string[] =>
  rows < minRows ? [] : [...fields].flatMap(([path, { read }]) => (read === 0 ? [path] : []));
