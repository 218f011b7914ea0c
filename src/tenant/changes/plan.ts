import { createHash } from 'node:crypto';
import { NotFound } from '../../api/errors.ts';
import type { Opportunity } from '../../api/records.ts';
import { isDeleted } from '../../briefs/outcome.ts';
import { probabilityScale } from '../../briefs/probability.ts';
import { interactive, type ToolCall } from '../call.ts';
import type { Tenant } from '../tenant.ts';
import {
  canonical,
  differenceOf,
  type FieldChange,
  type FieldValue,
  type Reference,
  type Snapshot,
  snapshotOf,
} from './fields.ts';
import { ChangeRefused } from './refusal.ts';
import { resolveCompany, resolveContact, resolveWord } from './resolve.ts';

/** What is asked for, in the words of whoever asks. */
export interface Wish {
  externalId?: string | undefined;
  opportunityId?: string | undefined;
  /** Said explicitly: an external identifier that matches nothing creates a record. */
  create?: boolean | undefined;
  /** By field name; references by id, external identifier or name. */
  values: Readonly<Record<string, unknown>>;
}

/** The record that a change is about, as it is now. */
export interface Target {
  externalId: string;
  /** Absent when there is none yet. */
  record?: Opportunity;
  scale: 1 | 100;
}

/** Exactly what would be written, to what, as it is now. */
export interface Plan {
  target: Target;
  before: Snapshot;
  changes: FieldChange[];
  currency?: string;
  /** Binds a consent to this tenant, this record in this state, and this difference. */
  digest: string;
}

/**
 * Finds the record that is meant.
 * @throws ChangeRefused when it is not there, cannot be written, or would be created unasked
 */
export async function findTarget(tenant: Tenant, wish: Wish, call: ToolCall): Promise<Target> {
  const scale = await scaleOf(tenant, call);
  if (wish.opportunityId !== undefined)
    return targetById(tenant, wish.opportunityId, wish, scale, call);
  if (wish.externalId === undefined) {
    throw new ChangeRefused(
      'Say which opportunity: opportunity_id or external_id to change one, external_id with create true to make one.',
    );
  }
  const record = await findByExternalId(tenant, wish.externalId, call);
  if (record) {
    refuseDeleted(record);
    if (wish.create) throw alreadyThere(wish.externalId, record);
    return { externalId: wish.externalId, record, scale };
  }
  if (wish.create) return { externalId: wish.externalId, scale };
  throw new ChangeRefused(
    `No opportunity has the external identifier "${wish.externalId}". To make a new one, say create: true; to change one, take its id from a list.`,
  );
}

const alreadyThere = (externalId: string, { id, name }: Opportunity): ChangeRefused =>
  new ChangeRefused(
    `The external identifier "${externalId}" is taken, so nothing new would be made. To change that opportunity, leave create out.`,
    { opportunity: { id, name } },
  );

async function targetById(
  tenant: Tenant,
  id: string,
  wish: Wish,
  scale: 1 | 100,
  call: ToolCall,
): Promise<Target> {
  const record = await readFresh(tenant, id, call).catch((error: unknown) => {
    if (!(error instanceof NotFound)) throw error;
    throw new ChangeRefused(`There is no opportunity with the id "${id}". Take it from a list.`);
  });
  refuseDeleted(record);
  const externalId = record.externalIdentifier;
  if (externalId === undefined) {
    throw new ChangeRefused(
      'This opportunity has no external identifier, and the API writes by external identifier only. Give it one in the product first.',
    );
  }
  if (wish.externalId !== undefined && wish.externalId !== externalId) {
    throw new ChangeRefused(`opportunity_id and external_id are two different opportunities.`);
  }
  if (wish.create) throw alreadyThere(externalId, record);
  return { externalId, record, scale };
}

function refuseDeleted(record: Opportunity): void {
  if (isDeleted(record)) throw new ChangeRefused('This opportunity has been deleted.');
}

/** The record as it is now, not as it was in a collection. */
export const readFresh = (tenant: Tenant, id: string, call: ToolCall): Promise<Opportunity> =>
  tenant.client.one('opportunity', 'id', id, interactive(call));

/**
 * There is no route that reads an opportunity by external identifier. A search finds most at once; only
 * a complete reading of all of them, made now, shows that there is none.
 * @throws ChangeRefused when that reading could not be completed
 */
export async function findByExternalId(
  tenant: Tenant,
  externalId: string,
  call: ToolCall,
): Promise<Opportunity | undefined> {
  const query = { size: 25, query: externalId };
  const page = await tenant.client.page('opportunity', query, interactive(call));
  const hit = page.records.find((record) => record.externalIdentifier === externalId);
  if (hit?.id !== undefined) return readFresh(tenant, hit.id, call);
  tenant.changed('opportunity');
  const { records, coverage } = await tenant.collection('opportunity', call);
  const found = records.find((record) => record.externalIdentifier === externalId);
  if (found || coverage.complete) return found;
  throw new ChangeRefused(
    `Only ${coverage.read} of ${coverage.total} opportunities could be read (${coverage.reason}), so it is not certain that "${externalId}" is new. Use opportunity_id, or try later.`,
  );
}

/**
 * The same record, read again.
 * @throws ChangeRefused when it went away meanwhile
 */
export async function sameTarget(tenant: Tenant, target: Target, call: ToolCall): Promise<Target> {
  const { externalId, record, scale } = target;
  if (record?.id === undefined) return stillAbsent(tenant, target, call);
  const now = await readFresh(tenant, record.id, call);
  refuseDeleted(now);
  return { externalId, record: now, scale };
}

async function stillAbsent(tenant: Tenant, target: Target, call: ToolCall): Promise<Target> {
  const query = { size: 25, query: target.externalId };
  const page = await tenant.client.page('opportunity', query, interactive(call));
  const record = page.records.find((it) => it.externalIdentifier === target.externalId);
  return record ? { ...target, record } : target;
}

/** What the tenant divides a probability by; the API itself takes 0–1. */
async function scaleOf(tenant: Tenant, call: ToolCall): Promise<1 | 100> {
  const { records } = await tenant.collection('opportunity', call);
  return probabilityScale(records).scale === '0-100' ? 100 : 1;
}

/**
 * Resolves every name, compares with the record as it is, and says what would change.
 * @throws ChangeRefused for a name that is unknown or ambiguous
 */
export async function makePlan(
  tenant: Tenant,
  target: Target,
  values: Readonly<Record<string, unknown>>,
  call: ToolCall,
): Promise<Plan> {
  const before = target.record ? snapshotOf(target.record, target.scale) : {};
  const wanted = await resolveAll(tenant, values, before, call);
  if (!target.record && !wanted.name) throw new ChangeRefused('A new opportunity needs a name.');
  return planOf(tenant, target, before, wanted, call);
}

/** The plan towards values that need no resolving, as when a change is taken back. */
export async function planOf(
  tenant: Tenant,
  target: Target,
  before: Snapshot,
  wanted: Snapshot,
  call: ToolCall,
): Promise<Plan> {
  const changes = differenceOf(before, wanted);
  const company = (wanted.company ?? before.company) as Reference | undefined;
  const currency = company && (await currencyOf(tenant, company.id, call));
  const digest = digestOf(tenant, target, before, changes);
  return { target, before, changes, digest, ...(currency === undefined ? {} : { currency }) };
}

function digestOf(
  tenant: Tenant,
  target: Target,
  before: Snapshot,
  changes: FieldChange[],
): string {
  const state = [target.externalId, target.record?.id, target.record?.updatedAt, before];
  const bound = canonical([tenant.identity, state, changes]);
  return createHash('sha256').update(bound).digest('base64url');
}

async function currencyOf(
  tenant: Tenant,
  companyId: string,
  call: ToolCall,
): Promise<string | undefined> {
  if (!tenant.grants.has('company:read')) return undefined;
  const { records } = await tenant.collection('company', call);
  return records.find(({ id }) => id === companyId)?.currency;
}

async function resolveAll(
  tenant: Tenant,
  values: Readonly<Record<string, unknown>>,
  before: Snapshot,
  call: ToolCall,
): Promise<Snapshot> {
  const wanted: Record<string, FieldValue> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) wanted[name] = value as FieldValue;
  }
  if (wanted.company) wanted.company = await resolveCompany(tenant, String(wanted.company), call);
  if (wanted.contact) {
    const company = (wanted.company ?? before.company) as Reference | undefined;
    wanted.contact = await resolveContact(tenant, String(wanted.contact), company, call);
  }
  const { records } = await tenant.collection('opportunity', call);
  for (const what of ['owner', 'stage', 'category', 'source'] as const) {
    if (wanted[what]) wanted[what] = resolveWord(what, String(wanted[what]), records);
  }
  if (wanted.custom_fields) {
    wanted.custom_fields = {
      ...(before.custom_fields as object),
      ...(wanted.custom_fields as object),
    };
  }
  return wanted;
}
