import { isObject } from '../../api/envelope.ts';
import { type Resource, toRecord } from '../../api/records.ts';
import { canonicalJson } from '../changes/fields.ts';

type Row = Record<string, unknown>;

/** A field that is not as it was, named as the service names it; `customFields.region` is one of many. */
export interface FieldDifference {
  field: string;
  from: unknown;
  to: unknown;
}

/** A record as it was sent. */
export interface KnownFields {
  fields: Row;
  /** All of it, so that what it lacks was empty; otherwise what it lacks is not known. */
  isWhole: boolean;
}

/** They change with everything else, and say nothing of what did. */
const ignoredFields = new Set([
  'id',
  'createdAt',
  'updatedAt',
  'stageUpdatedAt',
  'unreadable',
  'link',
]);

/** As people and the other answers call them. */
const displayNames: Readonly<Record<string, string>> = {
  pipelineStage: 'stage',
  onetimeRevenue: 'oneTime',
  monthlyRevenue: 'monthly',
  expectedCloseDate: 'closes',
};

/** What differs between two sights of one record, as far as both say something of it. */
export function fieldDifferences(
  resource: Resource,
  before: KnownFields,
  after: Row,
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

/** Numbers as numbers, names as names; what is empty is not there. The record itself is left alone. */
const normalised = (resource: Resource, fields: Row): Row =>
  toRecord(resource, structuredClone(fields)) as Row;

function customDifferences(was: unknown, is: unknown, isWhole: boolean): FieldDifference[] {
  const [before, after] = [was, is].map((value) => (isObject(value) ? value : {})) as [Row, Row];
  return Object.keys(after).flatMap((name) => {
    if (!isWhole && !(name in before)) return [];
    if (isSameValue(before[name], after[name])) return [];
    return [{ field: `customFields.${name}`, from: before[name], to: after[name] }];
  });
}

/** A nested record is the same while its id is, however its name is written. */
function isSameValue(one: unknown, other: unknown): boolean {
  if (isObject(one) && isObject(other) && one.id !== undefined && other.id !== undefined) {
    return one.id === other.id && (one.name ?? '') === (other.name ?? '');
  }
  return canonicalJson(one ?? '') === canonicalJson(other ?? '');
}

const maxText = 60;
const empty = '(empty)';

/** A difference in words: `stage: Discovery → Proposal`. */
export const describeDifference = ({ field, from, to }: FieldDifference): string => {
  const [was, is] = [describeValue(from), describeValue(to)];
  const name = displayNames[field] ?? field;
  return was === is ? `${name}: changed` : `${name}: ${was} → ${is}`;
};

function describeValue(value: unknown): string {
  if (value === undefined || value === null || value === '') return empty;
  if (Array.isArray(value)) return describeList(value);
  if (isObject(value)) return clip(String(value.name ?? value.id ?? JSON.stringify(value)));
  return clip(String(value));
}

function describeList(values: readonly unknown[]): string {
  if (values.length === 0) return empty;
  const plain = values.every((value) => typeof value !== 'object');
  return plain
    ? clip(values.join(', '))
    : `${values.length} ${values.length === 1 ? 'entry' : 'entries'}`;
}

const clip = (text: string): string =>
  text.length > maxText ? `${text.slice(0, maxText)}…` : text;
