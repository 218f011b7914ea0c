import type { Opportunity } from '../../api/records.ts';
import { outcomeOf } from '../../briefs/outcome.ts';
import type { ToolCall } from '../call.ts';
import type { Tenant } from '../tenant.ts';
import { type FieldValue, isSame, type Snapshot, snapshotOf } from './fields.ts';
import { type RecordedChange, readChanges } from './journal.ts';
import { findTarget, type Plan, planOf } from './plan.ts';
import { ChangeRefused } from './refusal.ts';

/**
 * What would take a change back: the fields that it changed, to what they were.
 * @throws ChangeRefused when it is unknown, was never written, made the opportunity, or when somebody
 *   changed those fields since
 */
export async function planRevert(tenant: Tenant, changeId: string, call: ToolCall): Promise<Plan> {
  const { changes } = await readChanges(tenant.journal);
  const change = changes.find(({ sending }) => sending.id === changeId);
  if (!change) throw new ChangeRefused(`There is no change "${changeId}": see cpq_list_changes.`);
  if (change.done?.outcome === 'not_written') {
    throw new ChangeRefused('That change was never written, so there is nothing to take back.');
  }
  if (change.sending.what === 'create') throw await cannotDelete(tenant, change, call);
  const target = await findTarget(tenant, wishFor(change), call);
  const now = target.record ? snapshotOf(target.record, target.scale) : {};
  refuseMoved(change, now);
  return planOf(tenant, target, now, wantedBy(change), call);
}

function wishFor({ sending, done }: RecordedChange) {
  const opportunityId = done?.opportunityId ?? sending.opportunityId;
  return { externalId: sending.externalId, opportunityId, values: {} };
}

/** Each field as it was; one that was empty is emptied. */
function wantedBy({ sending }: RecordedChange): Snapshot {
  const wanted: Record<string, FieldValue> = {};
  for (const { field } of sending.changes) wanted[field] = sending.before[field];
  return wanted;
}

/** What somebody changed since is theirs: it is shown, not overwritten. */
function refuseMoved({ sending, done }: RecordedChange, now: Snapshot): void {
  const left = (field: string, to: FieldValue) => (done?.after ? done.after[field] : to);
  const moved = sending.changes.filter(
    ({ field, kind, from, to }) =>
      !isSame(kind, now[field], left(field, to)) && !isSame(kind, now[field], from),
  );
  if (moved.length === 0) return;
  const differences = moved.map(({ field, to }) => ({
    field,
    written: left(field, to),
    now: now[field],
  }));
  throw new ChangeRefused(
    'Somebody changed these fields since, so the change is not taken back. To set them anyway, use cpq_upsert_opportunity.',
    { differences },
  );
}

/** The API has no way to delete an opportunity: the nearest is a stage that ends it. */
async function cannotDelete(
  tenant: Tenant,
  { sending, done }: RecordedChange,
  call: ToolCall,
): Promise<ChangeRefused> {
  const { records } = await tenant.collection('opportunity', call);
  const stages = new Set(records.filter(isLost).map(({ pipelineStage }) => pipelineStage?.name));
  const names = [...stages].filter((name) => name !== undefined).slice(0, 5);
  const nearest =
    names.length > 0
      ? `The nearest thing is to close it: cpq_upsert_opportunity with its id and one of these stages.`
      : 'The nearest thing is to close it in the product.';
  return new ChangeRefused(
    `That change created the opportunity, and the API cannot delete one. ${nearest} Or a person deletes it in the product.`,
    { opportunity_id: done?.opportunityId, external_id: sending.externalId, stages: names },
  );
}

const isLost = (opportunity: Opportunity): boolean => outcomeOf(opportunity) === 'lost';
