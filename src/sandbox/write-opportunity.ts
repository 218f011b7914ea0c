import { randomUUID } from 'node:crypto';
import {
  amount,
  type BodyShape,
  date,
  object,
  plainProperties,
  reference,
  rowFromBody,
  share,
  text,
  wholeNumber,
} from './body.ts';
import type { Context, EventName, Reply, Request } from './context.ts';
import { isObject, type JsonObject, type Row } from './json.ts';
import { readOne } from './read.ts';
import { opportunity } from './schema.ts';
import { Random } from './seed/random.ts';

const SHAPE: BodyShape = {
  ...plainProperties(text, 'name', 'description'),
  ...reference('company', 'company'),
  ...reference('contact', 'contact'),
  ...reference('owner', 'owner'),
  ...reference('pipelineStage', 'pipeline_stage'),
  ...reference('category', 'opportunity_category'),
  ...reference('source', 'source'),
  ...plainProperties(share, 'probability'),
  ...plainProperties(amount, 'onetimeRevenue', 'monthlyRevenue', 'monthlyChurn'),
  ...plainProperties(wholeNumber, 'valueMonths'),
  ...plainProperties(date, 'startDate', 'expectedCloseDate'),
  ...plainProperties(object, 'customFields'),
};
const COLUMNS = [...new Set(Object.values(SHAPE).map(({ column }) => column))];

/**
 * `PUT /opportunity/ext/{externalIdentifier}`: creates the opportunity (201) or updates it (200).
 * @throws Refusal 400 for a body that is not valid.
 */
export function putOpportunity(context: Context, { key, body }: Request): Reply {
  const given = rowFromBody(context, SHAPE, body, ['name']);
  const { store, tenant } = context;
  const sql = `select json_object('id', id, 'pipelineStageId', pipelineStageId,
      'customFields', json(customFields))
    from opportunity where tenant = ? and externalIdentifier = ?`;
  const found = store.value(sql, tenant, key);
  return found === undefined
    ? create(context, key, given)
    : update(context, JSON.parse(String(found)), given);
}

function create(context: Context, externalIdentifier: string, given: Row): Reply {
  const at = context.now().toISOString();
  const id = new Random(randomUUID()).id();
  const row: Row = {
    ...toStore(context, given),
    id,
    externalIdentifier,
    pipelineStageId: given.pipelineStageId ?? firstStage(context),
    createdAt: at,
    updatedAt: at,
  };
  const rows = [{ ...row, ...enterStage(context, String(row.pipelineStageId), at) }];
  context.store.insert('opportunity', context.tenant, rows.map(withoutNulls));
  const record = announce(context, id, 'created');
  return { status: 201, body: record };
}

interface Present {
  id: string;
  pipelineStageId: string | null;
  customFields: JsonObject | null;
}

function update(context: Context, present: Present, given: Row): Reply {
  const at = context.now().toISOString();
  const clears = context.settings.upsertOmitted === 'clear';
  const wanted: Row = clears
    ? { ...Object.fromEntries(COLUMNS.map((column) => [column, null])), ...given }
    : given;
  // A deal always has a stage: a cleared stage becomes the first one.
  if (wanted.pipelineStageId === null) wanted.pipelineStageId = firstStage(context);
  if (isObject(given.customFields)) {
    wanted.customFields = { ...present.customFields, ...given.customFields };
  }
  const stage = wanted.pipelineStageId;
  const moved = stage !== undefined && stage !== present.pipelineStageId;
  const values = {
    ...toStore(context, wanted),
    ...(moved ? enterStage(context, String(stage), at) : {}),
    updatedAt: at,
  };
  context.store.update('opportunity', context.tenant, present.id, values);
  if (moved) announce(context, present.id, 'status_changed');
  return { status: 200, body: announce(context, present.id, 'updated') };
}

/** Converts 0–1 of the body to the tenant's scale. */
function toStore({ store, tenant }: Context, row: Row): Row {
  if (typeof row.probability !== 'number') return row;
  const scale = Number(
    store.value('select probabilityScale from tenant where tenant = ?', tenant) ?? 1,
  );
  return { ...row, probability: Math.round(row.probability * scale * 1e6) / 1e6 };
}

function firstStage({ store, tenant }: Context): string {
  const sql = 'select id from pipeline_stage where tenant = ? order by position limit 1';
  return String(store.value(sql, tenant));
}

/** A final stage closes the deal; any other stage reopens it. */
function enterStage({ store, tenant }: Context, stage: string, at: string): Row {
  const sql = `select json_object('outcome', outcome, 'statusId', statusId)
    from pipeline_stage where tenant = ? and id = ?`;
  const { outcome, statusId } = JSON.parse(String(store.value(sql, tenant, stage)));
  return { stageUpdatedAt: at, outcome, statusId, closedAt: outcome === 'open' ? null : at };
}

/** In a new record, a property set to null is absent. */
function withoutNulls(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}

/** Notifies the listeners of a change and returns the record's JSON text. */
function announce(context: Context, id: string, event: EventName): string {
  const { tenant } = context;
  const body = readOne(context, opportunity, 'id', id);
  const at = context.now().toISOString();
  context.announce({ tenant, subject: 'opportunity', event, id, at, record: JSON.parse(body) });
  return body;
}
