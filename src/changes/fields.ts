import { dayOf } from '../figures/days.ts';
import { contactName } from '../figures/naming.ts';
import { flatForms } from '../service/records/normalise.ts';
import type { Opportunity } from '../service/records/records.ts';
import { quote, trusted, Verbatim, type Wording, wording } from '../text/untrusted-text.ts';
import { canonicalJson, isObject, longId } from '../values.ts';
import {
  type FieldKind,
  sentFields,
  type WritableField,
  writableFields,
} from './writable-fields.ts';

export interface Reference {
  /** Empty if the record contains a name only: such a reference can be shown, but not sent. */
  id: string;
  name?: string;
}

/** The value of a field of the kind `reference`; `undefined` if it is empty. */
export const referenceOf = (value: unknown): Reference | undefined =>
  isReference(value) ? value : undefined;

const isReference = (value: unknown): value is Reference =>
  isObject(value) && typeof value.id === 'string' && typeof (value.name ?? '') === 'string';

/**
 * The values of a record by field name, without empty ones. `share` is 0–1; `day` is YYYY-MM-DD; `custom` is the record's
 * custom fields. A value of any other form, such as an amount in words, is kept unchanged.
 */
export type FieldValues = Readonly<Record<string, unknown>>;

/** The divisor that converts a tenant's probabilities to 0–1. */
export type Divisor = 1 | 100;

export function fieldValuesOf(record: Opportunity, divisor: Divisor): FieldValues {
  const entries = sentFields.map(({ name, kind, readFrom }) => [
    name,
    readValue(kind, readFrom(record), divisor),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function readValue(kind: FieldKind, raw: unknown, divisor: Divisor): unknown {
  if (isEmpty(raw)) return undefined;
  if (kind === 'reference') return toReference(raw);
  if (kind === 'day' && typeof raw === 'string') return dayOf(raw) ?? raw;
  if (kind === 'share' && typeof raw === 'number')
    return roundShare(raw / (raw > 1 ? 100 : divisor));
  if (kind === 'custom' && isObject(raw)) return withoutEmpty(raw);
  return raw;
}

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';

function withoutEmpty(custom: Record<string, unknown>): Record<string, unknown> | undefined {
  const entries = Object.entries(custom).filter(([, value]) => !isEmpty(value));
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function toReference(raw: unknown): Reference | undefined {
  // A value of an unknown form: it can be shown, but not sent.
  if (!isObject(raw)) return { id: '', name: JSON.stringify(raw) };
  const { id } = raw;
  // A contact has first and last names instead of a name.
  const name = isEmpty(raw.name) ? contactName(raw) : raw.name;
  if (isEmpty(id) && isEmpty(name)) return undefined;
  const known = isEmpty(id) ? '' : String(id);
  return isEmpty(name) ? { id: known } : { id: known, name: String(name) };
}

/** Rounds to 6 decimals, which removes floating-point errors. */
export const roundShare = (share: number): number => Math.round(share * 1e6) / 1e6;

/** True if two values of a field are equal; references are compared by id. */
export function isSameValue(kind: FieldKind, one: unknown, other: unknown): boolean {
  if (kind === 'reference' && isReference(one) && isReference(other))
    return referenceKey(one) === referenceKey(other);
  return canonicalJson(one) === canonicalJson(other);
}

/** The fields that have other values, also those that no argument sets. */
export const differingFields = (one: FieldValues, other: FieldValues): WritableField[] =>
  sentFields.filter(({ name, kind }) => !isSameValue(kind, one[name], other[name]));

const referenceKey = ({ id, name = '' }: Reference): string =>
  id === '' ? `name ${name}` : `id ${id}`;

/**
 * The value for the body of the upsert; `null` clears a field. The service merges custom fields, so each removed one
 * is set to `null`.
 */
export function bodyValue(kind: FieldKind, value: unknown, from?: unknown): unknown {
  if (kind === 'custom' && (value === undefined || isObject(value))) {
    const cleared = Object.keys(isObject(from) ? from : {}).map((name) => [name, null]);
    return { ...Object.fromEntries(cleared), ...value };
  }
  if (value === undefined) return null;
  return kind === 'reference' && isReference(value) ? value.id : value;
}

/** The properties under which a record gives the fields that can be written. */
export const sentProperties: ReadonlySet<string> = new Set(
  sentFields.flatMap(({ property, kind }) => {
    if (kind !== 'reference') return [property];
    const { id, names } = flatForms(property);
    return [property, id, ...names];
  }),
);

export interface FieldChange {
  field: string;
  label: string;
  kind: FieldKind;
  from: unknown;
  to: unknown;
}

/** The values of a record with these changes. */
export const intendedValues = (
  before: FieldValues,
  changes: readonly FieldChange[],
): FieldValues => ({
  ...before,
  ...Object.fromEntries(changes.map(({ field, to }): [string, unknown] => [field, to])),
});

/** The value that a field is to get; `undefined` if it stays or is cleared. */
export const nextValue = (changes: readonly FieldChange[], name: string): unknown =>
  changes.find(({ field }) => field === name)?.to;

/** The company, contact or other record that a reference field is to get; `undefined` if none. */
export const nextReference = (
  changes: readonly FieldChange[],
  name: string,
): Reference | undefined => referenceOf(nextValue(changes, name));

/** @param requested custom fields that it does not name stay; an empty one is cleared */
export function changesBetween(before: FieldValues, requested: FieldValues): FieldChange[] {
  return writableFields
    .filter(({ name }) => name in requested)
    .map(({ name, label, kind }) => {
      const from = before[name];
      const to = kind === 'custom' ? mergeCustomFields(from, requested[name]) : requested[name];
      return { field: name, label, kind, from, to };
    })
    .filter(({ kind, from, to }) => !isSameValue(kind, from, to));
}

/** The present custom fields, overwritten by those of `patch`. */
function mergeCustomFields(present: unknown, patch: unknown): unknown {
  return withoutEmpty({ ...(isObject(present) ? present : {}), ...(isObject(patch) ? patch : {}) });
}

export function changedCustomFields(from: unknown, to: unknown): string[] {
  const names = new Set([from, to].flatMap((value) => Object.keys(isObject(value) ? value : {})));
  return [...names].filter(
    (name) => canonicalJson(customField(from, name)) !== canonicalJson(customField(to, name)),
  );
}

export const customField = (custom: unknown, name: string): unknown =>
  isObject(custom) && Object.hasOwn(custom, name) ? custom[name] : undefined;

/** A value for an answer: numbers unchanged, texts as stored, references by name and id. */
export function shownValue(kind: FieldKind | undefined, value: unknown): number | Verbatim {
  if (typeof value === 'number') return value;
  if (value === undefined) return new Verbatim('(empty)');
  if (typeof value === 'string') return new Verbatim(value);
  const reference = kind === 'reference' ? referenceOf(value) : undefined;
  return new Verbatim(reference ? nameAndId(reference) : JSON.stringify(value));
}

function nameAndId({ id, name }: Reference): string {
  if (name === undefined) return id;
  return id === '' ? name : `${name} (${id})`;
}

/** A record as it was read by id. A write sends what nobody changes as the service sent it. */
export interface Present {
  record: Opportunity;
  /** The same as the service sent it. */
  raw: Readonly<Record<string, unknown>>;
  /** A row of a list, which may lack what the record has: enough to ask about, not to write. */
  isRow?: true;
}

/** The value to send back, as it came; of a reference its id. `undefined` for an empty field. */
export function unchangedValue({ kind, property }: WritableField, present: Present): unknown {
  const value = present.raw[property];
  if (kind !== 'reference') return value === '' ? undefined : (value ?? undefined);
  const id = referenceId(property, present);
  return idsIn(present.raw, property).find((one) => String(one) === id) ?? id;
}

/** What the client puts in place of the key. */
const removedKey = '[key]';

/** What of a field is sent back as it is: nothing of one that is requested, but for the other custom fields. */
function keptOf(
  { kind, name, property }: WritableField,
  { raw }: Present,
  requested: FieldValues,
): unknown {
  const value = raw[property];
  if (!(name in requested)) return value;
  const custom = kind === 'custom' && isObject(value) ? value : {};
  return Object.entries(custom).filter(([one]) => customField(requested[name], one) === undefined);
}

/** Why a value cannot be sent back as it is; `undefined` where it can. */
function problemWith(
  field: WritableField,
  present: Present,
  requested: FieldValues,
): Wording | undefined {
  const { kind, name, property } = field;
  const { raw } = present;
  if (kind !== 'reference')
    return JSON.stringify(keptOf(field, present, requested))?.includes(removedKey)
      ? wording`it contains the API key of this server`
      : undefined;
  if (name in requested) return undefined;
  const flat = flatForms(property);
  const id = referenceId(property, present);
  if (id === undefined)
    return [property, flat.id, ...flat.names].every((name) => isBlank(raw[name]))
      ? undefined
      : wording`the service gives no id for it`;
  return idsIn(raw, property).every((one) => String(one) === id)
    ? undefined
    : wording`the service gives two ids for it`;
}

function referenceId(property: string, { record, raw }: Present): string | undefined {
  const { id, name } = toReference(record[property]) ?? { id: '' };
  // A bare text may be a name, where no record of this id is known and it does not look like one.
  const isProven = raw[property] !== id || name !== undefined || longId.test(id);
  return id !== '' && isProven ? id : undefined;
}

/** Every id that a record gives for a reference, nested or beside it. */
function idsIn(raw: Present['raw'], property: string): unknown[] {
  const nested = raw[property];
  // A number alone is an id; a text alone may be a name.
  const alone = typeof nested === 'number' ? nested : undefined;
  const own = isObject(nested) ? (nested.id ?? nested._id) : alone;
  return [own, raw[flatForms(property).id]].filter((id) => !isBlank(id));
}

/** An empty value, or a list or object without any other. */
const isBlank = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).every(isBlank)
    : value === undefined || value === null || String(value).trim() === '';

/** Refuses, as a sentence, the first field that nobody changes and that cannot be sent back. */
export function describeUnsendable(present: Present, requested: FieldValues): Wording | undefined {
  for (const field of sentFields) {
    const problem = problemWith(field, present, requested);
    if (problem === undefined) continue;
    const [label, name] = [trusted(field.label), trusted(field.name)];
    return wording`${label} is ${quote(shownText(field, present))}, and ${problem}. Every write includes all present values, because the service may clear missing ones, so this value would be lost. Give ${name} in the same call, or change the opportunity in the product.`;
  }
  return undefined;
}

function shownText({ kind, property, readFrom }: WritableField, { record, raw }: Present): string {
  const read = readFrom(record);
  const name = kind === 'reference' && isObject(read) ? (contactName(read) ?? read.id) : undefined;
  const value = name ?? raw[property];
  return typeof value === 'string' ? value : JSON.stringify(value ?? '');
}
