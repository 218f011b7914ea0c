/** Normalises the fields of a raw record: types, alternative names, and the forms of references. */

import { isObject } from '../../values.ts';

/** Reads a raw value as one kind: `undefined` for an empty one, `unreadable` for one of another kind. */
export type Reader<T> = (raw: unknown) => T | undefined | typeof unreadable;
export type Fields = Readonly<Record<string, Reader<unknown>>>;
/** Nothing changes a record after it was read: it is shared. */
export type Parsed<F extends Fields> = {
  readonly [N in keyof F]?: F[N] extends Reader<infer T> ? T : never;
} & {
  /** Known fields whose value is not of their kind; the raw value under their name. */
  readonly unreadable?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
};

const unreadable = Symbol('unreadable');
const plainNumber = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

export const text: Reader<string> = (raw) => {
  if (typeof raw === 'string') return raw;
  return typeof raw === 'number' || typeof raw === 'boolean' ? String(raw) : unreadable;
};

/** A word of a closed set, which tenants store in any letter case. */
export const word: Reader<string> = (raw) =>
  typeof raw === 'string' ? raw.trim().toLowerCase() : unreadable;

/** Numbers and numeric strings. A text such as "on request" is unreadable, never 0. */
export const number: Reader<number> = (raw) => {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : unreadable;
  if (typeof raw !== 'string') return unreadable;
  const trimmed = raw.trim();
  if (trimmed === '') return undefined;
  return plainNumber.test(trimmed) ? Number(trimmed) : unreadable;
};

export const flag: Reader<boolean> = (raw) => {
  if (typeof raw === 'boolean') return raw;
  if (raw === 'true' || raw === 1) return true;
  return raw === 'false' || raw === 0 ? false : unreadable;
};

const epochSeconds = /^\d{10}$/;
const epochMilliseconds = /^\d{13}$/;
const midnight = 'T00:00:00.000Z';

/**
 * A date or time as ISO 8601. Seconds and milliseconds since 1970, from 2001 on, are converted; midnight UTC
 * is taken for a date. Other texts are kept unchanged.
 */
export const time: Reader<string> = (raw) => {
  if (typeof raw !== 'string' && typeof raw !== 'number') return unreadable;
  // Nearly all texts start with a year and need no conversion.
  if (typeof raw === 'string' && raw[4] === '-') return raw;
  const digits = String(raw);
  if (epochSeconds.test(digits)) return isoOf(Number(digits) * 1_000);
  if (epochMilliseconds.test(digits)) return isoOf(Number(digits));
  return typeof raw === 'string' ? raw : unreadable;
};

function isoOf(ms: number): string {
  const iso = new Date(ms).toISOString();
  return iso.endsWith(midnight) ? iso.slice(0, -midnight.length) : iso;
}

const noMarks: ReadonlySet<unknown> = new Set([false, 0, '', 'false', '0']);

/** A mark such as "deleted": the time when it was set, or `true`; `undefined` where it is not set. */
export const mark: Reader<string | true> = (raw) => {
  if (noMarks.has(raw)) return undefined;
  return raw === true || raw === 'true' || raw === 1 || raw === '1' ? true : time(raw);
};

export const object: Reader<Record<string, unknown>> = (raw) => (isObject(raw) ? raw : unreadable);

/** The name, from a text or a nested record. */
export const nameOf: Reader<string> = (raw) => text(isObject(raw) ? raw.name : raw);

export const nested =
  <F extends Fields>(fields: F): Reader<Parsed<F>> =>
  (raw) =>
    isObject(raw) ? normalise(raw, fields) : unreadable;

export const listOf =
  <T>(kind: Reader<T>): Reader<readonly T[]> =>
  (raw) => {
    if (!Array.isArray(raw)) return unreadable;
    const read = raw.filter((entry) => entry !== null).map(kind);
    return read.includes(unreadable) ? unreadable : (read as T[]);
  };

export const idAndName = { id: text, name: text };
export type Ref = Parsed<typeof idAndName>;

const nestedRef = nested(idAndName);

/**
 * A reference from a nested record, which usually has an id or a name. A text is taken as the name, a number as the
 * id.
 */
export const ref: Reader<Ref> = (raw) => {
  if (typeof raw === 'string') return raw.trim() === '' ? undefined : { name: raw };
  if (typeof raw === 'number') return { id: String(raw) };
  // The usual form, which needs no conversion.
  const isNamed = isObject(raw) && (raw.name === undefined || typeof raw.name === 'string');
  return isNamed && typeof raw.id === 'string' ? raw : nestedRef(raw);
};

/** A known field and its alternative names. */
interface KnownField {
  name: string;
  kind: Reader<unknown>;
  /** The type of values that need not be read. */
  readType?: 'string';
  aliases: readonly string[];
  /** For a reference: the names of the sibling fields with its id and its name. */
  flat?: { ids: readonly string[]; names: readonly string[] };
}

const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Each name, followed by the same in snake_case. */
export const inBothCases = (...names: readonly string[]): string[] => [
  ...new Set(names.flatMap((name) => [name, snakeCase(name)])),
];

const otherNames: Readonly<Record<string, readonly string[]>> = {
  id: ['_id'],
  companyName: ['companyDisplayValue', 'company_display_value'],
};

/** The names of the sibling fields that may contain the id and the name of a reference. */
export const flatForms = (name: string): { ids: string[]; names: string[] } => ({
  ids: inBothCases(`${name}Id`),
  names: inBothCases(`${name}Name`, `${name}DisplayValue`),
});

function readerOf(name: string, kind: Reader<unknown>): KnownField {
  const aliases = [...inBothCases(name).slice(1), ...(otherNames[name] ?? [])];
  if (kind === text) return { name, kind, aliases, readType: 'string' };
  return kind === ref ? { name, kind, aliases, flat: flatForms(name) } : { name, kind, aliases };
}

interface RecordReader {
  fields: readonly KnownField[];
  /** By every name that is read; an alternative name, or that of a sibling field of a reference, has no reader. */
  byName: ReadonlyMap<string, KnownField | 'alternative'>;
}

/** Every name under which a field is read, including the sibling fields of references. */
export function namesOf(fields: Fields): ReadonlySet<string> {
  return new Set((readers.get(fields) ?? readerFor(fields)).byName.keys());
}

const readers = new WeakMap<Fields, RecordReader>();

function readerFor(fields: Fields): RecordReader {
  const all = Object.entries(fields).map(([name, kind]) => readerOf(name, kind));
  const byName: Map<string, KnownField | 'alternative'> = new Map(
    all.map((field) => [field.name, field]),
  );
  for (const { aliases, flat = { ids: [], names: [] } } of all) {
    for (const name of [...aliases, ...flat.ids, ...flat.names]) byName.set(name, 'alternative');
  }
  const reader = { fields: all, byName };
  readers.set(fields, reader);
  return reader;
}

/**
 * Changes the record in place: it was just parsed, and a copy would cost as much as the parse. One look-up for each
 * name of the record, since every record of a collection is read here.
 */
export function normalise<F extends Fields>(raw: Record<string, unknown>, fields: F): Parsed<F> {
  const reader = readers.get(fields) ?? readerFor(fields);
  let hasAlternatives = false;
  for (const name in raw) {
    const field = reader.byName.get(name);
    if (field === 'alternative') hasAlternatives = true;
    else if (field !== undefined && typeof raw[name] !== field.readType) readField(raw, field);
  }
  if (hasAlternatives) readAlternatives(raw, reader.fields);
  return raw as Parsed<F>;
}

function readAlternatives(raw: Record<string, unknown>, fields: readonly KnownField[]): void {
  for (const field of fields) {
    const { name, aliases, flat } = field;
    if (raw[name] === undefined && takeAlias(raw, name, aliases)) readField(raw, field);
    if (flat) completeReference(raw, name, flat);
  }
}

/** @returns whether there was one */
function takeAlias(
  raw: Record<string, unknown>,
  name: string,
  aliases: readonly string[],
): boolean {
  const alias = aliases.find((it) => raw[it] !== undefined);
  if (alias === undefined) return false;
  raw[name] = raw[alias];
  delete raw[alias];
  return true;
}

function readField(raw: Record<string, unknown>, { name, kind }: KnownField): void {
  const before = raw[name];
  const after = before === null ? undefined : kind(before);
  if (after === before) return;
  if (after === undefined || after === unreadable) delete raw[name];
  else raw[name] = after;
  if (after === unreadable) raw.unreadable = { ...(raw.unreadable ?? {}), [name]: before };
}

/** Completes a reference from its sibling fields. */
function completeReference(
  raw: Record<string, unknown>,
  name: string,
  { ids, names }: { ids: readonly string[]; names: readonly string[] },
): void {
  const present = raw[name] as Ref | undefined;
  if (present?.id !== undefined && present.name !== undefined) return;
  const id = present?.id ?? textUnder(raw, ids);
  const called = present?.name ?? textUnder(raw, names);
  if (id === present?.id && called === present?.name) return;
  raw[name] = { ...present, ...(id && { id }), ...(called && { name: called }) };
}

function textUnder(raw: Record<string, unknown>, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = raw[name];
    if (typeof value === 'string' && value.trim() !== '') return value;
    if (typeof value === 'number') return String(value);
  }
  return undefined;
}
