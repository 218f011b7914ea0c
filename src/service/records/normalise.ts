/** Normalises the fields of a raw record: types, alternative names, and the forms of references. */

import { isObject, type JsonObject } from '../../values.ts';

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

export const yes: readonly string[] = ['true', 'yes', 'y', '1'];
const flags = new Map<unknown, boolean>([
  ...yes.map((word) => [word, true] as const),
  ...['false', 'no', 'n', '0'].map((word) => [word, false] as const),
]);

export const flag: Reader<boolean> = (raw) =>
  typeof raw === 'boolean' ? raw : (flags.get(String(raw).trim().toLowerCase()) ?? unreadable);

const midnight = 'T00:00:00.000Z';
const isoStart = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)/;
/** Before the first and from the second year on, services have values that stand for no date. Compared as texts. */
const [firstDate, afterLast] = ['1971', '2099'];

/** A date or time as ISO 8601; midnight UTC is taken for a date. A date that can be read in two ways is unreadable. */
export const time: Reader<string> = (raw) => {
  // Nearly all texts start with a year and need no conversion.
  const text = typeof raw === 'string' && raw[4] === '-' ? raw : otherTime(raw);
  if (!text || !isoStart.test(text))
    return typeof raw === 'string' && raw.trim() === '' ? undefined : unreadable;
  return text < firstDate || text >= afterLast ? undefined : text;
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

const utcMidnight = /T(\d\d):(00|15|30)(?::00(?:\.0+)?)?(?:Z|\+00:?00)$/;
/** Of India and Nepal, midnight is before this hour in UTC; of zones less far east it is a full hour. */
const lateHour = '21';

/**
 * A day, which a service east of Greenwich may send as its midnight in UTC: 23:00 of the day before.
 * @param fromHour the first hour that is taken for one; in India and Nepal it has 30 or 15 minutes
 */
export const dayFrom =
  (fromHour: string): Reader<string> =>
  (raw) => {
    const read = time(raw);
    if (typeof read !== 'string') return read;
    const [, hour, minutes] = utcMidnight.exec(read) ?? [];
    const isMidnight = minutes === '00' || fromHour < lateHour;
    if (hour === undefined || hour < fromHour || !isMidnight) return read;
    return new Date(Date.parse(read) + 86_400_000).toISOString().slice(0, 10);
  };

/** A mark such as "deleted": the time when it was set, or `true`; `undefined` where it is not set. */
export const mark: Reader<string | true> = (raw) => {
  const isSet = raw === '' ? false : flag(raw);
  return typeof isSet === 'boolean' ? isSet || undefined : time(raw);
};

/** The code of a currency in any letter case; `undefined` if there is none. */
export function currencyCode(value: unknown): string | undefined {
  const code = typeof value === 'string' ? value.trim().toUpperCase() : '';
  return /^[A-Z]{3}$/.test(code) ? code : undefined;
}

/** A code is kept as it is written; a symbol or a name may be that of several currencies. */
export const currency: Reader<string> = (raw) => {
  if (typeof raw === 'string' && raw.trim() === '') return undefined;
  return currencyCode(raw) !== undefined && typeof raw === 'string' ? raw : unreadable;
};

export const object: Reader<JsonObject> = (raw) => (isObject(raw) ? raw : unreadable);

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
 * A reference from a nested record, which has an id or a name. A text is taken as the name, a number as the id; an
 * address is neither, and JSON is not.
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
  return withIdentity(nestedRef(raw));
};

/** A nested record with neither an id nor a name refers to something in another way; an empty one to nothing. */
function withIdentity(read: ReturnType<typeof nestedRef>): typeof read {
  if (!isObject(read) || ['id', 'name', 'firstName', 'lastName'].some((name) => read[name]))
    return read;
  return Object.keys(read).length > 0 ? unreadable : undefined;
}

/** The names of the sibling fields that may contain the id and the name of a reference. */
export const flatForms = (name: string): { id: string; names: string[] } => ({
  id: `${name}Id`,
  names: [`${name}Name`, `${name}DisplayValue`],
});

interface Reference extends ReturnType<typeof flatForms> {
  field: string;
}

interface RecordReader {
  references: readonly Reference[];
  /** By every name that is read; that of a sibling field of a reference has no reader. */
  byName: ReadonlyMap<string, Reader<unknown> | 'sibling'>;
  /** These names by their letters. */
  spellings: ReadonlyMap<string, string>;
}

/** A name as it is in any case, with or without underscores and hyphens. */
export const lettersOf = (name: string): string => name.toLowerCase().replace(/[_-]/g, '');

/** Every name under which a field is read, including the sibling fields of references. */
export const namesOf = (fields: Fields): ReadonlyMap<string, unknown> => readerOf(fields).byName;

const readers = new WeakMap<Fields, RecordReader>();

function readerOf(fields: Fields): RecordReader {
  const made = readers.get(fields);
  if (made) return made;
  const references: Reference[] = [];
  const byName = new Map<string, Reader<unknown> | 'sibling'>();
  for (const [field, kind] of Object.entries(fields)) {
    if (kind !== ref) continue;
    const reference = { field, ...flatForms(field) };
    references.push(reference);
    for (const sibling of [reference.id, ...reference.names]) byName.set(sibling, 'sibling');
  }
  for (const [name, kind] of Object.entries(fields)) byName.set(name, kind);
  const spellings = new Map([...byName.keys()].map((name) => [lettersOf(name), name]));
  const reader = { references, byName, spellings };
  readers.set(fields, reader);
  return reader;
}

/** Renames fields whose names only differ in case, underscores and hyphens from those that are read. @returns whether any */
export function respell(raw: JsonObject, fields: Fields): boolean {
  const { byName, spellings } = readerOf(fields);
  let isRenamed = false;
  for (const name in raw) {
    const known = byName.has(name) ? undefined : spellings.get(lettersOf(name));
    if (known === undefined || raw[known] !== undefined) continue;
    raw[known] = raw[name];
    delete raw[name];
    isRenamed = true;
  }
  return isRenamed;
}

/**
 * Changes the record in place: it was just parsed, and a copy would cost as much as the parse. One look-up for each
 * name of the record, since every record of a collection is read here.
 */
export function normalise<F extends Fields>(raw: JsonObject, fields: F): Parsed<F> {
  const reader = readerOf(fields);
  let [hasSiblings, hasOthers] = [false, false];
  for (const name in raw) {
    const kind = reader.byName.get(name);
    if (kind === undefined) hasOthers = true;
    else if (kind === 'sibling') hasSiblings = true;
    else readField(raw, name, kind);
  }
  if (hasOthers && respell(raw, fields)) return normalise(raw, fields);
  if (hasSiblings) for (const reference of reader.references) completeReference(raw, reference);
  return raw as Parsed<F>;
}

function readField(raw: JsonObject, name: string, kind: Reader<unknown>): void {
  const before = raw[name];
  const after = before === null ? undefined : kind(before);
  if (after === before) return;
  if (after === undefined || after === unreadable) delete raw[name];
  else raw[name] = after;
  if (after === unreadable) raw.unreadable = { ...(raw.unreadable ?? {}), [name]: before };
}

function completeReference(raw: JsonObject, { field, id: idField, names }: Reference): void {
  const present = raw[field] as Ref | undefined;
  if (present?.id !== undefined && present.name !== undefined) return;
  const id = present?.id ?? textUnder(raw, [idField]);
  const name = present?.name ?? textUnder(raw, names);
  if (id === present?.id && name === present?.name) return;
  raw[field] = { ...present, ...(id && { id }), ...(name && { name }) };
}

function textUnder(raw: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = raw[name];
    if (typeof value === 'string' && value.trim() !== '') return value;
    if (typeof value === 'number') return String(value);
  }
  return undefined;
}
