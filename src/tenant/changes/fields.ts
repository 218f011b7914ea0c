import type { Opportunity, Ref } from '../../api/records.ts';

/** How a value is read, compared and shown. */
export type FieldKind = 'text' | 'reference' | 'money' | 'share' | 'months' | 'day' | 'custom';

export interface Reference {
  id: string;
  name?: string;
}

/** `share` is 0–1; `day` is YYYY-MM-DD; `custom` is the record's custom fields. */
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
  of(record: Opportunity): unknown;
}

const field = (
  name: string,
  label: string,
  body: string,
  kind: FieldKind,
  of: (record: Opportunity) => unknown,
): WritableField => ({ name, label, body, kind, of });

/** Every field of an opportunity that the API can write, in the order in which people read them. */
export const writableFields: readonly WritableField[] = [
  field('name', 'Name', 'name', 'text', (it) => it.name),
  field('description', 'Description', 'description', 'text', (it) => it.description),
  field('company', 'Company', 'companyId', 'reference', (it) => it.company),
  field('contact', 'Contact', 'contactId', 'reference', (it) => it.contact),
  field('owner', 'Owner', 'ownerId', 'reference', (it) => it.owner),
  field('stage', 'Stage', 'pipelineStageId', 'reference', (it) => it.pipelineStage),
  field('category', 'Category', 'categoryId', 'reference', (it) => it.category),
  field('source', 'Source', 'sourceId', 'reference', (it) => it.source),
  field('probability', 'Probability', 'probability', 'share', (it) => it.probability),
  field(
    'onetime_revenue',
    'One-time revenue',
    'onetimeRevenue',
    'money',
    (it) => it.onetimeRevenue,
  ),
  field('monthly_revenue', 'Monthly revenue', 'monthlyRevenue', 'money', (it) => it.monthlyRevenue),
  field('value_months', 'Value months', 'valueMonths', 'months', (it) => it.valueMonths),
  field('start_date', 'Start', 'startDate', 'day', (it) => it.startDate),
  field(
    'expected_close_date',
    'Expected close',
    'expectedCloseDate',
    'day',
    (it) => it.expectedCloseDate,
  ),
  field('custom_fields', 'Custom fields', 'customFields', 'custom', (it) => it.customFields),
];

/** Never asked for, yet sent along where the API would clear what is left out. */
const carriedFields: readonly WritableField[] = [
  field('monthly_churn', 'Monthly churn', 'monthlyChurn', 'money', (it) => it.monthlyChurn),
];

export const sentFields: readonly WritableField[] = [...writableFields, ...carriedFields];
export const fieldNames: readonly string[] = writableFields.map(({ name }) => name);

/** The values of a record by field name; what is empty is left out. */
export type Snapshot = Readonly<Record<string, FieldValue>>;

/** `scale` is what the tenant divides a probability by: 1 or 100. */
export function snapshotOf(record: Opportunity, scale: 1 | 100): Snapshot {
  const entries = sentFields.map(({ name, kind, of }) => [
    name,
    readValue(kind, of(record), scale),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function readValue(kind: FieldKind, raw: unknown, scale: 1 | 100): FieldValue {
  if (raw === undefined || raw === null || raw === '') return undefined;
  if (kind === 'reference') return referenceOf(raw as Ref);
  if (kind === 'day') return String(raw).slice(0, 10);
  if (kind === 'share') return tidy(Number(raw) / scale);
  if (kind === 'custom') return filled(raw as Record<string, unknown>);
  return raw as FieldValue;
}

/** The custom fields that hold something. */
function filled(custom: Record<string, unknown>): Record<string, unknown> | undefined {
  const entries = Object.entries(custom).filter(([, value]) => value !== null && value !== '');
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function referenceOf({ id, name }: Ref): Reference | undefined {
  if (id === undefined) return undefined;
  return name === undefined ? { id } : { id, name };
}

/** 29 / 100 is 0.29, not 0.28999999999999998. */
const tidy = (share: number): number => Math.round(share * 1e6) / 1e6;

/** Whether two values of a field are the same thing: a reference by its id, whatever it is called. */
export function isSame(kind: FieldKind, one: FieldValue, other: FieldValue): boolean {
  if (one === undefined || other === undefined) return one === other;
  if (kind === 'reference') return (one as Reference).id === (other as Reference).id;
  return kind === 'custom' ? canonical(one) === canonical(other) : one === other;
}

/**
 * The value as the upsert's body holds it; `null` empties a field. Custom fields are merged by the
 * service, so those that are to go must be emptied by name.
 */
export function bodyValue(kind: FieldKind, value: FieldValue, from?: FieldValue): unknown {
  if (kind === 'custom') return { ...emptied(from), ...(value as object | undefined) };
  if (value === undefined) return null;
  return kind === 'reference' ? (value as Reference).id : value;
}

const emptied = (custom: FieldValue): Record<string, null> =>
  Object.fromEntries(Object.keys(custom ?? {}).map((name) => [name, null]));

/** JSON with sorted names, so that the same value is the same text. */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const names = Object.keys(value).sort();
  const pairs = names.map((name) => [name, (value as Record<string, unknown>)[name]] as const);
  const shown = pairs.filter(([, inner]) => inner !== undefined);
  return `{${shown.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(',')}}`;
}

/** One field that is to change. */
export interface FieldChange {
  field: string;
  label: string;
  kind: FieldKind;
  from: FieldValue;
  to: FieldValue;
}

/** What `wanted` would change in `before`, field by field; only the fields that `wanted` names. */
export function differenceOf(before: Snapshot, wanted: Snapshot): FieldChange[] {
  return writableFields
    .filter(({ name, kind }) => name in wanted && !isSame(kind, before[name], wanted[name]))
    .map(({ name, label, kind }) => ({
      field: name,
      label,
      kind,
      from: before[name],
      to: wanted[name],
    }));
}
