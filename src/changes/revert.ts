import type { ToolCall } from '../tenant/call.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { identifier, quote, wording } from '../text/untrusted-text.ts';
import {
  changedCustomFields,
  customField,
  differingFields,
  type FieldChange,
  type FieldValue,
  type FieldValues,
  fieldValuesOf,
  intendedValues,
  type RequestedValues,
  shownValue,
} from './fields.ts';
import { type RecordedChange, readChanges } from './journal.ts';
import { buildPlan, type ChangePlan } from './plan.ts';
import { ChangeRefused } from './refusal.ts';
import { findTarget } from './target.ts';

/**
 * Plans to revert a change: its fields get their old values.
 * @throws ChangeRefused if the change is unknown, was never written, created the opportunity or was reverted
 *   already, or if somebody changed the opportunity since
 */
export async function planRevert(
  tenant: Tenant,
  changeId: string,
  call: ToolCall,
): Promise<ChangePlan> {
  const { changes } = await readChanges(tenant.writes.journal);
  const change = changes.find(({ intent }) => intent.id === changeId);
  if (!change)
    throw new ChangeRefused(wording`There is no change ${quote(changeId)}: see cpq_list_changes.`);
  if (change.outcome?.outcome === 'not_written') {
    throw new ChangeRefused(wording`That change was never written, so there is nothing to revert.`);
  }
  if (change.intent.what === 'create') {
    const verb = change.outcome?.outcome === 'written' ? 'created' : 'may have created';
    throw new ChangeRefused(
      wording`That change ${verb} the opportunity, and the API cannot delete one. The nearest thing is to close it with a stage of cpq_upsert_opportunity, or in the product, where a person can delete it too.`,
      { opportunity_id: change.outcome?.opportunityId, external_id: change.intent.externalId },
    );
  }
  if (change.revertedBy !== undefined) {
    throw new ChangeRefused(
      wording`That change was reverted already, by ${identifier(change.revertedBy)}. To restore it, revert that one.`,
    );
  }
  const { externalId, opportunityId, changes: made } = change.intent;
  const target = await findTarget(tenant, { externalId, opportunityId }, call);
  const { present, scale } = target;
  const now = present ? fieldValuesOf(present.record, scale.divisor) : {};
  refuseIfChanged(change, now);
  return buildPlan(tenant, target, revertValues(made), call, changeId);
}

/** The old value of each changed field; empty values clear the field. Of custom fields, only the changed ones. */
function revertValues(changes: readonly FieldChange[]): RequestedValues {
  const entries = changes.map(({ field, kind, from, to }): [string, FieldValue] => {
    if (kind !== 'custom') return [field, from];
    const names = changedCustomFields(from, to);
    return [
      field,
      Object.fromEntries(names.map((name) => [name, customField(from, name) ?? null])),
    ];
  });
  return Object.fromEntries(entries);
}

/** A record in its old state is accepted: the change never arrived, or was reverted by hand. */
function refuseIfChanged({ intent, outcome }: RecordedChange, now: FieldValues): void {
  const written = outcome?.after ?? intendedValues(intent.before, intent.changes);
  const changed = differingFields(written, now);
  if (changed.length === 0 || differingFields(intent.before, now).length === 0) return;
  const differences = changed.map(({ name, kind }) => ({
    field: name,
    written: shownValue(kind, written[name]),
    now: shownValue(kind, now[name]),
  }));
  throw new ChangeRefused(
    wording`Somebody changed this opportunity since, so the change is not reverted. To set its fields anyway, use cpq_upsert_opportunity.`,
    { differences },
  );
}
