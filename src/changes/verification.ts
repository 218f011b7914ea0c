import { ignoreApiError } from '../service/errors.ts';
import type { Opportunity } from '../service/records/records.ts';
import type { Tenant, ToolCall } from '../tenant/tenant.ts';
import { canonicalJson } from '../values.ts';
import {
  changedCustomFields,
  customField,
  type Divisor,
  differingFields,
  type FieldChange,
  type FieldValues,
  fieldValuesOf,
  intendedValues,
  isSameValue,
  sentProperties,
} from './fields.ts';
import type { WriteIntent } from './journal.ts';
import { TargetFinder } from './target.ts';
import type { FieldKind } from './writable-fields.ts';

/** A change that was sent, or may have been sent, and its record. */
export interface SentChange
  extends Pick<WriteIntent, 'externalId' | 'opportunityId' | 'before' | 'changes'> {
  createdId?: string | undefined;
  /** The whole record as it was, where that is still known. */
  recordBefore?: Opportunity | undefined;
  /** Of the tenant's scale of probabilities. */
  divisor: Divisor;
}

/**
 * The result of reading the record back. `applied`: every changed field has the intended value. `partial`: some
 * have. `unchanged`: all have their old values. `diverged`: fields changed to other values, perhaps by somebody
 * else. `unreadable`: the record cannot be read now.
 */
export type Verification =
  | { result: 'applied' | 'partial' | 'diverged'; record: Opportunity }
  | { result: 'unchanged' | 'unreadable' };

/** Reads the record and compares. Never throws. */
export async function verify(
  tenant: Tenant,
  sent: SentChange,
  call: ToolCall,
): Promise<Verification> {
  try {
    const record = await readTarget(tenant, sent, call);
    return record ? compare(sent, record) : { result: 'unchanged' };
  } catch {
    return { result: 'unreadable' };
  }
}

async function readTarget(
  tenant: Tenant,
  { externalId, opportunityId, createdId }: SentChange,
  call: ToolCall,
): Promise<Opportunity | undefined> {
  const finder = new TargetFinder(tenant, call);
  if (opportunityId !== undefined) return (await finder.read(opportunityId)).record;
  const created =
    createdId === undefined
      ? undefined
      : (await finder.read(createdId).catch(ignoreApiError('not-found')))?.record;
  // A response may contain another record than the one that was written.
  if (created?.externalIdentifier === externalId) return created;
  return (await finder.byExternalId(externalId))?.record;
}

function compare(sent: SentChange, record: Opportunity): Verification {
  const { opportunityId, changes, recordBefore, divisor } = sent;
  const now = fieldValuesOf(record, divisor);
  const countAt = (side: 'from' | 'to') =>
    changes.filter((change) => isAtSide(change, side, now)).length;
  const arrived = countAt('to');
  if (arrived > 0) return { result: arrived === changes.length ? 'applied' : 'partial', record };
  // A created record is never unchanged.
  const isAsBefore =
    opportunityId !== undefined &&
    countAt('from') === changes.length &&
    (recordBefore === undefined || storedDifferences(sent, record).every(({ asked }) => asked));
  return isAsBefore ? { result: 'unchanged' } : { result: 'diverged', record };
}

/** Whether the record has the value of this side of the change. Of custom fields, only the changed ones count. */
function isAtSide(change: FieldChange, side: 'from' | 'to', values: FieldValues): boolean {
  const { field, kind, from, to } = change;
  const now = values[field];
  if (kind !== 'custom') return isSameValue(kind, change[side], now);
  return changedCustomFields(from, to).every(
    (name) =>
      canonicalJson(customField(now, name)) === canonicalJson(customField(change[side], name)),
  );
}

export interface StoredDifference {
  field: string;
  /** Of a field that this server can write. */
  kind?: FieldKind;
  intended: unknown;
  stored: unknown;
  /** Whether the field was to change. */
  asked: boolean;
}

/**
 * The fields whose stored value differs from the intended one. Checks all fields of an existing record, but only the
 * requested fields of a new one: the service sets defaults for the others.
 */
export function storedDifferences(sent: SentChange, record: Opportunity): StoredDifference[] {
  const { before, changes, divisor, opportunityId, recordBefore } = sent;
  const [intended, stored] = [intendedValues(before, changes), fieldValuesOf(record, divisor)];
  const known = differingFields(intended, stored).map(({ name, kind }) => ({
    field: name,
    kind,
    intended: intended[name],
    stored: stored[name],
    asked: changes.some(({ field }) => field === name),
  }));
  const asked = known.filter((one) => one.asked);
  if (opportunityId === undefined) return asked;
  const others = recordBefore ? otherDifferences(sent, recordBefore, record) : [];
  return [...known.filter((one) => !one.asked), ...others, ...asked];
}

/** A final stage closes a deal, another one opens it again. */
const followStage = new Set(['stageUpdatedAt', 'statusId', 'closedAt']);

/** Fields that this server never writes, but for those that every write or a new stage sets. */
function otherDifferences(
  { changes }: SentChange,
  before: Opportunity,
  record: Opportunity,
): StoredDifference[] {
  const stageChanges = changes.some(({ field }) => field === 'stage');
  const isExpected = (name: string) =>
    sentProperties.has(name) || name === 'updatedAt' || (stageChanges && followStage.has(name));
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
