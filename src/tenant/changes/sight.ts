import type { Opportunity } from '../../api/records.ts';
import type { ToolCall } from '../call.ts';
import type { Tenant } from '../tenant.ts';
import {
  type FieldChange,
  type FieldValue,
  isSame,
  type Snapshot,
  sentFields,
  snapshotOf,
} from './fields.ts';
import { findByExternalId, readFresh, type TenantScale } from './target.ts';

/** A change that was sent, or may have been, and the record that it is about. */
export interface Sent {
  externalId: string;
  /** Absent when the change was to make the record. */
  opportunityId?: string | undefined;
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
    const record =
      sent.opportunityId === undefined
        ? await findByExternalId(tenant, sent.externalId, call)
        : await readFresh(tenant, sent.opportunityId, call);
    return record ? sightOf(sent, record, scale) : { seen: 'as before' };
  } catch {
    return { seen: 'unreadable' }; // Told as it is.
  }
}

function sightOf({ opportunityId, changes }: Sent, record: Opportunity, scale: TenantScale): Sight {
  const held = changes.filter((change) => holds(change, change.to, record, scale)).length;
  if (held === changes.length) return { seen: 'arrived', record };
  if (held > 0) return { seen: 'partly', record };
  const moved = changes.some((change) => !holds(change, change.from, record, scale));
  // A record that was not there before is not as before, whatever it holds.
  return moved || opportunityId === undefined ? { seen: 'otherwise', record } : { seen: 'as before' };
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
