import { isObject } from '../../api/envelope.ts';
import type { Opportunity } from '../../api/records.ts';
import { contactName } from '../../briefs/naming.ts';

/** How a value is read, compared and shown. */
export type FieldKind = 'text' | 'reference' | 'money' | 'share' | 'months' | 'day' | 'custom';

export interface Reference {
  /** Empty where the record gives a name only: such a reference can be shown, not sent. */
  id: string;
  name?: string;
}

/**
 * `share` is 0–1; `day` is YYYY-MM-DD; `custom` is the record's custom fields. What a record holds that
 * is none of these, such as an amount in words, stays as it came.
 */
export type FieldValue = string | number | Reference | Record<string, unknown> | undefined;

export interface WritableField {
  /** As the tool's argument is called. */
  name: string;
  /** As people say it. */
  label: string;
  /** The property of the upsert's body. */
  body: string;
  kind: FieldKind;
  /** The value in a record as the service sends it. */
  readFrom(record: Opportunity): unknown;
}

/** `property` is the record's; the body names a reference by its id. */
function field(name: string, label: string, property: string, kind: FieldKind): WritableField {
  const body = kind === 'reference' ? `${property}Id` : property;
  const readFrom = (record: Opportunity) => record[property] ?? record.unreadable?.[property];
  return { name, label, body, kind, readFrom };
}

/** Every field of an opportunity that the API can write, in the order in which people read them. */
const writableFields: readonly WritableField[] = [
  field('name', 'Name', 'name', 'text'),
  field('description', 'Description', 'description', 'text'),
  field('company', 'Company', 'company', 'reference'),
  field('contact', 'Contact', 'contact', 'reference'),
  field('owner', 'Owner', 'owner', 'reference'),
  field('stage', 'Stage', 'pipelineStage', 'reference'),
  field('category', 'Category', 'category', 'reference'),
  field('source', 'Source', 'source', 'reference'),
  field('probability', 'Probability', 'probability', 'share'),
  field('onetime_revenue', 'One-time revenue', 'onetimeRevenue', 'money'),
  field('monthly_revenue', 'Monthly revenue', 'monthlyRevenue', 'money'),
  field('value_months', 'Value months', 'valueMonths', 'months'),
  field('start_date', 'Start', 'startDate', 'day'),
  field('expected_close_date', 'Expected close', 'expectedCloseDate', 'day'),
  field('custom_fields', 'Custom fields', 'customFields', 'custom'),
];

/** Never asked for, yet sent along where the API would clear what is left out. */
const passthroughFields: readonly WritableField[] = [
  field('monthly_churn', 'Monthly churn', 'monthlyChurn', 'money'),
];

export const sentFields: readonly WritableField[] = [...writableFields, ...passthroughFields];
export const fieldNames: readonly string[] = writableFields.map(({ name }) => name);

/** The values of a record by field name; what is empty is left out. */
export type Snapshot = Readonly<Record<string, FieldValue>>;

/** What the tenant divides a probability by. */
export type Scale = 1 | 100;

export function snapshotOf(record: Opportunity, scale: Scale): Snapshot {
  const entries = sentFields.map(({ name, kind, readFrom }) => [
    name,
    readValue(kind, readFrom(record), scale),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function readValue(kind: FieldKind, raw: unknown, scale: Scale): FieldValue {
  if (raw === undefined || raw === null || raw === '') return undefined;
  if (kind === 'reference') return toReference(raw);
  if (kind === 'day' && typeof raw === 'string') return raw.slice(0, 10);
  if (kind === 'share' && typeof raw === 'number') return roundShare(raw / scale);
  if (kind === 'custom' && isObject(raw)) return withoutEmpty(raw);
  return raw as FieldValue;
}

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';

/** The custom fields that hold something. */
function withoutEmpty(custom: Record<string, unknown>): Record<string, unknown> | undefined {
  const entries = Object.entries(custom).filter(([, value]) => !isEmpty(value));
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function toReference(raw: unknown): Reference | undefined {
  if (!isObject(raw)) return undefined;
  const { id } = raw;
  // A contact comes as a person, with no name in one piece.
  const name = isEmpty(raw.name) ? contactName(raw) : raw.name;
  if (isEmpty(id) && isEmpty(name)) return undefined;
  const known = isEmpty(id) ? '' : String(id);
  return isEmpty(name) ? { id: known } : { id: known, name: String(name) };
}

/** 29 / 100 is 0.29, not 0.28999999999999998. */
export const roundShare = (share: number): number => Math.round(share * 1e6) / 1e6;

/** Whether two values of a field are the same thing: a reference by its id, whatever it is called. */
export function isSameValue(kind: FieldKind, one: FieldValue, other: FieldValue): boolean {
  if (one === undefined || other === undefined) return one === other;
  if (kind === 'reference') return (one as Reference).id === (other as Reference).id;
  return canonicalJson(one) === canonicalJson(other);
}

/**
 * The value as the upsert's body holds it; `null` empties a field. Custom fields are merged by the
 * service, so those that are to go must be emptied by name.
 */
export function bodyValue(kind: FieldKind, value: FieldValue, from?: FieldValue): unknown {
  if (kind === 'custom' && (value === undefined || isObject(value))) {
    return { ...clearedFields(from), ...value };
  }
  if (value === undefined) return null;
  return kind === 'reference' ? (value as Reference).id : value;
}

const clearedFields = (custom: FieldValue): Record<string, null> =>
  Object.fromEntries(Object.keys(isObject(custom) ? custom : {}).map((name) => [name, null]));

/** Whether a value that is there can be sent back at all. */
export const canBeSent = (kind: FieldKind, value: FieldValue): boolean =>
  kind !== 'reference' || (value as Reference | undefined)?.id !== '';

/** JSON with sorted names, so that the same value is the same text. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const names = Object.keys(value).sort();
  const pairs = names.map((name) => [name, (value as Record<string, unknown>)[name]] as const);
  const shown = pairs.filter(([, inner]) => inner !== undefined);
  return `{${shown.map(([name, inner]) => `${JSON.stringify(name)}:${canonicalJson(inner)}`).join(',')}}`;
}

/** One field that is to change. */
export interface FieldChange {
  field: string;
  label: string;
  kind: FieldKind;
  from: FieldValue;
  to: FieldValue;
}

/**
 * What is wanted, by field name. Custom fields are named one by one, and the others stay; one that is
 * empty is to be emptied.
 */
export type RequestedValues = Snapshot;

/** What `wanted` would change in `before`, field by field; only the fields that `wanted` names. */
export function changesBetween(before: Snapshot, requested: RequestedValues): FieldChange[] {
  return writableFields
    .filter(({ name }) => name in requested)
    .map(({ name, label, kind }) => {
      const from = before[name];
      const to = kind === 'custom' ? mergeCustomFields(from, requested[name]) : requested[name];
      return { field: name, label, kind, from, to };
    })
    .filter(({ kind, from, to }) => !isSameValue(kind, from, to));
}

/** The present custom fields with some of them set anew. */
function mergeCustomFields(present: FieldValue, patch: FieldValue): FieldValue {
  return withoutEmpty({ ...(isObject(present) ? present : {}), ...(isObject(patch) ? patch : {}) });
}

/** Names of the custom fields that differ between two values. */
export function changedCustomFields(from: FieldValue, to: FieldValue): string[] {
  const names = new Set([from, to].flatMap((value) => Object.keys(isObject(value) ? value : {})));
  return [...names].filter(
    (name) => canonicalJson(customField(from, name)) !== canonicalJson(customField(to, name)),
  );
}

/** One custom field. */
export const customField = (custom: FieldValue, name: string): unknown =>
  isObject(custom) && Object.hasOwn(custom, name) ? custom[name] : undefined;
