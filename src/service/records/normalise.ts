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

export const unreadable = Symbol('unreadable');
const plainNumber = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

export const text: Reader<string> = (raw) => {
  if (typeof raw === 'string') return raw;
  // A longer integer has lost digits.
  const isKept = !Number.isInteger(raw) || Number.isSafeInteger(raw);
  return (typeof raw === 'number' && isKept) || typeof raw === 'boolean' ? String(raw) : unreadable;
};

/** A word of a closed set, or the record that it names, which tenants store in any letter case. */
export const word: Reader<string> = (raw) => {
  const name = isObject(raw) ? (raw.name ?? raw.label) : raw;
  return typeof name === 'string' ? name.trim().toLowerCase() : unreadable;
};

/** "24.169" in a text is 24.169 or 24,169. */
const ambiguousNumber = /^[+-]?[1-9]\d{0,2}\.\d{3}$/;

/** Numbers and numeric strings. A text such as "on request" is unreadable, never 0. */
export const number: Reader<number> = (raw) => {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : unreadable;
  if (typeof raw !== 'string') return unreadable;
  const trimmed = raw.trim();
  if (trimmed === '') return undefined;
  return plainNumber.test(trimmed) && !ambiguousNumber.test(trimmed) ? Number(trimmed) : unreadable;
};

/** A number of percent, with or without its sign. */
export const percent: Reader<number> = (raw) =>
  number(typeof raw === 'string' ? raw.trim().replace(/%$/, '') : raw);

/** A percentage, or a share of 1, that is never less than none: then it stands for none. */
export const share: Reader<number> = (raw) => {
  const read = percent(raw);
  return typeof read === 'number' && read < 0 ? unreadable : read;
};

const flags = new Map<unknown, boolean>([
  ...['true', 'yes', 'y', '1'].map((word) => [word, true] as const),
  ...['false', 'no', 'n', '0'].map((word) => [word, false] as const),
]);

export const flag: Reader<boolean> = (raw) =>
  typeof raw === 'boolean' ? raw : (flags.get(String(raw).trim().toLowerCase()) ?? unreadable);

const midnight = 'T00:00:00.000Z';
const isoStart = /^(\d{4})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)/;
/** Before the first and after the last year of real dates, services have values that stand for no date. */
const [firstYear, lastYear] = ['1971', '2098'];

/** A date or time as ISO 8601; midnight UTC is taken for a date. A date that can be read in two ways is unreadable. */
export const time: Reader<string> = (raw) => {
  // Nearly all texts start with a year and need no conversion.
  const text = typeof raw === 'string' && raw[4] === '-' ? raw : otherTime(raw);
  const year = text && isoStart.exec(text)?.[1];
  if (!year) return typeof raw === 'string' && raw.trim() === '' ? undefined : unreadable;
  return year < firstYear || year > lastYear ? undefined : text;
};

const epochSeconds = /^\d{10}(\.\d+)?$/;
const epochMilliseconds = /^\d{13}(\.\d+)?$/;

/** Seconds and milliseconds since 1970, from 2001 on. */
function otherTime(raw: unknown): string | undefined {
  if (typeof raw !== 'string' && typeof raw !== 'number') return undefined;
  const text = String(raw).trim();
  if (epochSeconds.test(text)) return isoOf(Number(text) * 1_000);
  if (epochMilliseconds.test(text)) return isoOf(Number(text));
  return text;
}

function isoOf(ms: number): string {
  const iso = new Date(ms).toISOString();
  return iso.endsWith(midnight) ? iso.slice(0, -midnight.length) : iso;
}

const fullHour = /T(\d\d):00(?::00(?:\.0+)?)?Z$/;

/**
 * A day, which a service east of Greenwich may send as its midnight in UTC: 23:00 of the day before.
 * @param fromHour the first hour that is taken for one
 */
export const dayFrom =
  (fromHour: string): Reader<string> =>
  (raw) => {
    const read = time(raw);
    const hour = typeof read === 'string' ? fullHour.exec(read)?.[1] : undefined;
    if (typeof read !== 'string' || hour === undefined || hour < fromHour) return read;
    return new Date(Date.parse(read) + 86_400_000).toISOString().slice(0, 10);
  };

/** A mark such as "deleted": the time when it was set, or `true`; `undefined` where it is not set. */
export const mark: Reader<string | true> = (raw) => {
  const isSet = raw === '' ? false : flag(raw);
  return typeof isSet === 'boolean' ? isSet || undefined : time(raw);
};

/** The code of a currency in any letter case, or that in a nested record; `undefined` if there is none. */
export function currencyCode(value: unknown): string | undefined {
  if (isObject(value))
    return currencyCode(value.code) ?? currencyCode(value.isoCode) ?? currencyCode(value.id);
  const code = typeof value === 'string' ? value.trim().toUpperCase() : '';
  return /^[A-Z]{3}$/.test(code) ? code : undefined;
}

/** A code is kept as it is written; a symbol or a name may be that of several currencies. */
export const currency: Reader<string> = (raw) => {
  if (typeof raw === 'string' && raw.trim() === '') return undefined;
  const code = currencyCode(raw);
  return code === undefined ? unreadable : typeof raw === 'string' ? raw : code;
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
const address = /^(https?:\/)?\/\S+$/;

/**
 * A reference from a nested record, which has an id or a name, or a value and a label. A text is taken as the name, a
 * number as the id; an address is neither, and JSON is not.
 */
export const ref: Reader<Ref> = (raw) => {
  if (typeof raw === 'string') {
    if (address.test(raw) || /^[[{]/.test(raw)) return unreadable;
    return raw.trim() === '' ? undefined : { name: raw };
  }
  if (typeof raw === 'number') return nestedRef({ id: raw });
  // The usual form, which needs no conversion.
  const isNamed = isObject(raw) && (raw.name === undefined || typeof raw.name === 'string');
  if (isNamed && typeof raw.id === 'string') return raw;
  const isOption = isObject(raw) && raw.value !== undefined && raw.id === undefined;
  return withIdentity(nestedRef(isOption ? { id: raw.value, name: raw.label } : raw));
};

/** A nested record with neither an id nor a name refers to something in another way, unless it is empty. */
const withIdentity = (read: ReturnType<typeof nestedRef>): typeof read =>
  isObject(read) &&
  !['id', 'name', 'firstName', 'lastName'].some((name) => read[name]) &&
  Object.keys(read).length > 0
    ? unreadable
    : read;

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
export const namesOf = (fields: Fields): ReadonlyMap<string, unknown> =>
  (readers.get(fields) ?? readerFor(fields)).byName;

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
