import { plural } from '../../briefs/naming.ts';
import { type Resource, toRecord } from '../../records/records.ts';
import { identifier, quote, trusted, type Wording, wording } from '../../text/untrusted-text.ts';
import { isObject, type JsonObject } from '../../values.ts';
import { canonicalJson } from '../changes/fields.ts';

/** A changed field by the service's name; a custom field is named as `customFields.region`. */
export interface FieldDifference {
  field: string;
  from: unknown;
  to: unknown;
}

/** The known fields of an earlier state of a record. */
export interface KnownFields {
  fields: JsonObject;
  /** True if all fields are known: a missing field was then empty. Otherwise its value is unknown. */
  isWhole: boolean;
}

/** Fields that change with every update, and do not describe it. */
const ignoredFields = new Set([
  'id',
  'createdAt',
  'updatedAt',
  'stageUpdatedAt',
  'unreadable',
  'link',
]);

/** Field names as other answers show them. */
const displayNames: Readonly<Record<string, string>> = {
  pipelineStage: 'stage',
  onetimeRevenue: 'oneTime',
  monthlyRevenue: 'monthly',
  expectedCloseDate: 'closes',
};

/** The differences between two states of a record, for fields that are known in both. */
export function fieldDifferences(
  resource: Resource,
  before: KnownFields,
  after: JsonObject,
): FieldDifference[] {
  const [was, is] = [normalised(resource, before.fields), normalised(resource, after)];
  return Object.keys(after).flatMap((field) => {
    const isKnown = before.isWhole || field in before.fields;
    if (ignoredFields.has(field) || !isKnown) return [];
    if (field === 'customFields') return customDifferences(was[field], is[field], before.isWhole);
    if (isSameValue(was[field], is[field])) return [];
    return [{ field, from: was[field], to: is[field] }];
  });
}

/** A normalised copy: numeric strings are numbers, empty fields are absent. */
const normalised = (resource: Resource, fields: JsonObject): JsonObject =>
  toRecord(resource, structuredClone(fields));

function customDifferences(was: unknown, is: unknown, isWhole: boolean): FieldDifference[] {
  const before = isObject(was) ? was : {};
  const after = isObject(is) ? is : {};
  return Object.keys(after).flatMap((name) => {
    if (!isWhole && !(name in before)) return [];
    if (isSameValue(before[name], after[name])) return [];
    return [{ field: `customFields.${name}`, from: before[name], to: after[name] }];
  });
}

/** Nested records are compared by id and name only. */
function isSameValue(one: unknown, other: unknown): boolean {
  if (isObject(one) && isObject(other) && one.id !== undefined && other.id !== undefined) {
    return one.id === other.id && (one.name ?? '') === (other.name ?? '');
  }
  return canonicalJson(one ?? '') === canonicalJson(other ?? '');
}

const maxText = 60;

/** A difference as text: `stage: "Discovery" → "Proposal"`. */
export const describeDifference = ({ field, from, to }: FieldDifference): Wording => {
  const [was, is] = [describeValue(from), describeValue(to)];
  const name = identifier(displayNames[field] ?? field);
  return was === is ? wording`${name}: changed` : wording`${name}: ${was} → ${is}`;
};

function describeValue(value: unknown): Wording {
  if (value === undefined || value === null || value === '') return wording`(empty)`;
  if (Array.isArray(value)) return describeList(value);
  if (isObject(value)) return clip(String(value.name ?? value.id ?? JSON.stringify(value)));
  return typeof value === 'string' ? clip(value) : trusted(String(value));
}

function describeList(values: readonly unknown[]): Wording {
  if (values.length === 0) return wording`(empty)`;
  const plain = values.every((value) => typeof value !== 'object');
  return plain ? clip(values.join(', ')) : plural(values.length, 'entry');
}

const clip = (text: string): Wording => quote(text, maxText);
