/** The fields of a tenant's records: which were found in what form, and what to write in the file of fields for the others. */

import { checksRestOn, listsRestOn, restsOn } from '../../briefs/rests-on.ts';
import { isSet, placeOf, saysPresent, type UnknownField } from '../../service/records/account.ts';
import {
  type Fields,
  type Reader,
  ref,
  time,
  unreadable,
} from '../../service/records/normalise.ts';
import { fieldsOf, marks, partOf, type Resource } from '../../service/records/records.ts';
import { isObject, type JsonObject, longId, valueAt } from '../../values.ts';
import type { Rows } from './prober.ts';
import { type FieldFound, quoted } from './report.ts';

/** All fields that figures of any brief, check or list rest on. */
export const restingOn = (resource: Resource): string[] => [
  ...new Set(
    [...Object.values(restsOn), ...Object.values(checksRestOn), listsRestOn].flatMap(
      (rests: { readonly [R in Resource]?: readonly string[] }) => rests[resource] ?? [],
    ),
  ),
];

/** What each field of the table was read from. */
export function fieldsFound(resource: Resource, { records, account }: Rows): FieldFound[] {
  if (records.length === 0) return [];
  const found = (fields: Fields, rows: readonly JsonObject[], prefix: string) =>
    Object.entries(fields).map(([name, kind]): FieldFound => {
      const path = prefix + name;
      const { read, unread } = account.fields.get(path) ?? { read: 0, unread: 0 };
      const words = account.words.get(path);
      const field = `${resource}.${path}`;
      const value = rows.find((row) => row[name] !== undefined)?.[name];
      const known = { field, of: placeOf(resource, account, path).of, read };
      const form = value === undefined ? {} : { form: formOf(value) };
      if (words) {
        const lines = [`# ${wordLine[path] ?? field} in […]   # seen: ${quoted([words.example])}`];
        return { ...known, ...form, unread: words.rows, example: words.example, lines };
      }
      if (unread > 0) {
        const raw = rows.map((row) => (row.unreadable as JsonObject | undefined)?.[name]);
        const first = raw.find((it) => it !== undefined);
        return { ...known, ...form, unread, ...proposal(field, kind, name, [first]) };
      }
      const other = [...account.unknown].find(([, it]) => it.mayBe === path && it.hidden > 0);
      if (read > 0 || other === undefined) return { ...known, ...form };
      const mayBe = other[0].slice(prefix.length);
      return { ...known, mayBe, ...proposal(field, kind, mayBe, valuesOf(rows, mayBe, other[1])) };
    });
  const own = found(fieldsOf[resource], records, '');
  const part = partOf(resource);
  if (!part) return own;
  const parts = records.flatMap((record) => record[part.list]).filter(isObject);
  return [...own, ...found(part.fields, parts, `${part.list}.`)];
}

/** All values of a field that the table does not have; first a word that may say that a record is gone. */
function valuesOf(
  rows: readonly JsonObject[],
  path: string,
  { words, example }: UnknownField,
): unknown[] {
  const values = rows.map((row) => valueAt(row, path));
  const all = words.size > 0 ? [example, ...values] : values;
  return all.filter((it) => it !== undefined && it !== null);
}

/** What says the words of a field in the file of fields. */
const wordLine: Readonly<Record<string, string>> = {
  statusId: 'won = statusId',
  status: 'quote.sent = status',
  'items.term': 'quote.items.monthly = term',
};

function formOf(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (isObject(value)) return `{${Object.keys(value).slice(0, 4).join(', ')}}`;
  if (typeof value === 'string' && typeof time(value) === 'string')
    return value.length === 10 ? 'day' : 'time';
  return typeof value === 'string' ? 'text' : typeof value;
}

/** A name or a value of the service with other characters cannot be written in the file, or would be another line of it. */
const expressible = /^[\p{L}\p{N} _$@:.=,[\]-]+$/u;

function proposal(
  field: string,
  kind: Reader<unknown>,
  from: string,
  values: readonly unknown[],
): Pick<FieldFound, 'example' | 'lines'> {
  const [value] = values;
  const json = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const isMark = marks.has(field.split('.').at(-1) ?? '');
  const proposed = isMark ? markLine(field, from, values) : linesFor(field, kind, from, value);
  const lines = proposed.filter((line) => expressible.test(line));
  return { example: json.slice(0, 60), ...(lines.length > 0 && { lines }) };
}

/** Parts of a value that something of another kind may be in: itself, and what is up to two levels below. */
function* placesIn(value: unknown, path: readonly string[]): Generator<[string, unknown]> {
  yield [path.join('.'), value];
  if (path.length > 2 || typeof value !== 'object' || value === null) return;
  const inner = Array.isArray(value) ? value.slice(0, 1) : value;
  for (const [name, entry] of Object.entries(inner)) yield* placesIn(entry, [...path, name]);
}

const isIdentifier = (value: unknown): boolean =>
  typeof value === 'number' || (typeof value === 'string' && longId.test(value));
const isNamed = (value: unknown): boolean => typeof value === 'string' && /^[^/:[{]+$/.test(value);
/** Of another unit than amounts have. */
const isSmallUnit = /cents|minor|nanos/i;

type Places = readonly (readonly [path: string, value: unknown])[];

function linesFor(field: string, kind: Reader<unknown>, from: string, value: unknown): string[] {
  const places = [...placesIn(value, [from])].filter(([path]) => !isSmallUnit.test(path));
  if (kind === ref) return referenceLines(field, places);
  if (typeof value === 'boolean')
    return field === 'opportunity.statusId'
      ? [`${/lost/i.test(from) ? 'lost' : 'won'} = ${from}`]
      : [];
  const isRead = (it: unknown) => {
    const read = kind(structuredClone(it));
    return read !== unreadable && read !== undefined && typeof it !== 'boolean';
  };
  const read = places.filter(([path, it]) => isRead(it) && !field.endsWith(`.${path}`));
  const isCalled = /(name|label|text)$/i;
  const named = read.find(([path]) => field === 'opportunity.statusId' && isCalled.test(path));
  const [best] = named ?? read[0] ?? [];
  return best === undefined ? [] : [`${field} = ${best}`];
}

function referenceLines(field: string, places: Places): string[] {
  const [whole] =
    places.find(([, it]) => isObject(it) && ref(structuredClone(it)) !== unreadable) ?? [];
  if (whole !== undefined) return field.endsWith(`.${whole}`) ? [] : [`${field} = ${whole}`];
  const id = places.find(([, it]) => isIdentifier(it));
  const name = places.find(([, it]) => !isIdentifier(it) && isNamed(it));
  return [
    ...(id ? [`${field}.id = ${id[0]}`] : []),
    ...(name ? [`${field}.name = ${name[0]}`] : []),
  ];
}

/** Of a mark: what says that it is set, or of `listed`, that it is not; the first value where no other does. */
function markLine(field: string, from: string, values: readonly unknown[]): string[] {
  const says = values.filter((value) => isSet(from, value));
  const set = says.length > 0 ? says : values.slice(0, 1);
  const [value] = set;
  if (field.endsWith('.listed')) {
    const others = new Set(values.filter((it) => !set.includes(it)).map(String));
    if (typeof value === 'string') return [`${field} = ${from} in [${[...others].join(', ')}]`];
    return [saysPresent.test(from) ? `${field} = ${from}` : `${field} = ${from} in [false]`];
  }
  const [resource, mark] = field.split('.');
  if (!mark?.startsWith('delete')) return [];
  const at = [...placesIn(value, [from])].find(([, it]) => typeof time(it) === 'string');
  if (at) return [`${resource}.deletedAt = ${at[0]}`];
  const isFlag = typeof value === 'boolean' && !saysPresent.test(from);
  return [`${resource}.deleted = ${from}${isFlag ? '' : ` in [${String(value)}]`}`];
}
