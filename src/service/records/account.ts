/** How often the records of a reading have each field of the table, and what was not understood or is not in the table. */

import { fieldOf, isObject, type JsonObject } from '../../values.ts';
import { type Fields, flag, namesOf, unreadable } from './normalise.ts';
import { fieldCalled, isBare, isNothing, ofEnvelopes } from './recognition.ts';
import { fieldsOf, type Kind, marks, needed, partOf, type Resource, unusual } from './records.ts';

/** Of a field: the rows that have it, and those that have it in a form that is not understood. */
interface FieldCount {
  /** None where all that have it have 0: that may stand for what is not known, or not shown. */
  read: number;
  unread: number;
  /** The first value that was not understood. */
  example?: unknown;
}

/** A field that the table does not have. */
export interface UnknownField {
  /** Rows in which it has a value. */
  rows: number;
  example?: unknown;
  /** The path of the field that it may be by its name. */
  mayBe: string | undefined;
  /** Of the rows, those that lack that field; of what may be a mark, such with a value that says that it is set. */
  hidden: number;
  /** The fields that could have its first value, and that no row has beside it. */
  apart: Set<string>;
  /** The words of a state, with the rows that have them. */
  words: Map<string, number>;
}

/** By the path of the field: `company`, and `items.price` of the lines of quotes. */
export interface Account {
  rows: number;
  lines: number;
  /** Of the rows, those that have hardly more than an id, and the id of the first one. */
  bare: { rows: number; example?: unknown };
  fields: ReadonlyMap<string, FieldCount>;
  unknown: ReadonlyMap<string, UnknownField>;
}

/** An example that is short enough to be kept and told. */
const shown = (value: unknown): unknown =>
  typeof value === 'object' ? JSON.stringify(value).slice(0, 100) : value;

class Tally {
  rows = 0;
  readonly fields = new Map<string, FieldCount>();
  readonly bare: Account['bare'] = { rows: 0 };
  readonly unknown = new Map<string, UnknownField>();
  readonly #zeros = new Map<string, number>();
  readonly #readers: Fields;
  readonly #names: ReadonlyMap<string, unknown>;
  readonly #kind: Kind;

  constructor(kind: Kind, readers: Fields) {
    this.#kind = kind;
    this.#readers = readers;
    this.#names = namesOf(readers);
    for (const name of Object.keys(readers)) this.fields.set(name, { read: 0, unread: 0 });
  }

  add(record: JsonObject): void {
    this.rows += 1;
    for (const name in record) {
      const value = record[name];
      const count = this.fields.get(name);
      if (value === 0) this.#zeros.set(name, (this.#zeros.get(name) ?? 0) + 1);
      if (count) this.#count(count, name, value);
      else if (name === 'unreadable') this.#addUnread(value);
      else if (!this.#names.has(name)) this.#addUnknown(name, value, record);
    }
    if (!isBare(this.#kind, record)) return;
    this.bare.rows += 1;
    this.bare.example ??= record.id ?? 'no id';
  }

  #count(count: FieldCount, name: string, value: unknown): void {
    if (isNothing(value)) return;
    const unread = fieldOf(value, 'unreadable');
    if (unread !== undefined) this.#addUnread({ [name]: unread });
    // An empty list of what figures are made of shows nothing.
    else if (name !== partOf(this.#kind)?.list || !Array.isArray(value) || value.length > 0)
      count.read += 1;
  }

  #addUnread(values: unknown): void {
    for (const [name, value] of Object.entries(isObject(values) ? values : {})) {
      const count = this.fields.get(name) ?? { read: 0, unread: 0 };
      count.unread += 1;
      count.example ??= shown(value);
    }
  }

  #addUnknown(name: string, value: unknown, record: JsonObject): void {
    if (isNothing(value) || value === '') return;
    const field = this.unknown.get(name) ?? this.#unknownField(name, value);
    this.unknown.set(name, field);
    field.rows += 1;
    if (isObject(value) && !name.includes('.'))
      for (const inner in value) this.#addUnknown(`${name}.${inner}`, value[inner], record);
    this.#compare(field, name, value, record);
    const known = field.mayBe?.split('.').at(-1);
    if (known === undefined || (this.fields.has(known) && !isNothing(record[known]))) return;
    if (marks.has(known) && !isSet(name, value)) return;
    field.hidden += 1;
    if (field.hidden === 1) field.example = shown(value);
  }

  /** Notes what the row has beside it, and its word if it is of a state. */
  #compare({ apart, words }: UnknownField, name: string, value: unknown, record: JsonObject): void {
    for (const other of apart) if (!isNothing(record[other])) apart.delete(other);
    if (!saysState.test(name) || typeof value === 'object' || words.size > maxWords) return;
    words.set(String(value), (words.get(String(value)) ?? 0) + 1);
  }

  #unknownField(name: string, value: unknown): UnknownField {
    const readable = Object.keys(this.#readers).filter((field) => this.#mayRead(field, value));
    const mayBe = fieldCalled(this.#kind, name);
    return {
      rows: 0,
      hidden: 0,
      mayBe,
      example: shown(value),
      apart: new Set(readable),
      words: new Map(),
    };
  }

  #mayRead(field: string, value: unknown): boolean {
    const isFlag = marks.has(field) || typeof value === 'boolean';
    const read = isFlag ? undefined : this.#readers[field]?.(structuredClone(value));
    return read !== undefined && read !== unreadable;
  }

  conclude(): void {
    this.#forgetZeros();
    const isRead = (name: string): boolean => (this.fields.get(name)?.read ?? 0) > 0;
    if (!['deletedAt', 'deleted', 'listed'].some(isRead))
      for (const field of this.unknown.values()) this.#findGone(field);
  }

  /**
   * Where no record is marked as deleted, an unknown word of a state that at most half of them have may say that they
   * are gone.
   */
  #findGone(field: UnknownField): void {
    const { words, rows, mayBe } = field;
    if (mayBe === undefined || words.size === 0) return;
    const known = this.fields.get(mayBe)?.read ?? 0;
    if (!marks.has(mayBe) && known * 2 < this.rows) return;
    const all = [...words, ['', this.rows - rows] as const];
    const strange = all.filter(([word, of]) => of * 2 <= this.rows && !ordinary.test(word));
    if (strange.length === 0 || strange.length > maxStates || strange.length === all.length) return;
    field.mayBe = marks.has(mayBe) ? mayBe : 'deletedAt';
    field.hidden = strange.reduce((sum, [, of]) => sum + of, 0);
    field.example = strange[0]?.[0];
  }

  /**
   * A field that is 0 wherever it is was found in no row. But a tenant may give no discount, and sell only once or only by
   * the month: of two revenues one that is not 0 proves the other.
   */
  #forgetZeros(): void {
    const isZero = (name: string): boolean =>
      (this.fields.get(name)?.read ?? 0) === (this.#zeros.get(name) ?? 0);
    const proven = ['discount', ...(revenues.every(isZero) ? [] : revenues)];
    for (const [name, count] of this.fields)
      if (isZero(name) && !proven.includes(name)) count.read = 0;
  }
}

/** More words that are not known are not those of one state. */
const maxStates = 5;
/** More words, such as the text of a statement, are not kept: with the known ones they are more than those of a state. */
const maxWords = 100;
/** Words of states of records that are there, or that have been closed. */
const ordinary =
  /^(|active|open|live|ok|enabled|visible|listed|available|published|current|new|won|lost|closed|draft|sent|approved|accepted|declined|rejected|expired|pending|completed)$/i;

const revenues = ['onetimeRevenue', 'monthlyRevenue'];

/** Names of flags and states whose usual value says that a record is there. */
export const saysPresent =
  /^(is)?_?(active|listed|enabled|visible|selected|sellable|orderable|latest|current|currentVersion)$/i;
const saysState = /status|state|visibility|availability|lifecycle$/i;
const gone =
  /^(deleted|archived|inactive|removed|disabled|unlisted|discontinued|hidden|void(ed)?|withdrawn|retired|superseded|obsolete)$/i;
/** Whether a word of a state says that a record is not to be counted. */
export const saysGone = (word: string): boolean => gone.test(word.trim());

export function isSet(name: string, value: unknown): boolean {
  const said = flag(value);
  if (saysPresent.test(name)) return said === false;
  if (saysState.test(name) && typeof value === 'string') return saysGone(value);
  return said !== false && value !== '';
}

/** @returns one account for all of them, in steps */
export function* accountOf(
  resource: Resource,
  records: readonly JsonObject[],
): Generator<undefined, Account> {
  const own = new Tally(resource, fieldsOf[resource]);
  const { list = '', kind = resource, fields = {} } = partOf(resource) ?? {};
  const lines = new Tally(kind, fields);
  for (const [at, record] of records.entries()) {
    own.add(record);
    const entries = record[list];
    for (const entry of Array.isArray(entries) ? entries : [])
      if (isObject(entry)) lines.add(entry);
    if (at % 50 === 49) yield;
  }
  for (const tally of [own, lines]) tally.conclude();
  const all = <T>(of: (tally: Tally) => Iterable<readonly [string, T]>): Map<string, T> =>
    new Map([...of(own), ...[...of(lines)].map(([name, it]) => [`${list}.${name}`, it] as const)]);
  return {
    rows: own.rows,
    lines: lines.rows,
    bare: own.bare,
    fields: all(({ fields }) => fields),
    unknown: all(({ unknown }) => unknown),
  };
}

/** A field that figures rest on, and that could not be read in some rows. */
export interface FieldGap {
  record: Kind;
  field: string;
  /** Of so many rows. */
  of: number;
  /** In so many of them it could not be read. */
  rows: number;
  /** The first value that was not understood; absent where the rows have no value. */
  example?: unknown;
  /** The field that it may be in. */
  mayBe?: string;
}

/** Names that a gap tells of rows without any field of the table. */
const maxNames = 6;
/** Fewer records may all lack a field that others have. */
export const minRows = 10;

/**
 * What is not known of these fields. A field that no row has is a gap, unless it is a mark: most tenants have marks on
 * few records or on none. A field of another name that may be a mark is a gap. So are rows with hardly more than an id,
 * or without any field of the table, as the field `fields`.
 * @param missing of a part of a collection: the fields that other records lack too
 */
export function gapsIn(
  resource: Resource,
  account: Account,
  paths: readonly string[],
  missing?: readonly string[],
): FieldGap[] {
  const { bare, rows, fields, unknown } = account;
  const isKnown = [...fields].some(([path, { read }]) => read > 0 && !ofEnvelopes.has(path));
  const isPartlyBare = bare.rows > 0 && bare.rows < rows;
  const names = [...unknown.keys()].filter((name) => !name.includes('.'));
  const strange = { rows, example: names.slice(0, maxNames).join(', ') };
  const which = !isKnown && unknown.size > 0 ? strange : isPartlyBare ? bare : undefined;
  const bareGap = which ? [{ record: resource, field: 'fields', of: rows, ...which }] : [];
  const lists = paths.flatMap((path) => (path.includes('.') ? String(path.split('.')[0]) : []));
  const all = new Set([...paths, ...lists]);
  return [
    ...bareGap,
    ...[...all].flatMap((path) => {
      const gap = gapOf(resource, account, path);
      if (gap === undefined || gap.example !== undefined) return gap ?? [];
      const isTelling = gap.rows < gap.of || (missing?.includes(path) ?? gap.of >= minRows);
      return isTelling && !marks.has(gap.field) && !unusual[resource]?.includes(path) ? [gap] : [];
    }),
  ];
}

/** All rows of a path. */
export function placeOf(
  resource: Resource,
  { rows, lines }: Pick<Account, 'rows' | 'lines'>,
  path: string,
): FieldGap {
  const [, field] = path.split('.');
  const record = partOf(resource)?.kind;
  return field === undefined || record === undefined
    ? { record: resource, field: path, of: rows, rows }
    : { record, field, of: lines, rows: lines };
}

function gapOf(resource: Resource, account: Account, path: string): FieldGap | undefined {
  const gap = placeOf(resource, account, path);
  const { of } = gap;
  const { read, unread, example } = account.fields.get(path) ?? { read: 0, unread: 0 };
  if (unread > 0) return { ...gap, rows: unread, example };
  if (of === 0) return undefined;
  for (const [mayBe, other] of account.unknown) {
    const rows = hiddenIn(other, path, gap, read);
    if (rows > 0) return { ...gap, rows, mayBe, example: other.example };
  }
  if (read === 0) return gap;
  const isLacking = needed[resource]?.includes(path) && isMany(of - read, of);
  return isLacking ? { ...gap, rows: of - read } : undefined;
}

/** More than a tenth: fewer rows may lack a value in every tenant. */
export const isMany = (rows: number, of: number): boolean => rows * 10 > of;

/** In how many rows a field that is not known may be this one: by its name, or because each row has one or the other. */
function hiddenIn(
  { rows, hidden, mayBe, apart }: UnknownField,
  path: string,
  { field, of }: FieldGap,
  read: number,
): number {
  if (mayBe === path) {
    if (hidden > 0 && read === 0 && !marks.has(field)) return of;
    if (marks.has(field) || (isMany(hidden, of) && apart.has(field))) return hidden;
  }
  const isOther = apart.has(field) && Math.min(rows, read) >= minRows;
  return isOther && isMany(Math.min(rows, read), of) && (rows + read) * 2 > of ? rows : 0;
}

/** The fields that none of so many records has that others would. */
export const missingIn = ({ rows, fields }: Account): string[] =>
  rows < minRows ? [] : [...fields].flatMap(([path, { read }]) => (read === 0 ? [path] : []));
