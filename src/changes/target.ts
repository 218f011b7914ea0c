import { isDeleted } from '../figures/outcome.ts';
import { probabilityScale } from '../figures/probability.ts';
import { type KnownRecords, referencesWithoutId } from '../names/references.ts';
import { ignoreApiError } from '../service/errors.ts';
import { toRecord } from '../service/records/recognition.ts';
import type { Opportunity } from '../service/records/records.ts';
import { isPathSegment, type Search } from '../service/routes.ts';
import { searchRecords } from '../tenant/lookup.ts';
import { nameReferences } from '../tenant/read-collections.ts';
import type { Tenant, ToolCall } from '../tenant/tenant.ts';
import { identifier, quote, wording } from '../text/untrusted-text.ts';
import type { Divisor, Present } from './fields.ts';
import { ChangeRefused, partlyRead, refused } from './refusal.ts';

export interface TargetSelector {
  externalId?: string | undefined;
  opportunityId?: string | undefined;
  /** True to create a record if no record has the external identifier. */
  create?: boolean | undefined;
}

export interface TenantScale {
  divisor: Divisor;
  /** True if the tenant's values determine the scale. */
  certain: boolean;
}

/** The record to change, or the identifier of a new one. */
export interface Target {
  externalId: string;
  /** Absent if it does not exist yet. */
  present?: Present;
  scale: TenantScale;
}

/** What is learnt of a service whose rows have all that a record has. */
const wholeRows = 'rows are whole';

/** Plans no longer start from a row: it seems to differ from its record. */
export function doubtRow(tenant: Tenant, { present }: Target): void {
  if (present?.isRow) tenant.writes.learn(wholeRows, false);
}

/** Finds the opportunity to change, for one call. */
export class TargetFinder {
  readonly #tenant: Tenant;
  readonly #call: ToolCall;

  constructor(tenant: Tenant, call: ToolCall) {
    this.#tenant = tenant;
    this.#call = call;
  }

  /** @throws ChangeRefused if it does not exist and `create` is not set, or cannot be written */
  async find({ externalId, opportunityId, create = false }: TargetSelector): Promise<Target> {
    if (opportunityId !== undefined)
      return this.#existing(await this.#byId(opportunityId, externalId), create);
    if (externalId === undefined)
      throw refused`Say which opportunity: opportunity_id or external_id to change one, external_id with create true to make one.`;
    refuseDotSegments(externalId);
    const present = await this.byExternalId(externalId, { isNew: create, mayBeRow: true });
    if (present) return this.#existing(present, create);
    if (create) return { externalId, scale: await tenantScale(this.#tenant, this.#call) };
    throw refused`No opportunity has the external identifier ${quote(externalId)}. To make a new one, say create: true; to change one, take its id from a list.`;
  }

  async #existing(present: Present, create: boolean): Promise<Target> {
    const { id, name, externalIdentifier: externalId = '' } = present.record;
    refuseDeleted(present.record);
    refuseDotSegments(externalId);
    if (create) {
      throw new ChangeRefused(
        wording`The external identifier ${quote(externalId)} is taken, so nothing new would be made. To change that opportunity, leave create out.`,
        { opportunity: { id, name } },
      );
    }
    const scale = await tenantScale(this.#tenant, this.#call, present.record);
    return { externalId, present, scale };
  }

  /**
   * The opportunity with this external identifier; `undefined` if it is certain that there is none.
   * @param isNew it is expected that there is none
   * @param mayBeRow a row that was just found is enough
   * @throws ChangeRefused if it has a namesake, another identifier looks like this one, or it is not certain
   */
  async byExternalId(
    externalId: string,
    { isNew = false, mayBeRow = false } = {},
  ): Promise<Present | undefined> {
    // Searched first: another opportunity may have got the same identifier since all were read.
    const alike = isNew ? [] : await this.#alikeFound(externalId);
    const row = alike.find(hasIdentifier(externalId));
    if (row?.id !== undefined) {
      refuseNamesakes(row, alike);
      const isReadable = row.updatedAt !== undefined && row.unreadable === undefined;
      if (mayBeRow && isReadable && this.#tenant.writes.learnt(wholeRows) !== false)
        return { record: await this.#withReferences(row), raw: row, isRow: true };
      const present = await this.#readIfStill(externalId, row.id);
      if (present) return present;
    }
    // Those that were read last, brought up to date, as long as they have it.
    const isHeld = !isNew && this.#tenant.cached('opportunity') !== undefined;
    const held = isHeld ? await this.#alikeAmongAll(externalId) : [];
    const isKnown = held.some(hasIdentifier(externalId));
    const all = isKnown ? held : await this.#lookForAll(externalId);
    const found = all.find(hasIdentifier(externalId));
    if (!found) {
      refuseSimilarIdentifier(externalId, all);
      return undefined;
    }
    refuseNamesakes(found, all);
    if (found.id === undefined) throw refused`This opportunity has no id to read it by.`;
    // A row of a list may lack what the record has, and may be of before its identifier was changed.
    const present = await this.#readIfStill(externalId, found.id);
    if (present) return present;
    this.#tenant.updates.invalidate('opportunity');
    throw identifierChanged(externalId);
  }

  async #readIfStill(externalId: string, id: string): Promise<Present | undefined> {
    const present = await this.read(id).catch(ignoreApiError('not-found'));
    return present && hasIdentifier(externalId)(present.record) ? present : undefined;
  }

  async #byId(id: string, expected: string | undefined): Promise<Present> {
    refuseDotSegments(id);
    const present = await this.read(id).catch(ignoreApiError('not-found'));
    if (!present)
      throw refused`There is no opportunity with the id ${quote(id)}, or no longer. cpq_list_opportunities has the ids.`;
    const { externalIdentifier: externalId } = present.record;
    if (!externalId?.trim())
      throw refused`This opportunity has no external identifier, and the API writes by external identifier only. Give it one in the product first.`;
    if (expected !== undefined && expected !== externalId)
      throw refused`The opportunity with that id has the external identifier ${quote(externalId)}, not ${quote(expected)}.`;
    await this.#refuseDeletedOrShared(present.record, externalId);
    return present;
  }

  /** @throws ChangeRefused if it was deleted, or its external identifier changed */
  async refresh(target: Target): Promise<Target> {
    const { externalId, present, scale } = target;
    const id = present?.record.id;
    if (id === undefined) {
      const created = await this.byExternalId(externalId, { isNew: true });
      return created ? { externalId, present: created, scale } : target;
    }
    const now = await this.read(id);
    await this.#refuseDeletedOrShared(now.record, externalId);
    // A write under the former identifier would create a second record.
    if (hasIdentifier(externalId)(now.record)) return { externalId, present: now, scale };
    throw identifierChanged(externalId);
  }

  /** Refuses a deleted opportunity, and one whose identifier another one has too. */
  async #refuseDeletedOrShared(record: Opportunity, externalId: string): Promise<void> {
    refuseDeleted(record);
    const found = await this.#alikeFound(externalId);
    // A search that does not find the opportunity itself shows nothing.
    const isFound = found.some(({ id }) => id === record.id);
    refuseNamesakes(record, isFound ? found : await this.#alikeAmongAll(externalId));
  }

  /** Reads the record from the service, not from the cache. */
  async read(id: string): Promise<Present> {
    const raw = await this.#tenant.writes.raw(id, this.#call);
    const record = toRecord('opportunity', structuredClone(raw));
    return { record: await this.#withReferences(record), raw };
  }

  /** Looks up missing ids of references, without which they cannot be sent back, and names that were read before. */
  async #withReferences(record: Opportunity): Promise<Opportunity> {
    const missing = referencesWithoutId(record);
    const read: { -readonly [R in keyof KnownRecords]: KnownRecords[R] } = {};
    for (const resource of ['company', 'contact', 'category'] as const) {
      if (!missing.has(resource) || !this.#tenant.grants.has(`${resource}:read`)) continue;
      const { records, coverage } = await this.#tenant.collection(resource, this.#call);
      // One of several of that name may be among those that could not be read.
      read[resource] = coverage.complete ? records : undefined;
    }
    return nameRecord(this.#tenant, record, read);
  }

  /**
   * Opportunities by external identifier. The API has no such route: they are found by the service's search where that is
   * proven to find them, otherwise by reading all of them.
   * @throws ChangeRefused if not all opportunities could be read
   */
  async #lookForAll(externalId: string): Promise<readonly Opportunity[]> {
    const tenant = this.#tenant;
    // Of printable ASCII alone: only letter case can make another text look the same.
    const isFindable = /^[!-~]+$/.test(externalId) && (await this.#searchesIdentifiers());
    const found = isFindable ? await this.#search({ query: externalId }) : undefined;
    if (found?.isWhole)
      return alikeAmong([...(tenant.cached('opportunity') ?? []), ...found.records], externalId);
    const sample = await sampleOf(tenant, this.#call);
    if (sample.isWhole) return alikeAmong(sample.records, externalId);
    tenant.updates.invalidate('opportunity');
    return this.#alikeAmongAll(externalId);
  }

  /**
   * Those that the service's search finds; none where it ignores the text.
   * @throws ChangeRefused if more than a page mention it, no filter finds it, and not all could be read; NotGranted, ApiError
   */
  async #alikeFound(externalId: string): Promise<readonly Opportunity[]> {
    const { records, isWhole } = await this.#search({ query: externalId });
    if (isWhole) return alikeAmong(records, externalId);
    const written = JSON.stringify(externalId).slice(1, -1).toLowerCase();
    const mentions = (it: Opportunity) => JSON.stringify(it).toLowerCase().includes(written);
    if (!records.every(mentions)) return [];
    // There may be more, and a namesake among them: the filter finds it, where the service has one for this field.
    const having = await this.#search({ filters: `externalIdentifier:${externalId}` });
    const found = [...records, ...having.records];
    if (found.length === 0) return [];
    // A filter that is ignored or refused, or finds none, proves nothing: all are read.
    const isProven = having.records.length > 0 && having.records.every(hasIdentifier(externalId));
    const others = isProven ? [] : await this.#alikeAmongAll(externalId);
    return alikeAmong([...found, ...others], externalId);
  }

  /**
   * Whether the service's search finds identifiers, where there are too many opportunities to read them all: it is asked
   * for that of a known one, in the other letter case, and may find only that one.
   */
  async #searchesIdentifiers(): Promise<boolean> {
    const { writes } = this.#tenant;
    const learnt = writes.learnt('query externalIdentifier');
    if (learnt !== undefined) return learnt;
    const { records, total } = await sampleOf(this.#tenant, this.#call);
    if (total <= sampleSize) return false;
    const known = records.find(({ externalIdentifier = '' }) => /[a-z]/i.test(externalIdentifier));
    if (known?.externalIdentifier === undefined) return false;
    const [id, upper] = [known.externalIdentifier, known.externalIdentifier.toUpperCase()];
    const found = await this.#search({ query: id === upper ? id.toLowerCase() : upper });
    const isFound = found.records.some((record) => record.id === known.id);
    const works = isFound && (found.isWhole || found.records.length < total);
    writes.learn('query externalIdentifier', works);
    return works;
  }

  #search(search: Search) {
    return searchRecords(this.#tenant, 'opportunity', search, this.#call);
  }

  /** Those among all opportunities whose identifier is this one, or looks like it. @throws ChangeRefused if not all could be read; NotGranted, ApiError */
  async #alikeAmongAll(externalId: string): Promise<readonly Opportunity[]> {
    const { records, coverage } = await this.#tenant.collection('opportunity', this.#call);
    if (coverage.complete) return alikeAmong(records, externalId);
    throw refused`${partlyRead(coverage, 'opportunities')}, so it is not certain that no other has the external identifier ${quote(externalId)}, by which the API writes. Try later.`;
  }
}

const hasIdentifier =
  (externalId: string) =>
  ({ externalIdentifier }: Opportunity): boolean =>
    externalIdentifier === externalId;

const identifierChanged = (externalId: string): ChangeRefused =>
  refused`The opportunity's external identifier is no longer ${quote(externalId)}: it was changed meanwhile, or the opportunity deleted. Ask again.`;

/** Refuses where another opportunity, not deleted, could be written by this identifier instead. */
function refuseNamesakes(record: Opportunity, records: readonly Opportunity[]): void {
  const fold = ({ externalIdentifier }: Opportunity) => externalIdentifier?.trim().toLowerCase();
  const other = records.find(
    (it) => it.id !== record.id && !isDeleted(it) && fold(it) === fold(record),
  );
  if (!other) return;
  throw new ChangeRefused(
    wording`Another opportunity, ${identifier(other.id ?? '')} ${quote(other.name ?? '')}, has the external identifier ${quote(other.externalIdentifier ?? '')} too, and the API writes by external identifier only, so the other one could be changed instead. Give each its own in the product first.`,
    { opportunities: [record, other].map(({ id, name }) => ({ id, name })) },
  );
}

function refuseDeleted(record: Opportunity): void {
  if (isDeleted(record)) throw refused`This opportunity has been deleted.`;
}

/** Identifiers such as `..` would address another route. */
function refuseDotSegments(identifier: string): void {
  if (!isPathSegment(identifier))
    throw refused`${quote(identifier)} cannot be an identifier: the API has no path for it.`;
}

/** With the names of what it refers to, as far as they were read and the caller may see them. */
export async function nameRecord(
  tenant: Tenant,
  record: Opportunity,
  read: KnownRecords = {},
): Promise<Opportunity> {
  const known = {
    company: tenant.cached('company'),
    contact: tenant.cached('contact'),
    category: tenant.cached('category'),
    opportunity: tenant.cached('opportunity') ?? [record],
    ...read,
  };
  const [named = record] = await nameReferences(tenant, 'opportunity', [record], known);
  return named;
}

/** It is a typing error or an attempt to deceive. */
function refuseSimilarIdentifier(externalId: string, alike: readonly Opportunity[]): void {
  const [similar] = alike;
  if (!similar) return;
  throw new ChangeRefused(
    wording`No opportunity has exactly the external identifier ${quote(externalId)}, but one has ${quote(similar.externalIdentifier ?? '')}, which looks the same or differs in letter case or blanks only: give the exact identifier.`,
    { opportunity: { id: similar.id, name: similar.name } },
  );
}

/** The scale by the opportunities that were read last and this record, or else by the first page of opportunities. */
export async function tenantScale(
  tenant: Tenant,
  call: ToolCall,
  record?: Opportunity,
): Promise<TenantScale> {
  const own = record ? [record] : [];
  const scale = scaleOf([...(tenant.cached('opportunity') ?? []), ...own]);
  return scale.certain ? scale : scaleOf([...(await sampleOf(tenant, call)).records, ...own]);
}

/** The scale by all opportunities. @throws ChangeRefused if those that could be read do not show it; NotGranted, ApiError */
export async function wholeScale(tenant: Tenant, call: ToolCall): Promise<TenantScale> {
  const sample = await sampleOf(tenant, call);
  if (sample.isWhole) return scaleOf(sample.records);
  const { records, coverage } = await tenant.collection('opportunity', call);
  const scale = scaleOf(records);
  if (scale.certain || coverage.complete) return scale;
  throw refused`${partlyRead(coverage, 'opportunities')}, and none shows whether probabilities are stored as 0–1 or 0–100. Try later, or leave the probability out.`;
}

function scaleOf(records: readonly Opportunity[]): TenantScale {
  const { scale, ambiguous } = probabilityScale(records);
  return { divisor: scale === '0-100' ? 100 : 1, certain: scale !== 'unknown' && !ambiguous };
}

/** Up to so many opportunities are read as a whole, so that look-alikes in other scripts are found too. */
const sampleSize = 100;

/** Opportunities whose identifier is this one, or looks like it. */
async function alikeAmong(
  records: readonly Opportunity[],
  externalId: string,
): Promise<readonly Opportunity[]> {
  const { looksLike } = await import('../text/look-alikes.ts');
  const isAlike = looksLike(externalId);
  return records.filter(
    ({ externalIdentifier: other }) =>
      other !== undefined && (other === externalId || isAlike(other)),
  );
}

type Sample = Awaited<ReturnType<typeof readSample>>;

const samples = new WeakMap<ToolCall, Promise<Sample>>();

/** The opportunities that were read last, or the first page of them; one reading a call. */
export function sampleOf(tenant: Tenant, call: ToolCall): Promise<Sample> {
  const sample = samples.get(call) ?? readSample(tenant, call);
  samples.set(call, sample);
  return sample;
}

/** `isWhole`: these are all opportunities, read just now. */
async function readSample(tenant: Tenant, call: ToolCall) {
  const records = tenant.cached('opportunity');
  if (records) return { records, total: records.length, isWhole: false };
  const page = await tenant.firstPage('opportunity', { size: sampleSize }, call);
  const { total = Infinity, countIsLimit } = page;
  const isWhole = total <= page.records.length && !countIsLimit;
  return { records: page.records, total, isWhole };
}
