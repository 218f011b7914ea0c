import { isDeleted } from '../figures/outcome.ts';
import { probabilityScale } from '../figures/probability.ts';
import { type KnownRecords, referencesWithoutId } from '../names/references.ts';
import { ignoreApiError } from '../service/errors.ts';
import type { Opportunity } from '../service/records/records.ts';
import { isPathSegment } from '../service/routes.ts';
import type { ToolCall } from '../tenant/call.ts';
import { nameReferences } from '../tenant/naming.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { quote, trusted, wording } from '../text/untrusted-text.ts';
import type { Divisor } from './fields.ts';
import { ChangeRefused } from './refusal.ts';

export interface TargetSelector {
  externalId?: string | undefined;
  opportunityId?: string | undefined;
  /** True to create a record if no record has the external identifier. */
  create?: boolean | undefined;
}

/** The tenant's scale of stored probabilities; the API accepts 0–1 only. */
export interface TenantScale {
  divisor: Divisor;
  /** True if the tenant's values determine the scale. */
  certain: boolean;
}

/** The present state of the record to change. */
export interface Target {
  externalId: string;
  /** Absent if it does not exist yet. */
  record?: Opportunity;
  scale: TenantScale;
}

/**
 * Finds the record to change.
 * @throws ChangeRefused if it does not exist and `create` is not set, or cannot be written
 */
export async function findTarget(
  tenant: Tenant,
  selector: TargetSelector,
  call: ToolCall,
): Promise<Target> {
  const { externalId, opportunityId } = selector;
  if (opportunityId !== undefined) return targetById(tenant, opportunityId, selector, call);
  if (externalId === undefined) {
    throw new ChangeRefused(
      wording`Say which opportunity: opportunity_id or external_id to change one, external_id with create true to make one.`,
    );
  }
  refuseDotSegments(externalId);
  const record = await findByExternalId(tenant, externalId, call);
  if (record) return requireWritable(tenant, record, externalId, selector, call);
  await refuseSimilarIdentifier(tenant, externalId, call);
  if (selector.create) return { externalId, scale: await tenantScale(tenant, call) };
  throw new ChangeRefused(
    wording`No opportunity has the external identifier ${quote(externalId)}. To make a new one, say create: true; to change one, take its id from a list.`,
  );
}

async function targetById(
  tenant: Tenant,
  id: string,
  selector: TargetSelector,
  call: ToolCall,
): Promise<Target> {
  refuseDotSegments(id);
  const record = await readCurrent(tenant, id, call).catch(ignoreApiError('not-found'));
  if (!record) {
    throw new ChangeRefused(
      wording`There is no opportunity with the id ${quote(id)}. Take it from a list.`,
    );
  }
  const externalId = record.externalIdentifier;
  if (externalId === undefined) {
    throw new ChangeRefused(
      wording`This opportunity has no external identifier, and the API writes by external identifier only. Give it one in the product first.`,
    );
  }
  if (selector.externalId !== undefined && selector.externalId !== externalId) {
    throw new ChangeRefused(
      wording`The opportunity with that id has the external identifier ${quote(externalId)}, not ${quote(selector.externalId)}.`,
    );
  }
  return requireWritable(tenant, record, externalId, selector, call);
}

async function requireWritable(
  tenant: Tenant,
  record: Opportunity,
  externalId: string,
  { create }: TargetSelector,
  call: ToolCall,
): Promise<Target> {
  refuseDeleted(record);
  refuseDotSegments(externalId);
  if (record.id === undefined)
    throw new ChangeRefused(wording`This opportunity has no id to read it by.`);
  if (create) {
    throw new ChangeRefused(
      wording`The external identifier ${quote(externalId)} is taken, so nothing new would be made. To change that opportunity, leave create out.`,
      { opportunity: { id: record.id, name: record.name } },
    );
  }
  return { externalId, record, scale: await tenantScale(tenant, call, record) };
}

function refuseDeleted(record: Opportunity): void {
  if (isDeleted(record)) throw new ChangeRefused(wording`This opportunity has been deleted.`);
}

/** Identifiers such as `..` would address another route. */
function refuseDotSegments(identifier: string): void {
  if (!isPathSegment(identifier)) {
    throw new ChangeRefused(
      wording`${quote(identifier)} cannot be an identifier: the API has no path for it.`,
    );
  }
}

/** Reads the present record from the service, not from the cache. */
export async function readCurrent(
  tenant: Tenant,
  id: string,
  call: ToolCall,
): Promise<Opportunity> {
  const record = await tenant.getRecord('opportunity', 'id', id, call);
  return fillInReferences(tenant, record, call);
}

/** Looks up missing ids of references: a reference without an id cannot be sent back. */
async function fillInReferences(
  tenant: Tenant,
  record: Opportunity,
  call: ToolCall,
): Promise<Opportunity> {
  const missing = referencesWithoutId(record);
  const known: { -readonly [R in keyof KnownRecords]: KnownRecords[R] } = { opportunity: [record] };
  for (const resource of ['company', 'contact', 'category'] as const) {
    if (!tenant.grants.has(`${resource}:read`)) continue;
    const collection = missing.has(resource) ? await tenant.collection(resource, call) : undefined;
    // One of several of that name may be among those that could not be read.
    const records = collection?.coverage.complete ? collection.records : tenant.cached(resource);
    if (records) known[resource] = records;
  }
  const [named = record] = await nameReferences(tenant, 'opportunity', [record], known);
  return named;
}

/**
 * Finds an opportunity by external identifier. The API has no such route, so this searches first, and then reads
 * the whole collection: only that proves that there is no such record.
 * @throws ChangeRefused if the collection could not be read completely
 */
export async function findByExternalId(
  tenant: Tenant,
  externalId: string,
  call: ToolCall,
): Promise<Opportunity | undefined> {
  const matches = (record: Opportunity) => record.externalIdentifier === externalId;
  const hit = (await searchService(tenant, externalId, call)).find(matches);
  if (hit?.id !== undefined) return readCurrent(tenant, hit.id, call);
  tenant.invalidate('opportunity');
  const { records, coverage } = await tenant.collection('opportunity', call);
  const found = records.find(matches);
  // A row of a list may lack what the record has.
  if (found?.id !== undefined) return readCurrent(tenant, found.id, call);
  if (found || coverage.complete) return found;
  throw new ChangeRefused(
    wording`Only ${coverage.read} of ${coverage.total} opportunities could be read (${trusted(coverage.reason ?? 'for an unknown reason')}), so it is not certain that ${quote(externalId)} is new. Use opportunity_id, or try later.`,
  );
}

/** What the service finds; nothing where it does not search. */
async function searchService(
  tenant: Tenant,
  query: string,
  call: ToolCall,
): Promise<readonly Opportunity[]> {
  const found = await tenant.search('opportunity', query, call).catch(ignoreApiError('refused'));
  return found ?? [];
}

/**
 * Refuses an identifier that looks like an existing one: it is a typing error or an attempt to deceive.
 * @throws ChangeRefused with the opportunity that has the existing identifier
 */
async function refuseSimilarIdentifier(
  tenant: Tenant,
  externalId: string,
  call: ToolCall,
): Promise<void> {
  const { looksLike } = await import('../text/look-alikes.ts');
  const { records } = await tenant.collection('opportunity', call);
  const isAlike = looksLike(externalId);
  const similar = records.find(
    ({ externalIdentifier: other }) => other !== undefined && isAlike(other),
  );
  if (!similar) return;
  throw new ChangeRefused(
    wording`No opportunity has exactly the external identifier ${quote(externalId)}, but one has ${quote(similar.externalIdentifier ?? '')}, which looks the same or differs in letter case or blanks only: give the exact identifier.`,
    { opportunity: { id: similar.id, name: similar.name } },
  );
}

/**
 * Reads the target again.
 * @throws ChangeRefused if it was deleted, or its external identifier changed
 */
export async function refreshTarget(
  tenant: Tenant,
  target: Target,
  call: ToolCall,
): Promise<Target> {
  const { externalId, record, scale } = target;
  if (record?.id === undefined) {
    const created = await findByExternalId(tenant, externalId, call);
    if (created) return { externalId, record: created, scale };
    await refuseSimilarIdentifier(tenant, externalId, call);
    return { externalId, scale };
  }
  const now = await readCurrent(tenant, record.id, call);
  refuseDeleted(now);
  // A write under the former identifier would create a second record.
  if (now.externalIdentifier === externalId) return { externalId, record: now, scale };
  throw new ChangeRefused(
    wording`The opportunity's external identifier is no longer ${quote(externalId)}: it was changed meanwhile.`,
  );
}

/** Determines the scale from all stored opportunities and this record. */
export async function tenantScale(
  tenant: Tenant,
  call: ToolCall,
  record?: Opportunity,
): Promise<TenantScale> {
  const { records } = await tenant.collection('opportunity', call);
  const { scale, ambiguous } = probabilityScale(record ? [...records, record] : records);
  return { divisor: scale === '0-100' ? 100 : 1, certain: scale !== 'unknown' && !ambiguous };
}
