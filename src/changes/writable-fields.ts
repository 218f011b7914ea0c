import type { Opportunity } from '../service/records/records.ts';

/** The kind of a field; it determines how values are read, compared and shown. */
export type FieldKind = 'text' | 'reference' | 'money' | 'share' | 'months' | 'day' | 'custom';

export interface WritableField {
  /** Name of the tool's argument. */
  name: string;
  label: string;
  /** Property in the body of the upsert. */
  body: string;
  property: string;
  kind: FieldKind;
  readFrom(record: Opportunity): unknown;
}

/** `property` is the name in the record; in the body a reference is sent as `<property>Id`. */
function field(name: string, label: string, property: string, kind: FieldKind): WritableField {
  const body = kind === 'reference' ? `${property}Id` : property;
  const readFrom = (record: Opportunity) => record[property] ?? record.unreadable?.[property];
  return { name, label, body, property, kind, readFrom };
}

/** Every field of an opportunity that the API can write, in the order in which people read them. */
export const writableFields: readonly WritableField[] = [
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

/** Also one that no argument sets: every write includes it, because the API may clear missing fields. */
export const sentFields: readonly WritableField[] = [
  ...writableFields,
  field('monthly_churn', 'Monthly churn', 'monthlyChurn', 'money'),
];
export const fieldNames: readonly string[] = writableFields.map(({ name }) => name);
