import { isApiError } from '../../api/errors.ts';
import type { Opportunity } from '../../api/records.ts';
import type { ToolCall } from '../call.ts';
import type { Tenant } from '../tenant.ts';
import {
  canonicalJson,
  changedCustomFields,
  customField,
  type FieldChange,
  type FieldValue,
  isSameValue,
  type Snapshot,
  sentFields,
  snapshotOf,
} from './fields.ts';
import { findByExternalId, readCurrent, type TenantScale, tenantScale } from './target.ts';

/** A change that was sent, or may have been, and the record that it is about. */
export interface SentChange {
  externalId: string;
  /** Absent when the change was to make the record. */
  opportunityId?: string | undefined;
  /** What the service called the record that it made. */
  madeId?: string | undefined;
  before: Snapshot;
  changes: readonly FieldChange[];
}

/**
 * What a look at the record shows of a change: `arrived`: every field of it holds what was meant;
 * `partly`: some do; `as before`: none changed; `otherwise`: fields of it changed, but to something
 * else, which may be somebody else's doing; `unreadable`: the record cannot be read now.
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
    return { result: 'unreadable' }; // Told as it is.
  }
}

/** A change whose outcome nobody knew, as the record shows it now. Reads only; never throws. */
export async function verifyNow(
  tenant: Tenant,
  sent: SentChange,
  call: ToolCall,
): Promise<Verification> {
  const scale = await tenantScale(tenant, call).catch(() => undefined);
  return scale ? verify(tenant, sent, scale, call) : { result: 'unreadable' };
}

async function readTarget(
  tenant: Tenant,
  { externalId, opportunityId, madeId }: SentChange,
  call: ToolCall,
): Promise<Opportunity | undefined> {
  if (opportunityId !== undefined) return readCurrent(tenant, opportunityId, call);
  const made = madeId === undefined ? undefined : await readIfExists(tenant, madeId, call);
  // An answer may name another record than the one that was written.
  if (made?.externalIdentifier === externalId) return made;
  return findByExternalId(tenant, externalId, call);
}

const readIfExists = (tenant: Tenant, id: string, call: ToolCall) =>
  readCurrent(tenant, id, call).catch((error: unknown) => {
    if (isApiError(error, 'not-found')) return undefined;
    throw error;
  });

function compare(
  { opportunityId, changes }: SentChange,
  record: Opportunity,
  scale: TenantScale,
): Verification {
  const matches = changes.filter((change) => matchesSide(change, 'to', record, scale)).length;
  if (matches === changes.length) return { result: 'applied', record };
  if (matches > 0) return { result: 'partial', record };
  const moved = changes.some((change) => !matchesSide(change, 'from', record, scale));
  // A record that was not there before is not as before, whatever it holds.
  return moved || opportunityId === undefined
    ? { result: 'diverged', record }
    : { result: 'unchanged' };
}

/** Of custom fields only those that were to change: others are others' business. */
function matchesSide(
  change: FieldChange,
  side: 'from' | 'to',
  record: Opportunity,
  scale: TenantScale,
): boolean {
  if (change.kind !== 'custom') return matchesValue(change, change[side], record, scale);
  const now = snapshotOf(record, scale.divisor)[change.field];
  return changedCustomFields(change.from, change.to).every(
    (name) =>
      canonicalJson(customField(now, name)) === canonicalJson(customField(change[side], name)),
  );
}

/** Whether a record holds this value, by either reading of a probability where that is not certain. */
function matchesValue(
  { field, kind }: Pick<FieldChange, 'field' | 'kind'>,
  value: FieldValue,
  record: Opportunity,
  { divisor, certain }: TenantScale,
): boolean {
  const matches = (by: 1 | 100) => isSameValue(kind, value, snapshotOf(record, by)[field]);
  return matches(divisor) || (kind === 'share' && !certain && matches(divisor === 1 ? 100 : 1));
}

export interface StoredDifference {
  field: string;
  intended: FieldValue;
  stored: FieldValue;
}

/**
 * What the service stored otherwise: over the fields that were to change and, of a record that was there
 * before, those that were to stay. A new record's other fields are the service's to fill.
 */
export function storedDifferences(
  sent: SentChange,
  record: Opportunity,
  scale: TenantScale,
): StoredDifference[] {
  return sentFields.flatMap(({ name, kind }) => {
    const change = sent.changes.find(({ field }) => field === name);
    if (!change && sent.opportunityId === undefined) return [];
    const intended = change ? change.to : sent.before[name];
    if (matchesValue({ field: name, kind }, intended, record, scale)) return [];
    return [{ field: name, intended, stored: snapshotOf(record, scale.divisor)[name] }];
  });
}
