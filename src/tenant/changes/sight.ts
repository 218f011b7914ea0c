import { isApiError } from '../../api/errors.ts';
import type { Opportunity } from '../../api/records.ts';
import type { ToolCall } from '../call.ts';
import type { Tenant } from '../tenant.ts';
import {
  canonical,
  changedCustom,
  entryOf,
  type FieldChange,
  type FieldValue,
  isSame,
  type Snapshot,
  sentFields,
  snapshotOf,
} from './fields.ts';
import { findByExternalId, readFresh, scaleOf, type TenantScale } from './target.ts';

/** A change that was sent, or may have been, and the record that it is about. */
export interface Sent {
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
export type Sight =
  | { seen: 'arrived' | 'partly' | 'otherwise'; record: Opportunity }
  | { seen: 'as before' }
  | { seen: 'unreadable' };

/** Reads the record and compares. Never throws. */
export async function look(
  tenant: Tenant,
  sent: Sent,
  scale: TenantScale,
  call: ToolCall,
): Promise<Sight> {
  try {
    const record = await read(tenant, sent, call);
    return record ? sightOf(sent, record, scale) : { seen: 'as before' };
  } catch {
    return { seen: 'unreadable' }; // Told as it is.
  }
}

/** A change whose outcome nobody knew, as the record shows it now. Reads only; never throws. */
export async function lookNow(tenant: Tenant, sent: Sent, call: ToolCall): Promise<Sight> {
  const scale = await scaleOf(tenant, call).catch(() => undefined);
  return scale ? look(tenant, sent, scale, call) : { seen: 'unreadable' };
}

async function read(
  tenant: Tenant,
  { externalId, opportunityId, madeId }: Sent,
  call: ToolCall,
): Promise<Opportunity | undefined> {
  if (opportunityId !== undefined) return readFresh(tenant, opportunityId, call);
  const made = madeId === undefined ? undefined : await readIfThere(tenant, madeId, call);
  // An answer may name another record than the one that was written.
  if (made?.externalIdentifier === externalId) return made;
  return findByExternalId(tenant, externalId, call);
}

const readIfThere = (tenant: Tenant, id: string, call: ToolCall) =>
  readFresh(tenant, id, call).catch((error: unknown) => {
    if (isApiError(error, 'not-found')) return undefined;
    throw error;
  });

function sightOf({ opportunityId, changes }: Sent, record: Opportunity, scale: TenantScale): Sight {
  const held = changes.filter((change) => shows(change, 'to', record, scale)).length;
  if (held === changes.length) return { seen: 'arrived', record };
  if (held > 0) return { seen: 'partly', record };
  const moved = changes.some((change) => !shows(change, 'from', record, scale));
  // A record that was not there before is not as before, whatever it holds.
  return moved || opportunityId === undefined
    ? { seen: 'otherwise', record }
    : { seen: 'as before' };
}

/** Of custom fields only those that were to change: others are others' business. */
function shows(
  change: FieldChange,
  side: 'from' | 'to',
  record: Opportunity,
  scale: TenantScale,
): boolean {
  if (change.kind !== 'custom') return holds(change, change[side], record, scale);
  const now = snapshotOf(record, scale.divisor)[change.field];
  return changedCustom(change.from, change.to).every(
    (name) => canonical(entryOf(now, name)) === canonical(entryOf(change[side], name)),
  );
}

/** Whether a record holds this value, by either reading of a probability where that is not certain. */
function holds(
  { field, kind }: Pick<FieldChange, 'field' | 'kind'>,
  value: FieldValue,
  record: Opportunity,
  { divisor, certain }: TenantScale,
): boolean {
  const held = (by: 1 | 100) => isSame(kind, value, snapshotOf(record, by)[field]);
  return held(divisor) || (kind === 'share' && !certain && held(divisor === 1 ? 100 : 1));
}

export interface Difference {
  field: string;
  meant: FieldValue;
  stored: FieldValue;
}

/**
 * What the service stored otherwise: over the fields that were to change and, of a record that was there
 * before, those that were to stay. A new record's other fields are the service's to fill.
 */
export function differing(sent: Sent, record: Opportunity, scale: TenantScale): Difference[] {
  return sentFields.flatMap(({ name, kind }) => {
    const change = sent.changes.find(({ field }) => field === name);
    if (!change && sent.opportunityId === undefined) return [];
    const meant = change ? change.to : sent.before[name];
    if (holds({ field: name, kind }, meant, record, scale)) return [];
    return [{ field: name, meant, stored: snapshotOf(record, scale.divisor)[name] }];
  });
}
