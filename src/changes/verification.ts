import { ignoreApiError } from '../service/errors.ts';
import type { Opportunity } from '../service/records/records.ts';
import type { ToolCall } from '../tenant/call.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { canonicalJson } from '../values.ts';
import {
  changedCustomFields,
  customField,
  type FieldChange,
  type FieldValue,
  type FieldValues,
  fieldValuesOf,
  isSameValue,
  sentProperties,
} from './fields.ts';
import { findByExternalId, readPresent, type TenantScale, tenantScale } from './target.ts';
import { type FieldKind, sentFields, type WritableField } from './writable-fields.ts';

/** A change that was sent, or may have been sent, and its record. */
export interface SentChange {
  externalId: string;
  /** Absent if the change creates the record. */
  opportunityId?: string | undefined;
  /** Id of the created record, from the service's response. */
  createdId?: string | undefined;
  before: FieldValues;
  changes: readonly FieldChange[];
  /** The whole record as it was, where that is still known. */
  recordBefore?: Opportunity | undefined;
}

/**
 * The result of reading the record back. `applied`: every changed field has the intended value. `partial`: some
 * have. `unchanged`: all have their old values. `diverged`: fields changed to other values, perhaps by somebody
 * else. `unreadable`: the record cannot be read now.
 */
export type Verification =
  | { result: 'applied' | 'partial' | 'diverged'; record: Opportunity }
  | { result: 'unchanged' }
  | { result: 'unreadable' };

/** Reads the record and compares. Never throws. */
export async function verify(
  tenant: Tenant,
  sent: SentChange,
  scale: TenantScale,
  call: ToolCall,
): Promise<Verification> {
  try {
    const record = await readTarget(tenant, sent, call);
    return record ? compare(sent, record, scale) : { result: 'unchanged' };
  } catch {
    return { result: 'unreadable' };
  }
}

/** Verifies a change of unknown outcome against the present record. Never throws. */
export async function verifyNow(
  tenant: Tenant,
  sent: SentChange,
  call: ToolCall,
): Promise<Verification> {
  const setsProbability = sent.changes.some(({ kind }) => kind === 'share');
  const scale = await tenantScale(tenant, call, { setsProbability }).catch(() => undefined);
  return scale ? verify(tenant, sent, scale, call) : { result: 'unreadable' };
}

async function readTarget(
  tenant: Tenant,
  { externalId, opportunityId, createdId }: SentChange,
  call: ToolCall,
): Promise<Opportunity | undefined> {
  if (opportunityId !== undefined) return (await readPresent(tenant, opportunityId, call)).record;
  const created =
    createdId === undefined
      ? undefined
      : (await readPresent(tenant, createdId, call).catch(ignoreApiError('not-found')))?.record;
  // A response may contain another record than the one that was written.
  if (created?.externalIdentifier === externalId) return created;
  return (await findByExternalId(tenant, externalId, call))?.record;
}

function compare(sent: SentChange, record: Opportunity, scale: TenantScale): Verification {
  const { opportunityId, changes, recordBefore } = sent;
  const matches = changes.filter((change) => matchesSide(change, 'to', record, scale)).length;
  if (matches === changes.length) return { result: 'applied', record };
  if (matches > 0) return { result: 'partial', record };
  const moved =
    changes.some((change) => !matchesSide(change, 'from', record, scale)) ||
    (recordBefore !== undefined && unaskedDifferences(sent, record, scale).length > 0);
  // A created record is never unchanged.
  return moved || opportunityId === undefined
    ? { result: 'diverged', record }
    : { result: 'unchanged' };
}

/** True if the record has the value of this side of the change. Of custom fields, only the changed ones count. */
function matchesSide(
  change: FieldChange,
  side: 'from' | 'to',
  record: Opportunity,
  scale: TenantScale,
): boolean {
  if (change.kind !== 'custom') return matchesValue(change, change[side], record, scale);
  const now = fieldValuesOf(record, scale.divisor)[change.field];
  return changedCustomFields(change.from, change.to).every(
    (name) =>
      canonicalJson(customField(now, name)) === canonicalJson(customField(change[side], name)),
  );
}

/** True if the record has this value. A probability of uncertain scale may match on either scale. */
function matchesValue(
  { field, kind }: Pick<FieldChange, 'field' | 'kind'>,
  value: FieldValue,
  record: Opportunity,
  { divisor, certain }: TenantScale,
): boolean {
  const matches = (by: 1 | 100) => isSameValue(kind, value, fieldValuesOf(record, by)[field]);
  return matches(divisor) || (kind === 'share' && !certain && matches(divisor === 1 ? 100 : 1));
}

export interface StoredDifference {
  field: string;
  /** Of a field that this server can write. */
  kind?: FieldKind;
  intended: FieldValue;
  stored: FieldValue;
  /** Whether the field was to change. */
  asked: boolean;
}

/**
 * The fields whose stored value differs from the intended one. Checks all fields of an existing record, but only the
 * requested fields of a new one: the service sets defaults for the others.
 */
export function storedDifferences(
  sent: SentChange,
  record: Opportunity,
  scale: TenantScale,
): StoredDifference[] {
  const asked = sent.changes.flatMap((change) => {
    const { field, kind, to } = change;
    if (matchesValue(change, to, record, scale)) return [];
    return [storedDifference({ name: field, kind }, to, record, scale, true)];
  });
  const unasked = sent.opportunityId === undefined ? [] : unaskedDifferences(sent, record, scale);
  return [...unasked, ...asked];
}

function storedDifference(
  { name, kind }: Pick<WritableField, 'name' | 'kind'>,
  intended: FieldValue,
  record: Opportunity,
  { divisor }: TenantScale,
  asked: boolean,
): StoredDifference {
  return { field: name, kind, intended, stored: fieldValuesOf(record, divisor)[name], asked };
}

/** Every field that was to stay and did not, also those that this server never writes. */
function unaskedDifferences(
  sent: SentChange,
  record: Opportunity,
  scale: TenantScale,
): StoredDifference[] {
  const { before, changes, recordBefore } = sent;
  const now = fieldValuesOf(record, scale.divisor);
  const known = sentFields
    .filter(({ name }) => !changes.some(({ field }) => field === name))
    .filter(({ name, kind }) => !isSameValue(kind, before[name], now[name]))
    .map((field) => storedDifference(field, before[field.name], record, scale, false));
  const others = recordBefore ? otherDifferences(sent, recordBefore, record) : [];
  return [...known, ...others];
}

/** Fields that this server never writes, but for the times that every write sets. */
function otherDifferences(
  { changes }: SentChange,
  before: Opportunity,
  record: Opportunity,
): StoredDifference[] {
  const stageChanges = changes.some(({ field }) => field === 'stage');
  const isExpected = (name: string) =>
    sentProperties.has(name) || name === 'updatedAt' || (name === 'stageUpdatedAt' && stageChanges);
  const [was, is] = [allFields(before), allFields(record)];
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  return names
    .filter((name) => !isExpected(name) && asText(was[name]) !== asText(is[name]))
    .map((name) => ({
      field: name,
      intended: asText(was[name]),
      stored: asText(is[name]),
      asked: false,
    }));
}

const allFields = ({ unreadable, ...fields }: Opportunity): Record<string, unknown> => ({
  ...fields,
  ...unreadable,
});

const asText = (value: unknown): string | undefined => {
  if (value === undefined || value === null || value === '') return undefined;
  return typeof value === 'string' ? value : canonicalJson(value);
};
