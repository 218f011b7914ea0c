import { plural } from '../figures/naming.ts';
import { toRecord } from '../service/records/recognition.ts';
import type { Resource } from '../service/records/records.ts';
import { identifier, quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { canonicalJson, isObject, type JsonObject } from '../values.ts';

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

const displayNames: ReadonlyMap<string, string> = new Map([
  ['pipelineStage', 'stage'],
  ['onetimeRevenue', 'oneTime'],
  ['monthlyRevenue', 'monthly'],
  ['expectedCloseDate', 'closes'],
]);

/** The differences between two states of a record, for fields that are known in both. */
export function fieldDifferences(
  resource: Resource,
  before: KnownFields,
  after: JsonObject,
): FieldDifference[] {
  // Normalised: numeric strings are numbers, empty fields are absent.
  const was = toRecord(resource, structuredClone(before.fields));
  const is = toRecord(resource, structuredClone(after));
  const known = withCustomFields(before.fields, was);
  const [from, to] = [withCustomFields(was, was), withCustomFields(is, is)];
  return [...withCustomFields(after, is).keys()]
    .filter((name) => !ignoredFields.has(name) && (before.isWhole || known.has(name)))
    .map((field) => ({ field, from: from.get(field), to: to.get(field) }))
    .filter((one) => !isSameValue(one.from, one.to));
}

/** The fields, with each custom field of `normalised` beside them. */
function withCustomFields(
  { customFields: _, ...fields }: JsonObject,
  { customFields }: JsonObject,
): ReadonlyMap<string, unknown> {
  const custom = Object.entries(isObject(customFields) ? customFields : {});
  return new Map([
    ...Object.entries(fields),
    ...custom.map(([name, value]): [string, unknown] => [`customFields.${name}`, value]),
  ]);
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
  const name = identifier(displayNames.get(field) ?? field);
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
  const hasScalarsOnly = values.every((value) => typeof value !== 'object');
  return hasScalarsOnly ? clip(values.join(', ')) : plural(values.length, 'entry');
}

const clip = (text: string): Wording => quote(text, maxText);
